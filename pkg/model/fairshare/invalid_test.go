package fairshare_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// refused fails the test unless err is a ValueError with this text.
func refused(t *testing.T, name string, err error, want string) {
	t.Helper()
	var value *fairshare.ValueError
	if !errors.As(err, &value) || err.Error() != want {
		t.Errorf("%s: error %q, want %q", name, err, want)
	}
}

func TestInvalidTreesAreRefused(t *testing.T) {
	t.Parallel()
	cyclic := group("a", 1, workload("w", 1, 0.1))
	cyclic.Children = append(cyclic.Children, group("b", 1, cyclic))
	served := func(service, second float64) *fairshare.Group {
		return &fairshare.Group{Name: "w", Share: 1, Utilization: 0.5, Service: service, SecondMoment: second}
	}
	busyGroup := group("g", 1, workload("w", 1, 0.1))
	busyGroup.Utilization = 0.3
	const share = " is not a finite number above 0; leave out what should get nothing"
	for name, c := range map[string]struct {
		members []*fairshare.Group
		want    string
	}{
		"share of zero":          {[]*fairshare.Group{group("g", 1, workload("w", 0, 0.1))}, "g/w: share: 0" + share},
		"negative share":         {[]*fairshare.Group{group("g", -2, workload("w", 1, 0.1))}, "g: share: -2" + share},
		"share that is none":     {[]*fairshare.Group{workload("w", math.NaN(), 0.1)}, "w: share: NaN" + share},
		"infinite share":         {[]*fairshare.Group{workload("w", math.Inf(1), 0.1)}, "w: share: +Inf" + share},
		"share out of range":     {[]*fairshare.Group{workload("w", 1e200, 0.1)}, "w: share: 1e+200 is not between 1e-100 and 1e100; only the ratios of shares matter"},
		"endless variance":       {[]*fairshare.Group{served(1, 1e200)}, "w: secondMoment: 1e+200 is above 1e150 square seconds"},
		"negative utilization":   {[]*fairshare.Group{workload("w", 1, -0.1)}, "w: utilization: -0.1 is not a finite number of at least 0"},
		"no utilization":         {[]*fairshare.Group{workload("w", 1, math.NaN())}, "w: utilization: NaN is not a finite number of at least 0"},
		"infinite utilization":   {[]*fairshare.Group{workload("w", 1, math.Inf(1))}, "w: utilization: +Inf is not a finite number of at least 0"},
		"negative service":       {[]*fairshare.Group{served(-1, 0)}, "w: service: -1 is not a finite number of at least 0"},
		"service of another age": {[]*fairshare.Group{served(1e200, 0)}, "w: service: 1e+200 is not between 1e-50 and 1e50 seconds"},
		"variance below zero":    {[]*fairshare.Group{served(2, 3)}, "w: secondMoment: 3 is below the square of the mean service time, 4"},
		"group with nothing":     {[]*fairshare.Group{workload("w", 1, 0.1), {Name: "g", Share: 1, Children: []*fairshare.Group{}}}, "g: is a group with no workload"},
		"root with nothing":      {nil, "is a group with no workload"},
		"group with utilization": {[]*fairshare.Group{busyGroup}, "g: utilization: 0.3 is that of a group; only workloads have one"},
		"no name":                {[]*fairshare.Group{group("g", 1, workload("", 1, 0.1))}, "g/: name: is empty: what has siblings needs a name"},
		"equal names":            {[]*fairshare.Group{group("g", 1, workload("w", 1, 0.1), workload("w", 2, 0.1))}, "g/w: name: w is the name of two siblings; each needs its own"},
		"cycle":                  {[]*fairshare.Group{cyclic}, "a/b/a: is a cycle: a group is within itself"},
		"nil":                    {[]*fairshare.Group{group("g", 1, nil)}, "g: children: hold a nil"},
	} {
		_, err := fairshare.New(&fairshare.Group{Children: c.members})
		refused(t, name, err, c.want)
	}
	_, err := fairshare.New(nil)
	refused(t, "no root", err, "there is no root")
}

