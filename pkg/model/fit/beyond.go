package fit

import (
	"cmp"
	"fmt"
	"slices"
)

// beyond widens the interval of a member's dilation in a group that is larger than any run was, by
// the uncertainty that the runs leave: whether company beyond theirs costs nothing, or fills a
// shared resource.
//
// From below it is that beside the companion which costs most, alone. From above it is
// that by the sum, or, if that is more, what taking turns would come to: n jobs that ran
// in groups as large as the largest of m, each group in its turn, would be dilated n/m
// times as much as there, with the companions that cost most.
func (r *Result) beyond(e Estimate, members []int, member int) Estimate {
	if len(members) <= r.Largest || r.Largest < 2 {
		return e
	}
	e.Beyond = fmt.Sprintf("seen with at most %d", r.Largest)
	if e.Unknown != "" {
		return e
	}
	hardest := r.hardestFirst(members, member)
	least, most := r.within(hardest[:2], 0), r.within(hardest[:r.Largest], 0)
	if e.Unknown = cmp.Or(least.Unknown, most.Unknown); e.Unknown != "" {
		return unknownBeyond(e)
	}
	e.Low = min(e.Low, least.Low)
	e.High = max(e.High, most.High*float64(len(members))/float64(r.Largest), r.factors.dilations(members, FirstOrder{})[member])
	return e
}

// unknownBeyond takes the interval from an estimate.
func unknownBeyond(e Estimate) Estimate {
	unknown := unknownEstimate(e.Value, min(1, e.Value), e.Unknown)
	unknown.Beyond = e.Beyond
	return unknown
}

// hardestFirst returns a member and then its companions, the one that costs it most
// first.
func (r *Result) hardestFirst(members []int, member int) []int {
	model := rival{r.factors, r.predictor}
	others := slices.Delete(slices.Clone(members), member, member+1)
	cost := func(other int) float64 { return r.correction.dilation(model, []int{members[member], other}, 0) }
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(cost(b), cost(a)) })
	return slices.Insert(others, 0, members[member])
}
