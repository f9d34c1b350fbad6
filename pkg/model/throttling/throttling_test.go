package throttling_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/throttling"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= within) {
		t.Errorf("%s: got %v, want %v ± %v %%", what, got, want, 100*within)
	}
}

// One thread is exact, so that what is left is the simulation, of some thousand bursts. Constant bursts are not what the model takes.
func TestTheStretchIsThatOfASimulationOfQuotas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		threads     int
		how         bursts
		mean, worst float64
	}{
		"one thread":             {1, exponential, 0.01, 0.03},
		"two threads":            {2, exponential, 0.015, 0.06},
		"eight threads":          {8, exponential, 0.015, 0.06},
		"constant bursts":        {1, constant, 0.06, 0.3},
		"constant, four threads": {4, constant, 0.05, 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(19, uint64(test.threads)))
			const sets = 12
			sum, worst := 0.0, 0.0
			for range sets {
				l := throttling.Load{Threads: test.threads, Loading: 0.02 + 0.9*r.Float64(), Burst: 0.002 * math.Pow(300, r.Float64())}
				limit := float64(test.threads) * (0.05 + 0.9*r.Float64())
				want := simulate(l, limit, test.how, max(200, 5000*l.Burst)*l.Average(limit), r)
				off := math.Abs(l.Stretch(limit)/want - 1)
				sum, worst = sum+off, max(worst, off)
			}
			t.Logf("off by %.2f %% on average, %.1f %% at worst", 100*sum/sets, 100*worst)
			if sum/sets > test.mean || worst > test.worst {
				t.Errorf("off by %v on average, %v at worst", sum/sets, worst)
			}
		})
	}
}

func TestALimitOfAProcessorForEachThreadHoldsNothingBack(t *testing.T) {
	t.Parallel()
	for _, l := range []throttling.Load{{1, 0.5, 0.1}, {4, 0.9, 10}, {0, 1, 0.1}, {3, 0, 1}} {
		if got := l.Stretch(float64(max(1, l.Threads))); got != 1 {
			t.Errorf("%+v takes %v times as long", l, got)
		}
	}
}

func TestShortBurstsAreHeldBackOnAverage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ loading, limit, want float64 }{{0.5, 0.2, 2.5}, {0.2, 0.5, 1}, {1, 0.25, 4}, {0, 0.1, 1}} {
		l := throttling.Load{Loading: test.loading}
		if got := l.Stretch(test.limit); got != test.want {
			t.Errorf("%+v takes %v times as long, want %v", l, got, test.want)
		}
		l.Burst = 1e-9
		near(t, "bursts of a nanosecond", l.Stretch(test.limit), test.want, 1e-4)
	}
	always := throttling.Load{Threads: 2, Loading: 1, Burst: 0.05}
	near(t, "two threads that never sleep", always.Stretch(0.5), 4, 1e-9)
}

// A burst of many quotas takes 1/limit times as long, and sleeps as long as ever.
func TestLongBurstsTakeAsLongAsTheirQuotas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ loading, limit float64 }{{0.1, 0.25}, {0.5, 0.2}, {0.9, 0.95}, {0.01, 0.01}} {
		l := throttling.Load{Loading: test.loading}
		near(t, "the longest", l.Longest(test.limit), 1+test.loading*(1/test.limit-1), 0.01)
	}
}

// 100 ms of every second at a quarter of a core: about 0.33 s in place of 0.1 s.
func TestAJobThatUsesLessThanItsLimitIsHeldBackInItsBursts(t *testing.T) {
	t.Parallel()
	l := throttling.Load{Loading: 0.1, Burst: 0.1}
	near(t, "250m", l.Stretch(0.25), 1.23, 0.01)
	near(t, "on average", l.Average(0.25), 1, 0)
}

