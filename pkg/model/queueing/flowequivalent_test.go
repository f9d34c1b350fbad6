package queueing_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/queueing"
)

// drawFlow draws a network with zeros, ties and classes that never wait.
func drawFlow(t *rapid.T) *queueing.Network {
	n := &queueing.Network{Servers: rapid.SliceOfN(rapid.IntRange(1, 4), 0, 3).Draw(t, "servers")}
	for range rapid.IntRange(1, 3).Draw(t, "classes") {
		demands := make([]float64, len(n.Servers))
		for i := range demands {
			demands[i] = rapid.SampledFrom([]float64{0, 0.3, 1, 2.5}).Draw(t, "demand")
		}
		idle := rapid.SampledFrom([]float64{0.2, 1, 7}).Draw(t, "idle")
		n.Classes = append(n.Classes, queueing.Class{Demands: demands, Idle: idle, Copies: rapid.IntRange(1, 5).Draw(t, "copies")})
	}
	return n
}

func TestAFlowEquivalentIsTheExactSolutionOfEachPopulation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawFlow(t)
		f, err := queueing.NewFlowEquivalent(n, queueing.DefaultExactSteps)
		if err != nil {
			t.Fatal(err)
		}
		some, jobs := &queueing.Network{Servers: n.Servers}, make([]int, len(n.Classes))
		var of []int
		for k, class := range n.Classes {
			if jobs[k] = rapid.IntRange(0, class.Copies).Draw(t, "jobs"); jobs[k] > 0 {
				of, class.Copies = append(of, k), jobs[k]
				some.Classes = append(some.Classes, class)
			}
		}
		want, err := queueing.Solve(some, queueing.Options{Solver: queueing.Exact})
		if err != nil {
			t.Fatal(err)
		}
		population, probability := f.Population(jobs), make([]float64, f.Populations())
		probability[population] = 1
		waits := f.Waits(probability)
		for c, k := range of {
			round := some.Classes[c].Idle
			for i, d := range some.Classes[c].Demands {
				round += d * (1 + want.Waits[c][i])
				if math.Abs(waits[k][i]-want.Waits[c][i]) > 1e-9*(1+want.Waits[c][i]) {
					t.Fatalf("class %d waits %v at station %d, want %v", k, waits[k][i], i, want.Waits[c][i])
				}
			}
			if rate := f.Rate(k, jobs[k], population); math.Abs(rate*round/float64(jobs[k])-1) > 1e-9 {
				t.Fatalf("%d jobs of class %d make %v rounds per unit of time, want one in %v each", jobs[k], k, rate, round)
			}
		}
	})
}

func TestNetworksWithoutAFlowEquivalentAreRefused(t *testing.T) {
	t.Parallel()
	crowd := queueing.Class{Demands: []float64{1}, Idle: 1, Copies: 100}
	for name, test := range map[string]struct {
		class queueing.Class
		want  error
	}{
		"too many populations":    {crowd, queueing.ErrTooLarge},
		"pressures beside demand": {queueing.Class{Demands: []float64{1}, Pressures: []float64{0.5}, Copies: 2}, queueing.ErrNotStandard},
	} {
		if _, err := queueing.NewFlowEquivalent(&queueing.Network{Servers: []int{1}, Classes: []queueing.Class{test.class}}, 100); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	var value *queueing.ValueError
	if _, err := queueing.NewFlowEquivalent(&queueing.Network{Servers: []int{0}}, 100); !errors.As(err, &value) {
		t.Errorf("no server: %v", err)
	}
}
