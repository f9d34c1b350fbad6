//go:build perf

package perf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"runtime/pprof"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics/legacyregistry"
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

// cluster is the cluster of a run, and what was seen of it before the measured pods came and when all of them were scheduled.
type cluster struct {
	topic         *Topic
	variant       Variant
	steps         []Step         // that are left
	profile       string         // path of the file for a profile of what is measured
	profiling     *os.File       // the file while it is written
	plugin        dilationPlugin // nil in the default
	before, after state
}

// dilationPlugin is what the benchmark asks of Dilation.
type dilationPlugin interface {
	fwk.Plugin
	fwk.SignPlugin
}

// state is what can be seen of a cluster at one moment.
type state struct {
	at                    time.Time
	nodes                 int
	onNodes               int           // pods that are on a node
	scheduled             float64       // pods that were ever placed
	refused               float64       // attempts to schedule a pod that no node took
	batched               float64       // pods that were placed by the scores of the pod before them, and so not scored
	byProfile, byRequests float64       // pods that Dilation scored
	profiles              float64       // that Dilation uses
	solved                float64       // nodes for which Dilation solved its accurate model
	heldOn, guardedOn     float64       // nodes that Dilation refused for pods that no node took
	processor             time.Duration // used by this process: scheduler, API server and the benchmark itself
}

// registry holds Dilation, which finds its profiles in place when the scheduler makes it, as it does in a cluster that is in use,
// but for those that the script creates.
func (c *cluster) registry() frameworkruntime.Registry {
	return frameworkruntime.Registry{
		dilation.Name: func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			if err := c.install(ctx, handle.KubeConfig()); err != nil {
				return nil, err
			}
			plugin, err := dilation.New(ctx, args, handle)
			if err != nil {
				return nil, err
			}
			asked, is := plugin.(dilationPlugin)
			if !is {
				return nil, fmt.Errorf("want %s to sign pods, got %T", dilation.Name, plugin)
			}
			c.plugin = asked
			return plugin, nil
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
	return c.install(tCtx, tCtx.RESTConfig())
}

// install creates Loadline's resource definitions and a profile that matches every node, and for a topic of ours its namespaces with
// the profiles of their pods.
func (c *cluster) install(ctx context.Context, config *rest.Config) error {
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
	if c.topic.Own == nil {
		return nil
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

// step is called after each createNodes of the script.
func (c *cluster) step(tCtx ktesting.TContext, _ *scheduler.Scheduler, _ *schedulerperf.Workload, nodes *corev1.NodeList) error {
	if len(c.steps) == 0 {
		return errors.New("the script has more operations that create nodes than steps")
	}
	step := c.steps[0]
	c.steps = c.steps[1:]
	for _, namespace := range step.Await {
		if err := c.awaitProfile(tCtx, namespace); err != nil {
			return err
		}
	}
	switch step.Observe {
	case None:
		return nil
	case Begin:
		return c.begin(tCtx)
	case End:
		return c.end(tCtx, len(nodes.Items))
	default:
		return fmt.Errorf("no such observation: %d", step.Observe)
	}
}

// awaitProfile waits until pods of a namespace follow a profile.
func (c *cluster) awaitProfile(ctx context.Context, namespace string) error {
	if c.plugin == nil {
		return nil
	}
	const interval, limit = 5 * time.Millisecond, 30 * time.Second
	err := wait.PollUntilContextTimeout(ctx, interval, limit, true, func(ctx context.Context) (bool, error) {
		fragments, status := c.plugin.SignPod(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "any", Namespace: namespace}})
		if !status.IsSuccess() {
			return false, status.AsError()
		}
		data, err := json.Marshal(fragments)
		if err != nil {
			return false, err
		}
		var signed []struct{ Value struct{ Profile uint64 } }
		if err := json.Unmarshal(data, &signed); err != nil {
			return false, err
		}
		return len(signed) == 1 && signed[0].Value.Profile > 0, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until pods of %s follow a profile: %w", namespace, err)
	}
	return nil
}

// begin observes the cluster before the measured pods come, and begins to take a profile.
func (c *cluster) begin(ctx context.Context) error {
	before, err := observe()
	if err != nil {
		return err
	}
	if c.profiling, err = os.Create(c.profile); err != nil {
		return err
	}
	goruntime.SetCPUProfileRate(SampleRate) // else it takes 100 a second; pprof then says that it cannot set that
	if err := pprof.StartCPUProfile(c.profiling); err != nil {
		return err
	}
	before.at = time.Now()
	before.processor, err = processorTime()
	c.before = before
	return err
}

// end observes the cluster when all measured pods are scheduled, and before upstream resets the metrics.
func (c *cluster) end(tCtx ktesting.TContext, nodes int) error {
	processor, err := processorTime()
	if err != nil {
		return err
	}
	at := time.Now()
	pprof.StopCPUProfile()
	if err := c.profiling.Close(); err != nil {
		return err
	}
	if c.after, err = observe(); err != nil {
		return err
	}
	c.after.at, c.after.processor, c.after.nodes = at, processor, nodes
	list, err := tCtx.Client().CoreV1().Pods(metav1.NamespaceAll).List(tCtx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if list.Items[i].Spec.NodeName != "" {
			c.after.onNodes++
		}
	}
	return awaitBindings(tCtx)
}

// observe returns what the metrics of this process say.
func observe() (state, error) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return state{}, err
	}
	attempts, refused := valuesOf(families, "scheduler_schedule_attempts_total", "result"), valuesOf(families, "loadline_dilation_nodes_refused_total", "bound")
	scored := valuesOf(families, "loadline_dilation_pods_scored_total", "vector")
	return state{
		scheduled: attempts[metrics.ScheduledResult], refused: attempts[metrics.UnschedulableResult],
		batched:   valuesOf(families, "scheduler_batch_attempts_total", "result")[metrics.BatchAttemptHintUsed],
		byProfile: scored["profile"], byRequests: scored["requests"],
		profiles: valuesOf(families, "loadline_dilation_profiles", "state")["used"],
		solved:   valuesOf(families, "loadline_dilation_nodes_solved_total", "")[""],
		heldOn:   refused["hold"], guardedOn: refused["pod"] + refused["neighbour"],
	}, nil
}

