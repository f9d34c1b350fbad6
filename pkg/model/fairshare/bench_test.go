package fairshare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// bench solves a tree again and again, and reports the error that it was told.
func bench(b *testing.B, tree *fairshare.Tree, options fairshare.Options) {
	b.Helper()
	b.ReportAllocs()
	var r *fairshare.Result
	for b.Loop() {
		r = solve(b, tree, options)
	}
	off := 0.0
	for w, e := range r.Errors {
		off = max(off, e/r.Factors[w])
	}
	b.ReportMetric(-math.Log10(off), "digits")
	b.ReportMetric(float64(r.Evaluations), "evaluations")
}

// The trees of Tables 7 and 8, beside Tables 6 and 9.
func BenchmarkPaper(b *testing.B) {
	for table, methods := range map[string][]fairshare.Method{
		"7": {fairshare.Race, fairshare.Subsets, fairshare.Hierarchical, fairshare.MonteCarlo, fairshare.AHMC},
		"8": {fairshare.Race, fairshare.Subsets, fairshare.Hierarchical, fairshare.MonteCarlo, fairshare.AHMC},
	} {
		tree := paper(b, table).tree
		for _, method := range methods {
			b.Run(fmt.Sprintf("table=%s/%s", table, method), func(b *testing.B) {
				bench(b, tree, fairshare.Options{Method: method})
			})
		}
	}
}

// How the race grows with the workloads of one group, with shares over three decades.
func BenchmarkGrowth(b *testing.B) {
	for _, n := range []int{1, 3, 10, 30, 100, 300, 1000, 3000} {
		tree := build(b, random(rand.New(rand.NewPCG(1, 2)), n, 3, 0.9)...)
		b.Run(fmt.Sprintf("workloads=%d", n), func(b *testing.B) {
			bench(b, tree, fairshare.Options{Tolerance: 1e-8})
		})
	}
}

// The table of the paper's Section 1: how the exact methods grow in one group.
func BenchmarkExact(b *testing.B) {
	for _, c := range []struct {
		method fairshare.Method
		sizes  []int
	}{
		{fairshare.Permutations, []int{6, 8, 10}},
		{fairshare.Subsets, []int{10, 15, 20}},
		{fairshare.Race, []int{10, 15, 20}},
	} {
		for _, n := range c.sizes {
			tree := build(b, inverseSquares(n, 0.9)...)
			b.Run(fmt.Sprintf("%s/workloads=%d", c.method, n), func(b *testing.B) {
				bench(b, tree, fairshare.Options{Method: c.method})
			})
		}
	}
}

// What the extensions cost: different service times, several processors, depth.
func BenchmarkRace(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 3))
	mixed := random(r, 100, 2, 0.9)
	for _, m := range mixed {
		m.Service = 0.1 + r.ExpFloat64()
	}
	b.Run("service-times/workloads=100", func(b *testing.B) {
		bench(b, build(b, mixed...), fairshare.Options{})
	})
	for _, servers := range []int{2, 16, 64} {
		tree := build(b, random(r, 100, 2, 0.9*float64(servers))...)
		b.Run(fmt.Sprintf("servers=%d/workloads=100", servers), func(b *testing.B) {
			bench(b, tree, fairshare.Options{Servers: servers})
		})
	}
	tree := build(b, deep(20, 0.9)...)
	b.Run(fmt.Sprintf("depth=20/workloads=%d", tree.Len()), func(b *testing.B) {
		bench(b, tree, fairshare.Options{})
	})
}

// deep returns the members of a tree of so many levels, each with a workload and a
// group, that keep a processor busy by total.
func deep(levels int, total float64) []*fairshare.Group {
	var members []*fairshare.Group
	for level := range levels {
		own := workload("own", float64(1+level%3), total/float64(levels))
		if members == nil {
			members = []*fairshare.Group{own}
			continue
		}
		members = []*fairshare.Group{own, group("inner", 2, members...)}
	}
	return members
}
