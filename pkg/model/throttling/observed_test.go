package throttling_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/throttling"
)

// anyThrottled draws threads and a quota that stops them, and returns what is seen of that in six intervals of 10 s.
func anyThrottled(how bursts, saves bool, r *rand.Rand) (throttling.Load, throttling.Quota, []throttling.Interval) {
	for {
		l := throttling.Load{Threads: 1 + r.IntN(4), Loading: 0.03 + 0.5*r.Float64(), Burst: 0.005 * math.Pow(40, r.Float64())}
		if how == together {
			l.Threads = 2 + r.IntN(3)
		}
		threads := float64(l.Threads)
		q := throttling.Quota{Limit: threads * l.Loading * (1.1 + r.Float64())}
		if saves {
			q.Burst = q.Limit * throttling.Period * r.Float64()
		}
		if q.Limit > 0.95*threads {
			continue
		}
		s := newQuotaSimulation(l, q, how, r)
		var seen []throttling.Interval
		run, stopped := 0.0, 0.0
		for range 6 {
			v := s.interval(10)
			run, stopped = run+v.Run, stopped+v.Throttled
			seen = append(seen, v)
		}
		const worthIt = 0.05
		if stopped > worthIt*run {
			return l, q, seen
		}
	}
}

// smallest returns the smallest limit that stops threads for no more than a part of the time that they run.
func smallest(l throttling.Load, burst float64, how bursts, part float64) float64 {
	low, high := 0.9*l.Loading*float64(l.Threads), float64(l.Threads)
	for range 12 {
		limit := math.Sqrt(low * high)
		if ratio := stopped(l, throttling.Quota{Limit: limit, Burst: burst}, how, longEnough(l), rand.New(rand.NewPCG(5, 0))); ratio > part {
			low = limit
		} else {
			high = limit
		}
	}
	return high
}

// longEnough is how long some thousand bursts take, in seconds.
func longEnough(l throttling.Load) float64 {
	return max(300, 8000*l.Burst/l.Loading/float64(l.Threads))
}

// What is seen in a minute is a sample, from which it cannot be told for sure how much bursts vary: of 500 others, 2 % of the limits leave
// more than 1 % of the run time, and 0.4 % are above 1.5 times the smallest limit.
func TestALimitThatIsFoundEndsTheThrottling(t *testing.T) {
	t.Parallel()
	const unnoticed, noticed, near, each = 0.003, 0.01, 1.5, 20
	most, farthest, missed := 0.0, 0.0, 0
	for k, how := range []bursts{exponential, exponential, atRandom, atRandom, together} {
		r := rand.New(rand.NewPCG(4, uint64(k)))
		for range each {
			l, q, seen := anyThrottled(how, k%2 == 1, r)
			limit := throttling.Observed(seen, q, 0).LimitFor(unnoticed, q.Burst)
			then := stopped(l, throttling.Quota{Limit: limit, Burst: q.Burst}, how, longEnough(l), rand.New(rand.NewPCG(9, 0)))
			ratio := limit / smallest(l, q.Burst, how, noticed)
			most, farthest = max(most, then), max(farthest, ratio)
			if then > noticed || ratio > near {
				missed++
				t.Logf("%d: %+v under %+v: a limit of %.2f, %.2f times the smallest, stops them for %.4f of their time", how, l, q, limit, ratio, then)
			}
		}
	}
	t.Logf("%d of 100 miss a bound: stopped for %.4f of the time at most, %.2f times the smallest limit at most", missed, most, farthest)
	if missed > 4 || most > 3*noticed || farthest > 1.2*near {
		t.Errorf("%d miss a bound, by a time of %v at worst, and by %v times the smallest limit", missed, most, farthest)
	}
}

// Where in a period threads compute that do so at regular times is chance. The limit that is found is one for all times.
func TestTheThrottlingOfRegularBurstsEndsToo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		l, q, seen := anyThrottled(constant, false, r)
		limit := throttling.Observed(seen, q, 0).LimitFor(0.003, 0)
		if then := stopped(l, throttling.Quota{Limit: limit}, constant, longEnough(l), rand.New(rand.NewPCG(9, 0))); then > 0.01 {
			t.Errorf("%+v under %+v: a limit of %.2f stops them for %.4f of their time", l, q, limit, then)
		}
	}
}

