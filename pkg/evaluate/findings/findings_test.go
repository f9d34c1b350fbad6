package findings_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/gauge/usage"
)

func nodeNamed(name, cpu string) corev1.Node {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse("110")}
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: amounts, Capacity: amounts}}
}

// pod returns a pod of a Deployment of its name.
func pod(name, node, request, limit string) corev1.Pod {
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"pod-template-hash": "5d4f"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-5d4f", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main"}}},
	}
	set := func(list *corev1.ResourceList, cpu string) {
		if cpu != "" {
			*list = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
		}
	}
	set(&p.Spec.Containers[0].Resources.Requests, request)
	set(&p.Spec.Containers[0].Resources.Limits, limit)
	return p
}

// seen is a pod of one thread with that loading, which waited and was throttled for these fractions of an interval.
func seen(name string, loading, wait, throttled float64) usage.Pod {
	neutral := 1 - wait - throttled
	return usage.Pod{
		UID: "uid-" + name, Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1 / neutral, CPULoading: loading,
		Times: usage.Times{Run: 10 * loading * neutral, Wait: 10 * wait, Throttled: 10 * throttled},
	}
}

// sight is what a gauge saw in six intervals of ten seconds.
func sight(node string, cpus int, stolen float64, pods ...usage.Pod) observed.Sight {
	s := observed.Sight{Node: node, Age: 3 * time.Second}
	busy := 0.0
	for _, p := range pods {
		busy += p.Run
	}
	for range 6 {
		s.Intervals = append(s.Intervals, usage.Interval{Node: node, Seconds: 10, CPUs: cpus, BusySeconds: busy, StolenSeconds: 10 * stolen, Pods: pods})
	}
	return s
}

// fataler is a test, or one of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// asked has the scheduler say of the nodes of an input where pods may run.
func asked(t fataler, in *observed.Input) *plan.Options {
	t.Helper()
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Options{Feasibility: filter}
}

func of(t *testing.T, in *observed.Input) *findings.Answer {
	t.Helper()
	return above(t, 0, in)
}

// above is the answer about pods that are slowed down at least so much.
func above(t *testing.T, dilation float64, in *observed.Input) *findings.Answer {
	t.Helper()
	o := asked(t, in)
	o.Above = dilation
	answer, err := findings.Find(in, o)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func only(t *testing.T, in *observed.Input) *findings.Finding {
	t.Helper()
	answer := of(t, in)
	if len(answer.Findings) != 1 {
		t.Fatalf("got %d findings, want one: %+v", len(answer.Findings), answer.Findings)
	}
	return &answer.Findings[0]
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s: got %.3f, want %.3f ± %.3f", what, got, want, within)
	}
}

// A pod that needs 60 % of a core, with a tenth of the weight of one that always runs: it gets its eleventh of the core.
func TestAPodWithTooSmallARequestIsToldToRaiseIt(t *testing.T) {
	t.Parallel()
	f := only(t, &observed.Input{
		Nodes:  []corev1.Node{nodeNamed("worker-1", "1")},
		Pods:   []corev1.Pod{pod("cart", "worker-1", "50m", ""), pod("sort", "worker-1", "500m", "")},
		Sights: []observed.Sight{sight("worker-1", 1, 0, seen("cart", 0.6, 1-1/6.6, 0), seen("sort", 1, 0.08, 0))},
	})
	if f.Pod.Pod != "shop/cart" || f.Workload != "Deployment shop/cart" || f.Node != "worker-1" || !f.AtLeast || f.SinceSeconds != 60 {
		t.Errorf("got %+v", f)
	}
	near(t, "dilation", f.Dilation, 6.6, 1e-9)
	if len(f.Causes) != 1 || f.Causes[0].Kind != observed.ByNeighbour || f.Causes[0].Pod != "shop/sort" || f.Causes[0].Workload != "Deployment shop/sort" {
		t.Fatalf("causes: %+v", f.Causes)
	}
	near(t, "what the neighbour adds", f.Causes[0].Dilation, 5.6, 1e-9)
	if f.Remedy.Action != findings.RaiseRequest || f.Remedy.Request.String() != "500m" {
		t.Fatalf("remedy: %+v", f.Remedy)
	}
	near(t, "dilation with the request, as that of equals", f.Remedy.Dilation, 1.6, 0.06)
	if len(f.Remedy.Others) != 1 || f.Remedy.Others[0].Pod != "shop/sort" || f.Remedy.Others[0].Then <= f.Remedy.Others[0].Now {
		t.Errorf("others: %+v", f.Remedy.Others)
	}
}

