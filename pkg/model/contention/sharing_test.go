package contention_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Pods on one core of a real node, with the dilations that were measured there. Weights are those that a kubelet makes
// of their requests on cgroup v2.
func TestUnequalPodsFareAsMeasured(t *testing.T) {
	t.Parallel()
	busy, most := loading.Vector{loading.Symmetric(1)}, loading.Vector{loading.Symmetric(0.6)}
	for name, test := range map[string]struct {
		jobs     []loading.Vector
		sharing  contention.Sharing
		measured []float64
		within   float64
	}{
		"two of 100m":                {[]loading.Vector{busy, busy}, contention.Sharing{Shares: []loading.Share{{Weight: 4}, {Weight: 4}}}, []float64{2.05, 2.05}, 0.03},
		"500m beside 50m":            {[]loading.Vector{busy, busy}, contention.Sharing{Shares: []loading.Share{{Weight: 20}, {Weight: 2}}}, []float64{1.1, 11}, 0.03},
		"60 % of 500m beside 50m":    {[]loading.Vector{most, busy}, contention.Sharing{Shares: []loading.Share{{Weight: 20}, {Weight: 2}}}, []float64{1.02, 1.99}, 0.2},
		"a limit of 300m, unlimited": {[]loading.Vector{busy, busy}, contention.Sharing{Shares: []loading.Share{{Weight: 4, Limit: 0.3}, {Weight: 4}}}, []float64{0.97, 1.47}, 0.04},
	} {
		p, err := contention.PredictSharing(test.jobs, []int{1}, test.sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range test.measured {
			if math.Abs(p.Dilations[j]/want-1) > test.within {
				t.Errorf("%s: %v, measured %v", name, p.Dilations, test.measured)
				break
			}
		}
	}
}

func TestEqualSharesChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs, servers := drawJobs(t)
		want, err := contention.Predict(jobs, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		share := loading.Share{Weight: rapid.SampledFrom([]float64{0, 1, 39}).Draw(t, "weight")}
		sharing := contention.Sharing{Resource: rapid.IntRange(0, len(servers)-1).Draw(t, "resource")}
		for range jobs {
			sharing.Shares = append(sharing.Shares, share)
		}
		got, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j, d := range want.Dilations {
			if got.Dilations[j] != d {
				t.Fatalf("job %d: %v with equal shares, %v by Predict", j, got.Dilations[j], d)
			}
		}
	})
}

func drawJobs(t *rapid.T) ([]loading.Vector, []int) {
	servers := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "servers")
	var jobs []loading.Vector
	for range rapid.IntRange(1, 5).Draw(t, "jobs") {
		v := make(loading.Vector, len(servers))
		left := 1.0
		for i := range v {
			fraction := rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "loading") * left
			v[i] = loading.Symmetric(fraction)
			left -= fraction
		}
		jobs = append(jobs, v)
	}
	return jobs, servers
}

// Whatever the shares, delays add up to dilations and blame to delays.
func TestSharedDelaysAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs, servers := drawJobs(t)
		for j := range jobs {
			for i := range jobs[j] {
				jobs[j][i].Threads = rapid.IntRange(0, 2).Draw(t, "threads")
			}
		}
		sharing := contention.Sharing{Resource: rapid.IntRange(0, len(servers)-1).Draw(t, "resource"), Groups: []gps.Group{
			{Limit: rapid.SampledFrom([]float64{0, 0, 1.5}).Draw(t, "limit")}, {Weight: 5, Limit: rapid.SampledFrom([]float64{0, 0.01, 1}).Draw(t, "limit")},
		}}
		for range jobs {
			sharing.Shares = append(sharing.Shares, loading.Share{
				Weight: rapid.SampledFrom([]float64{1, 2, 100}).Draw(t, "weight"),
				Limit:  rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, "limit"),
				Group:  rapid.IntRange(0, 1).Draw(t, "group"),
			})
		}
		p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j, d := range p.Dilations {
			delays, blame := 0.0, 0.0
			for i := range servers {
				delays += p.Delay(j, i)
				for k, b := range p.BlameAt(j, i) {
					if k == j && b != 0 || !(b >= 0) {
						t.Fatalf("job %d blames %d by %v", j, k, b)
					}
					blame += b
				}
			}
			if !(d >= 1) || math.Abs(delays-(d-1)) > 1e-9*d || math.Abs(blame-(d-1)) > 1e-9*d {
				t.Fatalf("job %d: dilation %v, delays %v, blame %v", j, d, delays, blame)
			}
		}
	})
}

