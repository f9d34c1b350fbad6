package dilation

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// activated counts how often pods were to be tried again.
type activated struct {
	mu    sync.Mutex
	times map[string]int
}

func (a *activated) Activate(_ klog.Logger, pods map[string]*corev1.Pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name := range pods {
		a.times[name]++
	}
}

// sofar returns how often pods were tried again until now.
func (a *activated) sofar() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.times)
}

// A pod that was refused is tried again when a profile or the label of a namespace changes, and thousands of changes in a
// second have it tried no more than twice; one that was placed, or is gone, is not.
func TestPodsThatWereRefusedAreTriedAgainWhenProfilesChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		job := bounded(workload("job", demand("disk", 1)), 1.5)
		d := guarded(t, nil, job)
		again := &activated{times: map[string]int{}}
		d.waiting.activator = again
		d.index.Notify(d.waiting.changed)
		go d.waiting.run(t.Context())
		node := testNode("node", 4, testPod("there", "job"))
		d.cluster = cluster{nodes: []fwk.NodeInfo{node}}
		for _, name := range []string{"new", "placed", "gone"} {
			filter(t, d, testPod(name, "job"), node)
		}
		d.Reserve(t.Context(), framework.NewCycleState(), testPod("placed", "job"), "node")
		d.waiting.OnDelete(cache.DeletedFinalStateUnknown{Obj: testPod("gone", "job")})
		for range 10_000 {
			next := job.DeepCopy()
			next.Generation++
			d.index.OnUpdate(job, next)
			job = next
		}
		<-time.After(2 * wakeInterval) // by the clock of the test
		synctest.Wait()
		tries := again.sofar()
		if n := tries["default/new"]; n < 1 || n > 2 || len(tries) != 1 {
			t.Errorf("tried again: %v", tries)
		}
		d.modes.OnUpdate(nil, &corev1.Namespace{ObjectMeta: withLabel("default", v1alpha1.GuardLabel, "off")})
		<-time.After(2 * wakeInterval)
		synctest.Wait()
		tries = again.sofar()
		if len(tries) != 1 || tries["default/new"] < 2 {
			t.Errorf("tried again after its namespace had changed: %v", tries)
		}
	})
}

// A user who changes a profile of theirs ten times a second does not have the pods of all others tried again each second.
func TestAProfileThatChangesAllTheTimeHasPodsTriedAgainSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		theirs := in("theirs", workload("theirs", demand("disk", 0.1)))
		d := guarded(t, nil, bounded(workload("job", demand("disk", 1)), 1.5), theirs)
		again := &activated{times: map[string]int{}}
		d.waiting.activator = again
		d.index.Notify(d.waiting.changed)
		go d.waiting.run(t.Context())
		node := testNode("node", 4, testPod("there", "job"))
		change := func() {
			next := changed(theirs, func(*v1alpha1.WorkloadProfile) {})
			d.index.OnUpdate(theirs, next)
			theirs = next
		}
		for range 6000 {
			change()
			state, pod := framework.NewCycleState(), testPod("new", "job")
			if _, status := d.PreFilter(t.Context(), state, pod, nil); !status.IsSuccess() {
				t.Fatal(status)
			}
			change() // in the middle of a cycle, too
			d.Filter(t.Context(), state, pod, node)
			d.PostFilter(t.Context(), state, pod, nil)
			<-time.After(100 * time.Millisecond) // by the clock of the test
		}
		most := retriesAtOnce + int(10*time.Minute/retryInterval)
		if n := again.sofar()["default/new"]; n > most || n < most-1 {
			t.Errorf("tried again %d times in 10 minutes, want %d", n, most)
		}
	})
}

