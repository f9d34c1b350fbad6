package interference_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// siblingsCurve is the measured slowdown of a hyper-thread by the other one of its core.
var siblingsCurve = loading.Curve{{Pressure: 1, Inflation: 2.29}}

// idleFirst returns the number of threads in each domain when a kernel puts one after the other where the fewest run.
func idleFirst(threads, domains int) []int {
	in := make([]int, domains)
	for range threads {
		in[slices.Index(in, slices.Min(in))]++
	}
	return in
}

// placedDilation returns the dilation of each of some threads that never rest, on servers in domains, by where the kernel puts
// those that run: all are as often anywhere, and take turns where they are more than the servers.
func placedDilation(threads, servers, domains int, curve loading.Curve) float64 {
	running := min(threads, servers)
	speed := 0.0
	for _, n := range idleFirst(running, domains) {
		speed += float64(n) / curve.At(float64(n-1))
	}
	return float64(threads) / speed
}

func TestThreadsFillIdleDomainsFirst(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 2, 4, 8, 16} {
		for _, domains := range []int{1, 2, 4, 8} {
			for threads := 1; threads <= 16; threads++ {
				for _, curve := range []loading.Curve{siblingsCurve, {{Pressure: 3, Inflation: 1}, {Pressure: 4, Inflation: 1.32}, {Pressure: 7, Inflation: 2.29}}} {
					jobs := slices.Repeat([]loading.Vector{interfering{1, 1, curve}.vector()}, threads)
					got := modeltest.Predict(t, jobs, []int{servers, domains}, queueing.Options{}).Dilations[0]
					if want := placedDilation(threads, servers, domains, curve); math.Abs(got/want-1) > 1e-6 {
						t.Errorf("%d threads on %d servers in %d domains: %v, want %v", threads, servers, domains, got, want)
					}
				}
			}
		}
	}
}

// Four cores with two hyper-threads each.
func TestEightBusyHyperThreadsAllHaveABusySibling(t *testing.T) {
	t.Parallel()
	for threads, want := range map[int]float64{1: 1, 2: 1, 4: 1, 5: 1 / (3./5 + 2./5/2.29), 8: 2.29, 16: 4.58} {
		single := interfering{1, 1, siblingsCurve}.vector()
		p := modeltest.Predict(t, slices.Repeat([]loading.Vector{single}, threads), []int{8, 4}, queueing.Options{})
		if math.Abs(p.Dilations[0]-want) > 1e-6 {
			t.Errorf("%d pods of one thread: %v, want %v", threads, p.Dilations[0], want)
		}
		single[0].Threads = threads
		if p := modeltest.Predict(t, []loading.Vector{single}, []int{8, 4}, queueing.Options{}); p.Dilations[0] != 1 {
			t.Errorf("one pod of %d threads: %v, want 1, as that is part of its neutral time", threads, p.Dilations[0])
		}
	}
}

// Cores that jobs have for themselves lie in the domains, too: where all servers of a node are busy, so is every sibling.
func TestAFullNodeIsFullWhicheverJobsHaveItsServers(t *testing.T) {
	t.Parallel()
	shared := interfering{1, 1, siblingsCurve}.vector()
	apart := loading.Vector{{}, {Effect: &loading.Effect{Pressure: 1, Curve: siblingsCurve, Exclusive: 1}}}
	for own := range 8 {
		jobs := append(slices.Repeat([]loading.Vector{shared}, 8-own), slices.Repeat([]loading.Vector{apart}, own)...)
		p := modeltest.Predict(t, jobs, []int{8 - own, 4}, queueing.Options{})
		for j, got := range p.Dilations {
			if math.Abs(got-2.29) > 1e-6 {
				t.Errorf("%d servers of their own: job %d is dilated by %v, want 2.29", own, j, got)
			}
		}
	}
}

// sleeper runs for exponential times and sleeps for exponential ones.
type sleeper struct {
	loading, pressure float64
	curve             loading.Curve
}

// simulate returns the dilations of sleepers on servers in domains, with at least as many servers as sleepers. A sleeper wakes up
// in a random one of the domains with the fewest running. If rebalances is set, a domain with two more than another gives one away
// at once.
func simulate(r *rand.Rand, sleepers []sleeper, domains int, rebalances bool, time float64) []float64 {
	at := make([]int, len(sleepers)) // −1 asleep
	for j := range at {
		at[j] = -1
	}
	in, pressure, done := make([]int, domains), make([]float64, domains), make([]float64, len(sleepers))
	leave := func(j int) { in[at[j]]--; pressure[at[j]] -= sleepers[j].pressure; at[j] = -1 }
	enter := func(j int) {
		var fewest []int
		for d, n := range in {
			if n == slices.Min(in) {
				fewest = append(fewest, d)
			}
		}
		at[j] = fewest[r.IntN(len(fewest))]
		in[at[j]]++
		pressure[at[j]] += sleepers[j].pressure
	}
	rates := make([]float64, len(sleepers))
	for now := 0.0; now < time; {
		total := 0.0
		for j, s := range sleepers {
			rates[j] = 1 / (1 - s.loading)
			if at[j] >= 0 {
				rates[j] = 1 / s.loading / s.curve.At(max(0, pressure[at[j]]-s.pressure))
			}
			total += rates[j]
		}
		now += r.ExpFloat64() / total
		which := r.Float64() * total
		j := 0
		for ; j < len(rates)-1 && which >= rates[j]; j++ {
			which -= rates[j]
		}
		if at[j] < 0 {
			enter(j)
			continue
		}
		done[j]++
		leave(j)
		if most := slices.Index(in, slices.Max(in)); rebalances && in[most]-slices.Min(in) > 1 {
			var there []int
			for k := range at {
				if at[k] == most {
					there = append(there, k)
				}
			}
			k := there[r.IntN(len(there))]
			leave(k)
			enter(k)
		}
	}
	for j := range done {
		done[j] = time / done[j]
	}
	return done
}