// anyLoad draws a load and a limit, of usual amounts and of extreme ones.
func anyLoad(t *rapid.T) (throttling.Load, float64) {
	amount := func(name string, low, high float64) float64 {
		return low * math.Pow(high/low, rapid.Float64Range(0, 1).Draw(t, name))
	}
	l := throttling.Load{
		Threads: rapid.SampledFrom([]int{0, 1, 2, 3, 8, 64, 16384}).Draw(t, "threads"),
		Loading: rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1e-300, 1e-9, 0.5, 1 - 1e-9, 1})).Draw(t, "loading"),
		Burst:   rapid.SampledFrom([]float64{0, 1e-300, amount("burst", 1e-6, 1e3), 1e300}).Draw(t, "which burst"),
	}
	return l, amount("limit", 1e-9, 2e4)
}

func TestTheStretchIsFiniteAndBetweenThatOfShortAndLongBursts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, limit := anyLoad(t)
		got, average := l.Stretch(limit), l.Average(limit)
		if !(got >= average) || math.IsInf(got, 0) {
			t.Fatalf("%+v within %v takes %v times as long, %v on average", l, limit, got, average)
		}
		const tolerance = 1.01
		if most := 1 + l.Loading*(float64(max(1, l.Threads))/limit-1); l.Threads <= 1 && limit < 1 && got > tolerance*most {
			t.Fatalf("%+v within %v takes %v times as long, %v if its bursts never end", l, limit, got, most)
		}
	})
}

func TestTheStretchGrowsWithBurstsAndFallsWithLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, limit := anyLoad(t)
		longer := l
		longer.Burst *= rapid.Float64Range(1, 3).Draw(t, "longer")
		const tolerance = 1.005 // of quadratures
		if a, b := l.Stretch(limit), longer.Stretch(limit); !(b*tolerance >= a) {
			t.Fatalf("%+v within %v takes %v times as long, and with bursts of %v s %v", l, limit, a, longer.Burst, b)
		}
		if a, b := l.Stretch(limit), l.Stretch(1.5*limit); !(a*tolerance >= b) {
			t.Fatalf("%+v takes %v times as long within %v, and %v within half as much again", l, a, limit, b)
		}
	})
}

func TestBurstsAreFoundByWhatALimitMakesOfThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := throttling.Load{Threads: rapid.IntRange(1, 4).Draw(t, "threads"), Loading: rapid.Float64Range(0.02, 0.95).Draw(t, "loading")}
		limit := float64(l.Threads) * rapid.Float64Range(0.05, 0.9).Draw(t, "limit")
		l.Burst = rapid.Float64Range(0.001, 1).Draw(t, "burst")
		observed := l.Stretch(limit)
		fitted := l.Fitted(limit, observed)
		if got := fitted.Stretch(limit); math.Abs(got/observed-1) > 1e-3 {
			t.Fatalf("%+v within %v: bursts of %v s take %v times as long, want %v", l, limit, fitted.Burst, got, observed)
		}
	})
	unheld := throttling.Load{Loading: 0.5}
	if got := unheld.Fitted(0.2, 1.1).Burst; got != 0 {
		t.Errorf("what takes less than the average has bursts of %v s", got)
	}
	if got := unheld.Fitted(0.4, 100).Stretch(0.4); !(got < 1.8) {
		t.Errorf("what no bursts explain takes %v times as long", got)
	}
}

// What a limit makes of threads says what another one will make of them, whether they compute together or not, if they are taken for
// threads that do.
func TestABurstThatIsFoundSaysWhatAnotherLimitMakesOfIt(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]bursts{"exponential": exponential, "constant": constant, "together": together} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(how)))
			worst := 0.0
			for tries := 0; tries < 12; {
				threads := []int{1, 2, 4}[r.IntN(3)]
				l := throttling.Load{Threads: threads, Loading: 0.02 + 0.8*r.Float64(), Burst: 0.002 * math.Pow(300, r.Float64())}
				limit := float64(threads) * (0.05 + 0.7*r.Float64())
				seconds := max(200, 4000*l.Burst)
				now := simulate(l, limit, how, seconds*l.Average(limit), r)
				if now < 1.2 {
					continue
				}
				tries++
				found := throttling.Load{Loading: l.Loading}.Fitted(limit/float64(threads), now)
				next := max(l.Loading, limit/float64(threads)) * (1.5 + r.Float64())
				worst = max(worst, simulate(l, next*float64(threads), how, seconds, r)-found.Stretch(next))
			}
			t.Logf("it takes up to %.3f times longer than foretold", worst)
			if worst > 0.1 {
				t.Errorf("it takes %v times longer than foretold", worst)
			}
		})
	}
}

