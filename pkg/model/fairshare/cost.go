package fairshare

import (
	"fmt"
	"math"
)

// Orders is how many orders of priority there are to look at, as in Table 5 of the
// paper.
type Orders struct {
	// Flat is for the same workloads in one group.
	Flat float64
	// Exact is what [Permutations] looks at: the orders that the tree allows.
	Exact float64
	// Hierarchical is what [Hierarchical] looks at: of each group with workloads
	// the orders of its members, times those of the groups around it.
	Hierarchical float64
}

// Orders counts the orders of the tree.
func (t *Tree) Orders() Orders {
	o := Orders{Flat: math.Gamma(float64(t.Len() + 1)), Exact: 1}
	around := make([]float64, len(t.nodes)) // orders of a group and those around it
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.leaf >= 0 {
			continue
		}
		orders := math.Gamma(float64(len(n.children) + 1))
		o.Exact *= orders
		around[i] = orders
		if n.parent >= 0 {
			around[i] *= around[n.parent]
		}
		if t.hasWorkload(i) {
			o.Hierarchical += around[i]
		}
	}
	return o
}

// hasWorkload reports whether a member of group i is a workload.
func (t *Tree) hasWorkload(i int) bool {
	for _, k := range t.nodes[i].children {
		if t.nodes[k].leaf >= 0 {
			return true
		}
	}
	return false
}

// sets returns how many combinations of sets Subsets looks at, and the size of the
// largest group.
func (t *Tree) sets() (combinations float64, largest int) {
	around := make([]float64, len(t.nodes)) // the sets that may be ahead of a member
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.parent >= 0 {
			around[i] = around[n.parent]
		} else {
			around[i] = 1
		}
		if n.leaf >= 0 {
			combinations += around[i]
			continue
		}
		around[i] *= math.Exp2(float64(len(n.children) - 1))
		largest = max(largest, len(n.children))
	}
	return combinations, largest
}

// What a method may take: some ten minutes, and half a GiB.
const (
	maxOrders = 1e9  // orders; 12! is 4.8e8
	maxSets   = 4e9  // combinations of sets
	maxGroup  = 24   // members of a group for Subsets
	maxSteps  = 1e12 // of the sampler
)

// checkCost returns an error that wraps ErrTooCostly if the method is hopeless.
func checkCost(t *Tree, o Options) error {
	switch method := o.Method; method {
	case Permutations:
		if n := t.Orders().Exact; n > maxOrders {
			return fmt.Errorf("%s: %w: %.2g orders of priority, more than %g; use %s", method, ErrTooCostly, n, maxOrders, Race)
		}
	case Hierarchical:
		if n := t.Orders().Hierarchical; n > maxOrders {
			return fmt.Errorf("%s: %w: %.2g orders of priority, more than %g; use %s", method, ErrTooCostly, n, maxOrders, Race)
		}
	case Subsets:
		combinations, largest := t.sets()
		if largest > maxGroup {
			return fmt.Errorf("%s: %w: a group of %d, more than %d; use %s", method, ErrTooCostly, largest, maxGroup, Race)
		}
		if combinations > maxSets {
			return fmt.Errorf("%s: %w: %.2g sets of siblings, more than %g; use %s", method, ErrTooCostly, combinations, maxSets, Race)
		}
	case MonteCarlo, AHMC:
		samples := o.Samples
		if o.RelativeError > 0 {
			samples = min(samples, batch)
		}
		if steps := t.sampleSteps(method); float64(samples)*steps > maxSteps {
			return fmt.Errorf("%s: %w: %d orders of %.2g steps each, more than %g together; use %s", method, ErrTooCostly, samples, steps, maxSteps, Race)
		}
	default:
	}
	return nil
}

// sampleSteps returns what it takes to draw an order of the whole tree, or with AHMC one
// for each group.
func (t *Tree) sampleSteps(method Method) float64 {
	steps := 0.0
	around := make([]float64, len(t.nodes))
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.leaf >= 0 {
			continue
		}
		around[i] = float64(len(n.children)) * float64(len(n.children))
		if n.parent >= 0 && method == AHMC {
			around[i] += around[n.parent]
		}
		if method == MonteCarlo || t.hasWorkload(i) {
			steps += around[i]
		}
	}
	return steps
}
