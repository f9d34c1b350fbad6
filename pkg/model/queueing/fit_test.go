package queueing

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

var fittedQueues = flag.Int("queues", 4, "random queues of each size that are compared with the exact solution")

// drawPhases draws phases with rates up to 1 : ratio apart.
func drawPhases(r *rand.Rand, count, servers int, ratio float64) []Stream {
	streams, load := make([]Stream, count), 0.0
	for k := range streams {
		streams[k] = Stream{Service: math.Pow(ratio, r.Float64()), SCV: 1}
		if k < 2 {
			streams[k].Service = math.Pow(ratio, float64(k))
		}
		streams[k].Arrival = r.ExpFloat64() * streams[k].Service
		load += streams[k].Arrival / streams[k].Service
	}
	for k := range streams {
		streams[k].Arrival *= (1 - 0.02 - 0.5*math.Pow(r.Float64(), 1.5)) * float64(servers) / load
	}
	return streams
}

// What docs/evidence/sizing-accuracy.md says is solved exactly.
func TestFewPhasesAreSolvedForManyServers(t *testing.T) {
	t.Parallel()
	for phases, want := range map[int]int{2: 51, 3: 12, 4: 6, 5: 4} {
		if got := solvable(phases, 1000); got != want {
			t.Errorf("%d phases are solved for up to %d servers, want %d", phases, got, want)
		}
	}
}

// Queues that are too large are solved all the same, to see how far those that take their
// place are off.
func TestSmallerQueuesAreWithinTheirBounds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 9))
	for _, size := range []struct{ phases, servers int }{{2, 60}, {2, 100}, {3, 14}, {3, 18}, {4, 7}, {4, 9}, {5, 5}, {6, 4}, {7, 4}} {
		worst, bound, ofBound := 0.0, 0.0, 0.0
		for n := range *fittedQueues {
			mix, err := newMixture(drawPhases(r, size.phases, size.servers, []float64{1000, 30, 3}[n%3]))
			if err != nil {
				t.Fatal(err)
			}
			q, err := NewMMm(mix.arrival, mix.service, size.servers)
			if err != nil {
				t.Fatal(err)
			}
			wait, off := mix.exponentialWait(q)
			off = min(off, q.waits)
			exact, largest := newBoundary(mix.phases).wait(size.servers), 0.0
			for x := math.Exp(-10); x < 20; x *= 1.3 {
				largest = max(largest, math.Abs(wait.beyond(x)-exact.beyond(x)))
			}
			if largest > off+1e-6 {
				t.Errorf("%d servers, %+v: off by %.4f, the bound is %.4f", size.servers, mix.streams, largest, off)
			}
			worst, bound = max(worst, largest), max(bound, off)
			if off > 0 {
				ofBound = max(ofBound, largest/off)
			}
		}
		t.Logf("%d phases, %3d servers: off by %.4f, bounds up to %.4f, %.0f%% of them used", size.phases, size.servers, worst, bound, 100*ofBound)
	}
}

func TestMergedPhasesAreWithinTheirBounds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 10))
	worst, ofBound := 0.0, 0.0
	for n := range 10 * *fittedQueues {
		servers := 1 + n%5
		mix, err := newMixture(drawPhases(r, 4+n%3, servers, []float64{1000, 100, 10}[n%3]))
		if err != nil {
			t.Fatal(err)
		}
		merged, bound := mix.phases.fewer(3)
		if math.Abs(merged.offered()-mix.phases.offered()) > 1e-9*merged.offered() {
			t.Errorf("%+v: a load of %v becomes %v", mix.streams, mix.phases.offered(), merged.offered())
		}
		exact, wait, largest := newBoundary(mix.phases).wait(servers), newBoundary(merged).wait(servers), 0.0
		for x := math.Exp(-10); x < 20; x *= 1.3 {
			largest = max(largest, math.Abs(wait.beyond(x)-exact.beyond(x)))
		}
		if largest > bound+1e-6 {
			t.Errorf("%d servers, %+v: off by %.4f, the bound is %.4f", servers, mix.streams, largest, bound)
		}
		worst, ofBound = max(worst, largest), max(ofBound, largest/(bound+1e-6))
	}
	t.Logf("off by %.4f, %.0f%% of a bound used", worst, 100*ofBound)
}
