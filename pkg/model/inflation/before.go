package inflation

import (
	"fmt"
	"math"
	"slices"
)

// Before is a reference by intervals that are no longer known, those before a series: what an earlier estimate said. It counts as these would, so
// that a neighbour that has been there since the series began is no part of what is quiet. To neighbours it says nothing.
type Before struct {
	// Overhead and PerUnit are those of the estimate, at least 0 and above 0, and Rate is about how many units a second a pod did, above 0.
	Overhead, PerUnit, Rate float64
	// Error is the half width of the interval of the estimate's Quiet, as a part of it, at least 0.
	Error float64
	// Slots is how many slots of time it stands for, at least 0.
	Slots int
}

// check returns an error that names the value that breaks a rule.
func (b *Before) check() error {
	switch {
	case !natural(b.Overhead):
		return fmt.Errorf("before.overhead: %v is not a time of at least 0", b.Overhead)
	case !natural(b.PerUnit) || b.PerUnit == 0:
		return fmt.Errorf("before.perUnit: %v is not a time above 0", b.PerUnit)
	case !natural(b.Rate) || b.Rate == 0:
		return fmt.Errorf("before.rate: %v is not a rate above 0", b.Rate)
	case !natural(b.Error):
		return fmt.Errorf("before.error: %v is not at least 0", b.Error)
	case b.Slots < 0 || b.Slots > MaxIntervals:
		return fmt.Errorf("before.slots: %d is not from 0 to %d", b.Slots, MaxIntervals)
	}
	return nil
}

// after returns a series with two more rows, at half and at one and a half times the rate, that count as much as the slots that a reference before it
// stands for. It is the series itself without one.
func (s *series) after(b *Before) *series {
	if b == nil || b.Slots == 0 || s.slots == 0 {
		return s
	}
	whole := *s
	whole.standsFor = float64(b.Slots) * float64(len(s.cpu)) / float64(s.slots) / 2
	for k, rate := range []float64{b.Rate / 2, b.Rate * 3 / 2} {
		whole.slot, whole.pod = appended(whole.slot, s.slots+k), appended(whole.pod, 0)
		whole.seconds = appended(whole.seconds, whole.standsFor)
		whole.cpu, whole.rate = appended(whole.cpu, b.Overhead+b.PerUnit*rate), appended(whole.rate, rate)
		whole.before++
	}
	whole.slots += whole.before
	return &whole
}

// partBefore returns which part of all that counts in a fit was before the series, given the weights of the rows.
func (s *series) partBefore(weights, robust []float64) float64 {
	all, old := 0.0, 0.0
	for i, w := range weights {
		all += w * robust[i]
		if i >= len(s.cpu)-s.before {
			old += w * robust[i]
		}
	}
	if all == 0 {
		return 0
	}
	return old / all
}

// appended returns a list with a value more, and leaves the list as it is.
func appended[T any](list []T, value T) []T { return append(slices.Clip(list), value) }

// of returns the reference of the first rows, without those that stand for what was before.
func (r *reference) of(s *series) *reference {
	own := *r
	own.expected, own.weights = r.expected[:len(s.cpu)], r.weights[:len(s.cpu)]
	return &own
}

// scatter returns the standard deviation of the residuals of a series after a reference, by how much those of a pod differ from slot to slot: where
// all of them are far from the reference their size is not their spread.
func (r *reference) scatter(s *series, named []*group) float64 {
	last := make([]float64, s.pods)
	seen := make([]bool, s.pods)
	var steps []float64
	for i := range len(s.cpu) - s.before {
		k, e := s.pod[i], r.residual(s, named, i)
		if seen[k] {
			steps = append(steps, math.Abs(e-last[k])/math.Sqrt2)
		}
		last[k], seen[k] = e, true
	}
	return median(steps) / normalMedian
}
