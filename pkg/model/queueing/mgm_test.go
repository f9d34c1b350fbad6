package queueing_test

import (
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
)

func mgm(t testing.TB, servers int, streams ...queueing.Stream) *queueing.MGm {
	t.Helper()
	q, err := queueing.NewMGm(streams, servers)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Queues against simulation, everywhere and where most SLAs are, at 80 % and above. The differences
// of those solved exactly come from the batches of the simulation, which they share.
func TestGeneralServiceIsWithinItsBounds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("simulates 110 million jobs")
	}
	for _, mix := range []struct {
		name             string
		streams          []queueing.Stream
		everywhere, high float64
	}{
		{"scv 0", []queueing.Stream{{1, 1, 0}}, 0.03, 0.02},
		{"scv 0.25", []queueing.Stream{{1, 1, 0.25}}, 0.01, 0.01},
		{"scv 0.5", []queueing.Stream{{1, 1, 0.5}}, 0.01, 0.01},
		{"scv 2", []queueing.Stream{{1, 1, 2}}, 0.01, 0.01},
		{"scv 4", []queueing.Stream{{1, 1, 4}}, 0.01, 0.01},
		{"rates 1 and 3", []queueing.Stream{{1, 1, 1}, {1, 3, 1}}, 0.01, 0.01},
		{"rates 10 and 1", []queueing.Stream{{1, 10, 1}, {1, 1, 1}}, 0.01, 0.01},
		{"rates 10 and 1, equal loads", []queueing.Stream{{10, 10, 1}, {1, 1, 1}}, 0.01, 0.01},
		{"rates 1, 3 and 10", []queueing.Stream{{1, 1, 1}, {2, 3, 1}, {5, 10, 1}}, 0.01, 0.01},
	} {
		t.Run(mix.name, func(t *testing.T) {
			t.Parallel()
			everywhere, high := 0.0, 0.0
			for _, servers := range []int{1, 2, 5, 20, 50} {
				for _, utilization := range []float64{0.5, 0.7, 0.8, 0.9, 0.95} {
					for p, off := range study(t, mix.streams, servers, utilization) {
						everywhere = max(everywhere, off)
						if p >= 3 {
							high = max(high, off)
						}
					}
				}
			}
			t.Logf("off by %.4f, where it is above 80 %% by %.4f", everywhere, high)
			if everywhere > mix.everywhere || high > mix.high {
				t.Errorf("off by %.4f, where it is above 80 %% by %.4f; stated are %v and %v", everywhere, high, mix.everywhere, mix.high)
			}
		})
	}
}

// study returns the largest difference to a simulation beyond three standard errors
// of it, of any class at each of some probabilities: 0.2, 0.4, 0.6, 0.8, 0.9, 0.95 and 0.99.
func study(t *testing.T, mix []queueing.Stream, servers int, utilization float64) [7]float64 {
	streams := make([]queueing.Stream, len(mix))
	load := 0.0
	for _, s := range mix {
		load += s.Arrival / s.Service
	}
	for k, s := range mix {
		streams[k] = s
		streams[k].Arrival *= utilization * float64(servers) / load
	}
	q := mgm(t, servers, streams...)
	thresholds := make([][]float64, len(streams))
	for k, s := range streams {
		for _, p := range []float64{0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99} {
			thresholds[k] = append(thresholds[k], invert(func(x float64) float64 { return q.ResponseWithin(k, x) }, p)+1e-3/s.Service)
		}
	}
	r := simulation{servers: servers, classes: streams, jobs: 500_000}.run(uint64(1000*utilization)+uint64(servers), thresholds)
	var worst [7]float64
	for k := range streams {
		for i, x := range thresholds[k] {
			e := estimated(r.beyond[k][i])
			worst[i] = max(worst[i], math.Abs(q.ResponseBeyond(k, x)-e.mean)-3*e.deviation)
		}
	}
	return worst
}

