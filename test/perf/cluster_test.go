//go:build perf

package perf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
	schedulerperf "k8s.io/kubernetes/test/integration/scheduler_perf"
	"k8s.io/kubernetes/test/utils/client-go/ktesting"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadline.dev/loadline/pkg/plugins/dilation"
)

// namespaces are those of the first and of the measured pods, as
// benchmark.yaml.tmpl names them.
func namespaces() []string { return []string{"perf-0", "perf-1"} }

// cluster is one cluster, and what was seen of it before the measured pods came
// and when all of them were scheduled.
type cluster struct {
	variant       Variant
	before, after state
}

// state is what can be seen of a cluster at one moment.
type state struct {
	scheduled             int           // pods on a node
	byProfile, byRequests float64       // pods that Dilation scored
	batched               float64       // pods that were placed by the scores of the pod before them, and so not scored
	refused               float64       // attempts to schedule a pod that fits no node
	processor             time.Duration // used by this process: scheduler, API server and the benchmark itself
}

// registry holds Dilation, which finds its profiles in place when the scheduler
// makes it, as it does in a cluster that is in use.
func (c *cluster) registry() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		dilation.Name: func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			if err := install(ctx, handle.KubeConfig()); err != nil {
				return nil, err
			}
			return dilation.New(ctx, args, handle)
		},
	}
}

// prepare gives a cluster without Dilation the same profiles, so that nothing
// but the scheduler differs. It is called when the scheduler runs and the
// cluster is empty.
func (c *cluster) prepare(tCtx ktesting.TContext) error {
	if c.variant != Default {
		return nil // done, see registry
	}
	return install(tCtx, tCtx.RESTConfig())
}

// install creates Loadline's resource definitions, the namespaces, and profiles
// that match every node and every pod in them.
func install(ctx context.Context, config *rest.Config) error {
	log.SetLogger(klog.Background()) // for envtest
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{
		Paths: []string{"../../config/crd"}, ErrorIfPathMissing: true,
	}); err != nil {
		return err
	}
	writer, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	if err := createAll(ctx, writer, "testdata/node.yaml", ""); err != nil {
		return err
	}
	for _, name := range namespaces() {
		if err := writer.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return err
		}
		if err := createAll(ctx, writer, "testdata/profiles.yaml", name); err != nil {
			return err
		}
	}
	return nil
}

// createAll creates every object of a YAML file in a namespace.
func createAll(ctx context.Context, writer client.Writer, path, namespace string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(&object.Object); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading %s: %w", path, err)
		}
		object.SetNamespace(namespace)
		if err := writer.Create(ctx, object, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
			return fmt.Errorf("creating %s of %s: %w", object.GetName(), path, err)
		}
	}
}

// observe is called after each createNodes of the workload: the last but one
// comes before the measured pods, the last one when all pods are scheduled, and
// before upstream resets the metrics.
func (c *cluster) observe(tCtx ktesting.TContext, _ *scheduler.Scheduler, _ *schedulerperf.Workload, _ *corev1.NodeList) error {
	processor, err := processorTime()
	if err != nil {
		return err
	}
	c.before, c.after = c.after, state{processor: processor}
	now := &c.after
	list, err := tCtx.Client().CoreV1().Pods(metav1.NamespaceAll).List(tCtx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if list.Items[i].Spec.NodeName != "" {
			now.scheduled++
		}
	}
	if now.scheduled == 0 {
		return nil // nor is there any metric
	}
	attempts, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, "scheduler_schedule_attempts_total", nil, "result")
	if err != nil {
		return err
	}
	now.refused = attempts["unschedulable"]
	batching, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, "scheduler_batch_attempts_total", nil, "result")
	if err != nil {
		return err
	}
	now.batched = batching[metrics.BatchAttemptHintUsed]
	if c.variant != Default {
		scored, err := testutil.GetCounterValuesFromGatherer(legacyregistry.DefaultGatherer, "loadline_dilation_pods_scored_total", nil, "vector")
		if err != nil {
			return err
		}
		now.byProfile, now.byRequests = scored["profile"], scored["requests"]
	}
	return awaitBindings(tCtx)
}

// awaitBindings waits until the scheduler is done with the pods that are on nodes:
// upstream takes events of which it still keeps track at the end for a leak. Where
// they do not go, it says so.
func awaitBindings(ctx context.Context) error {
	const interval, limit = 10 * time.Millisecond, 10 * time.Second
	err := wait.PollUntilContextTimeout(ctx, interval, limit, true, func(context.Context) (bool, error) {
		families, err := legacyregistry.DefaultGatherer.Gather()
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if family.GetName() == "scheduler_inflight_events" && metric.GetGauge().GetValue() > 0 {
					return false, err
				}
			}
		}
		return true, err
	})
	if wait.Interrupted(err) {
		return ctx.Err()
	}
	return err
}

// processorTime returns how much processor time this process has used.
func processorTime() (time.Duration, error) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, fmt.Errorf("reading this process's use of processors: %w", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), nil
}

// check returns what is wrong with the outcome, which should be that all pods
// were scheduled, each scored by its profile where Dilation runs and more than
// one node fits, or batched, that pods were batched where the topic batches and
// nowhere else, and that pods which fit no node were tried meanwhile where the
// topic has such.
func (c *cluster) check(topic *Topic, sizes Sizes) error {
	pods := sizes.HostilePods + sizes.FirstPods + sizes.Pods
	scored := pods
	if sizes.HostilePods > 0 {
		scored -= hostileOnOneNode // fit no other
	}
	switch {
	case c.after.scheduled != pods:
		return fmt.Errorf("%d of %d pods were scheduled", c.after.scheduled, pods)
	case topic.Churn != nil && c.after.refused <= c.before.refused:
		return errors.New("no pod that fits no node was tried while the others were scheduled")
	case topic.Batches() != (c.after.batched > 0):
		return fmt.Errorf("%v of %d pods were batched; with %s spreading by default, want batching: %v",
			c.after.batched, pods, topic.Spreading, topic.Batches())
	case c.variant == Default:
		return nil
	case c.after.byRequests > 0 || c.after.byProfile+c.after.batched < float64(scored):
		return fmt.Errorf("of %d pods, Dilation scored %v by their profiles and %v by their requests, %v were batched; want all by their profiles or batched",
			scored, c.after.byProfile, c.after.byRequests, c.after.batched)
	}
	return nil
}