// Of three cores a database has two for itself, and leaves one to pods that need 80 % of a core each: each waits 4/9 of its time
// for the other. Were all three cores for all, the database would be blamed.
func TestPodsOnCoresOfTheirOwnAreNoNeighbours(t *testing.T) {
	t.Parallel()
	const wait = 4.0 / 9
	db := seen("db", 1, 0, 0)
	db.Threads, db.Run = 2, 20
	s := sight("worker-1", 3, 0, db, seen("cart", 0.8, wait, 0), seen("sort", 0.8, wait, 0))
	for i := range s.Intervals {
		s.Intervals[i].ExclusiveCPUs = true
	}
	in := &observed.Input{
		Nodes:  []corev1.Node{nodeNamed("worker-1", "3")},
		Pods:   []corev1.Pod{pod("db", "worker-1", "2", "2"), pod("cart", "worker-1", "300m", ""), pod("sort", "worker-1", "300m", "")},
		Sights: []observed.Sight{s},
	}
	for i, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} { // Guaranteed
		r := &in.Pods[0].Spec.Containers[0].Resources
		quantity := []resource.Quantity{resource.MustParse("2"), resource.MustParse("1Gi")}[i]
		r.Requests[name], r.Limits[name] = quantity, quantity
	}
	answer := of(t, in)
	if len(answer.Findings) != 2 {
		t.Fatalf("got %d findings, want one about each pod that shares a core: %+v", len(answer.Findings), answer.Findings)
	}
	for _, f := range answer.Findings {
		other := map[string]string{"shop/cart": "shop/sort", "shop/sort": "shop/cart"}[f.Pod.Pod]
		if c := f.Causes[0]; c.Kind != observed.ByNeighbour || c.Pod != other {
			t.Errorf("%s: the first cause is %+v, want %s", f.Pod.Pod, c, other)
		}
		near(t, f.Pod.Pod+" by the model", *f.Predicted, 1+wait/(1-wait), 0.25)
	}
	for i := range s.Intervals {
		s.Intervals[i].ExclusiveCPUs = false
	}
	for _, f := range of(t, in).Findings {
		if f.Causes[0].Pod != "shop/db" {
			t.Errorf("%s: with all cores for all, the first cause is %+v, want the pod that is busiest", f.Pod.Pod, f.Causes[0])
		}
	}
}

func TestAPodThatItsLimitHoldsBackIsToldToRaiseIt(t *testing.T) {
	t.Parallel()
	f := only(t, &observed.Input{
		Nodes:  []corev1.Node{nodeNamed("worker-1", "2")},
		Pods:   []corev1.Pod{pod("api", "worker-1", "100m", "300m")},
		Sights: []observed.Sight{sight("worker-1", 2, 0, seen("api", 0.5, 0, 0.4))},
	})
	if len(f.Causes) != 1 || f.Causes[0].Kind != observed.ByLimit {
		t.Fatalf("causes: %+v", f.Causes)
	}
	if f.Remedy.Action != findings.RaiseLimit || f.Remedy.Limit.String() != "1" {
		t.Errorf("remedy: %+v", f.Remedy)
	}
	near(t, "dilation then", f.Remedy.Dilation, 1, 1e-9)
}

// A pod of 0.5 that may use 0.2 takes 2.5 times as long, whether or not some of that is waiting.
func TestWaitingThatTheLimitWouldTakeIsNoNeighbours(t *testing.T) {
	t.Parallel()
	f := only(t, &observed.Input{
		Nodes:  []corev1.Node{nodeNamed("worker-1", "1")},
		Pods:   []corev1.Pod{pod("api", "worker-1", "200m", "200m"), pod("log", "worker-1", "100m", "")},
		Sights: []observed.Sight{sight("worker-1", 1, 0, seen("api", 0.5, 0.1, 0.5), seen("log", 0.05, 0, 0))},
	})
	if f.Causes[0].Kind != observed.ByLimit || f.Causes[0].Dilation < 1.4 {
		t.Errorf("causes: %+v", f.Causes)
	}
}

func TestTheHypervisorIsToldFromNeighbours(t *testing.T) {
	t.Parallel()
	f := only(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1")},
		Pods:  []corev1.Pod{pod("report", "worker-1", "100m", "")},
		// It wants to run always, gets 70 %, and the rest seems to be sleep.
		Sights: []observed.Sight{sight("worker-1", 1, 0.3, seen("report", 0.7, 0, 0))},
	})
	near(t, "dilation", f.Dilation, 1/0.7, 1e-9)
	near(t, "loading", f.CPULoading, 1, 1e-9)
	if len(f.Causes) != 1 || f.Causes[0].Kind != observed.ByHypervisor || f.Remedy.Action != findings.Leave {
		t.Errorf("got %+v", f)
	}
}

