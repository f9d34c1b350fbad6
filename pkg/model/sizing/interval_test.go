package sizing

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Of 2,000 intervals of 90 %, from 8 to 24 replications with binomial counts that go
// with a control, about 90 % hold the truth.
func TestIntervalsHoldTheTruthAsOftenAsTheySay(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 1))
	known := 0.3
	for _, control := range []*float64{nil, &known} {
		held := 0
		for range 2000 {
			series := make([]tally, 8+8*r.IntN(3))
			for i := range series {
				common := 0.05 * r.NormFloat64()
				for range 500 {
					series[i].total++
					if r.Float64() < 0.9-common {
						series[i].within++
					}
					series[i].arrived++
					if r.Float64() < known+common {
						series[i].crowded++
					}
				}
			}
			middle, half := interval(series, control, 0.9)
			if math.Abs(middle-0.9) <= half {
				held++
			}
		}
		if f := float64(held) / 2000; f < 0.87 || f > 0.93 {
			t.Errorf("with control %v, %v of the intervals hold the truth", control != nil, f)
		}
	}
}

// A class that has nearly all jobs is served as if there were no other. The intervals
// are of 99.9 %.
func TestSimulationAgreesWithMMm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 1))
	for range 5 {
		load := 5 + 10*r.Float64()
		servers := int(load*1.15) + 1
		sla := SLA{Within: 3, Probability: 0.9}
		classes := []Class{{Arrival: load, Service: 1, SLA: sla}, {Arrival: 1e-4 * load, Service: 1, SLA: sla}}
		want, err := Attain(t.Context(), classes, servers, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSimulator(classes, Options{Discipline: PDP, Simulation: Simulation{Jobs: 50_000, Replications: 32, Confidence: 0.999}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.try(t.Context(), servers)
		if err != nil {
			t.Fatal(err)
		}
		if got.halfWidth[0] > 0.02 || math.Abs(got.attained[0]-want[0]) > got.halfWidth[0] {
			t.Errorf("a load of %v on %d servers: %v, simulated %v ± %v", load, servers, want[0], got.attained[0], got.halfWidth[0])
		}
	}
}

func TestIntervalsOfNothingKnowNothing(t *testing.T) {
	if middle, half := interval(make([]tally, 8), nil, 0.99); middle != 0 || half != 1 {
		t.Errorf("no jobs: %v ± %v", middle, half)
	}
	series := make([]tally, 8)
	for i := range series {
		series[i] = tally{within: 100, total: 100, arrived: 100}
	}
	if middle, half := interval(series, nil, 0.99); middle != 1 || !(half > 0.005 && half < 0.006) { // ln 100 / 800
		t.Errorf("all in time: %v ± %v", middle, half)
	}
}

func TestCompletionsComeInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 2))
	var h completions
	for range 50 {
		for range r.IntN(30) {
			h.push(completion{at: r.Float64()})
		}
		before := 0.0
		for n := r.IntN(len(h) + 1); n > 0; n-- {
			c := h.pop()
			if c.at < before {
				t.Fatalf("%v after %v", c.at, before)
			}
			before = c.at
		}
	}
}

func TestLinesPutOffTheLate(t *testing.T) {
	var l line
	for at := range 300 {
		l.push(waiting{arrived: float64(at)})
	}
	l.putOff(100)
	for want := 100; want < 300; want++ {
		if l.onlyLate() {
			t.Fatal("only late ones are left")
		}
		if got := l.pop(); got.arrived != float64(want) {
			t.Fatalf("%v, want %d", got.arrived, want)
		}
	}
	for want := range 100 {
		if !l.onlyLate() || l.empty() {
			t.Fatal("late ones are forgotten")
		}
		if got := l.pop(); got.arrived != float64(want) {
			t.Fatalf("%v, want %d", got.arrived, want)
		}
	}
	if !l.empty() {
		t.Error("somebody still waits")
	}
}