func BenchmarkStretch(b *testing.B) {
	for name, l := range map[string]throttling.Load{"one thread": {1, 0.3, 0.02}, "eight threads": {8, 0.3, 0.02}, "short bursts": {1, 0.3, 1e-4}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				l.Stretch(0.4 * float64(max(1, l.Threads)))
			}
		})
	}
}

// While it is alone a thread is stopped for what [throttling.Load.Stretch] says. Beside others with short bursts it uses its quota on
// average, unless they leave it less; with long ones it computes at the speed of its quota, unless they leave it less than that speed.
func TestAThreadThatOthersSlowDownIsStoppedForLess(t *testing.T) {
	t.Parallel()
	short, long := throttling.Load{Loading: 0.4}, throttling.Load{Loading: 0.4, Burst: 1000}
	some := throttling.Load{Loading: 0.4, Burst: 0.02}
	for _, test := range []struct {
		name             string
		load             throttling.Load
		limit, speed     float64
		elsewhere, wants float64
	}{
		{"alone", some, 0.5, 1, 0.6, some.Stretch(0.5) - 1},
		{"short bursts, alone", short, 0.25, 1, 0.6, 0.4/0.25 - 1},
		{"short bursts, others slow it", short, 0.25, 0.5, 0.6, 0.4/0.25 - 1.4},
		{"short bursts, others leave it less than its quota", short, 0.25, 0.25, 0.6, 0},
		{"short bursts, a busy disk", short, 0.25, 0.5, 0.7, 0.4/0.25 - 1.5},
		{"long bursts, others slow it", long, 0.25, 0.5, 0.6, 0.4/0.25 - 0.4/0.5},
		{"long bursts, others leave it less than its quota", long, 0.25, 0.2, 0.6, 0},
	} {
		if got := test.load.Stopped(test.limit, test.speed, test.elsewhere); math.Abs(got-test.wants) > 1e-3 {
			t.Errorf("%s: stopped for %v, want %v", test.name, got, test.wants)
		}
	}
}

// What stops it is between what its quota does on average and what the speed of its quota does.
func TestStopsAreBetweenThoseOfShortAndOfLongBursts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := throttling.Load{Threads: rapid.IntRange(1, 4).Draw(t, "threads"), Loading: rapid.Float64Range(0.01, 1).Draw(t, "loading")}
		l.Burst = rapid.SampledFrom([]float64{0, 1e-6, 1e-3, 0.02, 0.3, 100}).Draw(t, "burst")
		limit := rapid.Float64Range(0.01, 4).Draw(t, "limit")
		speed, elsewhere := rapid.Float64Range(0.01, 1).Draw(t, "speed"), 1-l.Loading+rapid.Float64Range(0, 2).Draw(t, "waits elsewhere")
		got, time, work := l.Stopped(limit, speed, elsewhere), elsewhere+l.Loading/speed, l.Loading*float64(l.Threads)/limit
		const rounding = 1e-9
		least, most := max(0, work-time), max(0, work-l.Loading/speed, work-time)
		if got < least-rounding*time || got > most+rounding*(time+work) {
			t.Fatalf("%+v, limit %v, speed %v, %v elsewhere: stopped for %v, want %v to %v", l, limit, speed, elsewhere, got, least, most)
		}
	})
}