// Of threads that sleep, too, against a kernel that wakes them where the fewest run, and that balances domains at once, or never.
func TestSleepersAreSpreadAsAKernelSpreadsThem(t *testing.T) {
	t.Parallel()
	for _, rebalances := range []bool{true, false} {
		r := rand.New(rand.NewPCG(7, 40))
		sum, worst, n := 0.0, 0.0, 0.0
		for range 60 {
			domains := []int{1, 2, 4, 8}[r.IntN(4)]
			servers := 16
			jobs := make([]sleeper, 2+r.IntN(10))
			vectors := make([]loading.Vector, len(jobs))
			for j := range jobs {
				jobs[j] = sleeper{0.1 + 0.8*r.Float64(), r.Float64(), randomCurve(r)}
				vectors[j] = interfering(jobs[j]).vector()
			}
			p := modeltest.Predict(t, vectors, []int{servers, domains}, queueing.Options{})
			for j, want := range simulate(r, jobs, domains, rebalances, 5000) {
				off := math.Abs(p.Dilations[j]/want - 1)
				sum, worst, n = sum+off, max(worst, off), n+1
			}
		}
		t.Logf("balanced at once %v: off by %.2f %% on average, %.1f %% at worst", rebalances, 100*sum/n, 100*worst)
		if rebalances && sum/n > 0.02 || sum/n > 0.06 {
			t.Errorf("balanced at once %v: off by %v on average, %v at worst", rebalances, sum/n, worst)
		}
	}
}

// A job that its limit stops 90 % of the time presses on others 10 % of the time.
func TestAThrottledJobPressesWhileItRuns(t *testing.T) {
	t.Parallel()
	busy := interfering{1, 1, siblingsCurve}.vector()
	servers, want := []int{2, 1}, 1/(0.9+0.1/2.29)
	limited := contention.Sharing{Shares: []loading.Share{{Limit: 0.1}, {}}}
	p, err := contention.PredictSharing([]loading.Vector{busy, busy}, servers, limited, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	estimates, err := mix.EstimateSharing([]loading.Vector{busy, busy}, servers, limited)
	if err != nil {
		t.Fatal(err)
	}
	for name, dilations := range map[string][]float64{"predicted": p.Dilations, "estimated": estimates} {
		// The other one always runs beside it, and its quota is of the time that it computes.
		if math.Abs(dilations[1]-want) > 2e-3 || math.Abs(dilations[0]-2.29) > 2e-2 {
			t.Errorf("%s: %v, want 2.29 and %v", name, dilations, want)
		}
	}
}

// The threads of a job are throttled together, so that its running threads press on each other as if there were no limit: half of
// its time they do so two at a time.
func TestThrottledThreadsOfOneJobRunBesideEachOther(t *testing.T) {
	t.Parallel()
	pair := interfering{1, 1, siblingsCurve}.vector()
	pair[0].Threads = 2
	sharing := contention.Sharing{Shares: []loading.Share{{Limit: 0.2}, {}}}
	for name, other := range map[string]loading.Vector{"beside nothing": nil, "beside one that never presses": interfering{1, 0, nil}.vector()} {
		p, err := contention.PredictSharing([]loading.Vector{pair, other}, []int{4, 1}, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(p.Dilations[0]-1) > 1e-3 {
			t.Errorf("%s it is dilated by %v, want 1", name, p.Dilations[0])
		}
	}
	// A job that presses on the pair all the time makes it slower by the same factor with a limit and without, and the pair presses
	// on that job for a tenth of the time, both threads at once.
	steps := loading.Curve{{Pressure: 1, Inflation: 1}, {Pressure: 2, Inflation: 3}}
	victim := interfering{1, 0, steps}.vector()
	p, err := contention.PredictSharing([]loading.Vector{pair, victim}, []int{4, 1}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 / (0.9 + 0.1/3.0); math.Abs(p.Dilations[1]-want) > 2e-3 {
		t.Errorf("the one beside it is dilated by %v, want %v", p.Dilations[1], want)
	}
}