// What changes while a pod is tried may come too early for it to be told.
func TestAChangeDuringTheCycleHasThePodTriedAgain(t *testing.T) {
	job := bounded(workload("job", demand("disk", 1)), 1.5)
	for _, changes := range []bool{false, true} {
		d := guarded(t, nil, job)
		state, pod := framework.NewCycleState(), testPod("new", "job")
		if _, status := d.PreFilter(t.Context(), state, pod, nil); !status.IsSuccess() {
			t.Fatal(status)
		}
		if changes {
			next := job.DeepCopy()
			next.Generation++
			d.index.OnUpdate(job, next)
		}
		d.Filter(t.Context(), state, pod, testNode("node", 4, testPod("there", "job")))
		d.PostFilter(t.Context(), state, pod, nil)
		if woken := len(d.waiting.wake) == 1; woken != changes {
			t.Errorf("a profile changed: %t, tried again: %t", changes, woken)
		}
	}
}

func TestAPodIsTriedAgainWhenItHasBeenHeldForLongEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := guarded(t, func(a *config.DilationArgs) { a.HoldMaxDilation, a.HoldMaxWait = 1.5, time.Minute }, workload("job", demand("disk", 1)))
		again := &activated{times: map[string]int{}}
		d.waiting.activator = again
		node, pod := testNode("node", 4, testPod("there", "job")), testPod("new", "job")
		for range 2 {
			if statuses, _ := filter(t, d, pod, node); statuses[0].IsSuccess() {
				t.Error("it is not held")
			}
			<-time.After(29 * time.Second)
		}
		synctest.Wait()
		tries := again.sofar()
		if len(tries) != 0 {
			t.Errorf("tried again too early: %v", tries)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		tries = again.sofar()
		if tries["default/new"] != 1 {
			t.Errorf("tried again: %v", tries)
		}
		if statuses, _ := filter(t, d, pod, node); !statuses[0].IsSuccess() {
			t.Errorf("it is still held: %v", statuses[0])
		}
	})
}

func TestEventsThatMayMakeRoom(t *testing.T) {
	job := bounded(workload("job", demand("disk", 1)), 1.5)
	d := guarded(t, nil, job, workload("other", demand("network", 1)), workload("rival", demand("disk", 1)))
	there := testPod("there", "rival")
	there.Spec.NodeName = "node"
	pod := testPod("new", "job")
	filter(t, d, pod, testNode("node", 4, there))
	elsewhere := testPod("elsewhere", "other")
	elsewhere.Spec.NodeName = "node"
	for name, test := range map[string]struct {
		old, changed any
		want         fwk.QueueingHint
	}{
		"a pod that was in the way is gone":           {there, nil, fwk.Queue},
		"a pod that was not in the way is gone":       {elsewhere, nil, fwk.QueueSkip},
		"a pod that waited for a node, too, is gone":  {testPod("waiting", "job"), nil, fwk.QueueSkip},
		"a pod that was in the way is made smaller":   {there, there, fwk.Queue},
		"the pod itself has other labels":             {pod, pod, fwk.Queue},
		"another pod that has no node has new labels": {testPod("waiting", "job"), testPod("waiting", "other"), fwk.QueueSkip},
		"a pod has come":                              {nil, there, fwk.QueueSkip},
	} {
		if hint, err := d.afterPodEvent(klog.Background(), pod, test.old, test.changed); err != nil || hint != test.want {
			t.Errorf("%s: %v, %v", name, hint, err)
		}
	}
}