func TestEqualPodsAreMovedApartWhereANodeTakesOne(t *testing.T) {
	t.Parallel()
	in := &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1"), nodeNamed("worker-2", "1"), nodeNamed("worker-3", "1")},
		Pods: []corev1.Pod{
			pod("a", "worker-1", "200m", ""), pod("b", "worker-1", "200m", ""), pod("c", "worker-2", "200m", ""),
		},
		Sights: []observed.Sight{
			sight("worker-1", 1, 0, seen("a", 1, 0.5, 0), seen("b", 1, 0.5, 0)),
			sight("worker-2", 1, 0, seen("c", 1, 0, 0)),
			sight("worker-3", 1, 0),
		},
	}
	answer := of(t, in)
	if len(answer.Findings) != 2 {
		t.Fatalf("got %+v", answer.Findings)
	}
	for i, f := range answer.Findings {
		want := []findings.Action{findings.MovePod, findings.MoveNeighbour}[i] // one step helps both
		if f.Remedy.Action != want || f.Remedy.Step != 1 || f.Remedy.Pod != "shop/a" || f.Remedy.Node != "worker-3" || len(f.Remedy.Others) != 1 {
			t.Errorf("%s: remedy: %+v", f.Pod.Pod, f.Remedy)
		}
		near(t, "dilation there", f.Remedy.Dilation, 1, 1e-9)
	}

	t.Run("but not by a pod that a DaemonSet makes", func(t *testing.T) {
		t.Parallel()
		other := *in
		other.Pods = append([]corev1.Pod{}, in.Pods...)
		other.Pods[0].OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "a", Controller: new(true)}}
		f := of(t, &other).Findings[0]
		if f.Pod.Pod != "shop/a" || f.Remedy.Action != findings.MoveNeighbour || f.Remedy.Pod != "shop/b" || f.Remedy.Node != "worker-3" {
			t.Errorf("got %+v", f)
		}
	})
	t.Run("nor to a node that does not take it", func(t *testing.T) {
		t.Parallel()
		other := *in
		other.Nodes = append([]corev1.Node{}, in.Nodes...)
		other.Nodes[2].Spec.Unschedulable = true
		if f := of(t, &other).Findings[0]; f.Remedy.Action != findings.Leave || f.Remedy.Dilation != f.Dilation {
			t.Errorf("got %+v", f.Remedy)
		}
	})
	t.Run("nor to one that was not observed", func(t *testing.T) {
		t.Parallel()
		other := *in
		other.Sights = in.Sights[:2]
		if f := of(t, &other).Findings[0]; f.Remedy.Action != findings.Leave {
			t.Errorf("got %+v", f.Remedy)
		}
	})
}

func TestThreadsThatAreInEachOthersWayAreNotBlamedOnNeighbours(t *testing.T) {
	t.Parallel()
	many := seen("build", 1, 0.5, 0)
	many.Tasks, many.Threads = 4, 4
	many.Run, many.Wait = 20, 20
	f := only(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "2")}, Pods: []corev1.Pod{pod("build", "worker-1", "", "")},
		Sights: []observed.Sight{sight("worker-1", 2, 0, many)},
	})
	if len(f.Causes) != 1 || f.Causes[0].Kind != observed.ByItself {
		t.Errorf("causes: %+v", f.Causes)
	}
}

func TestWhatRunsInNoPodIsTheSystem(t *testing.T) {
	t.Parallel()
	s := sight("worker-1", 1, 0, seen("api", 0.8, 0.4, 0))
	for i := range s.Intervals {
		s.Intervals[i].BusySeconds = 9.9
	}
	f := only(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("api", "worker-1", "100m", "")}, Sights: []observed.Sight{s},
	})
	if f.Causes[0].Kind != observed.BySystem {
		t.Errorf("causes: %+v", f.Causes)
	}
}

