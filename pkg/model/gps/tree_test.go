package gps

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Shares of threads that never rest, beside those that a Linux kernel gave to such threads in control groups.
func TestCoresAreSharedAsByAKernel(t *testing.T) {
	t.Parallel()
	busy := func(weight float64, threads int) Job {
		return Job{Demands: []float64{1}, Weight: weight, Threads: threads}
	}
	for name, test := range map[string]struct {
		Network
		measured []float64
	}{
		"one core, 10 to 1":                      {Network{Servers: []int{1}, Jobs: []Job{busy(10, 1), busy(1, 1)}}, []float64{0.909, 0.093}},
		"two cores, two threads of 10, one of 1": {Network{Servers: []int{2}, Jobs: []Job{busy(10, 2), busy(1, 1)}}, []float64{1.80, 0.187}},
		"two cores, threads of 8, 4, 2 and 1":    {Network{Servers: []int{2}, Jobs: []Job{busy(8, 1), busy(4, 1), busy(2, 1), busy(1, 1)}}, []float64{0.995, 0.573, 0.285, 0.143}},
	} {
		tr := newTree(&test.Network)
		cores := make([]float64, len(tr.leaves))
		present := make([]int, len(tr.leaves))
		for l := range present {
			present[l] = tr.leaves[l].tokens
		}
		tr.fill(present, cores)
		for l, want := range test.measured {
			if math.Abs(cores[l]-want) > 0.02 { // the kernel's own deviation: up to 3 %
				t.Errorf("%s: %v, want about %v", name, cores, test.measured)
			}
		}
	}
}

// A class of pods has its weight however many of its pods want the processor.
func TestAGroupKeepsItsWeight(t *testing.T) {
	t.Parallel()
	n := Network{Servers: []int{1}, Groups: []Group{{}, {Weight: 4}}, Jobs: []Job{{Weight: 1}, {Weight: 1, Group: 1, Limit: 0.9}, {Weight: 3, Group: 1}}}
	tr := newTree(&n)
	cores := make([]float64, 3)
	for _, test := range []struct {
		present []int
		want    []float64
	}{
		{[]int{1, 1, 1}, []float64{0.2, 0.2, 0.6}},
		{[]int{1, 1, 0}, []float64{0.2, 0.8, 0}},
		{[]int{0, 1, 0}, []float64{0, 0.9, 0}},
		{[]int{1, 0, 0}, []float64{1, 0, 0}},
	} {
		tr.fill(test.present, cores)
		for l, want := range test.want {
			if math.Abs(cores[l]-want) > 1e-12 {
				t.Errorf("%v are there: %v, want %v", test.present, cores, test.want)
			}
		}
	}
}

// All usable cores are given, and a member of a group that has less than another, relative to its weight, could
// not use more.
func TestWaterIsFilledToOneLevel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := drawTree(t)
		tr := newTree(&n)
		present, cores := make([]int, len(tr.leaves)), make([]float64, len(tr.leaves))
		for l := range present {
			present[l] = rapid.IntRange(0, tr.leaves[l].tokens).Draw(t, "present")
		}
		tr.fill(present, cores)
		used := make([]float64, len(tr.groups)) // by the members together
		caps := make([]float64, len(tr.groups))
		for g := len(tr.groups) - 1; g >= 0; g-- {
			for _, l := range tr.outer[g] {
				used[g] += cores[l]
				if present[l] > 0 {
					caps[g] += tr.leaves[l].capOf(present[l])
				}
			}
			for _, h := range tr.inner[g] {
				used[g] += used[h]
				caps[g] += caps[h]
			}
			caps[g] = limited(caps[g], tr.groups[g].Limit)
		}
		if want := min(caps[0], tr.cores); math.Abs(used[0]-want) > 1e-9*want {
			t.Fatalf("%v cores are used, want %v", used[0], want)
		}
		for g := range tr.groups {
			lowest, highest := math.Inf(1), 0.0 // levels of the members below their caps, and of all
			member := func(share, limit, weight float64) {
				if share > limit*(1+1e-9) {
					t.Fatalf("a member of group %d has %v, above its cap %v", g, share, limit)
				}
				highest = max(highest, share/weight)
				if share < limit*(1-1e-9) {
					lowest = min(lowest, share/weight)
				}
			}
			for _, l := range tr.outer[g] {
				if k := present[l]; k > 0 {
					member(cores[l], tr.leaves[l].capOf(k), tr.leaves[l].weightOf(k))
				}
			}
			for _, h := range tr.inner[g] {
				if caps[h] > 0 {
					member(used[h], caps[h], tr.groups[h].Weight)
				}
			}
			if highest > lowest*(1+1e-9) {
				t.Fatalf("group %d: a member is filled to %v, and one with room to %v", g, highest, lowest)
			}
		}
	})
}

// drawTree draws jobs in groups, with ties, extremes and jobs that are alike.
func drawTree(t *rapid.T) Network {
	weights := rapid.SampledFrom([]float64{0, 1, 1, 2, 39, 1e-3, 1e4})
	limits := rapid.SampledFrom([]float64{0, 0, 0.1, 1, 2.5})
	n := Network{Servers: []int{rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "cores")}, Groups: []Group{{}}}
	for g := range rapid.IntRange(0, 3).Draw(t, "groups") {
		n.Groups = append(n.Groups, Group{Parent: rapid.IntRange(0, g).Draw(t, "parent"), Weight: max(1, weights.Draw(t, "weight")), Limit: limits.Draw(t, "limit")})
	}
	for range rapid.IntRange(1, 6).Draw(t, "jobs") {
		n.Jobs = append(n.Jobs, Job{
			Demands: []float64{1}, Threads: rapid.IntRange(0, 3).Draw(t, "threads"), Weight: weights.Draw(t, "weight"),
			Limit: limits.Draw(t, "limit"), Group: rapid.IntRange(0, len(n.Groups)-1).Draw(t, "group"),
		})
	}
	return n
}
