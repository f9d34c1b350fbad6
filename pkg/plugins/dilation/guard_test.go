package dilation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"loadline.dev/loadline/apis/config"
	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
)

// guarded returns a plugin whose arguments were changed.
func guarded(t testingT, change func(*config.DilationArgs), profiles ...any) *Dilation {
	args := defaultArgs(t)
	args.GuardMode = configv1alpha1.GuardEnforce
	if change != nil {
		change(args)
	}
	index := profile.NewIndex(args.Requests, logr.Discard())
	for _, p := range profiles {
		index.OnAdd(p, false)
	}
	return newPlugin(args, index, clusterOf(5000), newWaiting(nil, logr.Discard()), logr.Discard())
}

// bounded gives the pods of a profile a bound.
func bounded(p *v1alpha1.WorkloadProfile, most float64) *v1alpha1.WorkloadProfile {
	p.Spec.SLA = &v1alpha1.SLA{MaxDilation: quantity(most)}
	return p
}

// filter runs one scheduling cycle up to PostFilter, and returns the status of each node and what PostFilter says.
func filter(t testingT, d *Dilation, pod *corev1.Pod, nodes ...fwk.NodeInfo) (statuses []*fwk.Status, advice string) {
	t.Helper()
	d.knows(nodes...)
	state := framework.NewCycleState()
	_, status := d.PreFilter(t.Context(), state, pod, nodes)
	if status.IsSkip() {
		return make([]*fwk.Status, len(nodes)), ""
	}
	if !status.IsSuccess() {
		t.Fatal(status)
	}
	for _, node := range nodes {
		statuses = append(statuses, d.Filter(t.Context(), state, pod, node))
	}
	_, status = d.PostFilter(t.Context(), state, pod, nil)
	if status.Code() != fwk.Unschedulable {
		t.Fatalf("PostFilter: %v", status)
	}
	return statuses, status.Message()
}

// Two jobs that live off the disk run at half speed each.
func TestANodeIsRefusedWhereABoundWouldBeExceeded(t *testing.T) {
	for name, test := range map[string]struct {
		candidate, resident float64 // bounds, 0 for none
		refused, advice     string
	}{
		"no bound":                     {0, 0, "", ""},
		"bounds that are kept exactly": {2, 2, "", ""},
		"the candidate's": {
			1.5, 0, "node(s) would slow the pod down 2×, more than its limit of 1.50×, because of disk",
			"What would make room: node without default/there, or sla.maxDilation of at least 2 for it (now 1.50).",
		},
		"that of a pod there": {
			0, 1.5, "node(s) would slow pods of default/resident down 2×, more than its limit of 1.50×, because of disk",
			"What would make room: node without default/there.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			candidate, resident := workload("candidate", demand("disk", 1)), workload("resident", demand("disk", 1))
			if test.candidate > 0 {
				bounded(candidate, test.candidate)
			}
			if test.resident > 0 {
				bounded(resident, test.resident)
			}
			d := guarded(t, nil, candidate, resident)
			statuses, advice := filter(t, d, testPod("new", "candidate"), testNode("node", 4, testPod("there", "resident")))
			if got := statuses[0].Message(); got != test.refused || advice != test.advice {
				t.Errorf("got %q and %q, want %q and %q", got, advice, test.refused, test.advice)
			}
		})
	}
}