// A pod that has ended since is not named, and what it ran is not taken for something outside of pods.
func TestWhatPodsRanThatHaveEndedIsTheirs(t *testing.T) {
	t.Parallel()
	s := sight("worker-1", 1, 0, seen("api", 0.8, 0.4, 0))
	for i := range s.Intervals {
		if i < len(s.Intervals)-1 {
			s.Intervals[i].Pods = append(s.Intervals[i].Pods, seen("job", 1, 0.5, 0))
		}
		s.Intervals[i].BusySeconds = 9.9
	}
	f := only(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("api", "worker-1", "100m", "")}, Sights: []observed.Sight{s},
	})
	if f.Causes[0].Kind != observed.ByEnded {
		t.Errorf("causes: %+v", f.Causes)
	}
}

// On a node of two processors where nothing else is, a pod waits for what runs in no pod, however seldom the model would have it wait:
// whether it uses much, next to nothing, or is one of two of which the other can have been in the way for a moment only.
func TestWaitingWhereNothingElseRunsIsTheNodes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loading, wait, stolen float64
		others                []usage.Pod
		want                  observed.Kind
	}{
		"much":                       {0.83, 0.4, 0, nil, observed.BySystem},
		"next to nothing":            {0.001, 0.4, 0, nil, observed.BySystem},
		"beside one that is idle":    {0.83, 0.4, 0, []usage.Pod{seen("log", 0.001, 0, 0)}, observed.BySystem},
		"what the hypervisor may do": {0.126, 0.18, 1.3, nil, observed.ByUnclear},
	} {
		s := sight("worker-1", 2, c.stolen, append(c.others, seen("kv", c.loading, c.wait, 0))...)
		for i := range s.Intervals {
			s.Intervals[i].BusySeconds = 19.5
		}
		f := only(t, &observed.Input{
			Nodes: []corev1.Node{nodeNamed("worker-1", "2")}, Pods: []corev1.Pod{pod("kv", "worker-1", "1", ""), pod("log", "worker-1", "1m", "")}, Sights: []observed.Sight{s},
		})
		waiting := 0.0
		for _, cause := range f.Causes {
			if cause.Kind != observed.ByHypervisor {
				waiting += cause.Dilation
			}
			if cause.Kind == c.want {
				waiting -= cause.Dilation
			}
		}
		near(t, name+": what is not of "+string(c.want), waiting, 0, 0.04)
	}
}

func TestWaitingThatNothingExplainsNamesNoPod(t *testing.T) {
	t.Parallel()
	f := only(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "4")}, Pods: []corev1.Pod{pod("api", "worker-1", "100m", ""), pod("log", "worker-1", "100m", "")},
		Sights: []observed.Sight{sight("worker-1", 4, 0, seen("api", 0.8, 0.5, 0), seen("log", 0.05, 0, 0))},
	})
	if f.Causes[0].Kind != observed.ByUnclear || f.Causes[0].Dilation < 0.9 || f.Remedy.Action != findings.Leave {
		t.Errorf("got %+v", f)
	}
}

func TestGaugesThatReadSeldomAreJudgedByTwoIntervals(t *testing.T) {
	t.Parallel()
	s := sight("worker-1", 1, 0, seen("a", 1, 0.5, 0), seen("b", 1, 0.5, 0))
	for i := range s.Intervals {
		s.Intervals[i].Seconds = 300
		s.Intervals[i].Pods = slices.Clone(s.Intervals[i].Pods)
		for k := range s.Intervals[i].Pods {
			s.Intervals[i].Pods[k].Seconds = 300
		}
	}
	s.Age = 10 * time.Minute
	in := &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("a", "worker-1", "1m", ""), pod("b", "worker-1", "1m", "")}, Sights: []observed.Sight{s}}
	if answer := of(t, in); len(answer.Findings) != 2 || answer.Pods[0].Seconds != 600 {
		t.Errorf("got %+v", answer)
	}
	s.Age = 16 * time.Minute
	in.Sights = []observed.Sight{s}
	if answer := of(t, in); answer.Nodes[0].Problem != "its gauge has stopped observing" {
		t.Errorf("got %+v", answer.Nodes)
	}
}

func TestALowerBoundHasCausesToo(t *testing.T) {
	t.Parallel()
	in := &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("a", "worker-1", "1m", ""), pod("b", "worker-1", "1m", "")},
		Sights: []observed.Sight{sight("worker-1", 1, 0, seen("a", 0.3, 0.03, 0), seen("b", 0.1, 0, 0))},
	}
	if a := above(t, 1.02, in); len(a.Findings) != 1 || len(a.Findings[0].Causes) == 0 {
		t.Errorf("got %+v", a.Findings)
	}
}

