package nodesim_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

const millisecond = 0.001

// pod returns one of weight 39, which a request of a core comes to, with bursts of a length and these loadings.
func pod(threads int, burst float64, loadings ...float64) nodesim.Pod {
	v := loading.Loadings(loadings...)
	for i := range v {
		v[i].Threads = threads
	}
	v[0].Burst = burst
	return nodesim.Pod{Vector: v, Weight: 39}
}

func dilations(t *testing.T, j *nodesim.Judge, servers []int, pods ...nodesim.Pod) []nodesim.Dilation {
	t.Helper()
	found, err := j.Dilations(servers, pods)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// near fails unless a dilation is as wanted to within a tolerance, and four of its standard errors.
func near(t *testing.T, what string, got nodesim.Dilation, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got.Mean-want) <= tolerance*want+4*got.Error) {
		t.Errorf("%s: %.4f ± %.4f, want %.4f", what, got.Mean, got.Error, want)
	}
}

// repairman returns how many times longer each of n equal jobs takes that are at a station with c servers for a fraction of their time
// alone, and elsewhere for the rest: the machine repairman model.
func repairman(n, c int, fraction float64) float64 {
	total, mean, p := 1.0, 0.0, 1.0
	for k := 1; k <= n; k++ {
		p *= float64(n-k+1) * fraction / (1 - fraction) / float64(min(k, c))
		total += p
		mean += float64(k) * p
	}
	return (1 - fraction) / (1 - mean/total/float64(n))
}

func TestPodsWithANodeOfTheirOwnAreNotDilated(t *testing.T) {
	t.Parallel()
	limited := pod(2, 20*millisecond, 0.9)
	limited.Limit = 0.5
	for _, p := range []nodesim.Pod{pod(1, 5*millisecond, 0.2, 0.3, 0.1), pod(4, 50*millisecond, 0.9, 0.1), limited} {
		if got := dilations(t, nodesim.New(), []int{2, 1, 1}, p); got[0].Mean != 1 {
			t.Errorf("%v: %v", p, got[0].Mean)
		}
	}
}

func TestPodsThatShareADiskAreAMachineRepairman(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 2} {
		var pods []nodesim.Pod
		for range 6 {
			pods = append(pods, pod(1, 2*millisecond, 0.1, 0.4))
		}
		for _, d := range dilations(t, nodesim.New(), []int{16, servers}, pods...) {
			near(t, "six pods", d, repairman(6, servers, 0.4), 0.01)
		}
	}
}

func TestBusyPodsGetTheirPartOfAProcessorByWeight(t *testing.T) {
	t.Parallel()
	light, heavy := pod(1, 50*millisecond, 1), pod(1, 50*millisecond, 1)
	light.Weight, heavy.Weight = 10, 30
	got := dilations(t, nodesim.New(), []int{1}, light, heavy)
	near(t, "a quarter", got[0], 4, 0.02)
	near(t, "three quarters", got[1], 4./3, 0.02)
}

// Nodes that every model must have right: little load, several resources, requests that are alike.
func TestEasyNodesAreAsPredicted(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 0))
	for range 8 {
		servers := []int{8, 1, 1}
		var pods []nodesim.Pod
		var vectors []loading.Vector
		for range 8 {
			p := pod(1, (2+20*r.Float64())*millisecond, 0.1+0.3*r.Float64(), 0.15*r.Float64(), 0.15*r.Float64())
			pods, vectors = append(pods, p), append(vectors, p.Vector)
		}
		want, err := contention.PredictSharing(vectors, servers, contention.EqualShares(0, len(pods)), queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range dilations(t, nodesim.New(), servers, pods...) {
			near(t, "predicted", d, want.Dilations[i], 0.01)
		}
	}
}

func TestAPodIsTheSameWhereverItStands(t *testing.T) {
	t.Parallel()
	a, b := pod(1, 5*millisecond, 0.3, 0.4), pod(2, 20*millisecond, 0.6, 0.1)
	j := nodesim.New()
	first := dilations(t, j, []int{1, 1}, a, b, a)
	simulated := j.Simulated()
	second := dilations(t, j, []int{1, 1}, b, a, a)
	if diff := cmp.Diff(first, []nodesim.Dilation{second[1], second[0], second[2]}); diff != "" {
		t.Errorf("in another order (-first +second)\n%s", diff)
	}
	if j.Simulated() != simulated {
		t.Error("the same node was simulated twice")
	}
	if again := dilations(t, nodesim.New(), []int{1, 1}, a, b, a); !cmp.Equal(first, again) {
		t.Errorf("%v, and %v by another judge", first, again)
	}
}

// Estimates of a node that is simulated with other random numbers scatter as their standard errors say: pods that differ in the
// tenth digit of a loading have other random numbers.
func TestStandardErrorsSayHowFarEstimatesScatter(t *testing.T) {
	t.Parallel()
	const runs = 40
	var scores []float64
	j := nodesim.New()
	j.Precision = 0.02
	sum, estimates := 0.0, make([]nodesim.Dilation, runs)
	for run := range estimates {
		other := 1 + 1e-10*float64(run)
		estimates[run] = dilations(t, j, []int{2, 1}, pod(1, 5*millisecond, 0.3*other, 0.4), pod(1, 10*millisecond, 0.2*other, 0.6), pod(2, 20*millisecond, 0.8*other))[0]
		sum += estimates[run].Mean / runs
	}
	for _, e := range estimates {
		scores = append(scores, (e.Mean-sum)/e.Error)
	}
	square := 0.0
	for _, s := range scores {
		square += s * s / (runs - 1)
	}
	t.Logf("%.2f standard errors", math.Sqrt(square))
	if deviation := math.Sqrt(square); !(deviation > 0.6 && deviation < 1.7) {
		slices.Sort(scores)
		t.Errorf("estimates are off by %.2f standard errors, root mean square: %.1f", deviation, scores)
	}
}

func TestWhatCannotBeSimulatedIsRefused(t *testing.T) {
	t.Parallel()
	ok := pod(1, 5*millisecond, 0.3, 0.4)
	for want, change := range map[string]func(servers *[]int, p *nodesim.Pod){
		"servers: there are none":          func(s *[]int, _ *nodesim.Pod) { *s = nil },
		"servers[1]: 0 ":                   func(s *[]int, _ *nodesim.Pod) { *s = []int{1, 0} },
		"pods[0]: vector: 2 resources":     func(s *[]int, _ *nodesim.Pod) { *s = []int{1} },
		"pods[0]: loading: 1.1 in all ":    func(_ *[]int, p *nodesim.Pod) { p.Vector = pod(1, 1, 0.7, 0.4).Vector },
		"pods[0]: vector: no resource ":    func(_ *[]int, p *nodesim.Pod) { p.Vector = pod(1, 0, 0.7, 0.3).Vector },
		"pods[0]: resource 0: loading: -1": func(_ *[]int, p *nodesim.Pod) { p.Vector = pod(1, 1, -1).Vector },
		"pods[0]: weight: 0 ":              func(_ *[]int, p *nodesim.Pod) { p.Weight = 0 },
		"pods[0]: limit: -1 ":              func(_ *[]int, p *nodesim.Pod) { p.Limit = -1 },
		"pods[0]: limit: 0.001 ":           func(_ *[]int, p *nodesim.Pod) { p.Limit = 0.001 },
	} {
		servers, p := []int{1, 1}, ok
		change(&servers, &p)
		if _, err := nodesim.New().Dilations(servers, []nodesim.Pod{p}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("want an error that begins with %q, got %v", want, err)
		}
	}
}
