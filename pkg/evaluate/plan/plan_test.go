package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/feasibility"
	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/node"
)

// carriedOut returns the objects of a cluster once a step is carried out.
func carriedOut(t *testing.T, pods []corev1.Pod, s *Step) []corev1.Pod {
	t.Helper()
	after := make([]corev1.Pod, len(pods))
	for i := range pods {
		after[i] = pods[i]
		if pods[i].Namespace+"/"+pods[i].Name != s.Pod {
			continue
		}
		if s.Action == MovePod {
			after[i].Spec.NodeName = s.To
			continue
		}
		after[i] = *disruption.Resized(&pods[i], []disruption.ContainerCPU{s.CPU()})
	}
	return after
}

// excessOf returns that of a cluster whose pods fare as the model of their nodes has it.
func excessOf(t *testing.T, nodes []corev1.Node, workloads []workload, pods []corev1.Pod, above float64) float64 {
	t.Helper()
	sum := 0.0
	for k := range nodes {
		model := &node.Node{Name: nodes[k].Name, Servers: []int{int(nodes[k].Status.Capacity.Cpu().Value())}}
		for i := range pods {
			if pods[i].Spec.NodeName == nodes[k].Name {
				w := &workloads[i]
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
			sum += max(0, itself+(1+itself)*prediction.Delay(i, 0)-(above-1))
		}
	}
	return sum
}

// The rows of a plan add up to what the whole of it wins, by a model of the cluster as it is then that knows nothing of the plan; and
// kube-scheduler's filters, set up anew for each step, let each pod move where it does.
func TestAPlanHoldsTogether(t *testing.T) {
	t.Parallel()
	steps := 0
	for seed := range 16 / thinned {
		rng := rand.New(rand.NewPCG(uint64(seed), 44))
		nodes, workloads := drawCluster(rng)
		constrain(rng, workloads)
		in := observedAs(t, nodes, workloads)
		p := planOf(t, in, Options{})
		pods, won := in.Pods, 0.0
		for i := range p.Steps {
			s := &p.Steps[i]
			won += s.Win.Value
			if s.Action == MovePod {
				filter, err := feasibility.New(&feasibility.Cluster{Nodes: nodes, Pods: pods})
				if err != nil {
					t.Fatal(err)
				}
				for k := range pods {
					if pods[k].Namespace+"/"+pods[k].Name == s.Pod {
						if fit := filter.Of(&pods[k])(s.To); fit.Refused != "" {
							t.Errorf("cluster %d, step %d, %+v: %s", seed, i+1, s.Change, fit.Refused)
						}
					}
				}
			}
			pods = carriedOut(t, pods, s)
		}
		steps += len(p.Steps)
		now, then := excessOf(t, nodes, workloads, in.Pods, p.Above), excessOf(t, nodes, workloads, pods, p.Above)
		if math.Abs(now-p.Excess) > 1e-6*(1+now) || math.Abs(then-p.Left) > 1e-6*(1+now) || math.Abs(now-then-won) > 1e-6*(1+now) {
			t.Errorf("cluster %d: the excess goes from %.4f to %.4f, the plan says from %.4f to %.4f, and its rows %.4f", seed, now, then, p.Excess, p.Left, won)
		}
	}
	if steps < 16 && thinned == 1 {
		t.Errorf("there are %d steps in all", steps)
	}
}

// constrain keeps some pods apart, some on ports of the host, and some spread.
func constrain(rng *rand.Rand, workloads []workload) {
	for i := range workloads {
		of := func(change func(*corev1.Pod)) { workloads[i].change = change }
		tier := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "web"}}
		switch rng.IntN(5) {
		case 0:
			of(func(p *corev1.Pod) {
				p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
			})
		case 1:
			of(func(p *corev1.Pod) {
				p.Labels["tier"] = "web"
				p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
					RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{LabelSelector: tier, TopologyKey: corev1.LabelHostname}},
				}}
			})
		case 2:
			of(func(p *corev1.Pod) {
				p.Labels["tier"] = "web"
				p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 2, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: tier,
				}}
			})
		}
	}
}