func TestNothingIsFoundWhereThereIsNothing(t *testing.T) {
	t.Parallel()
	pods := []corev1.Pod{pod("a", "worker-1", "1", ""), pod("young", "worker-1", "1", ""), pod("far", "worker-2", "1", "")}
	quiet := sight("worker-1", 2, 0, seen("a", 0.7, 0.02, 0))
	young := seen("young", 1, 0.6, 0)
	last := &quiet.Intervals[5]
	last.Pods = append([]usage.Pod{}, last.Pods[0], young)
	answer := of(t, &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "2"), nodeNamed("worker-2", "2")}, Pods: pods, Sights: []observed.Sight{quiet}})
	if len(answer.Findings) != 0 || answer.Short != 1 || answer.Unseen != 1 || len(answer.Pods) != 2 {
		t.Errorf("got %+v", answer)
	}
	if answer.Nodes[1].Problem != "there is no gauge" || answer.Nodes[0].Problem != "" {
		t.Errorf("nodes: %+v", answer.Nodes)
	}
}

func TestANodeThatCannotBeSeenSaysWhy(t *testing.T) {
	t.Parallel()
	old, empty, broken := sight("worker-1", 2, 0, seen("a", 1, 0.5, 0)), observed.Sight{Node: "worker-1"}, observed.Sight{Node: "worker-1", Problem: "timed out"}
	old.Age = 2 * time.Minute
	for want, s := range map[string]observed.Sight{
		"its gauge has stopped observing":         old,
		"its gauge has not observed anything yet": empty,
		"timed out": broken,
	} {
		answer := of(t, &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "2")}, Pods: []corev1.Pod{pod("a", "worker-1", "1", "")}, Sights: []observed.Sight{s}})
		if got := answer.Nodes[0].Problem; got != want || len(answer.Findings) != 0 || answer.Unseen != 1 {
			t.Errorf("got %q, want %q; %+v", got, want, answer)
		}
	}
	unknown := of(t, &observed.Input{Sights: []observed.Sight{sight("gone", 1, 0, seen("a", 1, 0.5, 0))}})
	if unknown.Nodes[0].Problem != "the API server does not know the node" {
		t.Errorf("got %+v", unknown.Nodes)
	}
	impossible := pod("a", "worker-1", "1", "")
	impossible.Spec.Containers = nil
	answer := of(t, &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "2")}, Pods: []corev1.Pod{impossible}, Sights: []observed.Sight{sight("worker-1", 2, 0, seen("a", 1, 0.5, 0))}})
	if !strings.Contains(answer.Nodes[0].Problem, "spec.containers") {
		t.Errorf("got %+v", answer.Nodes)
	}
}

func TestStaticPodsAreKnownByTheHashOfTheirManifest(t *testing.T) {
	t.Parallel()
	static := pod("etcd", "worker-1", "100m", "")
	static.UID = "of-the-mirror"
	static.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "uid-etcd"}
	static.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "worker-1", Controller: new(true)}}
	answer := of(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{static}, Sights: []observed.Sight{sight("worker-1", 1, 0, seen("etcd", 0.3, 0, 0))},
	})
	if len(answer.Pods) != 1 || answer.Pods[0].Workload != "Pod shop/etcd" {
		t.Errorf("got %+v", answer.Pods)
	}
}

func TestPodsOfAWorkloadAreOneRow(t *testing.T) {
	t.Parallel()
	replica := func(name string) corev1.Pod {
		p := pod("cart", "worker-1", "100m", "")
		p.Name, p.UID = name, types.UID("uid-"+name)
		return p
	}
	answer := of(t, &observed.Input{
		Nodes:  []corev1.Node{nodeNamed("worker-1", "1")},
		Pods:   []corev1.Pod{replica("cart-1"), replica("cart-2"), replica("cart-3"), pod("sort", "worker-1", "100m", "")},
		Sights: []observed.Sight{sight("worker-1", 1, 0, seen("cart-1", 0.5, 0.5, 0), seen("cart-2", 0.5, 0.3, 0), seen("cart-3", 0.01, 0, 0), seen("sort", 1, 0.1, 0))},
	})
	groups := answer.ByWorkload()
	if len(groups) != 1 {
		t.Fatalf("got %+v", groups)
	}
	g := groups[0]
	if g.Workload != "Deployment shop/cart" || g.Slowed != 2 || g.Pods != 3 || g.Of != "shop/cart-1" {
		t.Errorf("got %+v", g)
	}
	near(t, "mean", g.Dilation, (2+1/0.7)/2, 1e-9)
	near(t, "worst", g.Worst, 2, 1e-9)
	sum := 0.0
	for _, c := range g.Causes {
		sum += c.Dilation
	}
	near(t, "causes", sum, g.Dilation-1, 1e-9)
	if g.Causes[0].Workload != "Deployment shop/sort" || g.Causes[0].Pod != "" {
		t.Errorf("causes: %+v", g.Causes)
	}

	some := answer.In([]string{"bank"}, nil)
	if len(some.Findings)+len(some.Pods) != 0 || len(some.Nodes) != 1 {
		t.Errorf("of another namespace: %+v", some)
	}
	if some := answer.In([]string{"shop"}, []string{"worker-1"}); len(some.Findings) != 2 || len(some.Pods) != 4 {
		t.Errorf("of this one: %+v", some)
	}
	if some := answer.In(nil, []string{"worker-2"}); len(some.Findings)+len(some.Pods)+len(some.Nodes) != 0 {
		t.Errorf("on another node: %+v", some)
	}
}

