package queueing

import (
	"math"
	"math/rand/v2"
	"testing"
)

// solved returns the queue and the distribution of its wait.
func solved(t *testing.T, servers int, streams ...Stream) (*MGm, wait) {
	t.Helper()
	q, err := NewMGm(streams, servers)
	if err != nil {
		t.Fatal(err)
	}
	return q, q.wait
}

// Erlang's distribution of the wait for one server with constant service times; its
// terms alternate, and lose digits for long waits.
func TestConstantServiceWaitsAsErlangSays(t *testing.T) {
	t.Parallel()
	for _, busy := range []float64{0.1, 0.5, 0.8, 0.95} {
		q, w := solved(t, 1, Stream{busy, 1, 0})
		for _, x := range []float64{0, 1e-3, 0.3, 0.999, 1, 1.001, 1.7, 2, 3.5, 6} {
			within := 0.0
			for j := 0; float64(j) <= x; j++ {
				z := busy * (float64(j) - x)
				term := math.Exp(-z)
				for i := 1; i <= j; i++ {
					term *= z / float64(i)
				}
				within += (1 - busy) * term
			}
			if got := w.beyond(x); math.Abs(1-within-got) > 1e-6 {
				t.Errorf("utilization %v: waits beyond %v with %v, Erlang says %v", busy, x, got, 1-within)
			}
			if got := q.ResponseBeyond(0, 1+x); math.Abs(1-within-got) > 1e-6 {
				t.Errorf("utilization %v: takes longer than %v with %v, Erlang says %v", busy, 1+x, got, 1-within)
			}
		}
		if q.Error() != 0 {
			t.Errorf("the error of one server is %v", q.Error())
		}
	}
}

// Two ways to the same wait: the modes, and the transform inverted.
func TestModesAreTheInverseOfTheTransform(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 6))
	for range 50 {
		var streams []Stream
		load := 0.0
		for range 1 + r.IntN(4) {
			s := Stream{Service: math.Exp(-7 * r.Float64()), SCV: 1 + 3*float64(r.IntN(2))*r.Float64()}
			s.Arrival = s.Service * r.ExpFloat64()
			load += s.Arrival / s.Service
			streams = append(streams, s)
		}
		utilization := 0.1 + 0.88*r.Float64()
		for k := range streams {
			streams[k].Arrival *= utilization / load
		}
		_, w := solved(t, 1, streams...)
		mix, err := newMixture(streams)
		if err != nil {
			t.Fatal(err)
		}
		inverse := pollaczek{mix}
		if math.Abs(meanOf(w)-inverse.mean()) > 1e-5*inverse.mean() {
			t.Errorf("%+v: mean wait %v, by Pollaczek and Khinchine %v", streams, meanOf(w), inverse.mean())
		}
		for x := 0.01; x < 2000; x *= 3 {
			if math.Abs(w.beyond(x)-inverse.beyond(x)) > 1e-5 || math.Abs(w.lateBecauseOf(0.3, x)-inverse.lateBecauseOf(0.3, x)) > 1e-5 {
				t.Errorf("%+v: beyond %v with %v, by the transform %v", streams, x, w.beyond(x), inverse.beyond(x))
			}
		}
	}
}

// asQuadrature hides that the transform of a wait is known.
type asQuadrature struct{ wait }

// The integral over gamma distributed service times against the transform of wait and
// service together, inverted.
func TestGammaServiceAfterAWait(t *testing.T) {
	t.Parallel()
	for _, scv := range []float64{0.0625, 0.2, 0.5, 0.9} {
		for _, other := range []float64{1e-3, 0.1, 1, 30, 1000} {
			q, w := solved(t, 1, Stream{0.3, 1, scv}, Stream{0.5 * other, other, 1})
			for _, x := range []float64{0.05, 0.5, 1, 2, 5, 20} {
				want, got := q.services[0].lateBecauseOf(w, x), q.services[0].lateBecauseOf(asQuadrature{w}, x)
				if math.Abs(got-want) > 1e-5 {
					t.Errorf("scv %v, a class with rate %v: beyond %v with %v, by the transform %v", scv, other, x, got, want)
				}
			}
		}
	}
}

// The distributions are normalized, whatever the numbers of phases and servers.
func TestWaitsAreDistributions(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 7))
	for n := range 120 {
		servers := 1 + r.IntN([]int{3, 12, 60, 300}[n%4])
		var streams []Stream
		load := 0.0
		for range 1 + r.IntN(6) {
			s := Stream{Service: math.Pow(10, 4*r.Float64()-2), SCV: []float64{0, 0.3, 1, 1, 1, 2, 100, MaxSCV}[r.IntN(8)]}
			s.Arrival = s.Service * math.Pow(10, -6*r.Float64())
			load += s.Arrival / s.Service
			streams = append(streams, s)
		}
		utilization := []float64{1e-9, 0.1 + 0.8*r.Float64(), 0.99, 1 - 1e-6}[r.IntN(4)]
		for k := range streams {
			streams[k].Arrival *= utilization * float64(servers) / load
		}
		q, w := solved(t, servers, streams...)
		if c := q.WaitProbability(); !(c >= 0 && c <= 1+1e-9) || !(q.MeanWait() >= 0) || !(q.Error() >= 0) {
			t.Errorf("%d servers, %+v: waits with %v, for %v, off by %v", servers, streams, c, q.MeanWait(), q.Error())
		}
		before := 1.0
		for x := 1e-5; x < 1e6; x *= 10 {
			if b := w.beyond(x); !(b >= -1e-9 && b <= before+1e-6) {
				t.Errorf("%d servers, %+v: beyond %v with %v, before %v", servers, streams, x, b, before)
			} else {
				before = b
			}
		}
	}
}