func TestInvalidListsAreRefused(t *testing.T) {
	t.Parallel()
	w := func(name, parent string) fairshare.Member {
		return fairshare.Member{Name: name, Parent: parent, Workload: true, Share: 1, Utilization: 0.1}
	}
	g := func(name, parent string) fairshare.Member {
		return fairshare.Member{Name: name, Parent: parent, Share: 1}
	}
	for name, c := range map[string]struct {
		members []fairshare.Member
		want    string
	}{
		"unknown parent":     {[]fairshare.Member{w("a", "nowhere")}, "a: parent: nowhere names no group"},
		"parent is workload": {[]fairshare.Member{w("a", ""), w("b", "a")}, "b: parent: a is a workload; only groups have members"},
		"cycle":              {[]fairshare.Member{w("w", "c"), g("a", "b"), g("b", "c"), g("c", "a")}, "c: parent: a makes a cycle: c is in a is in b is in c"},
		"own parent":         {[]fairshare.Member{w("w", ""), g("a", "a")}, "a: parent: a makes a cycle: a is in a"},
		"equal names":        {[]fairshare.Member{w("w", ""), g("w", "")}, "w: name: is the name of two members; each needs its own"},
		"no name":            {[]fairshare.Member{g("g", ""), w("", "g")}, "g: name: is empty: a member needs a name"},
		"empty group":        {[]fairshare.Member{w("w", ""), g("g", "")}, "g: is a group with no workload"},
		"nothing":            {nil, "is a group with no workload"},
	} {
		_, err := fairshare.Assemble(c.members)
		refused(t, name, err, c.want)
	}
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	t.Parallel()
	tree := build(t, workload("a", 1, 0.5), workload("b", 1, 0.4))
	for want, o := range map[string]fairshare.Options{
		"method: 99 is unknown":                             {Method: 99},
		"servers: -1 is not between 1 and 4096":             {Servers: -1},
		"tolerance: 1e-15 is not between 1e-13 and 0.0001":  {Tolerance: 1e-15},
		"tolerance: NaN is not between 1e-13 and 0.0001":    {Tolerance: math.NaN()},
		"samples: 1 is not between 2 and 100000000":         {Samples: 1},
		"relativeError: 1 is not at least 0 and below 1":    {RelativeError: 1},
		"relativeError: NaN is not at least 0 and below 1":  {RelativeError: math.NaN()},
		"samples: 200000000 is not between 2 and 100000000": {Samples: 200_000_000},
		"tolerance: 0.001 is not between 1e-13 and 0.0001":  {Tolerance: 0.001},
		"servers: 5000 is not between 1 and 4096":           {Servers: 5000},
		"relativeError: -0.1 is not at least 0 and below 1": {RelativeError: -0.1},
		"tolerance: -1e-08 is not between 1e-13 and 0.0001": {Tolerance: -1e-8},
		"samples: -5 is not between 2 and 100000000":        {Samples: -5},
		"maxEvaluations: -1 is not at least 0":              {MaxEvaluations: -1},
	} {
		_, err := fairshare.Solve(t.Context(), tree, o)
		refused(t, want, err, want)
	}
}

func TestProcessorsThatAreBusyAllTheTimeAreRefused(t *testing.T) {
	t.Parallel()
	for _, method := range fairshare.Methods() {
		for _, rest := range []float64{0.5, 0.7, 0.5 - 1e-14} {
			tree := build(t, workload("a", 1, 0.5), workload("b", 1, rest))
			want := "utilization: " + strconv.FormatFloat(tree.Utilization(), 'g', -1, 64) + " in total is not below 1, the number of processors"
			_, err := fairshare.Solve(t.Context(), tree, fairshare.Options{Method: method})
			refused(t, method.String(), err, want)
			if _, err := fairshare.Solve(t.Context(), tree, fairshare.Options{Method: method, Servers: 2}); err != nil {
				t.Errorf("%s on two processors: %v", method, err)
			}
		}
	}
	_, err := fairshare.Solve(t.Context(), build(t, workload("a", 1, 0.5), workload("b", 3, 0.1)), fairshare.Options{Method: fairshare.Caps})
	refused(t, "caps", err, "a: utilization: 0.5 is not below its cap, 0.25 of 1 processors")
}

func TestWhatSeveralProcessorsCannotSolveExactlyIsRefused(t *testing.T) {
	t.Parallel()
	a, b := workload("a", 1, 0.5), workload("b", 1, 0.4)
	b.Service = 2
	_, err := fairshare.Solve(t.Context(), build(t, a, b), fairshare.Options{Servers: 2})
	refused(t, "other mean", err, "b: service: 2 is not 1, as that of a; with several processors only equal, exponential service times have an exact solution")
	b.Service, b.SecondMoment = 1, 1
	_, err = fairshare.Solve(t.Context(), build(t, a, b), fairshare.Options{Servers: 2})
	refused(t, "constant", err, "b: secondMoment: 1 is not twice the square of the mean; with several processors only equal, exponential service times have an exact solution")
	_, err = fairshare.Solve(t.Context(), build(t, a, b), fairshare.Options{Method: fairshare.Caps, Servers: 4})
	if err == nil || !strings.Contains(err.Error(), "with a cap of 2 processors only exponential") {
		t.Errorf("caps: %v", err)
	}
}