func TestOfSomePodsThoseThatAreUnseenAreCountedToo(t *testing.T) {
	t.Parallel()
	other := pod("ledger", "worker-2", "100m", "")
	other.Namespace = "bank"
	answer := of(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "1"), nodeNamed("worker-2", "1"), nodeNamed("worker-3", "1")},
		Pods: []corev1.Pod{
			pod("cart", "worker-1", "100m", ""), pod("sort", "worker-2", "100m", ""), pod("till", "worker-2", "100m", ""), other, pod("api", "worker-3", "100m", ""),
		},
		Sights: []observed.Sight{sight("worker-1", 1, 0, seen("cart", 0.5, 0, 0))},
	})
	for name, test := range map[string]struct {
		namespaces, nodes []string
		want              int
	}{
		"all":                      {nil, nil, 4},
		"a namespace":              {[]string{"bank"}, nil, 1},
		"a node":                   {nil, []string{"worker-2"}, 3},
		"two nodes":                {nil, []string{"worker-1", "worker-3"}, 1},
		"a namespace on a node":    {[]string{"shop"}, []string{"worker-2"}, 2},
		"a node that was observed": {nil, []string{"worker-1"}, 0},
	} {
		some := answer.In(test.namespaces, test.nodes)
		if some.Unseen != test.want {
			t.Errorf("%s: %d, want %d", name, some.Unseen, test.want)
		}
		if again := some.In(test.namespaces, test.nodes); again.Unseen != test.want {
			t.Errorf("%s, twice: %d, want %d", name, again.Unseen, test.want)
		}
	}
	if answer.Unseen != 4 {
		t.Errorf("afterwards there are %d", answer.Unseen)
	}
}

func TestSinceIsAsLongAsItLasts(t *testing.T) {
	t.Parallel()
	s := sight("worker-1", 1, 0, seen("a", 1, 0.5, 0), seen("b", 1, 0.5, 0))
	for i := range 3 {
		s.Intervals[i].Pods = []usage.Pod{seen("a", 1, 0, 0)}
	}
	in := &observed.Input{Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("a", "worker-1", "1m", ""), pod("b", "worker-1", "1m", "")}, Sights: []observed.Sight{s}}
	for _, f := range of(t, in).Findings {
		if f.SinceSeconds != 30 || f.AtLeast {
			t.Errorf("%s: since %v, at least: %t", f.Pod.Pod, f.SinceSeconds, f.AtLeast)
		}
	}
}

