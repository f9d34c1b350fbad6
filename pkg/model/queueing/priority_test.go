package queueing_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/queueing"
)

func priority(t testing.TB, servers int, arrivals ...float64) *queueing.Priority {
	t.Helper()
	q, err := mmm(t, sum(arrivals), 1, servers).Prioritized(arrivals)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// The fraction of late jobs is compared at several times, within 1e-3; its standard error is less
// than that. The simulation's random error in the busy and waiting jobs is corrected: their means
// are known from M/M/m, where the number of waiting jobs is geometrically distributed.
func TestPrioritiesAgreeWithSimulation(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("simulates 100 million jobs")
	}
	for i, point := range []struct {
		servers  int
		load     float64
		fraction []float64
	}{
		{1, 0.5, []float64{0.5, 0.5}},
		{1, 0.8, []float64{0.3, 0.3, 0.4}},
		{2, 0.7, []float64{0.2, 0.8}},
		{3, 0.85, []float64{0.6, 0.4}},
		{5, 0.9, []float64{0.5, 0.3, 0.2}},
		{10, 0.8, []float64{0.1, 0.2, 0.3, 0.4}},
		{10, 0.95, []float64{0.4, 0.6}},
		{20, 0.9, []float64{0.25, 0.25, 0.25, 0.25}},
		{50, 0.9, []float64{0.8, 0.2}},
		{50, 0.95, []float64{0.4, 0.4, 0.2}},
	} {
		t.Run(fmt.Sprint(point), func(t *testing.T) {
			t.Parallel()
			capacity := point.load * float64(point.servers)
			var rates []float64
			var classes []queueing.Stream
			var thresholds [][]float64
			for _, f := range point.fraction {
				rates = append(rates, f*capacity)
				classes = append(classes, queueing.Stream{Arrival: f * capacity, Service: 1, SCV: 1})
				thresholds = append(thresholds, []float64{0.5, 1, 2, 4})
			}
			q, together := priority(t, point.servers, rates...), mmm(t, capacity, 1, point.servers)
			waits, line, u := together.WaitProbability(), capacity*together.MeanWait(), point.load
			r := simulation{servers: point.servers, classes: classes, prioritize: true, jobs: 10_000_000}.run(uint64(i), thresholds)
			for k := range classes {
				for at, x := range thresholds[k] {
					e := controlled(r.beyond[k][at], control{r.busy, waits}, control{r.queued, line}, control{r.square, line * (1 + u) / (1 - u)})
					if e.deviation > 1e-3 {
						t.Errorf("class %d beyond %v: simulated to ± %.2g only", k, x, e.deviation)
					}
					if off := math.Abs(q.ResponseBeyond(k, x) - e.mean); off > 1e-3 {
						t.Errorf("class %d beyond %v: %.5f, simulated %.5f ± %.5f", k, x, q.ResponseBeyond(k, x), e.mean, e.deviation)
					}
				}
			}
		})
	}
}

func TestPriorities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 60).Draw(t, "servers")
		rates := rapid.SliceOfN(rapid.Float64Range(0.01, 1), 1, 5).Draw(t, "rates")
		scale := rapid.Float64Range(0.1, 0.98).Draw(t, "utilization") * float64(servers) / sum(rates)
		for k := range rates {
			rates[k] *= scale
		}
		together, err := queueing.NewMMm(sum(rates), 1, servers)
		if err != nil {
			t.Fatal(err)
		}
		q, err := together.Prioritized(rates)
		if err != nil {
			t.Fatal(err)
		}
		// Work is conserved: the waits of all classes add up to those without priorities.
		waits := 0.0
		for k, rate := range rates {
			waits += rate * q.MeanWait(k)
		}
		if want := sum(rates) * together.MeanWait(); math.Abs(waits-want) > 1e-10*want {
			t.Fatalf("%v jobs wait, without priorities %v", waits, want)
		}
		for _, x := range []float64{0, 0.1, 1, 3, 10} {
			best := 1.0
			for k := range rates {
				within := q.ResponseWithin(k, x)
				if within > best+2e-9 || within < 0 {
					t.Fatalf("class %d within %v: %v, the class above %v", k, x, within, best)
				}
				best = within
			}
		}
		// The mean of the distribution is Cobham's: ∫ P(T > x) dx, in steps that a
		// smooth integrand forgives.
		last := len(rates) - 1
		mean, step := 0.0, q.MeanResponse(last)/40
		for n := range 4000 {
			weight := 4.0 / 3
			if n%2 == 0 {
				weight = 2.0 / 3
			}
			if n == 0 {
				weight = 1.0 / 3
			}
			mean += weight * step * q.ResponseBeyond(last, float64(n)*step)
		}
		if want := q.MeanResponse(last); math.Abs(mean-want) > 2e-3*want {
			t.Fatalf("the mean response of the last class is %v, Cobham's %v", mean, want)
		}
	})
}

// With one class, or all jobs in the highest, nothing is left of priorities.
func TestOneClassHasNoPriorities(t *testing.T) {
	q, together := priority(t, 5, 4), mmm(t, 4, 1, 5)
	padded := priority(t, 5, 0, 4, 0)
	for _, x := range []float64{0, 0.3, 1, 5, math.Inf(1)} {
		if got, want := q.ResponseBeyond(0, x), together.ResponseBeyond(x); math.Abs(got-want) > 1e-14 {
			t.Errorf("beyond %v: %v, want %v", x, got, want)
		}
		if got, want := padded.ResponseBeyond(1, x), together.ResponseBeyond(x); math.Abs(got-want) > 1e-14 {
			t.Errorf("beyond %v, among empty classes: %v, want %v", x, got, want)
		}
	}
}

func TestArrivalsAreToldApartOnlyIfTheyAddUp(t *testing.T) {
	rates := []float64{1, 2, 3}
	q, err := mmm(t, 6, 1, 8).Prioritized(rates)
	if err != nil {
		t.Fatal(err)
	}
	rates[0] = 5 // is not theirs
	want := priority(t, 8, 1, 2, 3)
	for k := range rates {
		if got, want := q.ResponseBeyond(k, 2), want.ResponseBeyond(k, 2); got != want {
			t.Errorf("class %d: %v, want %v", k, got, want)
		}
	}
	for _, bad := range [][]float64{{1, 2}, {7, -1}, {math.NaN()}, nil} {
		if _, err := mmm(t, 6, 1, 8).Prioritized(bad); err == nil {
			t.Errorf("%v adds up to 6", bad)
		}
	}
}

func BenchmarkPriorityResponse(b *testing.B) {
	q := priority(b, 20, 5, 6, 7)
	for b.Loop() {
		q.ResponseWithin(2, 3)
	}
}
