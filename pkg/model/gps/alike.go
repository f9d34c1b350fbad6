package gps

import (
	"math"
	"slices"
)

// This file joins two solutions smoothly: that by a chain, of networks with few different jobs, and that by the closure, of those
// with many. Jobs that differ by little are taken to be alike, as far as that makes a chain small enough, and the ratio of the
// chain's result to the closure's for those jobs corrects the closure for the actual jobs. So the solution moves away from the
// chain as jobs begin to differ.

// maxDifference is the largest difference of jobs that are taken to be alike. The correction fades out until then.
const maxDifference = 0.1

// blend returns the solution of a network by a closure, corrected by the chain of jobs that are nearly alike, if there is one.
func blend(n *Network, o Options, s *Solution) (*Solution, error) {
	merged, difference := n.merged(o.States)
	if merged == nil {
		return s, nil
	}
	chain, err := newDecomposition(merged, o.States).solve()
	if err != nil {
		return nil, err
	}
	closure, err := newDecomposition(merged, 1).solve()
	if err != nil {
		return nil, err
	}
	part := 1 - difference/maxDifference
	for j := range s.Stretches {
		job := &n.Jobs[j]
		s.Responses[j] = job.idle()
		for i := range s.Stretches[j] {
			s.Stretches[j][i] = max(1, s.Stretches[j][i]*math.Pow(chain.Stretches[j][i]/closure.Stretches[j][i], part))
			s.Responses[j] += job.demand(i) * s.Stretches[j][i]
		}
	}
	return s, nil
}

// merged returns a network in which jobs that differ by less than maxDifference are taken to be alike, such that there are no more
// states than that, and by how much those differ at most, about the least with which that is so; nil if there is none.
func (n *Network) merged(most int) (merged *Network, difference float64) {
	singles, several := n.singles()
	few := func(difference float64) bool {
		states := several
		for _, kind := range kindsWithin(singles, difference) {
			states += math.Log(float64(len(kind) + 1))
		}
		return states <= math.Log(float64(most))+roundings
	}
	if several > math.Log(float64(most)) || !few(maxDifference) || newTree(n).alike() { // or equal shares, whose closure is exact
		return nil, 0
	}
	low, difference := 0.0, maxDifference
	for range differenceSteps {
		if middle := (low + difference) / 2; few(middle) {
			difference = middle
		} else {
			low = middle
		}
	}
	merged = &Network{Servers: n.Servers, Groups: n.Groups, Jobs: slices.Clone(n.Jobs)}
	for _, kind := range kindsWithin(singles, difference) {
		mean := n.mean(kind)
		for _, s := range kind {
			merged.Jobs[s.job] = mean
		}
	}
	return merged, difference
}

// differenceSteps is how often the range is halved in which the least difference is.
const differenceSteps = 12

// single is a job of one thread.
type single struct {
	job    int
	traits []float64
}

// singles returns the jobs of one thread in an order by group, weight and all else, and the logarithm of the number of states of
// the others.
func (n *Network) singles() (singles []single, several float64) {
	for j := range n.Jobs {
		if threads := n.Jobs[j].threads(); threads > 1 {
			several += math.Log(float64(threads + 1))
			continue
		}
		singles = append(singles, single{j, n.Jobs[j].traits(len(n.Servers))})
	}
	slices.SortStableFunc(singles, func(a, b single) int { return slices.Compare(a.traits, b.traits) })
	return singles, several
}

// kindsWithin divides jobs in order into kinds in which they differ by no more than that.
func kindsWithin(singles []single, difference float64) (kinds [][]single) {
	var low, high []float64 // of each trait of the last kind
	first := 0
	for k, s := range singles {
		if k > first && extend(low, high, s.traits, difference) {
			continue
		}
		if k > first {
			kinds = append(kinds, singles[first:k])
		}
		first, low, high = k, slices.Clone(s.traits), slices.Clone(s.traits)
	}
	if len(singles) > 0 {
		kinds = append(kinds, singles[first:])
	}
	return kinds
}

// extend takes traits into their range, if that is no wider then, and reports whether it did.
func extend(low, high, traits []float64, difference float64) bool {
	for t, trait := range traits {
		if max(high[t], trait)-min(low[t], trait) > difference {
			return false
		}
	}
	for t, trait := range traits {
		low[t], high[t] = min(low[t], trait), max(high[t], trait)
	}
	return true
}

// traits returns the properties by which jobs of one thread differ: group, weight, burst, limit and demands. A difference of 0.1 is
// one by a tenth, or of a demand by a twentieth of the own time.
func (j *Job) traits(stations int) []float64 {
	const apart, perDemand = 1e3, 2 // groups are never alike, nor are limits and none
	traits := append(make([]float64, 0, 4+stations), apart*float64(j.Group), math.Log(j.weight()), math.Log(j.burst()), apart)
	if j.Limit > 0 {
		traits[3] = math.Log(j.Limit)
	}
	for i := range stations {
		traits = append(traits, perDemand*j.demand(i))
	}
	return traits
}

// mean returns a job that is like those of a kind on average.
func (n *Network) mean(kind []single) Job {
	mean := n.Jobs[kind[0].job]
	weight, burst, limit := 0.0, 0.0, 0.0
	demands := make([]float64, len(n.Servers))
	part := 1 / float64(len(kind))
	for _, s := range kind {
		job := &n.Jobs[s.job]
		weight += part * math.Log(job.weight())
		burst += part * math.Log(job.burst())
		limit += part * job.Limit
		for i := range demands {
			demands[i] += part * job.demand(i)
		}
	}
	mean.Weight, mean.Burst, mean.Limit, mean.Demands = math.Exp(weight), math.Exp(burst), limit, demands
	return mean
}