func invert(f func(float64) float64, p float64) float64 {
	low, high := 0.0, 1.0
	for f(high) < p {
		high *= 2
	}
	for range 60 {
		if middle := (low + high) / 2; f(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

func TestExponentialServiceIsExact(t *testing.T) {
	q, want := mgm(t, 7, queueing.Stream{Arrival: 6, Service: 1, SCV: 1}), mmm(t, 6, 1, 7)
	split := mgm(t, 7, queueing.Stream{Arrival: 2, Service: 1, SCV: 1}, queueing.Stream{Arrival: 4, Service: 1, SCV: 1})
	for _, x := range []float64{0, 0.1, 1, 10} {
		if got := q.ResponseWithin(0, x); got != want.ResponseWithin(x) {
			t.Errorf("within %v: %v, want %v", x, got, want.ResponseWithin(x))
		}
		for k := range 2 { // the integral is by quadrature
			if got := split.ResponseWithin(k, x); math.Abs(got-want.ResponseWithin(x)) > 1e-6 {
				t.Errorf("class %d within %v: %v, want %v", k, x, got, want.ResponseWithin(x))
			}
		}
	}
}

// Pollaczek and Khinchine: the mean wait at one server is ρ(1 + scv)/(2μ(1 − ρ)).
func TestOneServerWaitsAsPollaczekAndKhinchineSay(t *testing.T) {
	for _, scv := range []float64{0, 0.3, 1, 5} {
		got := mgm(t, 1, queueing.Stream{Arrival: 0.8, Service: 1, SCV: scv}).MeanWait()
		if want := 0.8 * (1 + scv) / (2 * 0.2); math.Abs(got-want) > 1e-3*want {
			t.Errorf("scv %v: %v, want %v", scv, got, want)
		}
	}
}

// The wait falls as service varies less, and distributions of nearly the same variation
// are nearly the same, on both sides of where the kind of distribution changes.
func TestServiceTimesChangeSmoothly(t *testing.T) {
	for _, pair := range [][2]float64{{0, 1e-8}, {1 - 1e-9, 1}, {1, 1 + 1e-9}} {
		for _, x := range []float64{0.5, 1.5, 4} {
			a := mgm(t, 3, queueing.Stream{Arrival: 2.5, Service: 1, SCV: pair[0]}).ResponseBeyond(0, x)
			b := mgm(t, 3, queueing.Stream{Arrival: 2.5, Service: 1, SCV: pair[1]}).ResponseBeyond(0, x)
			if math.Abs(a-b) > 1e-4 {
				t.Errorf("scv %v, beyond %v: %v and %v", pair, x, a, b)
			}
		}
	}
}

func TestGeneralServiceHasDistributions(t *testing.T) {
	for _, scv := range []float64{0, 1e-6, 0.01, 0.2, 0.9, 1, 3, 100} {
		for _, utilization := range []float64{0, 0.3, 0.99} {
			stream := queueing.Stream{Arrival: 4 * utilization, Service: 1, SCV: scv}
			q := mgm(t, 4, stream)
			before := 0.0
			for n := range 200 {
				x := float64(n) / 10
				within := q.ResponseWithin(0, x)
				if within < before-1e-9 || within > stream.ServiceWithin(x)+1e-9 || within < 0 {
					t.Fatalf("scv %v, utilization %v: within %v %v, before %v, service alone %v", scv, utilization, x, within, before, stream.ServiceWithin(x))
				}
				before = within
			}
			if got := q.ResponseWithin(0, math.Inf(1)); got != 1 {
				t.Errorf("scv %v: within infinite time %v", scv, got)
			}
		}
	}
}

func TestGeneralServiceRefusesBadInput(t *testing.T) {
	for want, stream := range map[string]queueing.Stream{
		"classes[0]: arrival rate: -1":                                  {-1, 1, 1},
		"classes[0]: service rate: NaN":                                 {1, math.NaN(), 1},
		"classes[0]: squared coefficient of variation: -0.5":            {1, 1, -0.5},
		"classes[0]: squared coefficient of variation: NaN":             {1, 1, math.NaN()},
		"classes[0]: squared coefficient of variation: +Inf":            {1, 1, math.Inf(1)},
		"the queue is not stable: a load of 3 keeps 2 servers busy all": {3, 1, 1},
	} {
		if _, err := queueing.NewMGm([]queueing.Stream{stream}, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := queueing.NewMGm(nil, 1); err == nil {
		t.Error("there is a queue with no classes")
	}
}

func BenchmarkMGm(b *testing.B) {
	for _, test := range []struct {
		name    string
		servers int
		streams []queueing.Stream
	}{
		{"scv 0.5, 50 servers", 50, []queueing.Stream{{45, 1, 0.5}}},
		{"scv 0.5, one server", 1, []queueing.Stream{{0.9, 1, 0.5}}},
		{"scv 4, 50 servers", 50, []queueing.Stream{{45, 1, 4}}},
		{"two classes, 5 servers", 5, []queueing.Stream{{2, 1, 1}, {200, 100, 1}}},
		{"two classes, 20 servers", 20, []queueing.Stream{{8, 1, 1}, {800, 100, 1}}},
		{"three classes, 10 servers", 10, []queueing.Stream{{3, 1, 1}, {30, 10, 1}, {200, 100, 1}}},
		{"five classes, 500 servers", 500, []queueing.Stream{{90, 1, 1}, {180, 2, 1}, {450, 5, 1}, {900, 10, 1}, {9000, 100, 1}}},
	} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				mgm(b, test.servers, test.streams...).ResponseWithin(0, 3)
			}
		})
	}
}
