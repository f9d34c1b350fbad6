package fairshare_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// The tree of Figs. 2 and 3 of the paper.
func departments(t testing.TB) *fairshare.Tree {
	return build(t,
		group("web", 0.5, workload("hi", 0.75, 0.2), workload("lo", 0.25, 0.15)),
		group("db", 0.35, workload("hi", 0.75, 0.2), workload("lo", 0.25, 0.2)),
		group("it", 0.15, workload("hi", 0.75, 0.03), workload("lo", 0.25, 0.02)),
	)
}

func TestATreeTellsWhatIsInIt(t *testing.T) {
	t.Parallel()
	tree := departments(t)
	want := fairshare.TreeNode{Path: "db", Name: "db", Depth: 1, Workload: -1, Share: 0.35, Portion: 0.35, Utilization: 0.4}
	if diff := cmp.Diff(want, find(t, tree, "db")); diff != "" {
		t.Error(diff)
	}
	var paths []string
	for node := range tree.Nodes() {
		paths = append(paths, node.Path)
	}
	if diff := cmp.Diff([]string{"", "web", "web/hi", "web/lo", "db", "db/hi", "db/lo", "it", "it/hi", "it/lo"}, paths); diff != "" {
		t.Error(diff)
	}
	portions := 0.0
	for w, leaf := range tree.Workloads() {
		portions += leaf.Portion
		if leaf.Workload != w {
			t.Errorf("%s is %d, not %d", leaf.Path, leaf.Workload, w)
		}
	}
	if math.Abs(portions-1) > 1e-15 || tree.Len() != 6 || math.Abs(tree.Utilization()-0.8) > 1e-15 {
		t.Errorf("portions add up to %v, %d workloads, %v busy", portions, tree.Len(), tree.Utilization())
	}
}

func TestATreeDoesNotChangeWithItsGroups(t *testing.T) {
	t.Parallel()
	w := workload("a", 1, 0.5)
	tree := build(t, w, workload("b", 1, 0.1))
	before := solve(t, tree, fairshare.Options{})
	w.Share, w.Utilization = 100, 2
	if off := furthest(t, solve(t, tree, fairshare.Options{}).Factors, before.Factors); off != 0 {
		t.Errorf("off by %g", off)
	}
}

