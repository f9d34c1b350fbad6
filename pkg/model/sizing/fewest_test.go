package sizing_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/model/sizing"
)

// What m servers attain is asked of the queue itself.
func TestTheMinimumIsTheMinimum(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 1))
	for n := 0; n < 10_000; {
		c := sizing.Class{Service: math.Exp(6 * (r.Float64() - 0.5))}
		c.Arrival = c.Service * math.Exp(12*r.Float64()-4)
		c.SLA = sizing.SLA{Within: (0.05 + 8*r.Float64()) / c.Service, Probability: r.Float64()}
		pool, err := sizing.Fewest(t.Context(), []sizing.Class{c}, sizing.Options{})
		if bound := -math.Expm1(-c.Service * c.SLA.Within); c.SLA.Probability >= bound {
			var infeasible *sizing.InfeasibleError
			if !errors.As(err, &infeasible) || infeasible.Bound != bound {
				t.Fatalf("%+v: %v; an idle server attains %v", c, err, bound)
			}
			continue
		}
		n++
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		attains := func(servers int) float64 {
			q, err := queueing.NewMMm(c.Arrival, c.Service, servers)
			if err != nil {
				return 0 // it cannot keep up
			}
			return q.ResponseWithin(c.SLA.Within)
		}
		if !(attains(pool.Servers) >= c.SLA.Probability) || attains(pool.Servers-1) >= c.SLA.Probability {
			t.Fatalf("%+v: %d servers attain %v, one fewer %v", c, pool.Servers, attains(pool.Servers), attains(pool.Servers-1))
		}
		if len(pool.WithFewer) > 0 && math.Abs(pool.WithFewer[0]-attains(pool.Servers-1)) > 1e-12 || math.Abs(pool.WithMore[0]-attains(pool.Servers+1)) > 1e-12 {
			t.Fatalf("%+v: one fewer attains %v, not %v, one more %v, not %v", c, attains(pool.Servers-1), pool.WithFewer, attains(pool.Servers+1), pool.WithMore)
		}
	}
}

func TestThePoolOfSeveralClassesIsTheMinimum(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 2))
	for _, d := range []sizing.Discipline{sizing.FCFS, sizing.HOL} {
		for range 300 {
			classes := draw(r, 1+r.IntN(5))
			o := sizing.Options{Discipline: d}
			pool := fewest(t, classes, o)
			attained, err := sizing.Attain(t.Context(), classes, pool.Servers, pool.Order, o)
			if err != nil {
				t.Fatal(err)
			}
			for k, c := range classes {
				if math.Abs(attained[k]-pool.Attained[k]) > 1e-9 || attained[k] < c.SLA.Probability-1e-9 {
					t.Fatalf("%v %+v: class %d attains %v, the pool says %v", d, classes, k, attained[k], pool.Attained[k])
				}
			}
			if float64(pool.Servers-1) <= pool.Load {
				if pool.WithFewer != nil || pool.Binding != -1 {
					t.Fatalf("%v: one fewer than %d servers cannot keep up with %v, but attains %v", d, pool.Servers, pool.Load, pool.WithFewer)
				}
				continue
			}
			if k := pool.Binding; k < 0 || pool.WithFewer[k] >= classes[k].SLA.Probability {
				t.Fatalf("%v %+v: class %d binds, of %v", d, classes, k, pool.WithFewer)
			}
		}
	}
}

// All orders are tried, and none does with fewer servers.
func TestTheOrderOfPriorityIsTheBest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(6, 3))
	o := sizing.Options{Discipline: sizing.HOL}
	for range 60 {
		classes := draw(r, 2+r.IntN(3))
		pool := fewest(t, classes, o)
		for m := pool.Servers - 1; float64(m) > pool.Load; m-- {
			for order := range permutations(len(classes)) {
				attained, err := sizing.Attain(t.Context(), classes, m, order, o)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(indices(len(classes)), func(k int) bool { return attained[k] < classes[k].SLA.Probability }) {
					t.Fatalf("%+v: %d servers with order %v attain %v, but %d are said to be fewest", classes, m, order, attained, pool.Servers)
				}
			}
		}
	}
}

