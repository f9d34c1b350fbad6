package queueing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// Two algorithms that have nothing but the model in common.
func TestBothWaysToTheExactSolutionAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 3).Draw(t, "stations")
		network := &Network{Servers: rapid.SliceOfN(rapid.IntRange(1, 4), m, m).Draw(t, "servers")}
		for range rapid.IntRange(1, 4).Draw(t, "classes") {
			class := Class{Idle: rapid.Float64Range(0.01, 2).Draw(t, "idle"), Copies: rapid.IntRange(1, 4).Draw(t, "copies")}
			class.Demands = rapid.SliceOfN(rapid.Float64Range(0, 1), m, m).Draw(t, "demands")
			network.Classes = append(network.Classes, class)
		}
		c := reduce(network)
		copies, standard := c.copies()
		if !standard {
			t.Fatal("a network with neither pressures nor threads is not standard")
		}
		one, other := byPopulation(c, copies), byChain(c, copies)
		for x := range one {
			if math.Abs(one[x]-other[x]) > 1e-11*(1+one[x]) {
				t.Fatalf("wait %d: %v and %v", x, one[x], other[x])
			}
		}
	})
}

// At the limits of range: 512 jobs, from nearly idle to nearly always there.
func TestExactSolutionsOfManyJobsStayInRange(t *testing.T) {
	for _, servers := range []int{1, 64, 500} {
		for _, p := range []float64{1e-6, 0.5, 1 - 1e-9} {
			network := &Network{Servers: []int{servers, 1}, Classes: []Class{{Demands: []float64{p, (1 - p) / 2}, Idle: (1 - p) / 2, Copies: MaxExactJobs}}}
			c := reduce(network)
			copies, _ := c.copies()
			one, other := byPopulation(c, copies), byChain(c, copies)
			for x := range one {
				if !(math.Abs(one[x]-other[x]) <= 1e-9*(1+one[x])) {
					t.Errorf("%d servers, p = %v: waits %v and %v", servers, p, one[x], other[x])
				}
			}
		}
	}
}

func TestSimplexNumbersEveryStateOnce(t *testing.T) {
	const n, m = 6, 3
	seen := map[[m]int]int{}
	byIndex := [][m]int{}
	x := newSimplex(n, m, func(s int, jobs []int) {
		state := [m]int(jobs)
		if _, again := seen[state]; again || s != len(byIndex) {
			t.Fatalf("state %v has index %d, and is not new or not the next", state, s)
		}
		seen[state] = s
		byIndex = append(byIndex, state)
	})
	if len(byIndex) != 84 { // C(9, 3)
		t.Fatalf("%d states, want 84", len(byIndex))
	}
	for s := range x.sizes[n-1] {
		for i := range m {
			more := byIndex[s]
			more[i]++
			if got := int(x.next[s*m+i]); got != seen[more] {
				t.Errorf("one more at %d in %v has index %d, want %d", i, byIndex[s], got, seen[more])
			}
		}
	}
}

// A station and idle time are all there is: n − 1 others, tilted to
// the right mean, make a job wait as long as the exact solution says.
func TestATiltedDistributionIsExactForAFiniteSource(t *testing.T) {
	for _, test := range []struct{ jobs, servers int }{{5, 2}, {32, 16}, {128, 16}, {40, 39}} {
		for _, p := range []float64{0.2, 0.6, 0.95} {
			class := Class{Demands: []float64{p}, Idle: 1 - p, Copies: test.jobs - 1}
			others := &Network{Servers: []int{test.servers}, Classes: []Class{class}}
			solution, err := Solve(others, Options{Solver: Exact})
			if err != nil {
				t.Fatal(err)
			}
			class.Copies++
			all, err := Solve(&Network{Servers: others.Servers, Classes: []Class{class}}, Options{Solver: Exact})
			if err != nil {
				t.Fatal(err)
			}
			q := solution.Presences[0][0]
			mean := q * float64(test.jobs-1)
			var found poissonbinomial.Distribution
			found.Reset()
			for range test.jobs - 1 {
				found.Add(q)
			}
			_, logTheta := tiltedExpansion(&found, test.servers, 0, 0, mean)
			wait, _ := tiltedExpansion(&found, test.servers, logTheta, 0, mean)
			if got, want := wait.wait(mean), all.Waits[0][0]; math.Abs(got-want) > 1e-6*(1+want) {
				t.Errorf("%d jobs, %d servers, p = %v: wait %v, exact %v", test.jobs, test.servers, p, got, want)
			}
		}
	}
}

func TestAnExpandedWaitNeverFallsAndNeverIsNegative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return rapid.Float64Range(0, 10).Draw(t, name) }
		l := newExpansion(rapid.IntRange(1, 3).Draw(t, "servers"), draw("mean"), draw("at"), draw("slope"), draw("curvature"))
		before := 0.0
		for mean := 0.0; mean < 20; mean += 0.5 {
			wait := l.wait(mean)
			if wait < before-1e-12 {
				t.Fatalf("wait falls from %v to %v at %v", before, wait, mean)
			}
			before = wait
		}
	})
}

// Equal threads, and no more threads than servers: the wait of one of them equals the wait that it
// causes the others.
func TestOneOfManyWaitsForTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(2, 6).Draw(t, "servers")
		presence := rapid.Float64Range(0.01, 0.99)
		presences := slices.Repeat([]float64{presence.Draw(t, "presence")}, rapid.IntRange(1, 12).Draw(t, "threads"))
		if rapid.Bool().Draw(t, "few") {
			presences = rapid.SliceOfN(presence, 1, servers).Draw(t, "presences")
		}
		var all, others poissonbinomial.Distribution
		all.Reset()
		spread := 0.0
		for _, q := range presences {
			all.Add(q)
			spread += q * (1 - q)
		}
		q := presences[0]
		others.Without(&all, q)
		// Not tilted: independently there.
		m := moments{middle: int(math.Round(all.Mean())), servers: servers, unit: 1}
		for n, p := range all.Probability() {
			m.add(n, p)
		}
		l := m.tilted().wait
		got, want := l.waitOfOne(all.Mean()-q, q, q+q*(1-q)*l.surplus/spread), others.Excess(servers)/float64(servers)
		if math.Abs(got-want) > 1e-9*(1+want) {
			t.Fatalf("wait %v, want %v", got, want)
		}
	})
}

func TestBoundsAreLeftAloneWhereTheyHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		network := &Network{Servers: []int{1, 2}}
		for range 6 {
			network.Classes = append(network.Classes, Class{Demands: []float64{r.Float64(), r.Float64()}, Idle: r.Float64()})
		}
		c := reduce(network)
		copies, _ := c.copies()
		waits := byChain(c, copies)
		before := append([]float64(nil), waits...)
		c.bound(waits)
		for x := range waits {
			if math.Abs(waits[x]-before[x]) > 1e-9*(1+before[x]) {
				t.Fatalf("an exact wait of %v became %v", before[x], waits[x])
			}
		}
	}
}
