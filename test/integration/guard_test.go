package integration

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/plugins/dilation"
)

// allDilation is a scheduler profile with the plugin at all its extension points, beside kube-scheduler's own.
const allDilation = `profiles:
- schedulerName: loadline
  plugins:
    multiPoint:
      enabled: [{name: Dilation}]
`

// with gives the plugin arguments.
func with(args string) func(string) string {
	return func(config string) string { return config + "  pluginConfig: [{name: Dilation, args: " + args + "}]\n" }
}

// guard makes the bounds of the place's pods bind, of which those of the profile disk may be dilated 1.5 times, and run at half
// speed where two are on a node.
func (p *place) guard(t *testing.T, mode string) *v1alpha1.WorkloadProfile {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}}
	p.change(t, ns, func() { ns.Labels[v1alpha1.GuardLabel] = mode })
	disk := p.profile("disk", map[string]string{"disk": "1"})
	disk.Spec.SLA = &v1alpha1.SLA{MaxDilation: new(resource.MustParse("1.5"))}
	must(t, p.Create(t.Context(), disk))
	return disk
}

// awaitUnschedulable waits until the scheduler says why it places a pod on no node.
func (p *place) awaitUnschedulable(t *testing.T, name string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	message := ""
	_, err := local.AwaitPods(ctx, p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		pod := pods[name]
		if pod == nil {
			return false
		}
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
				message = c.Message
			}
		}
		return message != ""
	})
	must(t, err)
	return message
}

// awaitNote waits for an event about a pod, and returns what it says.
func (p *place) awaitNote(t *testing.T, pod, reason string) (note string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must(t, wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var list eventsv1.EventList
		if err := p.List(ctx, &list, client.InNamespace(p.namespace)); err != nil {
			return false, err
		}
		for i := range list.Items {
			if e := &list.Items[i]; e.Regarding.Name == pod && e.Reason == reason {
				note = e.Note
			}
		}
		return note != "", nil
	}))
	return note
}

// uncounted leaves out how many nodes a scheduler speaks of: other tests add some.
func uncounted(message string) string { return countOfNodes.ReplaceAllString(message, "some $2") }

var countOfNodes = regexp.MustCompile(`\b(0/)?\d+ (nodes|node\(s\)|Preemption)`)

// A pod that no node takes because of a bound says so, and is placed once another pod is gone, and once its profile allows it.
func TestAPodWaitsUntilItsBoundIsKept(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	disk := p.guard(t, "enforce")
	p.startScheduler(t, allDilation)
	must(t, p.Create(t.Context(), p.pod("first", "disk")))
	p.awaitBound(t, 1)
	if note := p.awaitNote(t, "first", dilation.ReasonPredicted); note != "Predicted to run as fast as alone on "+p.nodes[0] {
		t.Errorf("the event says %q", note)
	}

	must(t, p.Create(t.Context(), p.pod("second", "disk")))
	message := p.awaitUnschedulable(t, "second")
	for _, part := range []string{
		"more than its limit of 1.50×, because of disk",
		"What would make room: " + p.nodes[0] + " without " + p.namespace + "/first",
	} {
		if !strings.Contains(message, part) {
			t.Errorf("%q lacks %q", message, part)
		}
	}
	code, explained, stderr := p.ask(t, "explain", "pod", "second", "-n", p.namespace)
	if says := "waits for a node.\n" + p.namespace + " says: "; code != 0 || !strings.Contains(uncounted(explained), uncounted(says+message)) {
		t.Errorf("explain exits with %d (%s), without what the scheduler says:\n%s", code, stderr, explained)
	}
	must(t, p.Delete(t.Context(), p.pod("first", "disk"), client.GracePeriodSeconds(0)))
	p.awaitBound(t, 1)

	must(t, p.Create(t.Context(), p.pod("third", "disk")))
	p.awaitUnschedulable(t, "third")
	p.change(t, disk, func() { disk.Spec.SLA.MaxDilation = new(resource.MustParse("2")) })
	p.awaitBound(t, 2)
}

func TestAGuardThatWarnsSaysWhoExceedsABound(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	p.guard(t, "warn")
	p.startScheduler(t, allDilation)
	for n, name := range []string{"first", "second"} {
		must(t, p.Create(t.Context(), p.pod(name, "disk")))
		p.awaitBound(t, n+1)
	}
	want := "Predicted to run 2.00× slower than alone on " + p.nodes[0] + " now that " + p.namespace + "/second is placed there, more than its limit of 1.50×"
	if note := p.awaitNote(t, "first", dilation.ReasonExceeded); !strings.HasPrefix(note, want) {
		t.Errorf("the event says %q, want %q", note, want)
	}
}

// Where a bound is in the way, a pod of a higher priority takes the place of one of a lower.
func TestPreemptionKnowsBounds(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	p.guard(t, "enforce")
	high := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}, Value: 1000}
	must(t, p.Create(t.Context(), high))
	t.Cleanup(func() { must(t, p.Delete(context.WithoutCancel(t.Context()), high)) })
	p.startScheduler(t, allDilation)
	low := p.pod("low", "disk")
	low.Spec.TerminationGracePeriodSeconds = new(int64(0))
	must(t, p.Create(t.Context(), low))
	p.awaitBound(t, 1)
	pod := p.pod("high", "disk")
	pod.Spec.PriorityClassName = high.Name
	must(t, p.Create(t.Context(), pod))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := local.AwaitPods(ctx, p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		return len(pods) == 1 && pods["high"] != nil && pods["high"].Spec.NodeName != ""
	})
	must(t, err)
}

func TestAHeldPodIsPlacedWhenItHasWaitedForLongEnough(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	must(t, p.Create(t.Context(), p.profile("disk", map[string]string{"disk": "1"})))
	p.startScheduler(t, allDilation, with(`{hold: {maxDilation: "1.5", maxWaitSeconds: 2}}`))
	must(t, p.Create(t.Context(), p.pod("first", "disk")))
	p.awaitBound(t, 1)
	must(t, p.Create(t.Context(), p.pod("second", "disk")))
	if message := p.awaitUnschedulable(t, "second"); !strings.Contains(message, "too busy for now: the pod would run 2× slower, and waits for less than 1.50×") {
		t.Errorf("it waits because of %q", message)
	}
	p.awaitBound(t, 2)
}
