package queueing_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/queueing"
)

// network draws a network. A standard one has an exact solution.
func network(t *rapid.T, maxJobs, maxCopies, maxServers int, standard bool) *queueing.Network {
	m := rapid.IntRange(1, 3).Draw(t, "stations")
	drawn := &queueing.Network{Servers: rapid.SliceOfN(rapid.IntRange(1, maxServers), m, m).Draw(t, "servers")}
	for range rapid.IntRange(1, maxJobs).Draw(t, "classes") {
		class := queueing.Class{Copies: rapid.IntRange(0, maxCopies).Draw(t, "copies")}
		for range m {
			demand := 0.0
			if rapid.IntRange(0, 3).Draw(t, "there") > 0 {
				demand = rapid.Float64Range(0.001, 1).Draw(t, "demand")
			}
			class.Demands = append(class.Demands, demand)
		}
		if rapid.Bool().Draw(t, "idles") {
			class.Idle = rapid.Float64Range(0, 5).Draw(t, "idle")
		}
		if sum(class.Demands)+class.Idle == 0 {
			class.Idle = 1
		}
		if !standard && rapid.Bool().Draw(t, "asymmetric") {
			class.Pressures = rapid.SliceOfN(rapid.Float64Range(0, sum(class.Demands)+class.Idle), m, m).Draw(t, "pressures")
		}
		if !standard && rapid.IntRange(0, 2).Draw(t, "waits otherwise") == 0 {
			class.Sensitivities = rapid.SliceOfN(rapid.Float64Range(0, sum(class.Demands)+class.Idle), m, m).Draw(t, "sensitivities")
		}
		if !standard && rapid.Bool().Draw(t, "threaded") {
			class.Threads = rapid.SliceOfN(rapid.IntRange(0, 8), m, m).Draw(t, "threads")
		}
		drawn.Classes = append(drawn.Classes, class)
	}
	return drawn
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

// try solves a network, and skips networks that a solver refuses.
func try(t *rapid.T, network *queueing.Network, options queueing.Options) *queueing.Solution {
	solution, err := queueing.Solve(network, options)
	if errors.Is(err, queueing.ErrTooLarge) || errors.Is(err, queueing.ErrNotStandard) || errors.Is(err, queueing.ErrUnsettled) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return solution
}

// busy returns a lower bound on the number of busy servers of a station.
func busy(network *queueing.Network, solution *queueing.Solution, station int) float64 {
	servers := 0.0
	for k, class := range network.Classes {
		needed := class.Demands[station]
		if class.Pressures != nil {
			needed = min(needed, class.Pressures[station])
		}
		threads := max(1, class.Copies)
		if class.Threads != nil {
			threads *= max(1, class.Threads[station])
		}
		servers += float64(threads) * needed / (sum(class.Demands) + class.Idle) / solution.Dilations[k]
	}
	return servers
}

func TestEveryRungKeepsTheAsymptoticBounds(t *testing.T) {
	t.Parallel()
	for _, solver := range append(rungs, queueing.Auto) {
		t.Run(solver.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				drawn := network(t, 8, 5, 8, solver == queueing.Exact)
				solution := try(t, drawn, queueing.Options{Solver: solver})
				for k, dilation := range solution.Dilations {
					if !(dilation >= 1) || math.IsInf(dilation, 0) {
						t.Fatalf("class %d: dilation %v", k, dilation)
					}
					for i, wait := range solution.Waits[k] {
						if presence := solution.Presences[k][i]; !(wait >= 0) || !(presence >= 0) || !(presence <= 1) {
							t.Fatalf("class %d, station %d: wait %v, presence %v", k, i, wait, presence)
						}
					}
				}
				for i, servers := range drawn.Servers {
					if got := busy(drawn, solution, i); got > float64(servers)*(1+1e-9) {
						t.Fatalf("station %d: %v of %d servers are busy", i, got, servers)
					}
				}
			})
		})
	}
}

// The first-order model alone would have four such jobs use 1.04 of the one CPU.
func TestTheBoundsBindWhereTheFirstOrderModelBreaksThem(t *testing.T) {
	t.Parallel()
	sort := &queueing.Network{Servers: []int{1, 1}, Classes: []queueing.Class{{Demands: []float64{0.9, 0.1}, Copies: 4}}}
	solution := solve(t, sort, queueing.Options{Solver: queueing.FirstOrder})
	if got := 56 * solution.Dilations[0]; math.Abs(got-201.6) > 1e-6 {
		t.Errorf("four times Sort takes %.4f s, want 201.6, the bound of its CPU", got)
	}
}

func TestADilationIsMadeOfItsWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := network(t, 6, 4, 4, false)
		solution := try(t, drawn, queueing.Options{})
		for k, class := range drawn.Classes {
			want := 1.0
			for i, demand := range class.Demands {
				want += demand / (sum(class.Demands) + class.Idle) * solution.Waits[k][i]
			}
			if math.Abs(solution.Dilations[k]-want) > 1e-12*want {
				t.Fatalf("class %d: dilation %v, its waits make %v", k, solution.Dilations[k], want)
			}
		}
	})
}

func TestCopiesAreAsManyEqualJobs(t *testing.T) {
	t.Parallel()
	for _, solver := range rungs {
		t.Run(solver.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				collapsed := network(t, 3, 3, 4, true)
				apart := &queueing.Network{Servers: collapsed.Servers}
				var from []int
				for k, class := range collapsed.Classes {
					copies := max(1, class.Copies)
					class.Copies = 1
					for range copies {
						apart.Classes = append(apart.Classes, class)
						from = append(from, k)
					}
				}
				options := queueing.Options{Solver: solver, Tolerance: 1e-10}
				few, many := try(t, collapsed, options), try(t, apart, options)
				for j, k := range from {
					if got, want := few.Dilations[k], many.Dilations[j]; math.Abs(got-want) > 1e-7*want {
						t.Fatalf("class %d: dilation %v as copies, %v as jobs", k, got, want)
					}
				}
			})
		})
	}
}

func TestThreadsEverywhereAreCopies(t *testing.T) {
	t.Parallel()
	for _, solver := range rungs {
		t.Run(solver.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				copied := network(t, 3, 4, 4, true)
				threaded := &queueing.Network{Servers: copied.Servers}
				for _, class := range copied.Classes {
					for range copied.Servers {
						class.Threads = append(class.Threads, class.Copies)
					}
					class.Copies = 1
					threaded.Classes = append(threaded.Classes, class)
				}
				options := queueing.Options{Solver: solver}
				want, got := try(t, copied, options), try(t, threaded, options)
				for k := range want.Dilations {
					if math.Abs(got.Dilations[k]-want.Dilations[k]) > 1e-12*want.Dilations[k] {
						t.Fatalf("class %d: dilation %v with threads, %v with copies", k, got.Dilations[k], want.Dilations[k])
					}
				}
			})
		})
	}
}

func TestOnlyProportionsMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		drawn := network(t, 5, 3, 4, true)
		scaled := &queueing.Network{Servers: drawn.Servers}
		for _, class := range drawn.Classes {
			factor := rapid.Float64Range(1e-6, 1e6).Draw(t, "factor")
			class.Idle *= factor
			demands := class.Demands
			class.Demands = nil
			for _, demand := range demands {
				class.Demands = append(class.Demands, demand*factor)
			}
			scaled.Classes = append(scaled.Classes, class)
		}
		want, got := try(t, drawn, queueing.Options{}), try(t, scaled, queueing.Options{})
		for k := range want.Dilations {
			if math.Abs(got.Dilations[k]-want.Dilations[k]) > 1e-9*want.Dilations[k] {
				t.Fatalf("class %d: dilation %v, scaled %v", k, want.Dilations[k], got.Dilations[k])
			}
		}
	})
}

// Schweitzer and Linearizer settle where they settle, wherever they start.
func TestAWarmStartEndsWhereAColdOneDoes(t *testing.T) {
	t.Parallel()
	for _, solver := range []queueing.Solver{queueing.Schweitzer, queueing.Linearizer} {
		t.Run(solver.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				options := queueing.Options{Solver: solver, Tolerance: 1e-10}
				before := network(t, 6, 3, 4, true)
				first := try(t, before, options)

				after := &queueing.Network{Servers: append([]int(nil), before.Servers...), Classes: append([]queueing.Class(nil), before.Classes...)}
				switch rapid.IntRange(0, 3).Draw(t, "change") {
				case 0: // a job comes
					after.Classes = append(after.Classes, queueing.Class{Demands: []float64{0.3}, Idle: 0.1})
				case 1: // a job goes
					after.Classes = after.Classes[1:]
				case 2: // a server is added
					after.Servers[0]++
				}
				cold := try(t, after, options)
				options.Start = first
				warm := try(t, after, options)
				for k := range cold.Dilations {
					if math.Abs(warm.Dilations[k]-cold.Dilations[k]) > 1e-6*cold.Dilations[k] {
						t.Fatalf("class %d: dilation %v from cold, %v from warm", k, cold.Dilations[k], warm.Dilations[k])
					}
				}
			})
		})
	}
}

func TestASolutionIsItsOwnBestStart(t *testing.T) {
	t.Parallel()
	network := distinct(30, 8)
	options := queueing.Options{Solver: queueing.Linearizer}
	first := solve(t, network, options)
	options.Start = first
	if again := solve(t, network, options); again.Iterations != 0 || first.Iterations < 3 {
		t.Errorf("%d iterations, and %d more from the solution, want 0", first.Iterations, again.Iterations)
	}
}
