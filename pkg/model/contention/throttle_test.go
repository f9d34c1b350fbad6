package contention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// quotaPeriod is that of Linux, in milliseconds.
const quotaPeriod = 100

// thread is a job of one thread at a processor, in a simulation of quotas: it computes for a burst, is idle, and so on.
type thread struct {
	weight, limit, burst, idle float64 // mean burst and mean idle time in milliseconds

	computing    bool
	left         float64 // of the burst, or of the idle time
	tokens       float64 // of the quota
	refill, rate float64
	worked       float64
}

func (j *thread) wants() bool { return j.computing && (j.limit == 0 || j.tokens > 0) }

// simulateQuotas returns the number of milliseconds that each job takes per millisecond of its own time, on cores that are
// shared by weight in every instant, each job having its limit times the period per period, as in the kernel.
func simulateQuotas(jobs []thread, cores, milliseconds float64, r *rand.Rand) []float64 {
	jobs = append([]thread(nil), jobs...)
	for j := range jobs {
		jobs[j].refill = quotaPeriod * r.Float64()
		jobs[j].tokens = quotaPeriod * jobs[j].limit
		jobs[j].left = jobs[j].idle * r.ExpFloat64()
	}
	for now := 0.0; now < milliseconds; {
		fillByWeight(jobs, cores)
		step := milliseconds - now
		for j := range jobs {
			step = min(step, jobs[j].next(now))
		}
		now += step
		for j := range jobs {
			jobs[j].advance(now, step, r)
		}
	}
	responses := make([]float64, len(jobs))
	for j := range jobs {
		share := jobs[j].burst / (jobs[j].burst + jobs[j].idle)
		responses[j] = milliseconds * share / jobs[j].worked
	}
	return responses
}

// next returns the time until something changes.
func (j *thread) next(now float64) float64 {
	next := math.Inf(1)
	if j.limit > 0 {
		next = j.refill - now
	}
	switch {
	case !j.computing:
		next = min(next, j.left)
	case j.rate > 0:
		next = min(next, j.left/j.rate)
		if j.limit > 0 {
			next = min(next, j.tokens/j.rate)
		}
	}
	return next
}

const instant = 1e-9

func (j *thread) advance(now, step float64, r *rand.Rand) {
	if j.computing {
		j.left -= step * j.rate
		j.tokens -= step * j.rate
		j.worked += step * j.rate
		if j.tokens < instant {
			j.tokens = 0
		}
	} else {
		j.left -= step
	}
	if j.limit > 0 && now >= j.refill-instant {
		j.refill += quotaPeriod
		j.tokens = quotaPeriod * j.limit
	}
	if j.left > instant {
		return
	}
	if j.computing && j.idle > 0 {
		j.computing, j.left = false, j.idle*r.ExpFloat64()
	} else {
		j.computing, j.left = true, j.burst*r.ExpFloat64()
	}
}

// fillByWeight shares cores among those that want one, at most one each.
func fillByWeight(jobs []thread, cores float64) {
	weights := 0.0
	for j := range jobs {
		jobs[j].rate = 0
		if jobs[j].wants() {
			weights += jobs[j].weight
		}
	}
	for again := true; again; {
		again = false
		for j := range jobs {
			if jobs[j].wants() && jobs[j].rate == 0 && weights <= cores*jobs[j].weight {
				jobs[j].rate = 1
				cores--
				weights -= jobs[j].weight
				again = true
			}
		}
	}
	for j := range jobs {
		if jobs[j].wants() && jobs[j].rate == 0 {
			jobs[j].rate = cores * jobs[j].weight / weights
		}
	}
}

// The kernel's quotas, by period, in a simulation that is independent of throttling times. The longer the bursts in relation
// to the period, the less accurate is the average.
func TestLimitsHoldOnAverage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ burst, mean, worst float64 }{{1, 0.01, 0.1}, {10, 0.03, 0.2}, {100, 0.1, 0.5}} {
		sum, worst, worstAlone, count := 0.0, 0.0, 0.0, 0.0
		r := rand.New(rand.NewPCG(19, uint64(test.burst)))
		for range 20 {
			cores := []int{1, 1, 2}[r.IntN(3)]
			var vectors []loading.Vector
			var threads []thread
			var sharing contention.Sharing
			for range 2 + r.IntN(3) {
				p := 0.1 + 0.9*r.Float64()
				j := thread{weight: math.Pow(30, r.Float64()), burst: test.burst, idle: test.burst * (1 - p) / p}
				if r.IntN(2) == 0 {
					j.limit = 0.1 + 0.9*r.Float64()
				}
				threads = append(threads, j)
				vectors = append(vectors, loading.Vector{loading.Symmetric(p)})
				sharing.Shares = append(sharing.Shares, loading.Share{Weight: j.weight, Limit: j.limit})
			}
			got, err := contention.PredictSharing(vectors, []int{cores}, sharing, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			time := max(2e5, 2e3*test.burst)
			want := simulateQuotas(threads, float64(cores), time, r)
			for j := range threads {
				alone := simulateQuotas(threads[j:j+1], 1, time, r)[0]
				worstAlone = max(worstAlone, math.Abs(stretchAlone(vectors[j][0].Loading, threads[j].limit)/alone-1))
				off := math.Abs(got.Dilations[j]*alone/want[j] - 1)
				sum += off
				worst = max(worst, off)
				count++
			}
		}
		t.Logf("bursts of %v ms: off by %.1f %% on average, %.1f %% at worst; alone %.1f %% at worst", test.burst, 100*sum/count, 100*worst, 100*worstAlone)
		if sum/count > test.mean || worst > test.worst {
			t.Errorf("bursts of %v ms: off by %v on average, %v at worst", test.burst, sum/count, worst)
		}
	}
}