var (
	sets     = flag.Int("sets", 80, "random sets of jobs in the study of errors")
	firstSet = flag.Int("first", 0, "the number of the first of these sets, for a study in parts")
	largest  = flag.Int("jobs", 5, "how many jobs such a set has at most, up to 8")
)

// The Markov chain of the same jobs, which is independent of the corrections. The study is `go test
// ./pkg/model/contention -run TestSharedPredictionsAreNearTheChain -sets 1000 -jobs 6 -v -timeout 30m`.
func TestSharedPredictionsAreNearTheChain(t *testing.T) {
	t.Parallel()
	sum, worst, count := 0.0, 0.0, 0.0
	equal, worstEqual := 0.0, 0.0
	for set := *firstSet; set < *firstSet+*sets; set++ {
		r := rand.New(rand.NewPCG(19, uint64(set)))
		jobs, n, sharing := randomShares(r, 2+r.IntN(*largest-1))
		p, err := contention.PredictSharing(jobs, n.Servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		alike, err := contention.Predict(jobs, n.Servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		together := exactResponses(t, n)
		here := 0.0
		for j, d := range p.Dilations {
			want := together[j] / exactResponses(t, n.Alone(j))[0]
			off := math.Abs(d/want - 1)
			sum += off
			here = max(here, off)
			equal += math.Abs(alike.Dilations[j]/want - 1)
			worstEqual = max(worstEqual, math.Abs(alike.Dilations[j]/want-1))
			count++
		}
		if worst = max(worst, here); here > 0.1 {
			t.Logf("set %d: off by %.1f %%", set, 100*here)
		}
		if done := set - *firstSet + 1; done%100 == 0 || done == *sets {
			t.Logf("%d sets: off by %.2f %% on average, %.1f %% at worst; as equals by %.1f %%, %.1f %%", done, 100*sum/count, 100*worst, 100*equal/count, 100*worstEqual)
		}
	}
	if sum/count > 0.02 || worst > 0.1 {
		t.Errorf("off by %v on average, %v at worst", sum/count, worst)
	}
}

// randomShares draws jobs with weights from 1 to 100, bursts from 1 to 10, and limits for every other one.
func randomShares(r *rand.Rand, size int) ([]loading.Vector, *gps.Network, contention.Sharing) {
	n := &gps.Network{Servers: []int{[]int{1, 2, 4}[r.IntN(3)]}}
	for range r.IntN(3) {
		n.Servers = append(n.Servers, 1+r.IntN(2))
	}
	var jobs []loading.Vector
	var sharing contention.Sharing
	for range size {
		v, demands, total := make(loading.Vector, len(n.Servers)), make([]float64, len(n.Servers)), 0.0
		for i := range v {
			demands[i] = r.ExpFloat64()
			total += demands[i]
		}
		busy := 0.2 + 0.8*r.Float64()
		for i := range v {
			demands[i] *= busy / total
			v[i] = loading.Symmetric(demands[i])
		}
		share := loading.Share{Weight: math.Pow(100, r.Float64()), Burst: math.Pow(10, r.Float64())}
		if r.IntN(2) == 0 {
			share.Limit = 0.1 + 0.9*r.Float64()
		}
		jobs, sharing.Shares = append(jobs, v), append(sharing.Shares, share)
		n.Jobs = append(n.Jobs, gps.Job{Demands: demands, Weight: share.Weight, Limit: share.Limit, Burst: share.Burst})
	}
	return jobs, n, sharing
}

// exactResponses returns how long jobs take, in own times, by the Markov chain. A job that would use more than its limit
// is idle for longer, until it does not.
func exactResponses(t *testing.T, n *gps.Network) []float64 {
	t.Helper()
	free := &gps.Network{Servers: n.Servers}
	for _, j := range n.Jobs {
		j.Limit = 0
		free.Jobs = append(free.Jobs, j)
	}
	longer := make([]float64, len(n.Jobs))
	for {
		solution, err := gps.Exact(free, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		responses, settled := make([]float64, len(n.Jobs)), true
		for j, job := range n.Jobs {
			responses[j] = solution.Responses[j] * (1 + longer[j])
			if job.Limit == 0 {
				continue
			}
			before := longer[j]
			longer[j] = max(0, before+job.Demands[0]/job.Limit-responses[j])
			settled = settled && math.Abs(longer[j]-before) < 1e-3*responses[j]
			free.Jobs[j].Demands = make([]float64, len(job.Demands))
			for i, d := range job.Demands {
				free.Jobs[j].Demands[i] = d / (1 + longer[j])
			}
		}
		if settled {
			return responses
		}
	}
}

func TestBadSharesAreRefused(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{{loading.Symmetric(0.5)}}
	for want, s := range map[string]contention.Sharing{
		"shares: 0 for 1 jobs":      {},
		"resource: 1 is not one of": {Resource: 1, Shares: make([]loading.Share, 1)},
		"jobs[0].weight: -1":        {Shares: []loading.Share{{Weight: -1}}},
		"jobs[0].limit: NaN":        {Shares: []loading.Share{{Limit: math.NaN()}}},
		"jobs[0].group: 2":          {Shares: []loading.Share{{Group: 2}}},
	} {
		if _, err := contention.PredictSharing(jobs, []int{1}, s, queueing.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCompletionsWithEqualSharesAreThoseWithoutShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs, servers := drawJobs(t)
		var runs []mix.Run
		for _, v := range jobs {
			runs = append(runs, mix.Run{
				Start:   rapid.SampledFrom([]float64{-5, 0, 0, 3, 1000}).Draw(t, "start"),
				Neutral: rapid.SampledFrom([]float64{0, 1, 7, 7}).Draw(t, "neutral"),
				Vector:  v,
			})
		}
		want, err := mix.CompletionsBy(runs, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sharing := contention.Sharing{Shares: make([]loading.Share, len(runs))}
		got, err := mix.CompletionsSharing(runs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if math.Abs(got[j]-want[j]) > 1e-6*max(1, math.Abs(want[j])) { // the path of a solver matters to its tolerance
				t.Fatalf("runs %v: done at %v, want %v", runs, got, want)
			}
		}
	})
}

// A core that is never idle is done when the work is, and a job of ten times the weight well before the other.
func TestABusyCoreIsDoneWhenTheWorkIs(t *testing.T) {
	t.Parallel()
	busy := loading.Vector{loading.Symmetric(1)}
	runs := []mix.Run{{Neutral: 60, Vector: busy}, {Neutral: 60, Vector: busy}, {Start: 30, Neutral: 10, Vector: busy}}
	sharing := contention.Sharing{Shares: []loading.Share{{Weight: 10}, {Weight: 1}, {Weight: 9}}}
	got, err := mix.CompletionsSharing(runs, []int{1}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The third has 9/20 from 30 s on, so it takes 22.2 s; the first had 10/11, then 10/20, then 10/11 again.
	third := 30 + 10*20./9
	first := third + (60-30*10./11-(third-30)/2)*11/10
	for j, want := range []float64{first, 130, third} {
		if math.Abs(got[j]-want) > 1e-3 {
			t.Errorf("run %d is done at %v, want %v", j, got[j], want)
		}
	}
	bad := []mix.Run{{Start: math.NaN(), Vector: busy}}
	if _, err := mix.CompletionsSharing(bad, []int{1}, contention.Sharing{Shares: make([]loading.Share, 1)}, queueing.Options{}); err == nil {
		t.Error("a start that is not a number is taken")
	}
}

// A pod's threads share its weight: two on one core, alone at half speed each, are at a quarter beside one of another
// pod of that weight, which has half of the core.
func TestTheThreadsOfAJobShareItsWeight(t *testing.T) {
	t.Parallel()
	always := func(threads int) loading.Vector {
		return loading.Vector{{Loading: 1, Pressure: 1, Threads: threads}}
	}
	p, err := contention.PredictSharing([]loading.Vector{always(2), always(1)}, []int{1},
		contention.Sharing{Shares: make([]loading.Share, 2)}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for j, got := range p.Dilations {
		if math.Abs(got-2) > 0.01 {
			t.Errorf("job %d: dilated by %v, want 2", j, got)
		}
	}
}