// Where a pod that is there would exceed its bound, too, raising that of the candidate makes room only if it is of one profile.
func TestAHigherBoundIsAdvisedOnlyWhereItIsEnough(t *testing.T) {
	hold := func(a *config.DilationArgs) { a.HoldMaxDilation = 1.9 }
	for name, test := range map[string]struct {
		resident  float64 // its bound, 0 if it is of the candidate's profile
		elsewhere float64 // how much of the disk a pod without a bound uses on another node, 0 for none
		change    func(*config.DilationArgs)
		advice    string
	}{
		"the resident's fails, too": {1.8, 0, nil, "What would make room: node without default/there."},
		"the resident's is kept":    {2, 0, nil, "What would make room: node without default/there, or sla.maxDilation of at least 2 for it (now 1.50)."},
		"both are of one profile":   {0, 0, nil, "What would make room: node without default/there, or sla.maxDilation of at least 2 for it (now 1.50)."},
		"it would be held then":     {2, 0, hold, "What would make room: node without default/there."},
		"enough elsewhere": {
			1.8, 0.6, nil, "What would make room: other without default/quiet, or node without default/there, or sla.maxDilation of at least 1.6 for it (now 1.50).",
		},
	} {
		t.Run(name, func(t *testing.T) {
			resident, app := bounded(workload("resident", demand("disk", 1)), max(1, test.resident)), "resident"
			if test.resident == 0 {
				app = "candidate"
			}
			d := guarded(t, test.change, bounded(workload("candidate", demand("disk", 1)), 1.5), resident, workload("quiet", demand("disk", test.elsewhere)))
			list := []fwk.NodeInfo{testNode("node", 4, testPod("there", app))}
			if test.elsewhere > 0 {
				list = append(list, testNode("other", 4, testPod("quiet", "quiet")))
			}
			if _, advice := filter(t, d, testPod("new", "candidate"), list...); advice != test.advice {
				t.Errorf("got %q, want %q", advice, test.advice)
			}
		})
	}
}

func TestTheModeOfTheNamespaceGoesBeforeTheDefault(t *testing.T) {
	job := bounded(workload("job", demand("disk", 1)), 1.5)
	for name, test := range map[string]struct {
		fallback configv1alpha1.GuardMode
		label    string
		refused  bool
	}{
		"off":              {configv1alpha1.GuardOff, "", false},
		"enforced":         {configv1alpha1.GuardEnforce, "", true},
		"warn":             {configv1alpha1.GuardWarn, "", false},
		"enforced by it":   {configv1alpha1.GuardOff, "enforce", true},
		"off by it":        {configv1alpha1.GuardEnforce, "off", false},
		"warn by it":       {configv1alpha1.GuardEnforce, "warn", false},
		"an unknown label": {configv1alpha1.GuardEnforce, "Enforce!", true},
	} {
		t.Run(name, func(t *testing.T) {
			d := guarded(t, func(a *config.DilationArgs) { a.GuardMode = test.fallback }, job)
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
			if test.label != "" {
				ns.Labels = map[string]string{v1alpha1.GuardLabel: test.label}
			}
			d.modes.OnAdd(ns, true)
			node := testNode("node", 4, testPod("there", "job"))
			statuses, _ := filter(t, d, testPod("new", "job"), node)
			if refused := !statuses[0].IsSuccess(); refused != test.refused {
				t.Errorf("refused: %v", statuses[0])
			}
			d.modes.OnDelete(ns)
			statuses, _ = filter(t, d, testPod("another", "job"), node)
			if refused := !statuses[0].IsSuccess(); refused != (test.fallback == configv1alpha1.GuardEnforce) {
				t.Errorf("without the namespace's label: %v", statuses[0])
			}
		})
	}
}

// A pod that is dilated too much already does not keep away one that has nothing to do with it.
func TestABoundThatIsExceededAnywayRefusesNoOtherPod(t *testing.T) {
	d := guarded(t, nil, bounded(workload("job", demand("disk", 1)), 1.5), workload("other", demand("network", 1)))
	node := testNode("node", 4, testPod("a", "job"), testPod("b", "job"))
	if statuses, _ := filter(t, d, testPod("new", "other"), node); !statuses[0].IsSuccess() {
		t.Errorf("refused: %v", statuses[0])
	}
	if statuses, _ := filter(t, d, testPod("more", "job"), node); statuses[0].IsSuccess() {
		t.Error("a third one at the disk was not refused")
	}
}

// Preemption tries a pod on a copy of the node without its victims.
func TestFilterGoesByTheNodeThatItIsGiven(t *testing.T) {
	d := guarded(t, nil, bounded(workload("job", demand("disk", 1)), 1.5))
	node := testNode("node", 4, testPod("there", "job"))
	state := framework.NewCycleState()
	pod := testPod("new", "job")
	if _, status := d.PreFilter(t.Context(), state, pod, nil); !status.IsSuccess() {
		t.Fatal(status)
	}
	for range 2 {
		if status := d.Filter(t.Context(), state, pod, node); status.Code() != fwk.Unschedulable {
			t.Errorf("with the other: %v", status)
		}
		without := node.Snapshot()
		if err := without.RemovePod(klog.Background(), testPod("there", "job")); err != nil {
			t.Fatal(err)
		}
		if status := d.Filter(t.Context(), state.Clone(), pod, without); !status.IsSuccess() {
			t.Errorf("without it: %v", status)
		}
	}
}

