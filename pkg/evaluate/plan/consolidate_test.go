package plan

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"pgregory.net/rapid"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/workloads"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

func consolidationOf(t fataler, in *observed.Input, o Options) *Consolidation {
	t.Helper()
	o.Above = max(o.Above, observed.DefaultAbove)
	c, filter := looked(t, in, o.Above)
	o.Feasibility = filter
	answer, err := Consolidate(c, &o)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// said writes a consolidation: a line for each node that is emptied, and then one for each that is kept.
func said(c *Consolidation) (lines []string) {
	for i := range c.Emptied {
		var moves []string
		for _, m := range c.Emptied[i].Moves {
			moves = append(moves, strings.TrimPrefix(m.Pod, "shop/")+"→"+m.To)
		}
		lines = append(lines, strings.TrimSpace(c.Emptied[i].Node+": "+strings.Join(moves, " ")))
	}
	for i := range c.Kept {
		k := &c.Kept[i]
		line := k.Node + " stays: " + strings.TrimPrefix(k.Pod+" ", " ") + k.Why
		for _, r := range k.Refusals {
			line += fmt.Sprintf("; %d: %s", r.Nodes, r.Why)
		}
		lines = append(lines, line)
	}
	return lines
}

func owned(kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "agents", Controller: new(true)}}
	}
}

// quietCluster is a cluster of which the last node has the most pods.
func quietCluster() ([]corev1.Node, []workload) {
	return []corev1.Node{worker("w1", 2), worker("w2", 2), worker("w3", 2)}, []workload{
		{name: "a", node: "w1", request: 500, loading: 0.2},
		{name: "b", node: "w2", request: 400, loading: 0.1},
		{name: "c", node: "w2", request: 400, loading: 0.1},
		{name: "d", node: "w3", request: 100, loading: 0.1},
		{name: "e", node: "w3", request: 100, loading: 0.1},
		{name: "f", node: "w3", request: 100, loading: 0.1},
	}
}