func TestHopelessMethodsAreRefusedBeforehand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method fairshare.Method
		n      int
		want   string
	}{
		{fairshare.Permutations, 13, "permutations: too costly: 6.2e+09 orders of priority, more than 1e+09; use race"},
		{fairshare.Hierarchical, 13, "hierarchical: too costly: 6.2e+09 orders of priority, more than 1e+09; use race"},
		{fairshare.Subsets, 25, "subsets: too costly: a group of 25, more than 24; use race"},
		{fairshare.Permutations, 500, "permutations: too costly: +Inf orders of priority, more than 1e+09; use race"},
	} {
		_, err := fairshare.Solve(t.Context(), build(t, inverseSquares(c.n, 0.9)...), fairshare.Options{Method: c.method})
		if !errors.Is(err, fairshare.ErrTooCostly) || err.Error() != c.want {
			t.Errorf("%v", err)
		}
	}
	_, err := fairshare.Solve(t.Context(), build(t, inverseSquares(30_000, 0.9)...), fairshare.Options{Method: fairshare.AHMC})
	if want := "ahmc: too costly: 5000 orders of 9e+08 steps each, more than 1e+12 together; use race"; !errors.Is(err, fairshare.ErrTooCostly) || err.Error() != want {
		t.Errorf("%v", err)
	}
	_, err = fairshare.Solve(t.Context(), build(t, deep(40, 0.9)...), fairshare.Options{Method: fairshare.Subsets})
	if !errors.Is(err, fairshare.ErrTooCostly) {
		t.Errorf("a deep tree: %v", err)
	}
}

// An answer takes as many evaluations as it says: one fewer is not enough, and is refused
// before they are made.
func TestRaceIsRefusedWhenItTakesMoreEvaluationsThanItMay(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 4} {
		tree := build(t, inverseSquares(40, 0.9)...)
		free, err := fairshare.Solve(t.Context(), tree, fairshare.Options{Servers: servers})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fairshare.Solve(t.Context(), tree, fairshare.Options{Servers: servers, MaxEvaluations: free.Evaluations}); err != nil {
			t.Errorf("%d servers, as many evaluations as it takes: %v", servers, err)
		}
		_, err = fairshare.Solve(t.Context(), tree, fairshare.Options{Servers: servers, MaxEvaluations: free.Evaluations - 1})
		if !errors.Is(err, fairshare.ErrTooCostly) {
			t.Errorf("%d servers, one evaluation fewer: %v", servers, err)
		}
	}
}

func TestAPrecisionThatIsNotReachedIsAnError(t *testing.T) {
	t.Parallel()
	_, err := fairshare.Solve(t.Context(), paper(t, "2").tree, fairshare.Options{Method: fairshare.MonteCarlo, RelativeError: 1e-4, Samples: 3000})
	if !errors.Is(err, fairshare.ErrNotReached) {
		t.Errorf("%v", err)
	}
}

func TestSolveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tree := paper(t, "2").tree
	for _, method := range fairshare.Methods() {
		if _, err := fairshare.Solve(ctx, tree, fairshare.Options{Method: method}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestPathsThatNameNothingAreRefused(t *testing.T) {
	t.Parallel()
	tree := build(t, group("g", 1, workload("a", 1, 0.1), workload("b", 1, 0.1)), workload("c", 1, 0.1))
	one := 1.0
	const nothing = "nowhere: names no group and no workload of the tree"
	_, err := tree.With(fairshare.Change{Path: "nowhere", Share: &one})
	refused(t, "with", err, nothing)
	_, err = tree.With(fairshare.Change{Path: "g/x", Share: &one})
	refused(t, "with", err, "g/x: names nothing: there is a g, with no such member")
	_, err = tree.With(fairshare.Change{Share: &one})
	refused(t, "with", err, "share: 1 is that of the root, which has no siblings")
	_, err = tree.Aggregate("all", "g/a", "nowhere")
	refused(t, "aggregate", err, nothing)
	_, err = tree.Aggregate("all", "g/a", "c")
	refused(t, "aggregate", err, "c: is no sibling of g/a, so they cannot be aggregated")
	_, err = tree.Aggregate("all", "g/a", "g/a")
	refused(t, "aggregate", err, "g/a: is to be aggregated twice")
	_, err = tree.Aggregate("all", "")
	refused(t, "aggregate", err, "is the root, which cannot be aggregated")
	_, err = tree.Aggregate("all")
	refused(t, "aggregate", err, "all: aggregates nothing: give the paths of siblings")
	_, err = fairshare.MethodNamed("magic")
	refused(t, "method", err, "method: magic is none of [race subsets hierarchical permutations monte-carlo ahmc caps]")
}
