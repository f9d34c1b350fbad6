package fairshare_test

import (
	"bufio"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
	"loadline.dev/loadline/pkg/model/queueing"
)

// build returns the tree below a root with the given members.
func build(t testing.TB, members ...*fairshare.Group) *fairshare.Tree {
	t.Helper()
	tree, err := fairshare.New(&fairshare.Group{Children: members})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// workload and group return members of a tree.
func workload(name string, share, utilization float64) *fairshare.Group {
	return &fairshare.Group{Name: name, Share: share, Utilization: utilization}
}

func group(name string, share float64, members ...*fairshare.Group) *fairshare.Group {
	return &fairshare.Group{Name: name, Share: share, Children: members}
}

// meanResponse returns the mean time from arrival to completion in a queue with a
// service rate of 1.
func meanResponse(q queueing.MMm) float64 {
	return 1 + q.WaitProbability()/(float64(q.Servers())-q.Load())
}

// solve solves a tree.
func solve(t testing.TB, tree *fairshare.Tree, options fairshare.Options) *fairshare.Result {
	t.Helper()
	r, err := fairshare.Solve(t.Context(), tree, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// random returns n random workloads, with shares over so many powers of ten, that keep
// processors busy by total.
func random(r *rand.Rand, n int, decades, total float64) []*fairshare.Group {
	members, sum := make([]*fairshare.Group, n), 0.0
	for i := range members {
		members[i] = workload("w"+strconv.Itoa(i), math.Pow(10, decades*r.Float64()), r.ExpFloat64())
		sum += members[i].Utilization
	}
	for _, m := range members {
		m.Utilization *= total / sum
	}
	return members
}

// furthest returns the largest relative difference between two lists.
func furthest(t testing.TB, got, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, want %d", len(got), len(want))
	}
	off := 0.0
	for i := range got {
		if math.IsNaN(got[i]) {
			t.Fatalf("value %d is not a number", i)
		}
		off = max(off, math.Abs(got[i]-want[i])/math.Abs(want[i]))
	}
	return off
}

// inverseSquares returns n workloads with equal shares and utilizations in proportion to
// 1/k² that add up to total, as in Section 2 of the paper.
func inverseSquares(n int, total float64) []*fairshare.Group {
	sum := 0.0
	for k := 1; k <= n; k++ {
		sum += 1 / float64(k*k)
	}
	members := make([]*fairshare.Group, n)
	for i := range members {
		k := float64(i + 1)
		members[i] = workload(strconv.Itoa(i+1), 1, total/(k*k*sum))
	}
	return members
}

// printed is a tree of the paper and the response times that it prints.
type printed struct {
	tree      *fairshare.Tree
	responses []string
}

// paper reads a table of the paper.
func paper(t testing.TB, table string) printed {
	t.Helper()
	f, err := os.Open("../../../test/testdata/fairshare/fair-share.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(bufio.NewReader(f)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var p printed
	var members []*fairshare.Group
	groups := map[string]*fairshare.Group{}
	for _, row := range rows[1:] {
		if row[0] != table {
			continue
		}
		p.responses = append(p.responses, row[6])
		w := workload(row[3], number(row[4]), number(row[5]))
		if row[1] == "" {
			members = append(members, w)
			continue
		}
		g := groups[row[1]]
		if g == nil {
			g = group(row[1], number(row[2]))
			groups[row[1]], members = g, append(members, g)
		}
		g.Children = append(g.Children, w)
	}
	p.tree = build(t, members...)
	return p
}