func TestWhichNodesCanBeEmptied(t *testing.T) {
	t.Parallel()
	budget := policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}, MaxUnavailable: new(intstrOf(0))},
	}
	promise := func(most float64) func(*corev1.Pod) node.Promise {
		return func(*corev1.Pod) node.Promise {
			return node.Promise{MaxDilation: most, Counted: most, Mode: configv1alpha1.GuardEnforce, Covered: 2}
		}
	}
	for name, test := range map[string]struct {
		change  func(nodes []corev1.Node, all []workload) []workload
		seen    func(*observed.Input)
		options Options
		want    []string
	}{
		"all on one": {want: []string{"w1: a→w3", "w2: b→w3 c→w3", "w3 stays: it takes pods of w1"}},
		"a node without pods to move": {
			change: func(_ []corev1.Node, all []workload) []workload {
				all[0].change = owned("DaemonSet")
				return append(all, workload{name: "static", node: "w1", request: 100, loading: 0.1, change: owned("Node")})
			},
			want: []string{"w1:", "w2: b→w3 c→w3", "w3 stays: it takes pods of w2"},
		},
		"a pod that uses next to nothing": {
			change: func(_ []corev1.Node, all []workload) []workload { all[0].loading = 0.001; return all },
			want:   []string{"w1: a→w3", "w2: b→w3 c→w3", "w3 stays: it takes pods of w1"},
		},
		"a pod that requests too much": {
			change: func(_ []corev1.Node, all []workload) []workload { all[0].request = 1900; return all },
			want: []string{
				"w2: b→w3 c→w3",
				"w1 stays: shop/a no other node takes it; 2: Insufficient cpu",
				"w3 stays: it takes pods of w2",
			},
		},
		"a pod that would wait too long": {
			change: func(nodes []corev1.Node, all []workload) []workload {
				nodes[1], nodes[2] = worker("w2", 1), worker("w3", 1)
				all[0].loading, all[1].loading, all[3].loading = 0.9, 0.6, 0.6
				return all[:5]
			},
			want: []string{
				"w3: d→w1 e→w1",
				"w1 stays: shop/a no other node takes it; 1: Insufficient cpu: the pod requests 500m, and 200m is left; 1: shop/d would be dilated 3.28×, above 1.20×",
				"w2 stays: shop/b no other node takes it; 1: it is to be empty; 1: shop/d would be dilated 1.70×, above 1.20×",
			},
		},
		"a promise": {
			options: Options{Promise: promise(1.001)},
			want: []string{
				"w1 stays: shop/a no other node takes it; 2: shop/b would be dilated 1.00115×, beyond its promise of 1.00100×",
				"w2 stays: shop/c no other node takes it; 2: shop/b would be dilated 1.00115×, beyond its promise of 1.00100×",
				"w3 stays: shop/e no other node takes it; 2: shop/e would be dilated 1.00116×, beyond its promise of 1.00100×",
			},
		},
		"a budget": {
			options: Options{Rules: rulesOf(t, budget)},
			want: []string{
				"w2: b→w1 c→w1",
				"w3: d→w1 e→w1 f→w1",
				"w1 stays: shop/a PodDisruptionBudget a allows no disruption: it needs 1 healthy pod and has 1",
			},
		},
		"a pod without a controller": {
			change: func(_ []corev1.Node, all []workload) []workload {
				all[0].change = func(p *corev1.Pod) { p.OwnerReferences = nil }
				return all
			},
			want: []string{
				"w2: b→w1 c→w1",
				"w3: d→w1 e→w1 f→w1",
				"w1 stays: shop/a nothing would make it anew: it has no controller",
			},
		},
		"a node whose gauge says nothing": {
			seen: func(in *observed.Input) { in.Sights = in.Sights[:2] },
			want: []string{
				"w1: a→w2",
				"w2 stays: it takes pods of w1",
				"w3 stays: its state is not known: there is no gauge",
			},
		},
		"a pod that was not seen": {
			seen: func(in *observed.Input) {
				in.Sights[0].Intervals = nil
				in.Sights[0].Intervals = emptied(in.Sights[1].Intervals, "w1")
			},
			want: []string{
				"w2: b→w1 c→w1",
				"w3: d→w1 e→w1 f→w1",
				"w1 stays: shop/a its load is not known: the gauge of its node has not seen it",
			},
		},
		"a node of the control plane": {
			change: func(nodes []corev1.Node, all []workload) []workload {
				nodes[0].Labels[controlPlane] = ""
				return all
			},
			want: []string{
				"w2: b→w1 c→w1",
				"w3: d→w1 e→w1 f→w1",
				"w1 stays: it is a node of the control plane",
			},
		},
		"a pod that is being deleted": {
			change: func(_ []corev1.Node, all []workload) []workload {
				all[0].change = func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(time.Unix(0, 0))) }
				return all
			},
			want: []string{
				"w1:",
				"w2: b→w3 c→w3",
				"w3 stays: it takes pods of w2",
			},
		},
		"no more than two moves": {options: Options{Max: 2}, want: []string{
			"w1: a→w2",
			"w2 stays: it takes pods of w1",
			"w3 stays: it takes 3 moves, more than are left of 2",
		}},
		"only pods of one name": {options: Options{Permits: func(p *corev1.Pod, _ Action) bool { return p.Name == "a" }}, want: []string{
			"w1: a→w2",
			"w2 stays: shop/b it is none of those that may move",
			"w3 stays: shop/d it is none of those that may move",
		}},
		"only some nodes": {options: Options{Empties: func(name string) bool { return name == "w2" }}, want: []string{
			"w2: b→w1 c→w1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes, all := quietCluster()
			if test.change != nil {
				all = test.change(nodes, all)
			}
			in := observedAs(t, nodes, all)
			if test.seen != nil {
				test.seen(in)
			}
			if diff := cmp.Diff(test.want, said(consolidationOf(t, in, test.options))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// emptied returns intervals of another node in which no pod was seen.
func emptied(some []usage.Interval, name string) (none []usage.Interval) {
	for _, v := range some {
		v.Node, v.Pods, v.BusySeconds = name, nil, 0
		none = append(none, v)
	}
	return none
}

// rulesOf returns the rules of the quiet cluster with a budget, by which any workload may be evicted.
func rulesOf(t *testing.T, budget policyv1.PodDisruptionBudget) *disruption.Rules {
	t.Helper()
	nodes, all := quietCluster()
	return rulesFor(t, observedAs(t, nodes, all).Pods, budget)
}

func rulesFor(t fataler, pods []corev1.Pod, budgets ...policyv1.PodDisruptionBudget) *disruption.Rules {
	t.Helper()
	allowed := sets.New[string]()
	for i := range pods {
		allowed.Insert(workloads.Of(&pods[i]))
	}
	rules, err := disruption.New(&disruption.Input{Pods: pods, Budgets: budgets, Allowed: allowed})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// clusterOf draws a cluster as drawCluster does, with constraints, pods of DaemonSets and static ones.
func clusterOf(seed uint64) ([]corev1.Node, []workload) {
	rng := rand.New(rand.NewPCG(seed, 47))
	nodes, all := drawCluster(rng)
	constrain(rng, all)
	for i := range all {
		all[i].loading *= 0.5
		if kind := []string{"DaemonSet", "Node", "", "", "", "", "", "", "", ""}[rng.IntN(10)]; kind != "" {
			all[i].change = owned(kind)
		}
	}
	return nodes, all
}

// dilationsOf returns how the pods of a cluster fare by the model of their nodes, by their names.
func dilationsOf(t fataler, nodes []corev1.Node, all []workload, pods []corev1.Pod) map[string]float64 {
	t.Helper()
	fares := map[string]float64{}
	for k := range nodes {
		model := &node.Node{Name: nodes[k].Name, Servers: []int{int(nodes[k].Status.Capacity.Cpu().Value())}}
		for i := range pods {
			if w := &all[i]; pods[i].Spec.NodeName == nodes[k].Name {
				model.Pods = append(model.Pods, node.Pod{Pod: &pods[i], Vector: loading.Vector{{Loading: w.loading, Pressure: w.loading, Threads: w.threads}}})
			}
		}
		prediction, err := model.Predict()
		if err != nil {
			t.Fatal(err)
		}
		for i := range model.Pods {
			itself, err := observed.WaitsForItself(model, i)
			if err != nil {
				t.Fatal(err)
			}
			fares["shop/"+model.Pods[i].Name] = 1 + itself + (1+itself)*prediction.Delay(i, 0)
		}
	}
	return fares
}

// Of whatever clusters: kube-scheduler's filters, set up anew for each move on a cluster whose emptied nodes are cordoned, let each pod run
// where it goes; no budget refuses an eviction; no pod moves twice, or to a node that is emptied; no pod ends above the bound that was
// not above it before, by a model that does not depend on the plan; and what is left on emptied nodes goes with them.
func TestAConsolidationCanBeCarriedOut(t *testing.T) {
	t.Parallel()
	moves, empty := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		nodes, all := clusterOf(rapid.Uint64Range(0, 1<<32).Draw(t, "cluster"))
		in := observedAs(t, nodes, all)
		var budgets []policyv1.PodDisruptionBudget
		for i := range all {
			if rapid.IntRange(0, 9).Draw(t, "budget") == 0 {
				budgets = append(budgets, policyv1.PodDisruptionBudget{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: all[i].name},
					Spec: policyv1.PodDisruptionBudgetSpec{
						Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": all[i].name}}, MaxUnavailable: new(intstrOf(rapid.IntRange(0, 1).Draw(t, "unavailable"))),
					},
				})
			}
		}
		promised := map[string]float64{}
		for i := range all {
			if rapid.IntRange(0, 3).Draw(t, "promised") == 0 {
				promised["shop/"+all[i].name] = 1.02 + 0.1*rapid.Float64Range(0, 1).Draw(t, "promise")
			}
		}
		rules, most := rulesFor(t, in.Pods, budgets...), rapid.IntRange(0, 8).Draw(t, "most")
		answer := consolidationOf(t, in, Options{Rules: rules, Max: most, Promise: func(pod *corev1.Pod) node.Promise {
			p := promised[text.QualifiedName(pod)]
			return node.Promise{MaxDilation: p, Counted: p, Mode: configv1alpha1.GuardEnforce, Covered: 4}
		}})
		if most > 0 && answer.Moves() > most {
			t.Errorf("%d moves, at most %d are allowed", answer.Moves(), most)
		}
		pods, gone, moved := slices.Clone(in.Pods), map[string]bool{}, map[string]bool{}
		before := dilationsOf(t, nodes, all, pods)
		for i := range answer.Emptied {
			e := &answer.Emptied[i]
			gone[e.Node], empty = true, empty+1
			nodes = slices.Clone(nodes)
			for k := range nodes {
				nodes[k].Spec.Unschedulable = gone[nodes[k].Name]
			}
			for m := range e.Moves {
				moves++
				move := &e.Moves[m]
				at := slices.IndexFunc(pods, func(p corev1.Pod) bool { return text.QualifiedName(&p) == move.Pod })
				if pods[at].Spec.NodeName != e.Node || move.Node != e.Node || moved[move.Pod] || gone[move.To] {
					t.Fatalf("%+v, of a pod on %s", move, pods[at].Spec.NodeName)
				}
				moved[move.Pod] = true
				if v := rules.Evict(&pods[at]); v.Refused != "" {
					t.Errorf("%+v: %s", move, v.Refused)
				}
				filter, err := feasibility.New(&feasibility.Cluster{Nodes: nodes, Pods: pods})
				if err != nil {
					t.Fatal(err)
				}
				if fit := filter.Of(&pods[at])(move.To); fit.Refused != "" {
					t.Errorf("%+v: %s", move, fit.Refused)
				}
				pods[at] = *pods[at].DeepCopy()
				pods[at].Spec.NodeName = move.To
			}
			then, worst, left := dilationsOf(t, nodes, all, pods), 0.0, 0.0
			for name, d := range then {
				bound := answer.Above
				if p := promised[name]; p > 0 {
					bound = min(bound, p)
				}
				if d > bound*1.000001 && d > before[name]*1.000001 {
					t.Errorf("once %s is empty %s is dilated %v, before %v, and may be %v", e.Node, name, d, before[name], bound)
				}
				if before[name] < observed.Broken(answer.Above)+1e-9 { // too little to act on
					bound = max(bound, before[name])
				}
				worst, left = max(worst, d), left+max(0, d-bound)
			}
			if math.Abs(worst-e.Worst.Dilation) > 1e-6 || math.Abs(left-e.Left) > 1e-6*(1+left) {
				t.Errorf("once %s is empty the worst is dilated %v and the excess is %v, the answer says %+v and %v", e.Node, worst, left, e.Worst, e.Left)
			}
			for _, m := range e.Moves {
				if math.Abs(then[m.Pod]-m.Then) > 1e-6 || math.Abs(before[m.Pod]-m.Now) > 1e-6 {
					t.Errorf("%+v goes from %v to %v", m, before[m.Pod], then[m.Pod])
				}
			}
		}
		for i := range pods {
			if gone[pods[i].Spec.NodeName] && node.Stays(&pods[i]) == "" {
				t.Errorf("%s is left on %s", pods[i].Name, pods[i].Spec.NodeName)
			}
		}
		kept := map[string]bool{}
		for i := range answer.Kept {
			kept[answer.Kept[i].Node] = true
		}
		if len(kept)+len(gone) != len(nodes) || len(answer.Kept) != len(kept) {
			t.Errorf("%d nodes are emptied and %v are kept, of %d", len(gone), slices.Sorted(maps.Keys(kept)), len(nodes))
		}
	})
	if moves < 20 || empty < 20 {
		t.Errorf("there are %d moves off %d nodes", moves, empty)
	}
}

// exhaustive finds how many nodes of a cluster can be emptied at most, by trying all sets of nodes and all places for their pods.
type exhaustive struct {
	t     *testing.T
	nodes []corev1.Node
	all   []workload
	in    *observed.Input

	before map[string]float64
	within map[string]bool // whether the pods of a node are dilated no more than they may be, by its name and theirs
}

// most returns the largest number of nodes that can be emptied.
func (x *exhaustive) most() (most int) {
	x.before, x.within = dilationsOf(x.t, x.nodes, x.all, x.in.Pods), map[string]bool{}
	for set := range 1 << len(x.nodes) {
		if n := bits.OnesCount(uint(set)); n > most && x.place(set, slices.Clone(x.in.Pods), 0) {
			most = n
		}
	}
	return most
}

// place reports whether all pods of a set of nodes, from one on, can be placed on the others.
func (x *exhaustive) place(set int, pods []corev1.Pod, from int) bool {
	leaves := func(name string) bool {
		return set>>slices.IndexFunc(x.nodes, func(n corev1.Node) bool { return n.Name == name })&1 == 1
	}
	for ; from < len(pods); from++ {
		if leaves(pods[from].Spec.NodeName) && node.Stays(&pods[from]) == "" {
			break
		}
	}
	if from == len(pods) {
		return x.fits(pods)
	}
	for k := range x.nodes {
		if set>>k&1 == 0 {
			next := slices.Clone(pods)
			next[from].Spec.NodeName = x.nodes[k].Name
			if x.roomy(next, k) && x.place(set, next, from+1) {
				return true
			}
		}
	}
	return false
}

// roomy reports whether the pods of a node request no more than it has, and wait no more than they may: more pods make that no better.
func (x *exhaustive) roomy(pods []corev1.Pod, k int) bool {
	name, requests := x.nodes[k].Name, int64(0)
	key := name
	for i := range pods {
		if pods[i].Spec.NodeName == name {
			key += " " + pods[i].Name
			requests += x.all[i].request
		}
	}
	if requests > x.nodes[k].Status.Allocatable.Cpu().MilliValue() {
		return false
	}
	if _, known := x.within[key]; !known {
		x.within[key] = true
		for pod, d := range dilationsOf(x.t, x.nodes[k:k+1], x.all, pods) {
			if d > observed.DefaultAbove*(1+rounding) && d > x.before[pod]*(1+rounding) {
				x.within[key] = false
			}
		}
	}
	return x.within[key]
}

// fits reports whether the scheduler would let all pods that have moved run where they are.
func (x *exhaustive) fits(pods []corev1.Pod) bool {
	filter, err := feasibility.New(&feasibility.Cluster{Nodes: x.nodes, Pods: pods})
	if err != nil {
		x.t.Fatal(err)
	}
	for i := range pods {
		if name := pods[i].Spec.NodeName; name != x.in.Pods[i].Spec.NodeName && filter.Of(&pods[i])(name).Refused != "" {
			return false
		}
	}
	return true
}

var emptiable = flag.Int("emptiable", 30, "random clusters of which the emptied nodes are compared with the largest number; 1,000 take some minutes")

// Of small clusters nearly as many nodes are emptied as can be.
func TestConsolidationsAreNearTheBest(t *testing.T) {
	t.Parallel()
	found, possible, short := 0, 0, 0
	for seed, compared := uint64(0), 0; compared < *emptiable; seed++ {
		nodes, all := clusterOf(seed)
		if len(nodes) > 5 || len(all) > 9 {
			continue
		}
		compared++
		x := &exhaustive{t: t, nodes: nodes, all: all, in: observedAs(t, nodes, all)}
		most, ours := x.most(), consolidationOf(t, x.in, Options{})
		if len(ours.Emptied) > most {
			t.Errorf("cluster %d: %d nodes are emptied, of %d that can be: %s", seed, len(ours.Emptied), most, said(ours))
		}
		if len(ours.Emptied) < most {
			short++
			t.Logf("cluster %d: %d nodes of %d that can be emptied: %s", seed, len(ours.Emptied), most, said(ours))
		}
		found, possible = found+len(ours.Emptied), possible+most
	}
	part := float64(found) / float64(possible)
	t.Logf("%d of %d nodes that can be emptied are (%.1f %%); fewer than can be in %d of %d clusters", found, possible, 100*part, short, *emptiable)
	if part < 0.95 {
		t.Errorf("%.1f %% of the nodes that can be emptied are", 100*part)
	}
}

// BenchmarkConsolidate is a cluster of nodes of 16 cores with 10 to 30 pods each. What they request limits how many nodes can be emptied,
// or how much they use.
func BenchmarkConsolidate(b *testing.B) {
	for _, test := range []struct {
		by      string
		size    int
		request int64
		loading float64
	}{{"requests", 100, 500, 0.2}, {"use", 100, 100, 0.8}, {"requests", 1000, 500, 0.2}, {"use", 1000, 100, 0.8}} {
		b.Run(fmt.Sprint(test.size, " by ", test.by), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var nodes []corev1.Node
			var all []workload
			for n := range test.size {
				nodes = append(nodes, worker(fmt.Sprintf("worker-%d", n), 16))
				for k := range 10 + rng.IntN(21) {
					all = append(all, workload{
						name: fmt.Sprintf("pod-%d-%d", n, k), node: nodes[n].Name, request: 50 + rng.Int64N(test.request), loading: 0.02 + test.loading*rng.Float64(), threads: 1,
					})
				}
			}
			in := observedAs(b, nodes, all)
			for b.Loop() {
				c := observed.Observe(in, observed.DefaultAbove)
				c.SolveSlowed()
				filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
				if err != nil {
					b.Fatal(err)
				}
				answer, err := Consolidate(c, &Options{Feasibility: filter})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(answer.Emptied)), "emptied")
				b.ReportMetric(float64(answer.Moves()), "moves")
				b.ReportMetric(answer.Worst.Dilation, "×worst-now")
				b.ReportMetric(answer.Emptied[len(answer.Emptied)-1].Worst.Dilation, "×worst-then")
			}
		})
	}
}