// A gauge remembers for longer than it keeps intervals.
func TestSinceGoesBackToWhatTheGaugeRemembers(t *testing.T) {
	t.Parallel()
	type since struct {
		seconds float64
		atLeast bool
	}
	for name, c := range map[string]struct {
		above  float64
		slowed float64
		before bool
		want   since
	}{
		"nothing":                            {0, 0, false, since{60, true}},
		"more than it keeps":                 {0, 7200, false, since{7200, false}},
		"ever since it began":                {0, 7200, true, since{7200, true}},
		"less than it keeps":                 {0, 50, true, since{60, true}},
		"about less than is asked for":       {3, 7200, false, since{60, true}},
		"about more than is asked for":       {1.1, 7200, false, since{7200, false}},
		"as long as there is a duration for": {0, 1e9, false, since{1e9, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sight("worker-1", 1, 0, seen("a", 1, 0.8, 0), seen("b", 1, 0.8, 0))
			last := &s.Intervals[len(s.Intervals)-1]
			last.Pods = slices.Clone(last.Pods)
			for k := range last.Pods {
				last.Pods[k].SlowedSeconds, last.Pods[k].SlowedBefore = c.slowed, c.before
			}
			in := &observed.Input{
				Nodes: []corev1.Node{nodeNamed("worker-1", "1")}, Pods: []corev1.Pod{pod("a", "worker-1", "1m", ""), pod("b", "worker-1", "1m", "")},
				Sights: []observed.Sight{s},
			}
			all := above(t, c.above, in).Findings
			if len(all) != 2 {
				t.Fatalf("%d findings", len(all))
			}
			if got := (since{all[0].SinceSeconds, all[0].AtLeast}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestABoundThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, above := range []float64{1, 0.5, -1, math.NaN(), math.Inf(1)} {
		if _, err := findings.Find(&observed.Input{}, &plan.Options{Above: above}); err == nil || !strings.HasPrefix(err.Error(), "above: ") {
			t.Errorf("%v: got %v", above, err)
		}
	}
}

// Whatever gauges say: causes add up to what they explain, remedies win, and nothing is no number.
func TestFindingsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := &observed.Input{Weights: rapid.SampledFrom([]cgroup.Options{{}, {Pods: cgroup.None, Containers: cgroup.None}}).Draw(t, "weights")}
		for n := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			name, cpus := "worker-"+string(rune('1'+n)), rapid.IntRange(1, 4).Draw(t, "cpus")
			in.Nodes = append(in.Nodes, nodeNamed(name, string(rune('0'+cpus))))
			var pods []usage.Pod
			for k := range rapid.IntRange(0, 4).Draw(t, "pods") {
				p := name + string(rune('a'+k))
				request := rapid.SampledFrom([]string{"", "1m", "50m", "500m"}).Draw(t, "request")
				limit := rapid.SampledFrom([]string{"", "", "500m", "3"}).Draw(t, "limit")
				in.Pods = append(in.Pods, pod(p, name, request, limit))
				wait := rapid.Float64Range(0, 0.9).Draw(t, "wait")
				throttled := rapid.SampledFrom([]float64{0, 0, 0.05}).Draw(t, "throttled")
				s := seen(p, rapid.SampledFrom([]float64{0, 1e-9, 0.001, 0.5, 0.99, 1}).Draw(t, "loading"), wait, throttled)
				s.Threads = rapid.SampledFrom([]float64{1, 1.4, 3, 9}).Draw(t, "threads")
				if rapid.Bool().Draw(t, "reads") {
					s = reading(s, (1-s.CPULoading)*rapid.Float64Range(0, 1).Draw(t, "blocked"), rapid.Int64Range(0, 1e5).Draw(t, "operations"))
				}
				pods = append(pods, s)
			}
			in.Sights = append(in.Sights, atDisk(sight(name, cpus, rapid.SampledFrom([]float64{0, 0, 0.1, 100}).Draw(t, "stolen"), pods...)))
		}
		answer, err := findings.Find(in, &plan.Options{Feasibility: anywhere{}})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range answer.Findings {
			sum := 0.0
			for _, c := range f.Causes {
				if !(c.Dilation > 0) || c.Pod == f.Pod.Pod {
					t.Fatalf("cause %+v of %s", c, f.Pod.Pod)
				}
				sum += c.Dilation
			}
			if math.Abs(sum-(f.Dilation-1)) > 1e-6*f.Dilation {
				t.Fatalf("causes of %s add up to %v of %v", f.Pod.Pod, sum, f.Dilation-1)
			}
			if !(f.Remedy.Dilation >= 1-1e-9) || f.Remedy.Action != findings.Leave && f.Remedy.Dilation >= f.Dilation || f.Remedy.Problem != "" {
				t.Fatalf("remedy %+v of %v", f.Remedy, f.Dilation)
			}
			if i > 0 && f.Dilation > answer.Findings[i-1].Dilation {
				t.Fatal("the worst does not come first")
			}
		}
	})
}

