package fairshare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// near is how near exact methods have to be to each other: the default tolerance of the
// race.
const near = 1e-10

func TestRaceAgreesWithAllOrdersOfAGroup(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 8; n++ {
		for _, decades := range []float64{0, 1, 6} {
			for _, total := range []float64{0.1, 0.9, 0.99} {
				tree := build(t, random(r, n, decades, total)...)
				agree(t, tree, fairshare.Options{}, fairshare.Permutations, fairshare.Subsets, fairshare.Hierarchical)
			}
		}
	}
}

func TestRaceAgreesWithSubsetsOfUpTo20Workloads(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{9, 12, 16, 20} {
		agree(t, build(t, random(r, n, 6, 0.95)...), fairshare.Options{}, fairshare.Subsets)
	}
}

// agree compares the race with other methods, and checks its error and the law of
// conservation.
func agree(t *testing.T, tree *fairshare.Tree, options fairshare.Options, methods ...fairshare.Method) {
	t.Helper()
	race := solve(t, tree, options)
	if race.Residual > near {
		t.Errorf("race: residual %g", race.Residual)
	}
	for _, method := range methods {
		options.Method = method
		exact := solve(t, tree, options)
		if off := furthest(t, race.Factors, exact.Factors); off > near {
			t.Errorf("%d workloads, %v busy: race is off %s by %g", tree.Len(), tree.Utilization(), method, off)
		}
		if exact.Residual > 1e-12 {
			t.Errorf("%s: residual %g", method, exact.Residual)
		}
		for w, want := range exact.Factors {
			if off := math.Abs(race.Factors[w] - want); off > race.Errors[w]+exact.Errors[w] {
				t.Errorf("workload %d: race is off %s by %g, and told %g", w, method, off, race.Errors[w])
			}
		}
	}
}

// drawTree draws a tree whose exact solution by all orders is affordable.
func drawTree(mixed bool, servers int) *rapid.Generator[*fairshare.Tree] {
	return rapid.Custom(func(t *rapid.T) *fairshare.Tree {
		var workloads []*fairshare.Group
		var draw func(depth int) []*fairshare.Group
		draw = func(depth int) []*fairshare.Group {
			members := make([]*fairshare.Group, rapid.IntRange(1, 3).Draw(t, "members"))
			for i := range members {
				share := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "share"))
				if depth > 0 && rapid.Bool().Draw(t, "group") {
					members[i] = group(fmt.Sprint("g", i), share, draw(depth-1)...)
					continue
				}
				members[i] = workload(fmt.Sprint("w", i), share, rapid.Float64Range(0, 1).Draw(t, "utilization"))
				if mixed {
					members[i].Service = rapid.Float64Range(0.01, 10).Draw(t, "service")
					members[i].SecondMoment = members[i].Service * members[i].Service * rapid.Float64Range(1, 20).Draw(t, "relative second moment")
				}
				workloads = append(workloads, members[i])
			}
			return members
		}
		root := &fairshare.Group{Children: draw(2)}
		total, busy := 0.0, rapid.Float64Range(0.01, 0.99).Draw(t, "busy")
		for _, w := range workloads {
			total += w.Utilization
		}
		for _, w := range workloads {
			if total > 0 {
				w.Utilization = w.Utilization / total * busy * float64(servers)
			}
		}
		tree, err := fairshare.New(root)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	})
}

func TestMethodsAgreeOnTrees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mixed   bool
		servers int
	}{"equal service times": {false, 1}, "any service times": {true, 1}, "processors": {false, 5}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(r *rapid.T) {
				tree := drawTree(c.mixed, c.servers).Draw(r, "tree")
				options := fairshare.Options{Servers: c.servers}
				want := solve(t, tree, options)
				if want.Residual > near {
					r.Errorf("residual %g", want.Residual)
				}
				for _, method := range []fairshare.Method{fairshare.Subsets, fairshare.Hierarchical, fairshare.Permutations} {
					if method == fairshare.Permutations && tree.Orders().Exact > 1e5 {
						continue
					}
					options.Method = method
					got := solve(t, tree, options)
					if off := furthest(t, got.Factors, want.Factors); off > near || got.Residual > near {
						r.Errorf("%s is off by %g, residual %g", method, off, got.Residual)
					}
				}
			})
		})
	}
}

