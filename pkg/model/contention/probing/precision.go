package probing

import (
	"math"
	"sort"
)

// LeastRounds is how many samples an estimate must have to be trusted, whatever its
// interval: two that happen to agree would end a measurement too early.
const LeastRounds = 3

// MostRounds is the largest number of rounds that [MoreRounds] returns.
const MostRounds = 1 << 16

// Enough reports whether all estimates that were taken have the precision: an error
// of at most so much, which must be above 0, from at least [LeastRounds] samples.
func Enough(precision float64, estimates ...Estimate) bool {
	for _, e := range estimates {
		if e.Taken() && !e.enough(precision) {
			return false
		}
	}
	return true
}

func (e Estimate) enough(precision float64) bool {
	return e.Samples >= LeastRounds && e.Error <= precision
}

// MoreRounds returns how many more rounds the estimates are expected to need until
// they are [Enough], where each round is one more sample of each; 0 if they are. For
// many samples the number needed grows as 1/error²; for few, Student's distribution
// makes it fewer than that. An error that is not known yet asks for [LeastRounds].
// Where it is hopeless the answer is [MostRounds].
func MoreRounds(precision float64, estimates ...Estimate) int {
	more := 0
	for _, e := range estimates {
		if e.Taken() && !e.enough(precision) {
			more = max(more, e.moreRounds(precision))
		}
	}
	return more
}

// moreRounds returns how many more samples an estimate needs that has not enough.
func (e Estimate) moreRounds(precision float64) int {
	least := max(1, LeastRounds-e.Samples)
	if e.Samples < 2 || math.IsInf(e.Error, 1) || e.Error <= precision {
		return least
	}
	enough := func(more int) bool {
		return e.Error*width(e.Samples+more)/width(e.Samples) <= precision
	}
	// The width falls with every sample but the fifth, with which trimming begins.
	for more := least; e.Samples+more < 5; more++ {
		if enough(more) {
			return more
		}
	}
	first := max(least, 5-e.Samples)
	return first + sort.Search(MostRounds-first, func(k int) bool { return enough(first + k) })
}

// width returns about how wide the interval of n ≥ 2 values is expected to be,
// relative to their standard deviation. That of a trimmed mean differs by a few
// percent.
func width(n int) float64 { return quantile(n) / math.Sqrt(float64(n)) }
