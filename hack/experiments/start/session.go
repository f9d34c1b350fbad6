// Package start gets ready what experiments on real nodes need, a local cluster with Loadline, and runs pods there.
package start

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
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/report"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/probe"
)

const (
	// Namespace is where the jobs run.
	Namespace = "loadline-demo-nodes"
	// Class is the NodeProfile of the workers.
	Class = "loadline-demo-nodes"
	// First is a node of one core.
	First = "worker-1"
	// Second is the other one. All that keeps the cluster going shares its core.
	Second = "worker-2"
	// third is where no jobs run.
	third = "system"
	// operators is the namespace of Loadline itself.
	operators = "loadline-system"
	// leaving is how long the cleaning up may take.
	leaving = 2 * time.Minute
	// often is the time between two looks at what is not watched.
	often = 500 * time.Millisecond
)

// Session is a cluster that is ready for experiments.
type Session struct {
	client.WithWatch
	Log       *report.Progress
	Device    job.Device
	cluster   *localCluster
	security  PodSecurity
	installed bool // Loadline, here
}

// PodSecurity is a level of the Pod Security Standards.
type PodSecurity string

// The levels of pods as [Template] makes them, and of those that see folders of the machine.
const (
	Restricted PodSecurity = "restricted"
	Privileged PodSecurity = "privileged"
)

// Begin finds or starts the cluster, with Loadline and what the jobs of a device need. Pods must keep to a level of the Pod Security
// Standards.
func Begin(ctx context.Context, device job.Standard, security PodSecurity, log *report.Progress) (s *Session, err error) {
	s = &Session{Log: log, Device: job.Device{Job: device}, security: security}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.End(ctx))
		}
	}()
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
	config.QPS, config.Burst = 100, 100 // pods of an experiment come without delay
	if s.WithWatch, err = local.NewClient(config); err != nil {
		return s, err
	}
	return s, s.prepare(ctx)
}

// prepare installs Loadline unless it is, and makes the namespace.
func (s *Session) prepare(ctx context.Context) error {
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
		s.Log.Step("using the Loadline that is installed")
	}
	for _, name := range []string{"loadline-manager", "loadline-scheduler"} {
		if err := s.cluster.kubectl(ctx, "rollout", "status", "--timeout=3m", "-n", operators, "deployment/"+name); err != nil {
			return err
		}
	}
	if err := s.clear(ctx); err != nil { // what an earlier run has left
		return err
	}
	err = s.Create(ctx, s.namespace())
	if err != nil || s.Device.Job != job.Network {
		return err
	}
	return s.startSink(ctx)
}

// namespace is where the jobs run.
func (s *Session) namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: Namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": string(s.security)},
	}}
}

// startSink runs the service that jobs send to over the network, on a node without jobs.
// It takes one block at a time, each in 20 ms, and that takes hardly any time of a CPU.
func (s *Session) startSink(ctx context.Context) error {
	const (
		port     = "7077"
		megabits = 26
	)
	pod := Placed("sink", third, "sink", []string{"loadline-probe", "sink", "--listen", ":" + port, "--megabits", strconv.Itoa(megabits)})
	if err := s.Create(ctx, pod); err != nil {
		return err
	}
	if err := s.awaitRunning(ctx, pod); err != nil {
		return err
	}
	s.Device.Peer = net.JoinHostPort(pod.Status.PodIP, port)
	s.Device.Service = 8 * probe.NetworkUnit * time.Microsecond / megabits
	return nil
}

// Load makes an image of each of the programs, by their paths below bin, on all nodes.
func (s *Session) Load(ctx context.Context, programs ...string) error {
	return s.cluster.load(ctx, programs...)
}

// Kubeconfig is the path of the cluster's.
func (s *Session) Kubeconfig() string { return s.cluster.kubeconfig }

// Root is the root folder of the repository.
func (s *Session) Root() string { return s.cluster.root }

// Declare makes a profile of the jobs of a kind, and waits until it is ready.
func (s *Session) Declare(ctx context.Context, kind string, demands ...v1alpha1.ResourceDemand) error {
	p := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: kind},
		Spec:       v1alpha1.WorkloadProfileSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{JobLabel: kind}}, Resources: demands},
	}
	if err := s.Create(ctx, p); err != nil {
		return err
	}
	return s.AwaitCondition(ctx, p, v1alpha1.ConditionReady, func() []metav1.Condition { return p.Status.Conditions })
}

// Fraction writes a loading as manifests have it.
func Fraction(f float64) *resource.Quantity {
	return new(resource.MustParse(strconv.FormatFloat(f, 'f', 3, 64)))
}

func (s *Session) install(ctx context.Context) error {
	if err := s.cluster.load(ctx, "loadline-manager", "loadline-scheduler"); err != nil {
		return err
	}
	s.Log.Step("installing Loadline")
	s.installed = true
	return s.cluster.kubectl(ctx, "apply", "--server-side", "-k", "config/default")
}

// End removes everything that Begin and the experiments have made.
func (s *Session) End(ctx context.Context) error {
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
func (s *Session) clear(ctx context.Context) error {
	s.Log.Step("removing what this leaves on the cluster")
	return errors.Join(
		s.Remove(ctx, &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: Class}}),
		s.Remove(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}),
	)
}

// Remove deletes an object, and what belongs to it, and waits until it is gone.
func (s *Session) Remove(ctx context.Context, o client.Object) error {
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

// NodeProfile is the class of the workers.
func NodeProfile() *v1alpha1.NodeProfile {
	return &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: Class},
		Spec: v1alpha1.NodeProfileSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: corev1.LabelHostname, Operator: metav1.LabelSelectorOpIn, Values: []string{First, Second}},
		}}},
	}
}

// HopelessError says why a condition will not become True.
type HopelessError struct{ reason, message string }

func (e *HopelessError) Error() string { return e.reason + ": " + e.message }

// AwaitCondition waits until a condition is True, and prints what it says meanwhile. It gives up with a [HopelessError]
// where that would never be.
func (s *Session) AwaitCondition(ctx context.Context, o client.Object, kind string, conditions func() []metav1.Condition) error {
	said := ""
	hopeless := []string{
		v1alpha1.ReasonTargetFailed, v1alpha1.ReasonProbeFailed, v1alpha1.ReasonUnsaturated, v1alpha1.ReasonInconsistent,
		v1alpha1.ReasonInterrupted, v1alpha1.ReasonNoNode,
	}
	return until(ctx, kind+" of "+o.GetName(), func(ctx context.Context) (bool, error) {
		if err := s.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, err
		}
		c := meta.FindStatusCondition(conditions(), kind)
		if c == nil {
			return false, nil
		}
		if text := c.Reason + ": " + c.Message; text != said {
			said = text
			s.Log.Step("%s: %s", o.GetName(), text)
		}
		if c.Status != metav1.ConditionTrue && slices.Contains(hopeless, c.Reason) {
			return false, &HopelessError{c.Reason, c.Message}
		}
		return c.Status == metav1.ConditionTrue, nil
	})
}