// No step takes a pod beyond a promise that is enforced, unless it was before and is not slowed down more.
func TestAPlanKeepsPromises(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range 16 / thinned {
		rng := rand.New(rand.NewPCG(uint64(seed), 45))
		nodes, workloads := drawCluster(rng)
		in := observedAs(t, nodes, workloads)
		promised := map[string]float64{}
		for _, w := range workloads {
			if rng.IntN(2) == 0 {
				promised["shop/"+w.name] = 1.05 + 0.4*rng.Float64()
			}
		}
		p := planOf(t, in, Options{Promise: func(pod *corev1.Pod) node.Promise {
			most := promised[pod.Namespace+"/"+pod.Name]
			return node.Promise{MaxDilation: most, Counted: most, Mode: configv1alpha1.GuardEnforce, Covered: 4}
		}})
		for i := range p.Steps {
			moved++
			for _, e := range p.Steps[i].Pods {
				if most := promised[e.Pod]; most > 0 && e.Then > e.Now && e.Then > most*1.000001 {
					t.Errorf("cluster %d, step %d: %+v, promised %.2f", seed, i+1, e, most)
				}
			}
		}
	}
	if moved == 0 {
		t.Error("there are no steps")
	}
}

// crowded is a node with two pods of one core each, beside one that does nothing.
func crowded() ([]corev1.Node, []workload) {
	return []corev1.Node{worker("worker-1", 1), worker("worker-2", 1)}, []workload{
		{name: "a", node: "worker-1", request: 200, loading: 0.9}, {name: "b", node: "worker-1", request: 200, loading: 0.9},
	}
}

// A pod that uses the processor in some intervals only may not be in the way in the next ones.
func TestAChangeThatMayWinNothingIsNotProposed(t *testing.T) {
	t.Parallel()
	nodes, workloads := crowded()
	steady := planOf(t, observedAs(t, nodes, workloads), Options{})
	if len(steady.Steps) != 1 || steady.Steps[0].Win.Low <= 0 {
		t.Fatalf("of a steady load: %+v", steady.Steps)
	}
	kept := Record{}
	for range 20 {
		kept.Add(MovePod, 1)
	}
	trusted := planOf(t, observedAs(t, nodes, workloads), Options{Record: kept})
	if got, want := trusted.Steps[0].Win.Low, steady.Steps[0].Win.Low; got <= want {
		t.Errorf("with a record of kept promises the win is at least %v, without %v", got, want)
	}
	broken := Record{}
	for i := range 20 {
		broken.Add(MovePod, float64(i%3-1)) // nothing, on average
	}
	if p := planOf(t, observedAs(t, nodes, workloads), Options{Record: broken, Allow: []Action{MovePod}}); len(p.Steps) != 0 || p.Left != p.Excess {
		t.Errorf("with a record of broken promises: %+v", p.Steps)
	}
	unsteady := observedAs(t, nodes, workloads)
	for i := range unsteady.Sights[0].Intervals {
		v := &unsteady.Sights[0].Intervals[i]
		v.Pods = append([]usage.Pod{}, v.Pods...)
		v.Pods[1].CPULoading *= []float64{0.02, 1.1}[i%2]
	}
	p := planOf(t, unsteady, Options{})
	if len(p.Steps) > 0 && p.Steps[0].Win.short() <= steady.Steps[0].Win.short() {
		t.Errorf("of an unsteady load %+v, of a steady one %+v", p.Steps[0].Win, steady.Steps[0].Win)
	}
}