func TestEventsOfNodesThatMayMakeRoom(t *testing.T) {
	fast := &v1alpha1.NodeProfile{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Spec: v1alpha1.NodeProfileSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "fast"}}, Resources: []v1alpha1.ResourceServers{{Name: "disk", Servers: new(int32(8))}},
	}}
	d := guarded(t, nil, bounded(workload("job", demand("disk", 1)), 1.5), fast)
	node := testNode("node", 4).Node()
	with := func(change func(*corev1.Node)) *corev1.Node {
		changed := node.DeepCopy()
		change(changed)
		return changed
	}
	allocatable := func(name corev1.ResourceName, quantity string) *corev1.Node {
		return with(func(n *corev1.Node) { n.Status.Allocatable[name] = resource.MustParse(quantity) })
	}
	label := func(name, value string) *corev1.Node {
		return with(func(n *corev1.Node) { n.Labels = map[string]string{name: value} })
	}
	for name, test := range map[string]struct {
		old  any
		now  *corev1.Node
		want fwk.QueueingHint
	}{
		"a node has come":                              {nil, node, fwk.Queue},
		"it is not ready, or has another taint":        {node, node, fwk.QueueSkip},
		"it has more processors":                       {node, allocatable(corev1.ResourceCPU, "8"), fwk.Queue},
		"it has more memory":                           {node, allocatable(corev1.ResourceMemory, "64Gi"), fwk.QueueSkip},
		"it has a device":                              {node, allocatable("nvidia.com/gpu", "1"), fwk.Queue},
		"it follows a NodeProfile now":                 {node, label("disk", "fast"), fwk.Queue},
		"it follows none any more":                     {label("disk", "fast"), node, fwk.Queue},
		"it has a label that no NodeProfile goes by":   {node, label("rack", "7"), fwk.QueueSkip},
		"such a label has changed":                     {label("rack", "7"), label("rack", "8"), fwk.QueueSkip},
		"it has as many processors, and a part of one": {node, allocatable(corev1.ResourceCPU, "4100m"), fwk.QueueSkip},
	} {
		if hint, err := d.afterNodeEvent(klog.Background(), testPod("new", "job"), test.old, test.now); err != nil || hint != test.want {
			t.Errorf("%s: %v, %v", name, hint, err)
		}
	}
}

// The event of a pod that is placed says how much slower it will run, because of what and of whom; who is dilated more than
// it may be gets a warning. There are as many events a second as the arguments say.
func TestPlacementsAreAnnounced(t *testing.T) {
	d := guarded(t, func(a *config.DilationArgs) { a.GuardMode, a.EventsPerSecond = configv1alpha1.GuardWarn, 1 },
		bounded(workload("job", demand("disk", 0.5)), 1.4), workload("other", demand("network", 1)))
	recorder := events.NewFakeRecorder(10)
	d.recorder = recorder
	node := testNode("node", 4, testPod("there", "job"))
	d.cluster = cluster{nodes: []fwk.NodeInfo{node}}
	for k, app := range []string{"job", "job", "other"} {
		state, pod := framework.NewCycleState(), testPod(fmt.Sprint("new-", k), app)
		if status := d.Reserve(t.Context(), state, pod, "node"); !status.IsSuccess() {
			t.Fatal(status)
		}
		d.PostBind(t.Context(), state, pod, "node")
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		node.AddPodInfo(info)
	}
	close(recorder.Events)
	var got []string
	for event := range recorder.Events {
		got = append(got, event)
	}
	const exceeded = "Warning DilationExceeded Predicted to run 1.60× slower than alone on node"
	want := []string{
		"Normal DilationPredicted Predicted to run 1.25× slower than alone on node, because of disk, mostly of default/there",
		exceeded + " now that default/new-1 is placed there, more than its limit of 1.40×, because of disk, mostly of default/new-0",
		exceeded + " now that default/new-1 is placed there, more than its limit of 1.40×, because of disk, mostly of default/there",
		exceeded + ", more than its limit of 1.40×, because of disk, mostly of default/there",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected events (-want +got):\n%s", diff)
	}
}