func TestAPodIsHeldWhereEveryNodeIsTooBusy(t *testing.T) {
	d := guarded(t, func(a *config.DilationArgs) { a.HoldMaxDilation, a.HoldMaxWait = 1.5, 0 }, workload("job", demand("disk", 1)))
	busy, idle := testNode("busy", 4, testPod("there", "job")), testNode("idle", 4)
	pod := testPod("new", "job")
	statuses, advice := filter(t, d, pod, busy)
	const want = "node(s) too busy for now: the pod would run 2× slower, and waits for less than 1.50×"
	if s := statuses[0]; s.Code() != fwk.UnschedulableAndUnresolvable || s.Message() != want || advice != "" {
		t.Errorf("got %v and %q", s, advice)
	}
	if statuses, _ := filter(t, d, pod, busy, idle); statuses[0].IsSuccess() || !statuses[1].IsSuccess() {
		t.Errorf("busy: %v, idle: %v", statuses[0], statuses[1])
	}
	d.args.HoldMaxWait = 1 // nanosecond, which is over
	if statuses, _ := filter(t, d, pod, busy); !statuses[0].IsSuccess() {
		t.Errorf("after it has waited for as long as it may: %v", statuses[0])
	}
	if status := d.Reserve(t.Context(), framework.NewCycleState(), pod, "gone"); status.Code() != fwk.Error {
		t.Errorf("Reserve on a node that is not in the cluster: %v", status)
	}
	if len(d.waiting.pods) != 0 {
		t.Errorf("%d pods wait that were placed", len(d.waiting.pods))
	}
}

// place puts a pod on the node that scores best of those that are not refused, and returns it, nil if there is none.
func place(t testing.TB, d *Dilation, pod *corev1.Pod, list ...fwk.NodeInfo) fwk.NodeInfo {
	statuses, _ := filter(t, d, pod, list...)
	var fit []fwk.NodeInfo
	for n, node := range list {
		if statuses[n].IsSuccess() {
			fit = append(fit, node)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	_, normalized := scores(t, d, pod, fit)
	best := slices.IndexFunc(normalized, func(s fwk.NodeScore) bool { return s.Score == fwk.MaxScore })
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	fit[best].AddPodInfo(info)
	return fit[best]
}

// randomRun places pods on nodes one after the other, where the guard and the score have them, while others go. It returns
// how many pods were placed, and in how many states of a node some pod exceeded its bound: after a pod had come, and after one had gone.
func randomRun(t testing.TB, mode configv1alpha1.GuardMode, random *rand.Rand) (placed, afterComing, afterGoing int) {
	objects := []any{nodeProfile(map[string]int{"cpu": 1 + random.IntN(4)})}
	apps := 2 + random.IntN(5)
	for app := range apps {
		cpu := random.Float64()
		p := workload(fmt.Sprint("app-", app), demand("cpu", cpu), demand("disk", random.Float64()*(1-cpu)))
		p.Spec.Resources[0].Threads = new(int32(1 + random.IntN(2)))
		if random.IntN(3) > 0 {
			bounded(p, 1+2*random.Float64()*random.Float64())
		}
		objects = append(objects, p)
	}
	d := guarded(t, func(a *config.DilationArgs) { a.GuardMode = mode }, objects...)
	list := make([]fwk.NodeInfo, 1+random.IntN(4))
	for n := range list {
		list[n] = testNode(fmt.Sprint("node-", n), 4)
	}
	for k := range 5 + random.IntN(10) {
		pod := testPod(fmt.Sprint("pod-", k), fmt.Sprint("app-", random.IntN(apps)))
		requesting(pod, []string{"100m", "1", "2500m"}[random.IntN(3)], "")
		if node := place(t, d, pod, list...); node != nil {
			placed++
			afterComing += exceeded(t, d, node)
		}
		if node := list[random.IntN(len(list))]; random.IntN(3) == 0 && len(node.GetPods()) > 0 {
			gone := node.GetPods()[random.IntN(len(node.GetPods()))].GetPod()
			if err := node.RemovePod(klog.Background(), gone); err != nil {
				t.Fatal(err)
			}
			afterGoing += exceeded(t, d, node)
		}
	}
	return placed, afterComing, afterGoing
}

// predicted returns how pods fare on a node by the accurate model.
func predicted(t testing.TB, s *profile.Snapshot, info fwk.NodeInfo, pods []*corev1.Pod) *contention.Prediction {
	t.Helper()
	with := node.Of(s, info.Node(), s.NodeClass(info.Node()), pods)
	if with.Ignored != nil {
		t.Fatal(with.Ignored)
	}
	p, err := with.Predict()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// exceeded returns 1 if some pod of a node is dilated more than its bound allows, by the model, and by more than rounding.
func exceeded(t testing.TB, d *Dilation, node fwk.NodeInfo) int {
	s := d.index.Snapshot()
	pods := podsOf(node)
	if len(pods) == 0 {
		return 0
	}
	p := predicted(t, s, node, pods)
	c := &cycle{snapshot: s}
	for j, pod := range newResidents(d.modes, d.kinds, c, node, nil).node().Pods {
		if bound := pod.Bound; bound.Max > 0 && p.Dilations[j] > bound.Max*(1+1e-6) {
			return 1
		}
	}
	return 0
}

// In many random runs no pod that comes makes any exceed its bound, nor does one that goes; without the guard many do.
func TestNoBoundIsExceededInRandomRuns(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mode     configv1alpha1.GuardMode
		runs     int
		exceeded bool
	}{{configv1alpha1.GuardEnforce, 1000 / thinned, false}, {configv1alpha1.GuardWarn, 20, true}} {
		t.Run(strings.ToLower(string(test.mode)), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 4))
			placed, coming, going := 0, 0, 0
			for range test.runs {
				p, c, g := randomRun(t, test.mode, random)
				placed, coming, going = placed+p, coming+c, going+g
			}
			t.Logf("%d pods were placed; a bound was exceeded after %d of them had come, and %d times after a pod had gone", placed, coming, going)
			if exceeded := coming > 0; exceeded != test.exceeded || placed == 0 || !exceeded && going > 0 {
				t.Errorf("exceeded %d and %d times in %d placements", coming, going, placed)
			}
		})
	}
}

