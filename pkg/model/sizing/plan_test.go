package sizing_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/sizing"
)

// cheapest tries every partition, one class at a time.
func cheapest(t *testing.T, classes []sizing.Class, o sizing.Options) float64 {
	least := math.Inf(1)
	var place func(k int, groups [][]sizing.Class)
	place = func(k int, groups [][]sizing.Class) {
		if k == len(classes) {
			cost := 0.0
			for _, g := range groups {
				pool, err := sizing.Fewest(t.Context(), g, o)
				if errors.Is(err, sizing.ErrDifferentRates) {
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				cost += pool.Cost
			}
			least = min(least, cost)
			return
		}
		for i, g := range groups {
			groups[i] = append(g, classes[k])
			place(k+1, groups)
			groups[i] = g
		}
		place(k+1, append(slices.Clip(groups), []sizing.Class{classes[k]}))
	}
	place(0, nil)
	return least
}

func TestBestIsTheCheapestPartition(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 1))
	for _, d := range []sizing.Discipline{sizing.FCFS, sizing.HOL} {
		for n := range 40 {
			classes := draw(r, 1+r.IntN(5))
			for k := range classes {
				if n%2 == 1 {
					classes[k].Cost = float64(1 + r.IntN(3))
				}
				if n%4 == 3 && k%2 == 1 { // twice as fast, with SLAs to match
					classes[k].Service, classes[k].Arrival, classes[k].SLA.Within = 2, 2*classes[k].Arrival, classes[k].SLA.Within/2
				}
			}
			o := sizing.Options{Discipline: d}
			plan := best(t, classes, o)
			if want := cheapest(t, classes, o); math.Abs(plan.Cost-want) > 1e-9*want || plan.Gap != 0 {
				t.Fatalf("%v %+v: the plan costs %v, the cheapest partition %v: %+v", d, classes, plan.Cost, want, plan)
			}
			if o.MaxExactClasses = 1; len(classes) > 1 {
				found := best(t, classes, o)
				if found.Cost < plan.Cost-1e-9 || found.LowerBound > plan.Cost+1e-9 || found.Cost*(1-found.Gap) > plan.Cost+1e-9 {
					t.Fatalf("%v %+v: the search finds %v, at least %v; the best is %v", d, classes, found.Cost, found.LowerBound, plan.Cost)
				}
			}
		}
	}
}

func TestThePlanServesEveryClassOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 2))
	for _, n := range []int{1, 3, 10, 12, 30} {
		classes := draw(r, n)
		plan := best(t, classes, sizing.Options{})
		seen := make([]int, n)
		servers, cost := 0, 0.0
		for _, pool := range plan.Pools {
			for i, k := range pool.Classes {
				seen[k]++
				if pool.Attained[i] < classes[k].SLA.Probability {
					t.Errorf("class %d attains %v", k, pool.Attained[i])
				}
			}
			servers += pool.Servers
			cost += pool.Cost
		}
		for k, count := range seen {
			if count != 1 {
				t.Errorf("class %d is in %d pools", k, count)
			}
		}
		if servers != plan.Servers || cost != plan.Cost || (n <= 12 && plan.Gap != 0) || plan.Gap < 0 || plan.Gap > 0.25 {
			t.Errorf("%d classes: %d servers, cost %v; the plan says %+v", n, servers, cost, plan)
		}
		t.Logf("%d classes: %v with %d pools and %d servers, at least %v", n, plan.Strategy, len(plan.Pools), plan.Servers, plan.LowerBound)
	}
}

// How far the search is from the best of up to 10 classes.
func TestTheSearchIsNearTheBest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 3))
	missed, most := 0, 0.0
	for range 60 {
		classes := draw(r, 6+r.IntN(5))
		exact := best(t, classes, sizing.Options{})
		found := best(t, classes, sizing.Options{MaxExactClasses: 1})
		if found.Cost > exact.Cost {
			missed++
			most = max(most, found.Cost-exact.Cost)
		}
		if found.LowerBound > exact.Cost {
			t.Fatalf("%+v: %v is no lower bound of %v", classes, found.LowerBound, exact.Cost)
		}
	}
	if t.Logf("the search misses the best in %d of 60, by %v at most", missed, most); missed > 6 || most > 1 {
		t.Errorf("the search misses the best in %d of 60, by %v", missed, most)
	}
}

func TestSharedAndDedicatedAreTheStrategiesOfThePaper(t *testing.T) {
	for _, test := range []struct {
		name              string
		classes           []sizing.Class
		dedicated, shared int
		best              sizing.Strategy
	}{
		{"case 1", []sizing.Class{class(0.6, 3, 0.8), class(3, 5, 0.95)}, 6, 5, sizing.SharedPool},
		{"case 2", []sizing.Class{class(0.6, 3, 0.95), class(3.6, 5, 0.8)}, 8, 10, sizing.DedicatedPools},
	} {
		dedicated, err := sizing.Dedicated(t.Context(), test.classes, sizing.Options{})
		if err != nil || dedicated.Servers != test.dedicated || dedicated.Strategy != sizing.DedicatedPools {
			t.Errorf("%s: dedicated %+v, %v", test.name, dedicated, err)
		}
		shared, err := sizing.Shared(t.Context(), test.classes, sizing.Options{})
		if err != nil || shared.Servers != test.shared || shared.Strategy != sizing.SharedPool {
			t.Errorf("%s: shared %+v, %v", test.name, shared, err)
		}
		if plan := best(t, test.classes, sizing.Options{}); plan.Strategy != test.best {
			t.Errorf("%s: the best is %v", test.name, plan.Strategy)
		}
	}
}

// A dear server is worth its price for its own class only.
func TestASharedServerCostsWhatItsDearestClassAsksFor(t *testing.T) {
	cheap, dear := class(8, 3, 0.9), class(0.5, 3, 0.9)
	cheap.Cost, dear.Cost = 0.1, 5
	shared, err := sizing.Shared(t.Context(), []sizing.Class{cheap, dear}, sizing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if shared.Cost != 5*float64(shared.Servers) {
		t.Errorf("%d servers cost %v", shared.Servers, shared.Cost)
	}
	if plan := best(t, []sizing.Class{cheap, dear}, sizing.Options{}); plan.Strategy != sizing.DedicatedPools {
		t.Errorf("%+v", plan)
	}
}

func TestEqualCostGoesToFewerPools(t *testing.T) {
	plan := best(t, []sizing.Class{class(0, 3, 0.9), class(0, 4, 0.8), class(1, 4, 0.8)}, sizing.Options{})
	if plan.Strategy != sizing.SharedPool {
		t.Errorf("%+v", plan)
	}
}

// The servers to spare of the smallest pool that meets an SLA, at its largest such load, grow with
// the pool: the basis of the lower bound.
func TestLargerPoolsHaveMoreToSpare(t *testing.T) {
	for _, sla := range []sizing.SLA{{Within: 2, Probability: 0.8}, {Within: 3, Probability: 0.94}, {Within: 0.5, Probability: 0.3}, {Within: 8, Probability: 0.99}} {
		before := 0.0
		for m := 1; m <= 200; m++ {
			low, high := 0.0, float64(m)
			for range 50 {
				load := (low + high) / 2
				attained, err := sizing.Attain(t.Context(), []sizing.Class{class(load, sla.Within, sla.Probability)}, m, nil, sizing.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if attained[0] >= sla.Probability {
					low = load
				} else {
					high = load
				}
			}
			if spare := float64(m) - low; spare < before-1e-9 {
				t.Fatalf("%v: %d servers have %v to spare, one fewer %v", sla, m, spare, before)
			} else {
				before = spare
			}
		}
	}
}