// What an event costs is bounded as what Filter costs is: without steps for the accurate model it names a bound.
func TestPlacementsAreAnnouncedByBoundsForWantOfSteps(t *testing.T) {
	d := guarded(t, func(a *config.DilationArgs) { a.EventsPerSecond = 1 }, workload("job", demand("disk", 0.5)))
	recorder := events.NewFakeRecorder(1)
	d.recorder = recorder
	d.budget.SetBurst(0)
	d.cluster = cluster{nodes: []fwk.NodeInfo{testNode("node", 4, testPod("there", "job"))}}
	state, pod := framework.NewCycleState(), testPod("new", "job")
	if status := d.Reserve(t.Context(), state, pod, "node"); !status.IsSuccess() {
		t.Fatal(status)
	}
	c, err := cycleOf(state)
	if err != nil {
		t.Fatal(err)
	}
	c.budget.left.Store(0)
	d.PostBind(t.Context(), state, pod, "node")
	const want = "Normal DilationPredicted Predicted to run at most 1.50× slower than alone on node"
	if got := <-recorder.Events; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// However many pods are on a node, an event costs little: beyond what a kubelet runs it names the bound that the guard looks at, and where there
// is none there is no event.
func TestPlacementsAmongManyPodsAreAnnouncedByASimpleBound(t *testing.T) {
	for loading, want := range map[float64][]string{
		0.0001: {"Normal DilationPredicted Predicted to run at most 1.06× slower than alone on node"}, // 1 + 0.5·0.1/0.9
		0.01:   nil,
	} {
		d := guarded(t, func(a *config.DilationArgs) { a.GuardMode, a.EventsPerSecond = configv1alpha1.GuardOff, 1 }, workload("job", demand("disk", loading)), workload("new", demand("disk", 0.5)))
		recorder := events.NewFakeRecorder(1)
		d.recorder = recorder
		pods := make([]*corev1.Pod, maxWorkedOut)
		for k := range pods {
			pods[k] = testPod(fmt.Sprint("there-", k), "job")
		}
		d.cluster = cluster{nodes: []fwk.NodeInfo{testNode("node", 4, pods...)}}
		state, pod := framework.NewCycleState(), testPod("new", "new")
		if status := d.Reserve(t.Context(), state, pod, "node"); !status.IsSuccess() {
			t.Fatal(status)
		}
		d.PostBind(t.Context(), state, pod, "node")
		close(recorder.Events)
		var got []string
		for event := range recorder.Events {
			got = append(got, event)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("beside pods of loading %v: unexpected events (-want +got):\n%s", loading, diff)
		}
	}
}

func TestSignaturesTellApartWhatBoundsTellApart(t *testing.T) {
	d := guarded(t, func(a *config.DilationArgs) { a.HoldMaxDilation, a.HoldMaxWait = 1.5, time.Nanosecond }, bounded(workload("job", demand("disk", 1)), 1.5))
	sign := func() any {
		fragments, status := d.SignPod(t.Context(), testPod("new", "job"))
		if !status.IsSuccess() {
			t.Fatal(status)
		}
		return fmt.Sprint(fragments[0].Value)
	}
	before := sign()
	d.modes.OnAdd(&corev1.Namespace{ObjectMeta: withLabel("default", v1alpha1.GuardLabel, "warn")}, false)
	warned := sign()
	filter(t, d, testPod("new", "job"), testNode("node", 4, testPod("there", "job")))
	held := sign()
	if before == warned || warned == held {
		t.Errorf("enforced %v, warned %v, held %v", before, warned, held)
	}
}

// Where a profile was measured on some class of nodes, its pods have no one vector, and may be in the way of any.
func TestAMeasuredPodThatIsGoneMayMakeRoom(t *testing.T) {
	job := bounded(workload("job", demand("disk", 1)), 1.5)
	d := guarded(t, nil, job, workload("rival", demand("disk", 1)), measuredOn(workload("measured", demand("network", 1)), "fast", map[string]float64{"disk": 1}))
	pod, gone := testPod("new", "job"), testPod("gone", "measured")
	gone.Spec.NodeName = "node"
	filter(t, d, pod, testNode("node", 4, testPod("there", "rival")))
	if hint, err := d.afterPodEvent(klog.Background(), pod, gone, nil); err != nil || hint != fwk.Queue {
		t.Errorf("%v, %v", hint, err)
	}
}