func indices(n int) []int {
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	return all
}

func permutations(n int) func(yield func([]int) bool) {
	return func(yield func([]int) bool) {
		order := indices(n)
		var place func(k int) bool
		place = func(k int) bool {
			if k == n {
				return yield(slices.Clone(order))
			}
			for i := k; i < n; i++ {
				order[k], order[i] = order[i], order[k]
				if !place(k + 1) {
					return false
				}
				order[k], order[i] = order[i], order[k]
			}
			return true
		}
		place(0)
	}
}

func TestFewestGrowsWithTheLoadAndThePromise(t *testing.T) {
	before := 0
	for tenths := range 400 {
		m := fewest(t, []sizing.Class{class(float64(tenths)/10, 3, 0.9)}, sizing.Options{}).Servers
		if m < before {
			t.Fatalf("%d servers at a rate of %v, %d before", m, float64(tenths)/10, before)
		}
		if stricter := fewest(t, []sizing.Class{class(float64(tenths)/10, 3, 0.94)}, sizing.Options{}).Servers; stricter < m {
			t.Fatalf("%d servers for 94%%, %d for 90%%", stricter, m)
		}
		before = m
	}
}

func TestOneServerIsEnoughForFewJobs(t *testing.T) {
	for _, rate := range []float64{0, 0.1} { // Algorithm 1 as printed starts at 2
		for _, d := range []sizing.Discipline{sizing.FCFS, sizing.HOL, sizing.PDP, sizing.LateLast} {
			if pool := fewest(t, []sizing.Class{class(rate, 5, 0.8)}, sizing.Options{Discipline: d}); pool.Servers != 1 {
				t.Errorf("%v: %d servers for %v jobs a second", d, pool.Servers, rate)
			}
		}
	}
}

func TestSLAsNearTheirBoundEnd(t *testing.T) {
	for _, gap := range []float64{1e-3, 1e-9, 1e-15, 1e-16} {
		for _, c := range []sizing.Class{class(900, 3, 0), {Arrival: 9, Service: 1, SCV: 0.5, SLA: sizing.SLA{Within: 3}}, {Arrival: 9, Service: 1, SCV: 3, SLA: sizing.SLA{Within: 3}}} {
			c.SLA.Probability = c.Bound() - gap
			other := c
			other.SLA = sizing.SLA{Within: 9, Probability: 0.5}
			for _, d := range []sizing.Discipline{sizing.FCFS, sizing.HOL} {
				if d == sizing.HOL && c.SCV != 0 {
					continue
				}
				pool, err := sizing.Fewest(t.Context(), []sizing.Class{other, c}, sizing.Options{Discipline: d})
				var infeasible *sizing.InfeasibleError
				if err != nil && !errors.As(err, &infeasible) || err == nil && pool.Servers > 3000 {
					t.Errorf("%v, scv %v, %g below the bound: %d servers, %v", d, c.SCV, gap, pool.Servers, err)
				}
			}
		}
	}
}

func TestServiceThatVariesMoreNeedsMore(t *testing.T) {
	before := 0
	for _, scv := range []float64{sizing.Constant, 0.5, 1, 2} {
		c := class(10, 4, 0.9)
		c.SCV = scv
		pool := fewest(t, []sizing.Class{c}, sizing.Options{})
		if pool.Servers < before {
			t.Errorf("%d servers with scv %v, fewer than before", pool.Servers, scv)
		}
		before = pool.Servers
	}
}