// stretchAlone returns how much longer a job takes alone under its limit.
func stretchAlone(loading, limit float64) float64 {
	if limit == 0 {
		return 1
	}
	return max(1, loading/limit)
}

// Limits that follow from a sentence each.
func TestLimits(t *testing.T) {
	t.Parallel()
	busy, most, two := loading.Vector{loading.Symmetric(1)}, loading.Vector{loading.Symmetric(0.6)}, loading.Vector{{Loading: 1, Pressure: 1, Threads: 2}}
	pod := []gps.Group{{}, {Weight: 1, Limit: 0.4}}
	for name, test := range map[string]struct {
		jobs    []loading.Vector
		servers int
		sharing contention.Sharing
		want    []float64
	}{
		"a limit above what a job uses changes nothing":      {[]loading.Vector{most, busy}, 1, contention.Sharing{Shares: []loading.Share{{Limit: 0.6}, {}}}, []float64{1.6, 1.6}},
		"what a throttled job leaves goes to others":         {[]loading.Vector{busy, busy}, 1, contention.Sharing{Shares: []loading.Share{{Limit: 0.3}, {}}}, []float64{1, 1 / 0.7}},
		"a job is dilated once others leave it less":         {[]loading.Vector{busy, busy, busy, busy}, 1, contention.Sharing{Shares: []loading.Share{{Limit: 0.3}, {}, {}, {}}}, []float64{1.2, 4, 4, 4}},
		"a limit holds for all threads":                      {[]loading.Vector{two, busy}, 3, contention.Sharing{Shares: []loading.Share{{Limit: 0.5}, {}}}, []float64{1, 1}},
		"a weight counts for nothing above the limit":        {[]loading.Vector{busy, busy}, 1, contention.Sharing{Shares: []loading.Share{{Limit: 0.3, Weight: 100}, {Weight: 1}}}, []float64{1, 1 / 0.7}},
		"the limit of a group holds for its members at once": {[]loading.Vector{busy, busy, busy}, 1, contention.Sharing{Groups: pod, Shares: []loading.Share{{Group: 1}, {Group: 1}, {}}}, []float64{2, 2, 1 / 0.6}},
		"two limits leave what they leave":                   {[]loading.Vector{busy, busy, busy}, 1, contention.Sharing{Shares: []loading.Share{{Limit: 0.2}, {Limit: 0.3}, {}}}, []float64{1, 1, 2}},
	} {
		p, err := contention.PredictSharing(test.jobs, []int{test.servers}, test.sharing, queueing.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for j, want := range test.want {
			if math.Abs(p.Dilations[j]/want-1) > 2e-3 {
				t.Errorf("%s: %v, want %v", name, p.Dilations, test.want)
				break
			}
		}
	}
}

// A job that computes all the time with a limit of a quarter of a core takes four times as long alone, which is no dilation.
// A job whose threads fill the cores without a limit takes no longer because of a limit of that size.
func TestThrottlingByItsOwnLimitIsNoDilation(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		demand loading.Demand
		limit  float64
		want   float64
	}{
		"no limit":                  {loading.Symmetric(1), 0, 1},
		"a limit that is enough":    {loading.Symmetric(0.5), 0.6, 1},
		"a quarter of what it asks": {loading.Symmetric(1), 0.25, 4},
		"half, of a job at rest":    {loading.Symmetric(0.5), 0.25, 2},
		"two threads on one core":   {loading.Demand{Loading: 1, Pressure: 1, Threads: 2}, 0.5, 2},
	} {
		jobs := []loading.Vector{{test.demand}, {loading.Symmetric(0.3)}}
		sharing := contention.Sharing{Shares: []loading.Share{{Weight: 2, Limit: test.limit}, {Weight: 1}}}
		p, err := contention.PredictSharing(jobs, []int{1}, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		if got := p.Throttling(0); math.Abs(got/test.want-1) > 1e-3 || p.Throttling(1) != 1 {
			t.Errorf("%s: %v times as long, want %v; %v for the other", name, got, test.want, p.Throttling(1))
		}
	}
	p, err := contention.Predict([]loading.Vector{{loading.Symmetric(1)}}, []int{1}, queueing.Options{})
	if err != nil || p.Throttling(0) != 1 {
		t.Errorf("with equal shares: %v", err)
	}
}
