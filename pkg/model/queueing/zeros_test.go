package queueing_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Jobs a and b use the CPU and the disk, c the CPU alone: the network without c has
// two jobs at the disk, who wait for each other there.
func TestAJobThatSkipsAStationDoesNotEmptyIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		servers []int
		jobs    [][]float64
	}{
		"one server":  {[]int{1, 1}, [][]float64{{0.28, 0.72}, {0.28, 0.72}, {1, 0}}},
		"two servers": {[]int{2, 2}, [][]float64{{0.28, 0.72}, {0.28, 0.72}, {0.28, 0.72}, {1, 0}}},
	} {
		network := &queueing.Network{Servers: test.servers}
		for _, demands := range test.jobs {
			network.Classes = append(network.Classes, queueing.Class{Demands: demands})
		}
		want := markov(t, network)
		for _, solver := range []queueing.Solver{queueing.Linearizer, queueing.Exact, queueing.Auto} {
			got := solve(t, network, queueing.Options{Solver: solver}).Dilations
			for k := range want {
				if math.Abs(got[k]/want[k]-1) > 0.01 {
					t.Errorf("%s, %v: job %d has dilation %.4f, want %.4f", name, solver, k, got[k], want[k])
				}
			}
		}
	}
}

// With pressures, sensitivities and uneven threads there is no product form, but the recursion is
// defined all the same. A network in which a station would be busier than possible is left out: the
// solvers keep that bound, the recursion does not.
func TestApproximationsAreNearTheRecursionOverSubsets(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		threads     int
		mean, worst float64 // about 1.5 times the observed values
	}{{1, 0.0003, 0.012}, {3, 0.0025, 0.10}} {
		var auto, linearizer, schweitzer relativeErrors
		r := rand.New(rand.NewPCG(5, 5))
		for range 500 {
			network := shape{5, 3, 1, r.IntN(2) == 0, r.IntN(2) == 0}.draw(r)
			measured(r, network, test.threads)
			want := newSubsetRecursion(network).dilations()
			if !keepsBounds(network, want) {
				continue
			}
			auto.add(solve(t, network, queueing.Options{}).Dilations, want)
			linearizer.add(solve(t, network, queueing.Options{Solver: queueing.Linearizer}).Dilations, want)
			schweitzer.add(solve(t, network, queueing.Options{Solver: queueing.Schweitzer}).Dilations, want)
		}
		auto.atMost(t, test.mean, test.worst)
		linearizer.atMost(t, test.mean, test.worst)
		schweitzer.atMost(t, 0.063, 0.32)
	}
}

// keepsBounds reports whether no station is busier than its servers can be.
func keepsBounds(network *queueing.Network, dilations []float64) bool {
	for i, servers := range network.Servers {
		if busy(network, &queueing.Solution{Dilations: dilations}, i) > float64(servers) {
			return false
		}
	}
	return true
}

func TestTheRecursionOverSubsetsIsMeanValueAnalysis(t *testing.T) {
	t.Parallel()
	var errors relativeErrors
	r := rand.New(rand.NewPCG(6, 6))
	for range 50 {
		network := shape{6, 3, 1, r.IntN(2) == 0, r.IntN(2) == 0}.draw(r)
		errors.add(newSubsetRecursion(network).dilations(), meanValueAnalysis(network))
	}
	errors.atMost(t, 1e-14, 1e-12) // rounding
}

// A demand that is nearly 0 changes nearly nothing, whatever stations it brings in and
// whichever solver [queueing.Auto] takes then.
func TestADemandThatGoesToZeroVanishes(t *testing.T) {
	t.Parallel()
	const (
		tiny   = 1e-8
		within = 1e-5 // a thousand times as much: how ill-conditioned such networks are
	)
	for _, solver := range append(rungs, queueing.Auto) {
		t.Run(solver.String(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, 7))
			options := queueing.Options{Solver: solver, Tolerance: 1e-9}
			for range 1000 {
				network := shape{8, 3, 1 + r.IntN(4), r.IntN(2) == 0, r.IntN(2) == 0}.draw(r)
				if solver != queueing.Exact && r.IntN(2) == 0 {
					measured(r, network, 4)
				}
				without, err := queueing.Solve(network, options)
				with, err2 := queueing.Solve(filled(r, network, tiny), options)
				if errors.Is(err, queueing.ErrUnsettled) || errors.Is(err2, queueing.ErrUnsettled) {
					continue
				}
				if err != nil || err2 != nil {
					t.Fatal(err, err2)
				}
				within := within
				if without.Solver != with.Solver {
					within = 0.03 // the errors of the solvers
				}
				for k, want := range without.Dilations {
					if math.Abs(with.Dilations[k]/want-1) > within {
						t.Fatalf("servers %v, classes %+v: dilation %v of class %d is %v with demands of %v where there are none (%v and %v)",
							network.Servers, network.Classes, want, k, with.Dilations[k], tiny, without.Solver, with.Solver)
					}
				}
			}
		})
	}
}

// filled returns the network with tiny demands, of the neutral time, in every other
// place where there is none.
func filled(r *rand.Rand, network *queueing.Network, tiny float64) *queueing.Network {
	result := &queueing.Network{Servers: network.Servers}
	for _, class := range network.Classes {
		demand := tiny * (class.Idle + sum(class.Demands))
		class.Demands = slices.Clone(class.Demands)
		class.Pressures, class.Sensitivities = slices.Clone(class.Pressures), slices.Clone(class.Sensitivities)
		for i := range class.Demands {
			if class.Demands[i] > 0 || r.IntN(2) == 0 {
				continue
			}
			class.Demands[i] = demand
			if class.Pressures != nil {
				class.Pressures[i] = demand / 2
			}
			if class.Sensitivities != nil {
				class.Sensitivities[i] = demand / 3
			}
		}
		result.Classes = append(result.Classes, class)
	}
	return result
}
