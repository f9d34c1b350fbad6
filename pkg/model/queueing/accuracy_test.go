package queueing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Table 1 of Menascé and Bardhan, "Epochs", GMU-CS-TR-2014-01: J1 = (1, 2) and
// J2 = (3, 5) seconds. As printed there, and to more digits as recomputed
// independently; the exact values are 37/8 and 37/3.
func TestTheSolversReproduceTable1OfEpochs(t *testing.T) {
	network := &queueing.Network{Servers: []int{1, 1}, Classes: []queueing.Class{{Demands: []float64{1, 2}}, {Demands: []float64{3, 5}}}}
	for _, test := range []struct {
		solver queueing.Solver
		want   [2]float64
		within float64
	}{
		{queueing.Schweitzer, [2]float64{4.69, 12.44}, 0.005},
		{queueing.Schweitzer, [2]float64{4.69165, 12.44226}, 5e-6},
		{queueing.Linearizer, [2]float64{37.0 / 8, 37.0 / 3}, 1e-6},
		{queueing.Exact, [2]float64{37.0 / 8, 37.0 / 3}, 1e-12},
		{queueing.FirstOrder, [2]float64{37.0 / 8, 37.0 / 3}, 1e-12}, // exact for two jobs
	} {
		solution := solve(t, network, queueing.Options{Solver: test.solver, Tolerance: 1e-9})
		for j, neutral := range []float64{3, 8} {
			if got := neutral * solution.Dilations[j]; math.Abs(got-test.want[j]) > test.within {
				t.Errorf("%v: J%d takes %.6f s, want %.6f", test.solver, j+1, got, test.want[j])
			}
		}
	}
}

// 1,000 random demand sets, up to 12 jobs and 8 stations. What is asked of
// Linearizer is the project's requirement; Schweitzer's own error is published as
// 1.7 to 6.3 % on average and 32 % at worst.
func TestApproximationsAreNearMeanValueAnalysis(t *testing.T) {
	t.Parallel()
	var schweitzer, linearizer relativeErrors
	r := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []shape{
		{12, 8, 1, false, false}, {12, 8, 1, false, true}, {12, 8, 1, true, false}, {12, 8, 1, true, true},
	} {
		for range 250 {
			network := kind.draw(r)
			want := meanValueAnalysis(network)
			schweitzer.add(solve(t, network, queueing.Options{Solver: queueing.Schweitzer}).Dilations, want)
			linearizer.add(solve(t, network, queueing.Options{Solver: queueing.Linearizer}).Dilations, want)
		}
	}
	schweitzer.atMost(t, 0.063, 0.32)
	linearizer.atMost(t, 0.003, 0.02)
}

func TestExactIsMeanValueAnalysis(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	var errors relativeErrors
	for range 200 {
		network := shape{9, 6, 1, r.IntN(2) == 0, r.IntN(2) == 0}.draw(r)
		errors.add(solve(t, network, queueing.Options{Solver: queueing.Exact}).Dilations, meanValueAnalysis(network))
	}
	errors.atMost(t, 1e-14, 1e-12) // rounding of a few thousand additions
}

// Small mixed sets against the Markov chain itself, which assumes no product form.
func TestSolversAreNearTheMarkovChainWithManyServers(t *testing.T) {
	t.Parallel()
	var auto, linearizer, schweitzer relativeErrors
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		network := shape{5, 3, 3, r.IntN(2) == 0, r.IntN(2) == 0}.draw(r)
		want := markov(t, network)
		auto.add(solve(t, network, queueing.Options{}).Dilations, want)
		linearizer.add(solve(t, network, queueing.Options{Solver: queueing.Linearizer}).Dilations, want)
		schweitzer.add(solve(t, network, queueing.Options{Solver: queueing.Schweitzer}).Dilations, want)
	}
	auto.atMost(t, 1e-10, 1e-8)       // conditioning of 1,024 balance equations
	linearizer.atMost(t, 0.002, 0.06) // worst where few jobs fill two stations and are never idle
	schweitzer.atMost(t, 0.05, 0.25)
}

// Larger mixed sets against the exact solution, which the tests above vouch for.
func TestLinearizerIsNearTheExactSolutionWithManyServers(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{5, 16} {
		var errors relativeErrors
		r := rand.New(rand.NewPCG(4, 4))
		for range 300 {
			network := shape{3 * servers, 3, servers, r.IntN(2) == 0, r.IntN(2) == 0}.draw(r)
			want := solve(t, network, queueing.Options{Solver: queueing.Exact}).Dilations
			errors.add(solve(t, network, queueing.Options{Solver: queueing.Linearizer}).Dilations, want)
		}
		errors.atMost(t, 0.003, 0.05)
	}
}

func TestSolversAreNearTheBirthDeathChain(t *testing.T) {
	t.Parallel()
	var auto, linearizer relativeErrors
	for _, c := range []int{1, 4, 16, 64} {
		for _, p := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
			for eighths := 4; eighths <= 64; eighths += 2 {
				n := max(1, c*eighths/8)
				network := &queueing.Network{Servers: []int{c}, Classes: []queueing.Class{{Demands: []float64{p}, Idle: 1 - p, Copies: n}}}
				want := []float64{birthDeath(n, c, p)}
				auto.add(solve(t, network, queueing.Options{}).Dilations, want)
				linearizer.add(solve(t, network, queueing.Options{Solver: queueing.Linearizer}).Dilations, want)
			}
		}
	}
	auto.atMost(t, 1e-12, 1e-10) // 512 jobs, rounding
	linearizer.atMost(t, 0.002, 0.01)
}

// The example of the design: one vector entry per core would give 1.70.
func TestSixteenCoresAndThirtyTwoJobs(t *testing.T) {
	network := &queueing.Network{Servers: []int{16}, Classes: []queueing.Class{{Demands: []float64{0.6}, Idle: 0.4, Copies: 32}}}
	for _, solver := range []queueing.Solver{queueing.Exact, queueing.Linearizer} {
		if got := solve(t, network, queueing.Options{Solver: solver}).Dilations[0]; math.Abs(got-1.21) > 0.005 {
			t.Errorf("%v: dilation %.4f, want 1.21", solver, got)
		}
	}
}

func Example() {
	// A node with 16 cores and a disk: 20 web servers and a backup.
	network := &queueing.Network{
		Servers: []int{16, 1},
		Classes: []queueing.Class{
			{Demands: []float64{0.7, 0.02}, Idle: 0.28, Copies: 20},
			{Demands: []float64{0.1, 0.9}},
		},
	}
	solution, err := queueing.Solve(network, queueing.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v: a web server is %.2f times slower, the backup %.2f times\n", solution.Solver, solution.Dilations[0], solution.Dilations[1])
	fmt.Printf("at the disk a web server waits for %.2f times its service\n", solution.Waits[0][1])
	// Output:
	// exact: a web server is 1.05 times slower, the backup 1.56 times
	// at the disk a web server waits for 2.00 times its service
}