// BenchmarkFilter reports the time of one Filter of a node with 30 pods of which all have bounds: where the ceiling shows
// that these are kept, where the model was solved before, and where it has to be solved.
func BenchmarkFilter(b *testing.B) {
	const nodes, pods = 1000, 30
	for name, loading := range map[string]float64{"far": 0.01, "near": 0.05} {
		b.Run(name, func(b *testing.B) {
			d := guarded(b, nil, bounded(workload("job", demand("cpu", loading), demand("disk", loading)), 1.5))
			list := make([]fwk.NodeInfo, nodes)
			for n := range list {
				there := make([]*corev1.Pod, pods)
				for k := range there {
					there[k] = testPod(fmt.Sprintf("pod-%d-%d", n, k), "job")
				}
				list[n] = testNode(fmt.Sprint("node-", n), 16, there...)
			}
			d.cluster = cluster{nodes: list}
			pod := testPod("new", "job")
			filter(b, d, pod, list...)
			var state fwk.CycleState
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n%nodes == 0 { // another cycle, or nodes would not be looked at again
					b.StopTimer()
					state = framework.NewCycleState()
					if _, status := d.PreFilter(b.Context(), state, pod, nil); !status.IsSuccess() {
						b.Fatal(status)
					}
					b.StartTimer()
				}
				d.Filter(b.Context(), state, pod, list[n%nodes])
				n++
			}
		})
	}
}

// BenchmarkResidents reports the time of taking in a node with 30 pods, and of solving it with another.
func BenchmarkResidents(b *testing.B) {
	d, nodes, pod := benchCluster(b, 4)
	s := d.index.Snapshot()
	c := &cycle{snapshot: s, candidate: newCandidate(s, d.modes, pod)}
	b.Run("take in", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newResidents(d.modes, d.kinds, c, nodes[0], nil)
		}
	})
	b.Run("solve", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			t := newResidents(d.modes, newKinds(), c, nodes[0], nil)
			t.add(c.candidate, newBudget(newSharedBudget(), time.Now()))
		}
	})
}