// valuesOf returns the values of a counter or gauge, added up by one of its labels. Nothing is there before the first one is counted.
func valuesOf(families []*dto.MetricFamily, name, label string) map[string]float64 {
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			by := ""
			for _, pair := range metric.GetLabel() {
				if pair.GetName() == label {
					by = pair.GetValue()
				}
			}
			values[by] += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
		}
	}
	return values
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

// check returns what is wrong with the outcome: pods that were scored by their requests, or that waited for Loadline's sake, or a topic
// of ours that was not what it should be.
func (c *cluster) check() error {
	now := &c.after
	switch {
	case len(c.steps) > 0:
		return fmt.Errorf("%d steps of the script were not taken", len(c.steps))
	case now.byRequests > 0:
		return fmt.Errorf("Dilation scored %v pods by their requests, %v by their profiles; want all by their profiles", now.byRequests, now.byProfile)
	case now.heldOn > 0:
		return fmt.Errorf("pods were held on %v nodes, want no hold that is reached", now.heldOn)
	case c.variant != Default && now.profiles == 0:
		return errors.New("Dilation saw no pod, or no profile")
	case c.topic.Own != nil:
		return c.checkOwn()
	case now.guardedOn > 0:
		return fmt.Errorf("%v nodes were refused because of bounds, want none", now.guardedOn)
	default:
		return nil
	}
}

// checkOwn returns what is wrong with the outcome of a topic of ours, which should be that all pods were scheduled, each scored where
// more than one node fits, or batched, and that pods were batched where the topic batches and nowhere else.
func (c *cluster) checkOwn() error {
	sizes, now := c.topic.Own.Sizes(*nodes, *pods), &c.after
	all := sizes.HostilePods + sizes.FirstPods + sizes.Pods
	scored := all
	if sizes.HostilePods > 0 {
		scored -= hostileOnOneNode // fit no other
	}
	switch {
	case now.onNodes != all:
		return fmt.Errorf("%d of %d pods were scheduled", now.onNodes, all)
	case c.topic.Own.Batches != (now.batched > 0):
		return fmt.Errorf("%v of %d pods were batched, want batching: %v", now.batched, all, c.topic.Own.Batches)
	case c.variant != Default && now.byProfile+now.batched < float64(scored):
		return fmt.Errorf("of %d pods, Dilation scored %v by their profiles, %v were batched; want all", scored, now.byProfile, now.batched)
	default:
		return nil
	}
}