func TestClassesWithDifferentRatesShare(t *testing.T) {
	slow := sizing.Class{Name: "slow", Arrival: 2, Service: 0.5, SLA: sizing.SLA{Within: 6, Probability: 0.9}}
	fast := sizing.Class{Name: "fast", Arrival: 10, Service: 10, SLA: sizing.SLA{Within: 0.5, Probability: 0.9}}
	pool := fewest(t, []sizing.Class{slow, fast}, sizing.Options{})
	if pool.Servers <= 5 || pool.Load != 5 || pool.Attained[0] < 0.9 || pool.Attained[1] < 0.9 {
		t.Errorf("%+v", pool)
	}
	_, err := sizing.Fewest(t.Context(), []sizing.Class{slow, fast}, sizing.Options{Discipline: sizing.HOL})
	if !errors.Is(err, sizing.ErrDifferentRates) || !strings.Contains(err.Error(), `class "fast" has a rate of 10`) {
		t.Errorf("%v", err)
	}
}

// Ten thousand steps are a millisecond.
func TestAMillionJobsASecondTakeLessThanAMillisecond(t *testing.T) {
	c := []sizing.Class{class(1e6, 3, 0.94)}
	if m := fewest(t, c, sizing.Options{Work: sizing.NewWork(10_000)}).Servers; m <= 1_000_000 || m > 1_000_010 {
		t.Fatalf("%d servers", m)
	}
}