func TestAListAssemblesToTheSameTree(t *testing.T) {
	t.Parallel()
	tree, err := fairshare.Assemble([]fairshare.Member{
		{Name: "b", Parent: "x", Workload: true, Share: 2, Utilization: 0.1, Service: 2},
		{Name: "c", Workload: true, Share: 1, Utilization: 0.3},
		{Name: "x", Parent: "y", Share: 3},
		{Name: "a", Parent: "x", Workload: true, Share: 1, Utilization: 0.2, Service: 3, SecondMoment: 9},
		{Name: "y", Share: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, a := workload("b", 2, 0.1), workload("a", 1, 0.2)
	a.Service, a.SecondMoment, b.Service = 3, 9, 2
	want := build(t, workload("c", 1, 0.3), group("y", 4, group("x", 3, b, a)))
	if diff := cmp.Diff(slices.Collect(want.Nodes()), slices.Collect(tree.Nodes())); diff != "" {
		t.Error(diff)
	}
	if off := furthest(t, solve(t, tree, fairshare.Options{}).Factors, solve(t, want, fairshare.Options{}).Factors); off != 0 {
		t.Errorf("off by %g", off)
	}
}

func TestWithChangesWhatItSays(t *testing.T) {
	t.Parallel()
	tree := departments(t)
	changed, err := tree.With(
		fairshare.Change{Path: "db", Share: new(0.7)},
		fairshare.Change{Path: "web/lo", Share: new(0.5)},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := build(t,
		group("web", 0.5, workload("hi", 0.75, 0.2), workload("lo", 0.5, 0.15)),
		group("db", 0.7, workload("hi", 0.75, 0.2), workload("lo", 0.25, 0.2)),
		group("it", 0.15, workload("hi", 0.75, 0.03), workload("lo", 0.25, 0.02)),
	)
	if diff := cmp.Diff(slices.Collect(want.Nodes()), slices.Collect(changed.Nodes())); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(slices.Collect(departments(t).Nodes()), slices.Collect(tree.Nodes())); diff != "" {
		t.Errorf("the tree itself changed: %s", diff)
	}
}

// Section 3 of the paper: to aggregate what is beside a group changes nothing in it.
func TestAggregatingCousinsChangesNothing(t *testing.T) {
	t.Parallel()
	tree := departments(t)
	want := solve(t, tree, fairshare.Options{})
	for _, path := range []string{"web", "it"} {
		var err error
		if tree, err = tree.Aggregate(path, path); err != nil {
			t.Fatal(err)
		}
	}
	got := solve(t, tree, fairshare.Options{})
	if off := furthest(t, got.Factors[1:3], want.Factors[2:4]); off > near {
		t.Errorf("off by %g", off)
	}
}

// The jobs of an aggregate bring the residual work of those that it replaces.
func TestAnAggregateKeepsTheConservedWork(t *testing.T) {
	t.Parallel()
	members := random(rand.New(rand.NewPCG(1, 7)), 5, 0, 0.8)
	for i, m := range members {
		m.Service = 0.5 * float64(i+1)
	}
	tree := build(t, members...)
	sum, err := tree.Aggregate("sum", "w1", "w3", "w4")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range sum.Workloads() {
		names = append(names, w.Name)
	}
	if diff := cmp.Diff([]string{"w0", "sum", "w2"}, names); diff != "" {
		t.Error(diff)
	}
	work := func(tree *fairshare.Tree) float64 { // of exponential service times: Σ u·R
		total := 0.0
		r := solve(t, tree, fairshare.Options{})
		for w, leaf := range tree.Workloads() {
			total += leaf.Utilization * r.Responses[w]
		}
		return total
	}
	// A group of the same three loses nothing, and is for the others what their aggregate is.
	grouped := build(t, members[0], group("sum", members[1].Share+members[3].Share+members[4].Share, members[1], members[3], members[4]), members[2])
	got, want := solve(t, sum, fairshare.Options{}), solve(t, grouped, fairshare.Options{})
	if off := furthest(t, []float64{got.Factors[0], got.Factors[2]}, []float64{want.Factors[0], want.Factors[4]}); off > near {
		t.Errorf("the others are off by %g", off)
	}
	if off := math.Abs(work(tree)/work(grouped) - 1); off > near {
		t.Errorf("the tree and the one with a group differ in work by %g", off)
	}
}

func TestMoreShareMeansShorterResponses(t *testing.T) {
	t.Parallel()
	tree := departments(t)
	slopes := derivatives(t, tree, "db")
	total := 0.0
	for w, leaf := range tree.Workloads() {
		inside := leaf.Path == "db/hi" || leaf.Path == "db/lo"
		if (slopes[w] < 0) != inside {
			t.Errorf("%s: %v", leaf.Path, slopes[w])
		}
		total += leaf.Utilization * slopes[w] // what is conserved does not change
	}
	if math.Abs(total) > 1e-9 {
		t.Errorf("the mean changes by %g", total)
	}
}

// The closed form of two workloads: d/ds of p = s/(s + 1) is 1/(s + 1)².
func TestTheDerivativeByAShareIsTheClosedForm(t *testing.T) {
	t.Parallel()
	const u, v, share = 0.5, 0.3, 4.0
	slopes := derivatives(t, build(t, workload("a", share, u), workload("b", 1, v)), "a")
	first, second := 1/(1-u), 1/((1-v)*(1-u-v))
	want := (first - second) / ((share + 1) * (share + 1))
	if math.Abs(slopes[0]/want-1) > 1e-8 {
		t.Errorf("%v, want %v", slopes[0], want)
	}
}

// derivatives returns the derivative of the response time of each workload, relative to its service time, by the share
// of a group or workload: central differences of fourth order by the relative change of the share, which are good to about
// eight digits of the largest entry.
func derivatives(t *testing.T, tree *fairshare.Tree, path string) []float64 {
	t.Helper()
	const step = 1e-3
	from := find(t, tree, path).Share
	slopes := make([]float64, tree.Len())
	for _, d := range []struct{ steps, weight float64 }{{-2, 1.0 / 12}, {-1, -8.0 / 12}, {1, 8.0 / 12}, {2, -1.0 / 12}} {
		share := from * (1 + step*d.steps)
		changed, err := tree.With(fairshare.Change{Path: path, Share: &share})
		if err != nil {
			t.Fatal(err)
		}
		for w, f := range solve(t, changed, fairshare.Options{Tolerance: 1e-12}).Factors {
			slopes[w] += d.weight * f / (step * from)
		}
	}
	return slopes
}

// find returns the group or workload of a path.
func find(t *testing.T, tree *fairshare.Tree, path string) fairshare.TreeNode {
	t.Helper()
	for n := range tree.Nodes() {
		if n.Path == path {
			return n
		}
	}
	t.Fatalf("there is no %s", path)
	return fairshare.TreeNode{}
}
