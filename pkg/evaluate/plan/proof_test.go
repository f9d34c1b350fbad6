package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/observed"
)

// made returns workloads after a change. A pod that has moved has another name, since it is another one.
func made(workloads []workload, c *Change) (after []workload, now string) {
	after, now = slices.Clone(workloads), c.Pod
	i := slices.IndexFunc(after, func(w workload) bool { return "shop/"+w.name == c.Pod })
	switch {
	case c.Action == MovePod:
		after[i].node = c.To
		after[i].name += "-anew"
		now = "shop/" + after[i].name
	case c.Request != nil:
		after[i].request = c.Request.MilliValue()
	}
	return after, now
}

// seenOf returns the dilation of each pod that gauges see.
func seenOf(in *observed.Input) map[string]float64 {
	all := map[string]float64{}
	for _, s := range in.Sights {
		for _, p := range s.Intervals[0].Pods {
			all[strings.TrimSuffix(p.Name, "-anew")] = p.Dilation
		}
	}
	return all
}

// What a change won is what the model of the nodes says, at the load of afterwards, where all pods fare by the model: also where all loads have
// changed meanwhile, one pod has come and another has gone.
func TestAProofIsOfTheLoadOfAfterwards(t *testing.T) {
	t.Parallel()
	proven, kinds := 0, map[Action]int{}
	for seed := range uint64(64 / thinned) {
		rng := rand.New(rand.NewPCG(seed, 9))
		nodes, before := drawCluster(rng)
		in := observedAs(t, nodes, before)
		p := planOf(t, in, Options{Max: 1})
		if len(p.Steps) == 0 {
			continue
		}
		change := p.Steps[0].Change
		quieter := slices.Clone(before)
		if seed%2 == 0 {
			for i := range quieter {
				quieter[i].loading *= 0.5 + 0.6*rng.Float64()
				quieter[i].loading = min(1, quieter[i].loading)
			}
			last := len(quieter) - 1
			if "shop/"+quieter[last].name != change.Pod {
				quieter[last].name = "pod-new"
			}
		}
		after, now := made(quieter, &change)
		without, with := observedAs(t, nodes, quieter), observedAs(t, nodes, after)
		was, _ := looked(t, in, observed.DefaultAbove)
		since, _ := looked(t, with, observed.DefaultAbove)
		proof, err := Prove(was, since, &change, now, &Options{})
		if err != nil {
			t.Fatal(err)
		}
		if proof.Unknown != "" {
			t.Fatalf("cluster %d: %s", seed, proof.Unknown)
		}
		want, byThen, byNow := 0.0, seenOf(with), seenOf(without)
		for pod, d := range byNow {
			want += max(0, d-observed.DefaultAbove) - max(0, byThen[pod]-observed.DefaultAbove)
		}
		const rounding = 1e-6
		if math.Abs(proof.Win.Value-want) > rounding {
			t.Errorf("cluster %d, %s %s: won %v, want %v", seed, change.Action, change.Pod, proof.Win.Value, want)
		}
		if !(proof.Win.Low <= want+rounding && want <= proof.Win.High+rounding) {
			t.Errorf("cluster %d: %v is not within %v", seed, want, proof.Win)
		}
		proven++
		kinds[change.Action]++
	}
	if proven < 20/thinned || thinned == 1 && (kinds[MovePod] == 0 || kinds[RaiseRequest]+kinds[LowerRequest] == 0) {
		t.Errorf("%d changes of kinds %v are too few", proven, kinds)
	}
}

func TestWhatIsNotObservedIsNotProven(t *testing.T) {
	t.Parallel()
	nodes, workloads := crowded()
	in := observedAs(t, nodes, workloads)
	p := planOf(t, in, Options{Allow: []Action{MovePod}, Max: 1})
	change := p.Steps[0].Change
	after, now := made(workloads, &change)
	for name, test := range map[string]struct {
		was, is func(*observed.Input)
		now     string
		want    string
	}{
		"before":     {was: func(in *observed.Input) { in.Sights = in.Sights[:1] }, want: "there is no gauge"},
		"since":      {is: func(in *observed.Input) { in.Sights = nil }, want: "has not been observed for long enough"},
		"the pod":    {now: "shop/another", want: "shop/another has not been observed for long enough"},
		"long since": {is: func(in *observed.Input) { in.Sights[1].Intervals = in.Sights[1].Intervals[:1] }, want: "has not been observed for long enough"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was, is, pod := observedAs(t, nodes, workloads), observedAs(t, nodes, after), now
			if test.was != nil {
				test.was(was)
			}
			if test.is != nil {
				test.is(is)
			}
			if test.now != "" {
				pod = test.now
			}
			before, _ := looked(t, was, observed.DefaultAbove)
			since, _ := looked(t, is, observed.DefaultAbove)
			proof, err := Prove(before, since, &change, pod, &Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(proof.Unknown, test.want) {
				t.Errorf("unknown is %q, want %q", proof.Unknown, test.want)
			}
		})
	}
}

// A plan begins with what was proposed before, as long as it wins, and otherwise leaves it out.
func TestAPlanBeginsWithWhatWasProposed(t *testing.T) {
	t.Parallel()
	kept, left := 0, 0
	for seed := range uint64(40 / thinned) {
		nodes, workloads := drawCluster(rand.New(rand.NewPCG(seed, 9)))
		in := observedAs(t, nodes, workloads)
		p := planOf(t, in, Options{Alone: true})
		if len(p.Steps) < 2 {
			continue
		}
		slices.Reverse(p.Steps)
		var first []Change
		for i := range p.Steps {
			first = append(first, p.Steps[i].Change)
		}
		again := planOf(t, in, Options{Alone: true, First: first[:1]})
		if len(again.Steps) > 0 && again.Steps[0].key() == first[0].key() {
			kept++
		}
		gone := planOf(t, in, Options{Alone: true, First: first[:1], Permits: func(pod *corev1.Pod, _ Action) bool { return "shop/"+pod.Name != first[0].Pod }})
		for i := range gone.Steps {
			if gone.Steps[i].Pod == first[0].Pod {
				left++
			}
		}
	}
	if kept < 5/thinned || left > 0 {
		t.Errorf("%d plans begin with what was proposed, %d with what is not permitted", kept, left)
	}
}