// Whatever is asked, no more is computed than may be: the number of pools that are looked
// at grows with the logarithm of the servers, and with the classes.
func TestQuestionsThatTakeMoreThanTheyMayAreRefused(t *testing.T) {
	t.Parallel()
	var many []sizing.Class
	for i := range 64 {
		c := class(1e6, 3, 0.94)
		c.Name, c.Service = strconv.Itoa(i), 1+float64(i)/64
		many = append(many, c)
	}
	for name, ask := range map[string]func(o sizing.Options) error{
		"a pool": func(o sizing.Options) error {
			_, err := sizing.Fewest(t.Context(), many, o)
			return err
		},
		"the best of 64 classes": func(o sizing.Options) error {
			_, err := sizing.Best(t.Context(), many, o)
			return err
		},
		"the best of 12 classes": func(o sizing.Options) error {
			_, err := sizing.Best(t.Context(), many[:12], o)
			return err
		},
		"dedicated pools that are simulated": func(o sizing.Options) error {
			o.Discipline = sizing.LateLast
			_, err := sizing.Dedicated(t.Context(), many, o)
			return err
		},
		"sensitivity": func(o sizing.Options) error {
			pool := sizing.Pool{Servers: 64_000_001}
			for k := range many {
				pool.Classes = append(pool.Classes, k)
			}
			_, err := sizing.Sensitive(t.Context(), many, pool, o)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := ask(sizing.Options{Work: sizing.NewWork(1_000_000)}); !errors.Is(err, sizing.ErrTooCostly) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A class alone has no one to let pass, so its service times may vary as they like.
func TestAClassAloneIsServedInOrderOfArrivalByHOL(t *testing.T) {
	varied, constant := class(1, 5, 0.9), class(2, 5, 0.9)
	varied.Name, varied.SCV = "varied", 2
	constant.Name, constant.SCV = "constant", sizing.Constant
	plan, err := sizing.Best(t.Context(), []sizing.Class{varied, constant}, sizing.Options{Discipline: sizing.HOL})
	if err != nil || plan.Strategy != sizing.DedicatedPools {
		t.Fatalf("%+v, error %v", plan, err)
	}
	for i, c := range []sizing.Class{varied, constant} {
		if alone := fewest(t, []sizing.Class{c}, sizing.Options{}); plan.Pools[i].Servers != alone.Servers {
			t.Errorf("%s has %d servers, and needs %d", c.Name, plan.Pools[i].Servers, alone.Servers)
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	change := func(f func(c *sizing.Class)) []sizing.Class {
		c := class(1, 3, 0.9)
		f(&c)
		return []sizing.Class{class(2, 3, 0.9), c}
	}
	for want, classes := range map[string][]sizing.Class{
		"classes: there must be at least one":            nil,
		"classes[1].arrival: -1 is not":                  change(func(c *sizing.Class) { c.Arrival = -1 }),
		"classes[1].arrival: NaN is not":                 change(func(c *sizing.Class) { c.Arrival = math.NaN() }),
		"classes[1].arrival: +Inf is not":                change(func(c *sizing.Class) { c.Arrival = math.Inf(1) }),
		"classes[1].service: 0 is not":                   change(func(c *sizing.Class) { c.Service = 0 }),
		"classes[1].service: NaN is not":                 change(func(c *sizing.Class) { c.Service = math.NaN() }),
		"classes[1].scv: -1 is not":                      change(func(c *sizing.Class) { c.SCV = -1 }),
		"classes[1].sla.within: 0 is not":                change(func(c *sizing.Class) { c.SLA.Within = 0 }),
		"classes[1].sla.within: +Inf is not":             change(func(c *sizing.Class) { c.SLA.Within = math.Inf(1) }),
		"classes[1].sla.probability: 1.2 is not between": change(func(c *sizing.Class) { c.SLA.Probability = 1.2 }),
		"classes[1].sla.probability: 0 is not between":   change(func(c *sizing.Class) { c.SLA.Probability = 0 }),
		"classes[1].sla.probability: 1 is not between":   change(func(c *sizing.Class) { c.SLA.Probability = 1 }),
		"classes[1].cost: -3 is not":                     change(func(c *sizing.Class) { c.Cost = -3 }),
		"classes[1].arrival / service: 1e+300 is more":   change(func(c *sizing.Class) { c.Arrival = 1e300 }),
	} {
		for name, answer := range map[string]func() error{
			"Fewest":    func() error { _, err := sizing.Fewest(t.Context(), classes, sizing.Options{}); return err },
			"Shared":    func() error { _, err := sizing.Shared(t.Context(), classes, sizing.Options{}); return err },
			"Dedicated": func() error { _, err := sizing.Dedicated(t.Context(), classes, sizing.Options{}); return err },
			"Best":      func() error { _, err := sizing.Best(t.Context(), classes, sizing.Options{}); return err },
			"Attain":    func() error { _, err := sizing.Attain(t.Context(), classes, 9, nil, sizing.Options{}); return err },
		} {
			if err := answer(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	for want, o := range map[string]sizing.Options{
		"discipline: Discipline(9)":     {Discipline: 9},
		"maxExactClasses: 40 is not":    {MaxExactClasses: 40},
		"simulation.replications: 3 is": {Simulation: sizing.Simulation{Replications: 3}},
		"simulation.confidence: 2 is":   {Simulation: sizing.Simulation{Confidence: 2}},
		"simulation.jobs: -1 is":        {Simulation: sizing.Simulation{Jobs: -1}},
	} {
		if _, err := sizing.Best(t.Context(), []sizing.Class{class(1, 3, 0.9)}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestInfeasibleSLAsSayWhatIsPossible(t *testing.T) {
	c := sizing.Class{Name: "checkout", Arrival: 1, Service: 10, SLA: sizing.SLA{Within: 0.5, Probability: 0.9999}}
	_, err := sizing.Fewest(t.Context(), []sizing.Class{c}, sizing.Options{})
	want := `class "checkout": 99.99% within 0.5s cannot be met by any number of servers: with a mean service time of 0.1s even an idle server ` +
		`answers only 99.33% in time. Relax the SLA or make the service faster`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestAttainRefusesWhatCannotBe(t *testing.T) {
	classes := []sizing.Class{class(2, 3, 0.9), class(3, 4, 0.9)}
	if _, err := sizing.Attain(t.Context(), classes, 5, nil, sizing.Options{}); !errors.Is(err, queueing.ErrUnstable) {
		t.Errorf("5 servers for a load of 5: %v", err)
	}
	for _, test := range []struct {
		servers int
		order   []int
		d       sizing.Discipline
	}{{0, nil, sizing.FCFS}, {9, []int{0, 1}, sizing.FCFS}, {9, []int{0, 0}, sizing.HOL}, {9, []int{1}, sizing.HOL}, {9, []int{0, 2}, sizing.HOL}} {
		if _, err := sizing.Attain(t.Context(), classes, test.servers, test.order, sizing.Options{Discipline: test.d}); err == nil {
			t.Errorf("%+v is taken", test)
		}
	}
}