func TestAPlanHasNoMoreThanIsAllowed(t *testing.T) {
	t.Parallel()
	nodes, workloads := crowded()
	budget := policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "all"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}, MaxUnavailable: new(intstrOf(0))},
	}
	in := observedAs(t, nodes, workloads)
	rules, err := disruption.New(&disruption.Input{Pods: in.Pods, Budgets: []policyv1.PodDisruptionBudget{budget}})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		options Options
		want    string
	}{
		"all":                          {Options{}, "MovePod shop/a"},
		"requests":                     {Options{Allow: []Action{RaiseRequest}}, ""}, // of equals none can have more without another having less
		"of another pod":               {Options{Permits: func(p *corev1.Pod, _ Action) bool { return p.Name == "b" }}, "MovePod shop/b"},
		"of no pod":                    {Options{Permits: func(*corev1.Pod, Action) bool { return false }}, ""},
		"where a budget keeps all":     {Options{Rules: rules}, ""},
		"above more than what is":      {Options{Above: 3}, ""},
		"below what is not slowed":     {Options{Above: 1.01}, "MovePod shop/a"},
		"no more than none is for all": {Options{Max: 0}, "MovePod shop/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, observedAs(t, nodes, workloads), test.options)
			var all []string
			for i := range p.Steps {
				all = append(all, fmt.Sprintf("%s %s", p.Steps[i].Action, p.Steps[i].Pod))
			}
			if got := strings.Join(all, ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	for want, o := range map[string]Options{"above: 1 is not above 1 and finite": {Above: 1}, "max: -1 is below 0": {Max: -1}} {
		c, _ := looked(t, in, observed.DefaultAbove)
		if _, err := Make(c, &o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What a plan of as many changes as it may have leaves slowed down is not said to be without help.
func TestAPlanThatIsFullDoesNotKnowWhatElseHelps(t *testing.T) {
	t.Parallel()
	full := 0
	for seed := range 6 {
		nodes, workloads := drawCluster(rand.New(rand.NewPCG(uint64(seed), 61)))
		in := observedAs(t, nodes, workloads)
		all := planOf(t, in, Options{})
		for _, most := range []int{1, 2, len(all.Steps) + 1} {
			p := planOf(t, in, Options{Max: most})
			for pod, fate := range p.fates {
				says := strings.HasPrefix(fate.Unknown, "the plan has no more than")
				if says && len(p.Steps) < most && len(all.Steps) <= most {
					t.Errorf("cluster %d: of %s a plan with %d of %d steps says that %s", seed, pod, len(p.Steps), most, fate.Unknown)
				}
				if !says && fate.Unknown == "" && len(p.Steps) == most && fate.Step < 0 && fate.Dilation > p.Above {
					t.Errorf("cluster %d: of %s, %.2f times slower, a full plan says nothing", seed, pod, fate.Dilation)
				}
				if says {
					full++
				}
			}
		}
	}
	if full == 0 {
		t.Error("no plan was full")
	}
}

func TestAPlanBendsWhereMostIsWon(t *testing.T) {
	t.Parallel()
	of := func(excess float64, left ...float64) *Plan {
		p := &Plan{Excess: excess, Left: excess}
		for _, l := range left {
			p.Steps, p.Left = append(p.Steps, Step{Left: l}), l
		}
		return p
	}
	for name, test := range map[string]struct {
		plan *Plan
		want int
	}{
		"no step": {of(3), 0}, "one": {of(3, 1), 1}, "a straight line": {of(4, 3, 2, 1), 3}, "the first wins most": {of(10, 1, 0.5, 0), 1},
		"the first two": {of(10, 5, 1, 0.9, 0.8, 0.7), 2},
	} {
		if got := test.plan.Bend(); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// BenchmarkMake is a plan of 20 changes for nodes of 16 cores with 30 pods each, of which one in ten is overloaded.
func BenchmarkMake(b *testing.B) {
	for _, size := range []int{100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var nodes []corev1.Node
			var workloads []workload
			for n := range size {
				nodes = append(nodes, worker(fmt.Sprintf("worker-%d", n), 16))
				for k := range 30 {
					w := workload{
						name: fmt.Sprintf("pod-%d-%d", n, k), node: nodes[n].Name, request: 100 * int64(1+rng.IntN(4)), loading: 0.05 + 0.5*rng.Float64(), threads: 1,
					}
					if n%10 == 0 {
						w.loading, w.threads = min(1, 1.5*w.loading), 1+rng.IntN(2)
					}
					workloads = append(workloads, w)
				}
			}
			in := observedAs(b, nodes, workloads)
			for b.Loop() {
				c := observed.Observe(in, observed.DefaultAbove)
				c.SolveSlowed()
				filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
				if err != nil {
					b.Fatal(err)
				}
				p, err := Make(c, &Options{Max: 20, Feasibility: filter})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(p.Steps)), "steps")
				b.ReportMetric(100*(1-p.Left/p.Excess), "%won")
			}
		})
	}
}

// Of whatever clusters: no plan has more changes than it may, none changes a pod that it moves a second time, since another pod is there
// then, and no step slows a pod down as badly as the worst was before it.
func TestAPlanCanBeCarriedOutStepByStep(t *testing.T) {
	t.Parallel()
	pairs := 0
	for seed := range 40 / thinned {
		rng := rand.New(rand.NewPCG(uint64(seed), 46))
		nodes, workloads := drawCluster(rng)
		in := observedAs(t, nodes, workloads)
		for most := range 4 {
			p := planOf(t, in, Options{Max: most})
			if most > 0 && len(p.Steps) > most {
				t.Errorf("cluster %d: %d steps, at most %d are allowed", seed, len(p.Steps), most)
			}
			moved, changed := map[string]bool{}, map[string]bool{}
			worst := 0.0
			for i := range in.Sights {
				for _, pod := range in.Sights[i].Intervals[0].Pods {
					worst = max(worst, pod.Dilation)
				}
			}
			for i := range p.Steps {
				s := &p.Steps[i]
				if moved[s.Pod] || s.Action == MovePod && changed[s.Pod] {
					t.Errorf("cluster %d, step %d changes %s again: %+v", seed, i+1, s.Pod, s.Change)
				}
				moved[s.Pod], changed[s.Pod] = s.Action == MovePod, true
				for _, e := range s.Pods {
					if e.Then > e.Now && e.Then >= worst {
						t.Errorf("cluster %d, step %d: %+v, where the worst was %.2f", seed, i+1, e, worst)
					}
				}
				if len(s.Notes) > 0 {
					pairs++
				}
			}
		}
	}
	if pairs == 0 && thinned == 1 {
		t.Error("no step makes room for the next")
	}
}

// A pod that requests far more than it uses keeps another one away, from where that would have a processor of its own.
func TestAChangeMakesRoomForAnother(t *testing.T) {
	t.Parallel()
	nodes := []corev1.Node{worker("worker-1", 1), worker("worker-2", 1)}
	workloads := []workload{
		{name: "a", node: "worker-1", request: 500, loading: 0.9},
		{name: "b", node: "worker-1", request: 500, loading: 0.9},
		{name: "c", node: "worker-2", request: 900, loading: 0.05},
	}
	for name, test := range map[string]struct {
		options Options
		want    []Action
	}{
		"two steps":           {Options{Max: 2}, []Action{LowerRequest, MovePod}},
		"no more than one":    {Options{Max: 1}, nil},
		"of which one is not": {Options{Allow: []Action{MovePod}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planOf(t, observedAs(t, nodes, workloads), test.options)
			var got []Action
			for i := range p.Steps {
				got = append(got, p.Steps[i].Action)
			}
			if !slices.Equal(got, test.want) {
				t.Fatalf("got %+v, want %v", p.Steps, test.want)
			}
			if cut := strings.HasPrefix(p.fates["shop/a"].Unknown, "the plan has no more than 1 change:"); cut != (test.options.Max == 1) {
				t.Errorf("of a pod that two steps would help it says %q", p.fates["shop/a"].Unknown)
			}
			if len(got) == 2 && !slices.Equal(p.Steps[0].Notes, []string{"it makes room for step 2"}) {
				t.Errorf("the first step has the notes %q", p.Steps[0].Notes)
			}
		})
	}
}

// Of two pods on one processor, the other node being empty, from a few hundredths of their time to most of it: what is looked for is what is
// proposed, so that a search is not made again for each change that wins next to nothing, of which a large cluster has thousands.
func TestNoChangeIsLookedForThatIsNotWorthIt(t *testing.T) {
	t.Parallel()
	nodes := []corev1.Node{worker("busy", 1), worker("empty", 1)}
	moved, slight := 0, 0
	for loading := 0.05; loading < 0.6; loading += 0.01 {
		in := observedAs(t, nodes, []workload{
			{name: "first", node: "busy", request: 100, loading: loading, threads: 1}, {name: "second", node: "busy", request: 100, loading: loading, threads: 1},
		})
		c := observed.Observe(in, observed.DefaultAbove)
		c.SolveAll()
		filter, err := feasibility.New(&feasibility.Cluster{Nodes: in.Nodes, Pods: in.Pods})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSearch(c, &Options{Feasibility: filter})
		if err != nil {
			t.Fatal(err)
		}
		s.run()
		p, useless, err := s.write(s.first, s.steps)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range useless {
			t.Errorf("loading %.2f: %s of %s was looked for", loading, change.Action, change.Pod)
		}
		switch {
		case len(p.Steps) > 0:
			moved++
		case p.Excess > 0:
			slight++
		}
	}
	if moved == 0 || slight == 0 {
		t.Errorf("a pod is moved in %d cases, and in %d its neighbour is slowed down too little, want some of both", moved, slight)
	}
}