// The half widths are those of 95 % confidence intervals, of 1.96 standard deviations.
// Here 5 deviations are allowed: with some hundred means one in twenty thousand choices
// of the seed would fail.
func TestRandomMethodsAreWithinTheirIntervals(t *testing.T) {
	t.Parallel()
	trees := map[string]*fairshare.Tree{
		"Table 2": paper(t, "2").tree, "Table 7": paper(t, "7").tree, "Table 8": paper(t, "8").tree,
		"deep": build(t, deep(20, 0.9)...),
	}
	for name, tree := range trees {
		exact := solve(t, tree, fairshare.Options{})
		for _, method := range []fairshare.Method{fairshare.MonteCarlo, fairshare.AHMC} {
			r := solve(t, tree, fairshare.Options{Method: method, Samples: 20_000, Seed: 1})
			for w, want := range exact.Factors {
				if off := math.Abs(r.Factors[w] - want); off > 5/1.96*r.Errors[w] {
					t.Errorf("%s, %s, workload %d: %v ± %v, exactly %v", name, method, w, r.Factors[w], r.Errors[w], want)
				}
			}
			if method == fairshare.MonteCarlo && r.Residual > 1e-12 {
				t.Errorf("%s: every order keeps the law, so all do; residual %g", name, r.Residual)
			}
		}
	}
}

// Of 200 intervals, of as many seeds, 95 % should hold the exact value: with a binomial
// standard deviation of 1.5 %, 90 % are more than three deviations away.
func TestConfidenceIntervalsHoldWhatTheyPromise(t *testing.T) {
	t.Parallel()
	tree := paper(t, "7").tree
	exact := solve(t, tree, fairshare.Options{})
	for _, method := range []fairshare.Method{fairshare.MonteCarlo, fairshare.AHMC} {
		held := 0
		for seed := range uint64(200) {
			r := solve(t, tree, fairshare.Options{Method: method, Samples: 2000, Seed: seed})
			const w = 7
			if math.Abs(r.Factors[w]-exact.Factors[w]) <= r.Errors[w] {
				held++
			}
		}
		if held < 180 {
			t.Errorf("%s: %d of 200 intervals hold the value", method, held)
		}
	}
}

func TestRandomMethodsStopAtARelativeError(t *testing.T) {
	t.Parallel()
	tree := paper(t, "7").tree
	for _, method := range []fairshare.Method{fairshare.MonteCarlo, fairshare.AHMC} {
		r := solve(t, tree, fairshare.Options{Method: method, RelativeError: 0.01})
		for w, e := range r.Errors {
			if e > 0.01*r.Factors[w] {
				t.Errorf("%s, workload %d: %v ± %v", method, w, r.Factors[w], e)
			}
		}
		loose := solve(t, tree, fairshare.Options{Method: method, RelativeError: 0.05})
		if loose.Evaluations >= r.Evaluations {
			t.Errorf("%s: %d samples for 5 %%, %d for 1 %%", method, loose.Evaluations, r.Evaluations)
		}
	}
}

func TestASeedGivesTheSameResultAgain(t *testing.T) {
	t.Parallel()
	tree := paper(t, "2").tree
	for _, method := range []fairshare.Method{fairshare.MonteCarlo, fairshare.AHMC} {
		options := fairshare.Options{Method: method, Samples: 100, Seed: 7}
		first, again := solve(t, tree, options), solve(t, tree, options)
		options.Seed = 8
		other := solve(t, tree, options)
		if furthest(t, first.Factors, again.Factors) != 0 || furthest(t, first.Factors, other.Factors) == 0 {
			t.Errorf("%s: seed 7 gives %v and %v, seed 8 %v", method, first.Factors, again.Factors, other.Factors)
		}
	}
}
