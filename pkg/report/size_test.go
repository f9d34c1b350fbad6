package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/pools"
)

// checkoutAndSearch is case 2 of table 2 of Hu et al., CASCON 2009.
func checkoutAndSearch() *pools.Answer {
	input := func(class string, rate float64) pools.ClassInput {
		return pools.ClassInput{Class: class, Arrival: &pools.InputValue{Value: rate}, Service: &pools.InputValue{Value: 1}, SCV: 1}
	}
	return &pools.Answer{
		Discipline: "fcfs", Strategy: "dedicated", Servers: 8, Cost: 8,
		Inputs: []pools.ClassInput{input("checkout", 0.6), input("search", 3.6)},
		Pools: []pools.PoolAnswer{
			{
				Name: "checkout", Servers: 4, Cost: 4, Utilization: 0.15, Binding: "checkout", MaxArrivalFactor: new(1.32), MinServiceFactor: new(0.999),
				Classes: []pools.Class{{Name: "checkout", WithinSeconds: 3, Probability: 0.95, Attained: 0.95014, WithOneFewer: new(0.94934), WithOneMore: new(0.9502), MaxArrival: new(0.796)}},
			},
			{
				Name: "search", Servers: 4, Cost: 4, Utilization: 0.9, MaxArrivalFactor: new(1.0088), MinServiceFactor: new(0.992),
				Classes: []pools.Class{{Name: "search", WithinSeconds: 5, Probability: 0.8, Attained: 0.8244, WithOneMore: new(0.9872), MaxArrival: new(3.6317)}},
			},
		},
		Alternatives: []pools.Alternative{{Strategy: "shared", Servers: 10, Cost: 10, Pools: []pools.AlternativePool{
			{Name: "shared", Classes: []string{"checkout", "search"}, Servers: 10, Binding: "checkout"},
		}}},
	}
}

func TestTheSummaryOfASizingComparesWithEachAlternative(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*pools.Answer)
		want   string
	}{
		"fewer":                 {func(*pools.Answer) {}, "Dedicated pools, 8 servers: 2 fewer than shared."},
		"one fewer":             {func(a *pools.Answer) { a.Alternatives[0].Servers, a.Alternatives[0].Cost = 9, 9 }, "Dedicated pools, 8 servers: one fewer than shared."},
		"as many":               {func(a *pools.Answer) { a.Alternatives[0].Servers, a.Alternatives[0].Cost = 8, 8 }, "Dedicated pools, 8 servers: as many as shared."},
		"one more":              {func(a *pools.Answer) { a.Alternatives[0].Servers, a.Alternatives[0].Cost = 7, 7 }, "Dedicated pools, 8 servers: one more than shared."},
		"costs of their own":    {func(a *pools.Answer) { a.Cost = 9.5; a.Alternatives[0].Cost = 12 }, "Dedicated pools, 8 servers that cost 9.50: 2.50 less than shared."},
		"dearer":                {func(a *pools.Answer) { a.Cost = 16; a.Alternatives[0].Cost = 10 }, "Dedicated pools, 8 servers that cost 16: 6 more than shared."},
		"the same cost":         {func(a *pools.Answer) { a.Cost = 16; a.Alternatives[0].Cost = 16 + 1e-12 }, "Dedicated pools, 8 servers that cost 16: as much as shared."},
		"the pools of the plan": {func(a *pools.Answer) { a.Given = true }, "The plan's pools, 8 servers: 2 fewer than shared."},
		"a partition": {func(a *pools.Answer) {
			a.Strategy = "partitioned"
			a.Alternatives = append(a.Alternatives, pools.Alternative{Strategy: "dedicated", Servers: 12, Cost: 12})
		}, "2 pools, 8 servers: 2 fewer than shared, 4 fewer than dedicated."},
		"one better than the pools of the plan": {func(a *pools.Answer) {
			a.Given = true
			a.Alternatives = []pools.Alternative{{Strategy: "partitioned", Servers: 7, Cost: 7}}
		}, "The plan's pools, 8 servers: one more than the best partition."},
		"one class": {func(a *pools.Answer) {
			a.Strategy, a.Servers, a.Cost, a.Pools, a.Alternatives = "shared", 1, 1, a.Pools[:1], nil
		}, "One pool, 1 server."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := checkoutAndSearch()
			c.change(a)
			if got := SizeSummary(a); got != c.want {
				t.Errorf("the summary is %q, want %q", got, c.want)
			}
		})
	}
}

func TestATableOfPoolsHasReplicasIfThePlanHasPools(t *testing.T) {
	t.Parallel()
	a := checkoutAndSearch()
	a.Given = true
	a.Pools[0].Bounds, a.Pools[1].Bounds = &pools.Bounds{Replicas: 2}, &pools.Bounds{Replicas: 4}
	const want = `POOL       CLASSES    SERVERS   SLA                 ATTAINED   WITH ONE FEWER   REPLICAS
checkout   checkout         4   95.0% within 3.0s      95.0%            94.9%          2
search     search           4   80.0% within 5.0s      82.4%       overloaded          4
shared     both            10   checkout is the one that needs them
`
	if diff := cmp.Diff(want, printed(t, SizeTable(a, false))); diff != "" {
		t.Error(diff)
	}
}