func withLabel(name, label, value string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: map[string]string{label: value}}
}

// What was solved of a node counts for another with the same pods in another order, which are named right.
func TestNodesThatAreAlikeAreSolvedOnce(t *testing.T) {
	d := guarded(t, nil, bounded(workload("job", demand("disk", 1)), 1.5), workload("quiet", demand("network", 0.1)))
	for name, pods := range map[string][]*corev1.Pod{
		"first":  {testPod("quiet-1", "quiet"), testPod("job-1", "job")},
		"second": {testPod("job-2", "job"), testPod("quiet-2", "quiet")},
	} {
		_, advice := filter(t, d, testPod("new", "job"), testNode(name, 4, pods...))
		number := map[string]string{"first": "1", "second": "2"}[name]
		if want := "What would make room: " + name + " without default/job-" + number; !strings.HasPrefix(advice, want) {
			t.Errorf("%s: %q, want %q", name, advice, want)
		}
	}
	if n := d.kinds.outcomes.Len(); n != 2 { // with both pods, and without the one that is in the way
		t.Errorf("%d outcomes are kept", n)
	}
	if statuses, _ := filter(t, d, testPod("new", "job"), testNode("other", 4, testPod("quiet-3", "quiet"))); !statuses[0].IsSuccess() {
		t.Errorf("a node without a job: %v", statuses[0])
	}
}

// Preemption tries out copies of nodes, with pods less, side by side with the nodes themselves.
func TestACopyOfANodeLeavesWhatIsKnownOfItAlone(t *testing.T) {
	job := bounded(workload("job", demand("disk", 1)), 1.5)
	d := guarded(t, nil, job)
	there := testPod("there", "job")
	node := testNode("node", 4, there)
	for range 2 { // the second time it is known
		if statuses, _ := filter(t, d, testPod("new", "job"), node); statuses[0].IsSuccess() {
			t.Fatal("the node takes the pod")
		}
	}
	known := d.known(t, node)
	state := framework.NewCycleState()
	if _, status := d.PreFilter(t.Context(), state, testPod("new", "job"), nil); !status.IsSuccess() {
		t.Fatal(status)
	}
	without := node.Snapshot()
	if err := without.RemovePod(klog.Background(), there); err != nil {
		t.Fatal(err)
	}
	if status := d.Filter(t.Context(), state, testPod("new", "job"), without); !status.IsSuccess() {
		t.Errorf("without the pod that is there: %v", status)
	}
	if now := d.known(t, node); !slices.Equal(now.found, known.found) || now.residents != known.residents || d.nodes.taken+len(d.nodes.added) != 1 {
		t.Errorf("known of the node: %+v, was %+v, of %d nodes", now, known, d.nodes.taken+len(d.nodes.added))
	}
}

// What was found of many kinds of pods is kept, and what is found again is the same.
func TestMoreKindsThanAreKept(t *testing.T) {
	var profiles []any
	const kinds = maxPerNode + 6
	loading := func(app int) float64 { return 0.1 * float64(1+app%9) }
	for app := range kinds {
		p := workload(fmt.Sprint("app-", app), demand("disk", loading(app)))
		profiles = append(profiles, bounded(p, 1.3))
	}
	d := guarded(t, nil, profiles...)
	node := testNode("node", 4, testPod("there", "app-4"))
	costs, codes := map[string]float64{}, map[string]fwk.Code{}
	for round := range 3 {
		for app := range kinds {
			name := fmt.Sprint("app-", app)
			pod := testPod("new", name)
			statuses, _ := filter(t, d, pod, node)
			raw, _ := scores(t, d, pod, []fwk.NodeInfo{node})
			cost, code := decodeCost(raw[0].Score), statuses[0].Code()
			if want := 0.5 * loading(app) * 2; math.Abs(cost-want) > 1e-6 { // quantities are rounded
				t.Errorf("%s: cost %v, want %v", name, cost, want)
			}
			if round > 0 && (cost != costs[name] || code != codes[name]) {
				t.Errorf("%s: %v and %v, before %v and %v", name, cost, code, costs[name], codes[name])
			}
			costs[name], codes[name] = cost, code
		}
	}
	if codes["app-0"] == codes["app-8"] {
		t.Errorf("all are %v", codes["app-0"])
	}
}
