package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/probe"
)

const (
	// namespace is where the jobs run.
	namespace = "loadline-demo-nodes"
	// class is the NodeProfile of the workers.
	class = "loadline-demo-nodes"
	// first and second are the nodes, with a core each. All that keeps the cluster
	// going shares the core of the second.
	first, second = "worker-1", "worker-2"
	// third is where no jobs run.
	third = "system"
	// operators is the namespace of Loadline itself.
	operators = "loadline-system"
	// leaving is how long the cleaning up may take.
	leaving = 2 * time.Minute
	// often is the time between two looks at what is not watched.
	often = 500 * time.Millisecond
)

// session is what all parts use.
type session struct {
	client.WithWatch
	*options
	log       *progress
	cluster   *localCluster
	installed bool // Loadline, here
	device    device
	known     *findings
}

// begin makes all ready that the parts use. Call end, also after an error of theirs.
func begin(ctx context.Context, o *options, log *progress) (s *session, err error) {
	s = &session{options: o, log: log, device: device{job: o.io}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.end(ctx))
		}
	}()
	if s.known, err = readFindings(o.out); err != nil {
		return s, err
	}
	if slices.Equal(o.only, []string{partCompare}) { // all that it needs is in files
		return s, nil
	}
	root, err := local.Root(ctx)
	if err != nil {
		return s, err
	}
	if s.cluster, err = findOrStart(ctx, root, log); err != nil {
		return s, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.cluster.kubeconfig)
	if err != nil {
		return s, err
	}
	if s.WithWatch, err = local.NewClient(config); err != nil {
		return s, err
	}
	return s, s.prepare(ctx)
}

// prepare installs Loadline unless it is, and makes the namespace.
func (s *session) prepare(ctx context.Context) error {
	if err := s.cluster.load(ctx, "loadline-probe", "tools/filecomp"); err != nil {
		return err
	}
	err := s.Get(ctx, client.ObjectKey{Name: operators}, &corev1.Namespace{})
	switch {
	case apierrors.IsNotFound(err):
		if err := s.install(ctx); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		s.log.step("using the Loadline that is installed")
	}
	for _, name := range []string{"loadline-manager", "loadline-scheduler"} {
		if err := s.cluster.kubectl(ctx, "rollout", "status", "--timeout=3m", "-n", operators, "deployment/"+name); err != nil {
			return err
		}
	}
	if err := s.clear(ctx); err != nil { // what an earlier run has left
		return err
	}
	err = s.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}})
	if err != nil || s.io != network {
		return err
	}
	return s.startSink(ctx)
}

// startSink runs the service that jobs send to over the network, on a node without jobs.
// It takes one block at a time, each in 20 ms, and that takes hardly any time of a CPU.
func (s *session) startSink(ctx context.Context) error {
	const (
		port     = "7077"
		megabits = 26
	)
	pod := placed("sink", third, "sink", []string{"loadline-probe", "sink", "--listen", ":" + port, "--megabits", strconv.Itoa(megabits)})
	if err := s.Create(ctx, pod); err != nil {
		return err
	}
	if err := s.awaitRunning(ctx, pod); err != nil {
		return err
	}
	s.device.peer = net.JoinHostPort(pod.Status.PodIP, port)
	s.device.service = 8 * probe.NetworkUnit * time.Microsecond / megabits
	return nil
}

func (s *session) install(ctx context.Context) error {
	if err := s.cluster.load(ctx, "loadline-manager", "loadline-scheduler"); err != nil {
		return err
	}
	s.log.step("installing Loadline")
	s.installed = true
	return s.cluster.kubectl(ctx, "apply", "--server-side", "-k", "config/default")
}

// end removes everything that begin and the parts have made.
func (s *session) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
	defer cancel()
	var errs []error
	if s.cluster != nil {
		if s.WithWatch != nil && s.cluster.process == nil { // else it all goes with the cluster
			errs = append(errs, s.clear(ctx))
			if s.installed {
				errs = append(errs, s.cluster.kubectl(ctx, "delete", "--ignore-not-found", "-k", "config/default"))
			}
		}
		errs = append(errs, s.cluster.stop())
	}
	return errors.Join(errs...)
}

// clear removes the namespace with all that is in it, and the NodeProfile.
func (s *session) clear(ctx context.Context) error {
	s.log.step("removing what this leaves on the cluster")
	return errors.Join(
		s.remove(ctx, &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: class}}),
		s.remove(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}),
	)
}

// remove deletes an object, and what belongs to it, and waits until it is gone.
func (s *session) remove(ctx context.Context, o client.Object) error {
	err := s.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return until(ctx, fmt.Sprintf("%T %s to be gone", o, o.GetName()), func(ctx context.Context) (bool, error) {
		err := s.Get(ctx, client.ObjectKeyFromObject(o), o)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// until waits for a condition of what is not watched.
func until(ctx context.Context, what string, condition wait.ConditionWithContextFunc) error {
	if err := wait.PollUntilContextCancel(ctx, often, true, condition); err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
