package contention_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Pods on one core of a real node, with the dilations that were measured there. Weights are those that a kubelet makes
// of their requests on cgroup v2.
func TestUnequalPodsFareAsMeasured(t *testing.T) {
	t.Parallel()
	busy, most := contention.Vector{contention.Symmetric(1)}, contention.Vector{contention.Symmetric(0.6)}
	for name, test := range map[string]struct {
		jobs     []contention.Vector
		sharing  contention.Sharing
		measured []float64
		within   float64
	}{
		"two of 100m":                {[]contention.Vector{busy, busy}, contention.Sharing{Shares: []contention.Share{{Weight: 4}, {Weight: 4}}}, []float64{2.05, 2.05}, 0.03},
		"500m beside 50m":            {[]contention.Vector{busy, busy}, contention.Sharing{Shares: []contention.Share{{Weight: 20}, {Weight: 2}}}, []float64{1.1, 11}, 0.03},
		"60 % of 500m beside 50m":    {[]contention.Vector{most, busy}, contention.Sharing{Shares: []contention.Share{{Weight: 20}, {Weight: 2}}}, []float64{1.02, 1.99}, 0.2},
		"a limit of 300m, unlimited": {[]contention.Vector{busy, busy}, contention.Sharing{Shares: []contention.Share{{Weight: 4, Limit: 0.3}, {Weight: 4}}}, []float64{0.97, 1.47}, 0.04},
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
		share := contention.Share{Weight: rapid.SampledFrom([]float64{0, 1, 39}).Draw(t, "weight")}
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

func drawJobs(t *rapid.T) ([]contention.Vector, []int) {
	servers := rapid.SliceOfN(rapid.IntRange(1, 4), 1, 3).Draw(t, "servers")
	var jobs []contention.Vector
	for range rapid.IntRange(1, 5).Draw(t, "jobs") {
		v := make(contention.Vector, len(servers))
		left := 1.0
		for i := range v {
			loading := rapid.SampledFrom([]float64{0, 0.1, 0.5, 1}).Draw(t, "loading") * left
			v[i] = contention.Symmetric(loading)
			left -= loading
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
			sharing.Shares = append(sharing.Shares, contention.Share{
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

// The Markov chain of the same jobs, which knows nothing of corrections.
func TestSharedPredictionsAreNearTheChain(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(19, 2))
	mean, worst, count := 0.0, 0.0, 0.0
	for range 80 {
		servers := []int{[]int{1, 2, 4}[r.IntN(3)]}
		for range r.IntN(3) {
			servers = append(servers, 1+r.IntN(2))
		}
		n := &gps.Network{Servers: servers}
		var jobs []contention.Vector
		var sharing contention.Sharing
		for range 2 + r.IntN(4) {
			v, total := make(contention.Vector, len(servers)), 0.0
			for i := range v {
				v[i].Loading = r.ExpFloat64()
				total += v[i].Loading
			}
			busy := 0.2 + 0.8*r.Float64()
			demands := make([]float64, len(v))
			for i := range v {
				v[i] = contention.Symmetric(v[i].Loading * busy / total)
				demands[i] = v[i].Loading
			}
			share := contention.Share{Weight: math.Pow(100, r.Float64()), Burst: math.Pow(10, r.Float64())}
			jobs, sharing.Shares = append(jobs, v), append(sharing.Shares, share)
			n.Jobs = append(n.Jobs, gps.Job{Demands: demands, Weight: share.Weight, Burst: share.Burst})
		}
		p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		exact, err := gps.Exact(n, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for j, d := range p.Dilations {
			alone, err := gps.Exact(n.Alone(j), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			off := math.Abs(d*alone.Responses[0]/exact.Responses[j] - 1)
			mean += off
			worst = max(worst, off)
			count++
		}
	}
	t.Logf("off by %.2f %% on average, %.1f %% at worst", 100*mean/count, 100*worst)
	if mean/count > 0.02 || worst > 0.1 {
		t.Errorf("off by %v on average, %v at worst", mean/count, worst)
	}
}

func TestBadSharesAreRefused(t *testing.T) {
	t.Parallel()
	jobs := []contention.Vector{{contention.Symmetric(0.5)}}
	for want, s := range map[string]contention.Sharing{
		"shares: 0 for 1 jobs":      {},
		"resource: 1 is not one of": {Resource: 1, Shares: make([]contention.Share, 1)},
		"jobs[0].weight: -1":        {Shares: []contention.Share{{Weight: -1}}},
		"jobs[0].limit: NaN":        {Shares: []contention.Share{{Limit: math.NaN()}}},
		"jobs[0].group: 2":          {Shares: []contention.Share{{Group: 2}}},
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
		var runs []contention.Run
		for _, v := range jobs {
			runs = append(runs, contention.Run{
				Start:   rapid.SampledFrom([]float64{-5, 0, 0, 3, 1000}).Draw(t, "start"),
				Neutral: rapid.SampledFrom([]float64{0, 1, 7, 7}).Draw(t, "neutral"),
				Vector:  v,
			})
		}
		want, err := contention.CompletionsBy(runs, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sharing := contention.Sharing{Shares: make([]contention.Share, len(runs))}
		got, err := contention.CompletionsSharing(runs, servers, sharing, queueing.Options{})
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
	busy := contention.Vector{contention.Symmetric(1)}
	runs := []contention.Run{{Neutral: 60, Vector: busy}, {Neutral: 60, Vector: busy}, {Start: 30, Neutral: 10, Vector: busy}}
	sharing := contention.Sharing{Shares: []contention.Share{{Weight: 10}, {Weight: 1}, {Weight: 9}}}
	got, err := contention.CompletionsSharing(runs, []int{1}, sharing, queueing.Options{})
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
	bad := []contention.Run{{Start: math.NaN(), Vector: busy}}
	if _, err := contention.CompletionsSharing(bad, []int{1}, contention.Sharing{Shares: make([]contention.Share, 1)}, queueing.Options{}); err == nil {
		t.Error("a start that is not a number is taken")
	}
}