// A pod that one step of a plan moves beside another one, which the next step moves away, is helped by neither.
func TestAPodThatAPlanLeavesAsItIsHasNoRemedy(t *testing.T) {
	t.Parallel()
	threads := func(p usage.Pod, n float64) usage.Pod {
		p.Threads = n
		return p
	}
	in := &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "2"), nodeNamed("worker-2", "4"), nodeNamed("worker-3", "4")},
		Pods:  []corev1.Pod{pod("first", "worker-1", "", ""), pod("moved", "worker-1", "", ""), pod("alone", "worker-3", "1m", ""), pod("large", "worker-3", "500m", "")},
		Sights: []observed.Sight{
			sight("worker-1", 2, 0.1, seen("first", 0.99, 0.9, 0), threads(seen("moved", 1, 0.5, 0), 1.4)),
			sight("worker-2", 4, 0),
			sight("worker-3", 4, 0, seen("alone", 1, 0, 0), threads(seen("large", 0.99, 0.889545392146487, 0), 3)),
		},
	}
	answer := of(t, in)
	steps := answer.Plan.Steps
	if len(steps) != 2 || steps[0].Pod != "shop/moved" || steps[0].To != "worker-3" || steps[1].Pod != "shop/large" || steps[1].To != "worker-2" {
		t.Fatalf("the plan is another one: %+v", steps)
	}
	for i := range answer.Findings {
		f := &answer.Findings[i]
		helped := f.Pod.Pod != "shop/moved"
		if (f.Remedy.Action != findings.Leave) != helped || (f.Remedy.Dilation < f.Dilation-1e-3) != helped {
			t.Errorf("%s, of %v: %+v", f.Pod.Pod, f.Dilation, f.Remedy)
		}
	}
}

func TestWorkloadsWithoutAProfileAreSuggestedOne(t *testing.T) {
	t.Parallel()
	labelled := func(p corev1.Pod, labels map[string]string) corev1.Pod {
		p.Labels = labels
		p.Labels["pod-template-hash"] = "5d4f"
		return p
	}
	second := labelled(pod("cart", "worker-2", "", ""), map[string]string{"app": "cart", "zone": "b"})
	second.Name, second.UID = "cart-b", "uid-cart-b"
	alone := labelled(pod("alone", "worker-1", "", ""), map[string]string{"app": "alone"})
	alone.OwnerReferences = nil
	pods := []corev1.Pod{
		labelled(pod("cart", "worker-1", "", ""), map[string]string{"app": "cart", "zone": "a"}), second, alone,
		labelled(pod("bare", "worker-1", "", ""), map[string]string{}),
		labelled(pod("twin", "worker-1", "", ""), map[string]string{"app": "twins"}), labelled(pod("other", "worker-1", "", ""), map[string]string{"app": "twins"}),
		labelled(pod("known", "worker-1", "", ""), map[string]string{"app": "known"}), labelled(pod("young", "worker-1", "", ""), map[string]string{"app": "young"}),
	}
	threads := seen("cart-b", 0.704, 0.1, 0)
	threads.Threads, threads.BurstSeconds = 3.4, 0.0046
	first := sight("worker-1", 8, 0, seen("cart", 0.5, 0.2, 0), seen("alone", 0.5, 0, 0), seen("bare", 0.5, 0, 0), seen("twin", 0.5, 0, 0), seen("known", 0.5, 0, 0))
	first.Intervals[5].Pods = append([]usage.Pod{seen("young", 1, 0, 0)}, first.Intervals[5].Pods...)
	answer := of(t, &observed.Input{
		Nodes: []corev1.Node{nodeNamed("worker-1", "8"), nodeNamed("worker-2", "8")}, Pods: pods,
		Sights: []observed.Sight{first, sight("worker-2", 8, 0, threads)},
	})
	known := v1alpha1.WorkloadProfile{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "known"}, Spec: v1alpha1.WorkloadProfileSpec{
		Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "known"}},
		Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.1"))}},
	}}
	got := answer.Suggest(pods, []v1alpha1.WorkloadProfile{known})
	want := []findings.Suggestion{
		{Workload: "Deployment shop/bare", Pods: 1, Nodes: 1, Seconds: 60, Lowest: 0.5, Highest: 0.5, Problem: "its pods have no label in common that distinguishes them from others"},
		{Workload: "Deployment shop/cart", Pods: 2, Nodes: 2, Seconds: 120, Lowest: 0.5, Highest: 0.704, Profile: &v1alpha1.WorkloadProfile{
			TypeMeta:   metav1.TypeMeta{APIVersion: "loadline.dev/v1alpha1", Kind: "WorkloadProfile"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"},
			Spec: v1alpha1.WorkloadProfileSpec{
				Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart"}},
				Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: resource.NewMilliQuantity(600, resource.DecimalSI), Threads: new(int32(2)), BurstMillis: new(int64(5))}},
			},
		}},
		{Workload: "Deployment shop/twin", Pods: 1, Nodes: 1, Seconds: 60, Lowest: 0.5, Highest: 0.5, Problem: "the labels of its pods, app=twins, select pods of Deployment shop/other, too"},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
