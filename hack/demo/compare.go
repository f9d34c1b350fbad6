package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/text"
)

// patience is how long all pods may take to be bound or to be gone.
const patience = 3 * time.Minute

// outcome is how one scheduler placed the pods.
type outcome struct {
	name      string
	dilations []float64
	perSecond float64
}

// session is a control plane on which the pods are placed again and again.
type session struct {
	client.WithWatch
	log        *progress
	in         *inputs
	dir        string // for temporary files
	scheduler  string // the command
	kubeconfig string
}

// compare places the pods with both schedulers and shows the result.
func compare(ctx context.Context, log *progress, plane *controlplane.ControlPlane, root, dir, scheduler string, in *inputs, out string) error {
	c, err := local.NewClient(plane.RESTConfig())
	if err != nil {
		return err
	}
	if err := local.InstallCRDs(plane.RESTConfig(), root); err != nil {
		return err
	}
	s := &session{c, log, in, dir, scheduler, plane.Kubeconfig()}
	if err := s.prepare(ctx, plane); err != nil {
		return err
	}
	profiles, err := local.ShippedProfiles(root)
	if err != nil {
		return err
	}
	var outcomes []*outcome
	for _, by := range []struct{ name, schedulerName, profile string }{
		{"kube-scheduler", "default-scheduler", ""},
		{"Loadline", "loadline", profiles},
	} {
		o, err := s.place(ctx, by.name, by.schedulerName, by.profile)
		if err != nil {
			return fmt.Errorf("placing with %s: %w", by.name, err)
		}
		outcomes = append(outcomes, o)
	}
	return show(outcomes, out)
}

// prepare creates all that stays: nodes, namespace and profiles.
func (s *session) prepare(ctx context.Context, plane *controlplane.ControlPlane) error {
	s.log.step("creating %d nodes and the profiles", len(s.in.nodes))
	if err := plane.AddNodes(ctx, s.in.kubernetesNodes()...); err != nil {
		return err
	}
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}},
	}
	for _, p := range s.in.nodeProfiles() {
		objects = append(objects, p)
	}
	for _, p := range s.in.workloadProfiles() {
		objects = append(objects, p)
	}
	for _, o := range objects {
		if err := client.IgnoreAlreadyExists(s.Create(ctx, o)); err != nil {
			return err
		}
	}
	return nil
}

// place creates the pods, lets one scheduler place them, and removes them.
func (s *session) place(ctx context.Context, name, schedulerName, profile string) (o *outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s.log.step("creating %d pods", len(s.in.jobs))
	group, creating := errgroup.WithContext(ctx)
	group.SetLimit(32)
	for _, pod := range s.in.kubernetesPods(schedulerName) {
		group.Go(func() error { return s.Create(creating, pod) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}

	s.log.step("placing them with %s", name)
	config, err := local.SchedulerConfig(s.dir, s.kubeconfig, profile)
	if err != nil {
		return nil, err
	}
	process, err := local.StartScheduler(ctx, s.scheduler, config)
	if err != nil {
		return nil, err
	}
	pods, perSecond, err := s.await(ctx)
	if err := errors.Join(err, process.Stop()); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, process.Log())
	}
	dilations, err := s.in.dilations(pods)
	if err != nil {
		return nil, err
	}
	return &outcome{name, dilations, perSecond}, s.clear(ctx)
}

// await waits until every pod is on a node or has been found to fit none, and
// returns the pods on nodes and how many were bound per second, from the first
// to the last.
func (s *session) await(ctx context.Context) (placed map[string]*corev1.Pod, perSecond float64, err error) {
	var first, last time.Time
	before, bound := 0, 0
	pods, err := local.AwaitPods(ctx, s, namespace, func(pods map[string]*corev1.Pod) bool {
		now, unfit := 0, 0
		for _, pod := range pods {
			if pod.Spec.NodeName != "" {
				now++
			} else if isUnschedulable(pod) {
				unfit++
			}
		}
		if now > bound {
			if last = time.Now(); first.IsZero() {
				first, before = last, now
			}
			bound = now
		}
		s.log.count("placed", now, len(s.in.jobs))
		return now+unfit == len(s.in.jobs)
	})
	if err != nil {
		return nil, 0, fmt.Errorf("waiting for the pods to be placed, %d of %d are: %w", bound, len(s.in.jobs), err)
	}
	maps.DeleteFunc(pods, func(_ string, pod *corev1.Pod) bool { return pod.Spec.NodeName == "" })
	return pods, float64(bound-before) / last.Sub(first).Seconds(), nil
}

func isUnschedulable(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// clear removes the pods.
func (s *session) clear(ctx context.Context) error {
	s.log.step("removing them")
	if err := s.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(namespace), client.GracePeriodSeconds(0)); err != nil {
		return err
	}
	_, err := local.AwaitPods(ctx, s, namespace, func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
	return err
}

// dilations returns the dilation of every pod that is on a node, as the contention
// model predicts it: not by the first-order price that placed it.
func (in *inputs) dilations(pods map[string]*corev1.Pod) ([]float64, error) {
	on := map[string][]contention.Vector{}
	for _, job := range in.jobs {
		if pod := pods[job.Name]; pod != nil {
			on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], vector(job))
		}
	}
	var all []float64
	for _, n := range in.nodes {
		prediction, err := contention.Predict(on[n.Name], servers(n), queueing.Options{})
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		all = append(all, prediction.Dilations...)
	}
	return all, nil
}

// show prints the table and draws the chart.
func show(outcomes []*outcome, out string) error {
	fmt.Println()
	table := text.NewTable(text.Left("SCHEDULER"), text.Right("PODS PLACED"), text.Right("PODS/S"),
		text.Right("MEAN DILATION"), text.Right("P95"), text.Right("WORST"))
	dilations := chart.Distribution{Title: "How much slower pods run than alone", Quantity: "dilation", Unit: "×", Of: "pods"}
	for _, o := range outcomes {
		summary, err := chart.Summarize(o.dilations)
		if err != nil {
			return err
		}
		table.Add(o.name, text.Count(int64(summary.Count)), text.Value(o.perSecond),
			fmt.Sprintf("%.3f×", summary.Mean), fmt.Sprintf("%.3f×", summary.P95), fmt.Sprintf("%.3f×", summary.Max))
		dilations.Samples = append(dilations.Samples, chart.Sample{Name: o.name, Values: o.dilations})
	}
	if err := table.Write(os.Stdout); err != nil {
		return err
	}
	fmt.Println("Dilations as the contention model predicts them, given who ended up with whom.")
	return writeCharts(dilations, filepath.Join(out, "openb-dilation"))
}
