package dilation

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
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

func TestObjectives(t *testing.T) {
	light, heavy := workload("light", demand("disk", 0.1)), workload("heavy", demand("disk", 0.6))
	critical := bounded(workload("critical", demand("disk", 0.2)), 1.1)
	for name, test := range map[string]struct {
		objective configv1alpha1.Objective
		app       string
		nodes     map[string][]string
		want      string
	}{
		"the fullest node where no pod is dilated too much": {
			configv1alpha1.ObjectivePacking, "light", map[string][]string{"empty": nil, "fuller": {"light", "light"}, "too full": {"heavy", "heavy", "heavy"}}, "fuller",
		},
		"where all are too full, the one with the least dilation": {
			configv1alpha1.ObjectivePacking, "heavy", map[string][]string{"heavy": {"heavy", "heavy"}, "light": {"heavy"}}, "light",
		},
		"the least total": {
			configv1alpha1.ObjectiveTotal, "heavy", map[string][]string{"critical": {"critical"}, "light": {"light", "light", "light"}}, "critical",
		},
		"the least risk of an SLA": {
			configv1alpha1.ObjectiveSLARisk, "heavy", map[string][]string{"critical": {"critical"}, "light": {"light", "light", "light"}}, "light",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := guarded(t, func(a *config.DilationArgs) { a.Objective, a.PackingMaxDilation = test.objective, 1.2 }, light, heavy, critical)
			var list []fwk.NodeInfo
			for node, apps := range test.nodes {
				var pods []*corev1.Pod
				for k, app := range apps {
					pods = append(pods, requesting(testPod(fmt.Sprint(node, k), app), "1", ""))
				}
				info := framework.NewNodeInfo(pods...)
				info.SetNode(testNode(node, 8).Node())
				list = append(list, info)
			}
			_, normalized := scores(t, d, requesting(testPod("new", test.app), "1", ""), list)
			for _, s := range normalized {
				if best := s.Score == fwk.MaxScore; best != (s.Name == test.want) {
					t.Errorf("want %s: %v", test.want, normalized)
				}
			}
		})
	}
}

// Own looks at the pod alone: one that presses on others and hardly waits itself goes where the others are many.
func TestOwnLeavesNeighboursOutOfAccount(t *testing.T) {
	pushy := workload("pushy", demand("disk", 0.05))
	pushy.Spec.Resources[0].Pressure = quantity(0.9)
	meek := workload("meek", demand("disk", 0.5))
	meek.Spec.Resources[0].Pressure = quantity(0.01)
	loud := workload("loud", demand("disk", 0.05))
	loud.Spec.Resources[0].Pressure = quantity(0.3)
	for objective, want := range map[configv1alpha1.Objective]string{configv1alpha1.ObjectiveOwn: "meek", configv1alpha1.ObjectiveTotal: "loud"} {
		d := guarded(t, func(a *config.DilationArgs) { a.Objective = objective }, pushy, meek, loud)
		list := []fwk.NodeInfo{testNode("meek", 4, testPod("a", "meek")), testNode("loud", 4, testPod("b", "loud"))}
		_, normalized := scores(t, d, testPod("new", "pushy"), list)
		for _, s := range normalized {
			if best := s.Score == fwk.MaxScore; best != (s.Name == want) {
				t.Errorf("%s: want %s, got %v", objective, want, normalized)
			}
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

// Two nodes are alike but for which of their pods is important.
func TestNeighboursAreSparedByTheirImportance(t *testing.T) {
	important, job := workload("important", demand("disk", 0.3)), workload("job", demand("disk", 0.4))
	nodes := []fwk.NodeInfo{testNode("important", 4, testPod("a", "important")), testNode("job", 4, testPod("b", "job"))}
	best := func(d *Dilation) string {
		_, normalized := scores(t, d, testPod("new", "job"), nodes)
		return normalized[slices.IndexFunc(normalized, func(s fwk.NodeScore) bool { return s.Score == fwk.MaxScore })].Name
	}
	if got := best(testPlugin(t, important, job)); got != "important" {
		t.Errorf("where all are as important: %s", got)
	}
	important.Spec.Importance = quantity(5)
	d := testPlugin(t, important, job)
	if got := best(d); got != "job" {
		t.Errorf("where one is more important: %s", got)
	}
	raw, _ := scores(t, d, testPod("new", "important"), nodes)
	for i, want := range []float64{0.3*0.3*5 + 5*0.3*0.3, 5*0.3*0.4 + 0.3*0.4} {
		if got := decodeCost(raw[i].Score); math.Abs(got-want) > 1e-12 {
			t.Errorf("on %s it costs %v, want %v", nodes[i].Node().Name, got, want)
		}
	}
}

// A bound of 1 is exceeded by any wait, and the model cannot predict a pod without containers: neither spoils the scores.
func TestNodesThatCannotBeJudgedScoreLowest(t *testing.T) {
	for _, objective := range []configv1alpha1.Objective{configv1alpha1.ObjectiveSLARisk, configv1alpha1.ObjectivePacking} {
		strict := bounded(workload("strict", demand("disk", 0.5)), 1)
		d := guarded(t, func(a *config.DilationArgs) { a.Objective, a.GuardMode = objective, configv1alpha1.GuardWarn }, strict, workload("job", demand("disk", 0.9)))
		broken := testPod("broken", "job")
		broken.Spec.Containers = nil
		list := []fwk.NodeInfo{testNode("free", 4), testNode("strict", 4, testPod("there", "strict")), testNode("broken", 4, broken)}
		_, normalized := scores(t, d, testPod("new", "strict"), list)
		for _, s := range normalized {
			if s.Score < fwk.MinScore || s.Score > fwk.MaxScore || (s.Score == fwk.MaxScore) != (s.Name == "free") {
				t.Errorf("%s: %v", objective, normalized)
			}
		}
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