func TestAWideTableOfPoolsSaysHowFarTheServersAreEnough(t *testing.T) {
	t.Parallel()
	a := checkoutAndSearch()
	a.Pools[1].Classes[0].MaxArrival = nil
	const want = `POOL       CLASSES    SERVERS   SLA                 ATTAINED   WITH ONE FEWER   WITH ONE MORE    BUSY     RATE   ENOUGH UP TO   SERVICE
checkout   checkout         4   95.0% within 3.0s      95.0%            94.9%           95.0%   15.0%   0.60/s         0.79/s      1.0s
search     search           4   80.0% within 5.0s      82.4%       overloaded           98.7%   90.0%   3.60/s              -      1.0s
shared     both            10   checkout is the one that needs them
`
	if diff := cmp.Diff(want, printed(t, SizeTable(a, true))); diff != "" {
		t.Error(diff)
	}
}

func TestAlternativesListTheirPools(t *testing.T) {
	t.Parallel()
	a := checkoutAndSearch()
	var eight []pools.AlternativePool
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		eight = append(eight, pools.AlternativePool{Name: name, Classes: []string{name}, Servers: 2})
	}
	a.Inputs = make([]pools.ClassInput, 8)
	a.Pools, a.Alternatives = nil, []pools.Alternative{
		{Strategy: "partitioned", Servers: 15, Pools: []pools.AlternativePool{{Classes: []string{"a", "b"}, Servers: 3}, {Classes: []string{"c"}, Servers: 12}}},
		{Strategy: "dedicated", Servers: 16, Pools: eight},
		{Strategy: "shared", Servers: 17, Pools: []pools.AlternativePool{{Servers: 17}}},
	}
	const want = `POOL          CLASSES   SERVERS   SLA   ATTAINED   WITH ONE FEWER
partitioned   2 pools        15   a+b 3, c 12
dedicated     each           16   a 2, b 2, c 2, d 2, e 2, f 2, and 2 more
shared        all            17   the arrivals of all need them
`
	if diff := cmp.Diff(want, printed(t, SizeTable(a, false))); diff != "" {
		t.Error(diff)
	}
}

func TestTheNotesOfASizingSayHowFarItHolds(t *testing.T) {
	t.Parallel()
	const (
		each = "The answer holds while search stays under 3.631 requests/s (now 3.600) and checkout under 0.79 (now 0.60)."
		all  = "All rates may rise by 0.8%, or all services may take 0.1% longer, before a server is missing."
	)
	for name, c := range map[string]struct {
		change func(*pools.Answer)
		want   []string
	}{
		"as it is": {func(*pools.Answer) {}, []string{each, all}},
		"in one pool": {func(a *pools.Answer) {
			a.Pools[1].Classes = append(a.Pools[0].Classes, a.Pools[1].Classes...)
			a.Pools = a.Pools[1:]
		}, []string{strings.TrimSuffix(each, ".") + ", if only one of them changes.", "All rates may rise by 0.8%, or all services may take 0.8% longer, before a server is missing."}},
		"no arrivals": {func(a *pools.Answer) {
			for i := range a.Pools {
				a.Pools[i].Classes[0].MaxArrival, a.Pools[i].MaxArrivalFactor = nil, nil
			}
		}, []string{"All services may take 0.1% longer, before a server is missing."}},
		"hardly any room": {func(a *pools.Answer) {
			a.Pools[0].MaxArrivalFactor, a.Pools[1].MinServiceFactor = new(1+1e-9), new(0.99999)
		}, []string{
			each, "All rates may rise by less than 0.0001%, or all services may take 0.001% longer, before a server is missing.",
		}},
		"simulated": {func(a *pools.Answer) {
			a.Discipline, a.Pools[0].Classes[0].HalfWidth = "pdp", new(0.01)
		}, []string{each, "All rates may rise by less than 1%, or all services may take less than 1% longer, before a server is missing.", "Simulated; ± is the 99.0% confidence interval."}},
		"undecided": {func(a *pools.Answer) {
			a.Pools[0].Classes[0].HalfWidth, a.Pools[0].Undecided = new(0.01), true
		}, []string{each, all, "Simulated; ± is the 99.0% confidence interval. One server fewer may do for checkout: it takes a longer simulation to tell."}},
		"approximated": {func(a *pools.Answer) {
			a.Pools[0].Error, a.Pools[0].FewerMayDo, a.Pools[1].Error = 0.0263, true, 0.01
			a.Alternatives[0].Pools[0].Error, a.Alternatives[0].Pools[0].MoreMayBeNeeded = 0.05, true
		}, []string{each, all, "Approximated, with the error in brackets: checkout may do with one server fewer (± 2.6%), shared may need one server more (± 5.0%)."}},
		"searched":     {func(a *pools.Answer) { a.Gap = 0.02 }, []string{each, all, "There are too many partitions to try all: the best may cost up to 2.0% less."}},
		"not computed": {func(a *pools.Answer) { a.Pools = nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := checkoutAndSearch()
			c.change(a)
			want := c.want
			if len(a.Pools) > 0 {
				want = append(want, "Jobs are taken to arrive at random (Poisson); where they come in bursts, it takes more servers.")
			}
			if got := SizeNotes(a); !slices.Equal(got, want) {
				t.Errorf("the notes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