func TestWhatAPatternComesToIsThatOfASimulationOfQuotas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		how     bursts
		pattern throttling.Pattern
	}{
		"exponential": {exponential, throttling.Pattern{BurstVariation: 1, SleepVariation: 1}},
		"constant":    {atRandom, throttling.Pattern{SleepVariation: 1}},
		"together":    {together, throttling.Pattern{Together: true, BurstVariation: 1, SleepVariation: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(11, uint64(test.how)))
			sum, worst := 0.0, 0.0
			const sets = 12
			for n := range sets {
				l, q, _ := anyThrottled(test.how, n%2 == 0, r)
				p := test.pattern
				p.Load = l
				v := newQuotaSimulation(l, q, test.how, r).interval(5 * longEnough(l))
				got := p.Under(q)
				off := max(math.Abs(got.Time*v.Run/v.Throttled-1), math.Abs(got.Periods*v.Run/v.ThrottledPeriods-1))
				sum, worst = sum+off, max(worst, off)
			}
			t.Logf("off by %.1f %% on average, %.1f %% at worst", 100*sum/sets, 100*worst)
			if sum/sets > 0.08 || worst > 0.25 { // of samples of some thousand bursts
				t.Errorf("off by %.3f on average, %.3f at worst", sum/sets, worst)
			}
		})
	}
}

func TestLessIsEnoughOfAQuotaThatWhatIsLeftOverAddsTo(t *testing.T) {
	t.Parallel()
	p := throttling.Pattern{Load: throttling.Load{Threads: 2, Loading: 0.1, Burst: 0.02}, BurstVariation: 1, SleepVariation: 1}
	const without, with = 0, 0.05
	if a, b := p.LimitFor(0.003, without), p.LimitFor(0.003, with); b > 0.8*a {
		t.Errorf("limits of %v without, %v with", a, b)
	}
}

func TestNoLimitIsAboveTheProcessorsOfTheNode(t *testing.T) {
	t.Parallel()
	p := throttling.Pattern{Load: throttling.Load{Threads: 8, Loading: 0.5, Burst: 0.2}, Processors: 2, BurstVariation: 1, SleepVariation: 1}
	if got := p.LimitFor(0.003, 0); got > 2 {
		t.Errorf("got %v", got)
	}
	if got := p.Under(throttling.Quota{Limit: 2}); got != (throttling.Throttled{}) {
		t.Errorf("all processors: %+v", got)
	}
}

// A gauge of an earlier version, or of a kernel that does not count sleeps, reports no bursts.
func TestBurstsThatAreNotSeenAreFoundByWhatAQuotaStops(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 0))
	for range 20 {
		l, q, seen := anyThrottled(exponential, false, r)
		for i := range seen {
			seen[i].Burst, seen[i].ThrottledPeriods = 0, 0
		}
		limit := throttling.Observed(seen, q, 0).LimitFor(0.003, 0)
		if then := stopped(l, throttling.Quota{Limit: limit}, exponential, longEnough(l), rand.New(rand.NewPCG(9, 0))); then > 0.02 {
			t.Errorf("%+v under %+v: a limit of %.2f stops them for %.4f of their time", l, q, limit, then)
		}
	}
}

// Nodes may lie.
func TestAPatternIsOfNumbersWhateverIsSeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.SampledFrom([]float64{0, 5e-324, 1e-9, 0.1, 1, 10, 1e9, 1e12, 1e15})
		var seen []throttling.Interval
		for range rapid.IntRange(0, 3).Draw(t, "intervals") {
			seen = append(seen, throttling.Interval{
				Seconds: amount.Draw(t, "seconds"), Run: amount.Draw(t, "run"), Throttled: amount.Draw(t, "throttled"), Threads: amount.Draw(t, "threads"),
				Loading: min(1, amount.Draw(t, "loading")), Burst: amount.Draw(t, "burst"), ThrottledPeriods: amount.Draw(t, "periods"),
			})
		}
		q := throttling.Quota{Limit: rapid.SampledFrom([]float64{0.001, 0.25, 1, 64, 1e6}).Draw(t, "limit"), Burst: amount.Draw(t, "saved")}
		p := throttling.Observed(seen, q, rapid.IntRange(0, 128).Draw(t, "processors"))
		limit := p.LimitFor(0.003, q.Burst)
		if !(limit > 0) || math.IsInf(limit, 0) {
			t.Fatalf("%+v: a limit of %v", p, limit)
		}
		if then := p.Under(throttling.Quota{Limit: limit, Burst: q.Burst}); !(then.Time >= 0) || math.IsInf(then.Time, 0) || !(then.Periods >= 0) {
			t.Fatalf("%+v under %v: %+v", p, limit, then)
		}
	})
}

// The cost is bounded, whatever is seen.
func BenchmarkLimitFor(b *testing.B) {
	for name, l := range map[string]throttling.Load{
		"one thread": {Threads: 1, Loading: 0.1, Burst: 0.02}, "four threads": {Threads: 4, Loading: 0.1, Burst: 0.02},
		"short bursts": {Threads: 4, Loading: 0.1, Burst: 1e-6}, "a thousand threads": {Threads: 1000, Loading: 0.1, Burst: 1e9},
	} {
		b.Run(name, func(b *testing.B) {
			p := throttling.Pattern{Load: l, BurstVariation: 0.5, SleepVariation: 1}
			for b.Loop() {
				p.LimitFor(0.003, 0)
			}
		})
	}
}
