package usage

import (
	"fmt"
	"math"
)

// Report is what a gauge answers: the latest of what it observed.
type Report struct {
	// AgeSeconds is how long ago the last interval ended, by a clock that is never set; 0 if there is none.
	AgeSeconds float64 `json:"ageSeconds"`
	// Intervals follow each other, the oldest first.
	Intervals []Interval `json:"intervals"`
}

// MaxIntervals is how many intervals a report may have.
const MaxIntervals = 1000

// Validate returns an error that names the first field whose value no gauge reports.
func (r *Report) Validate() error {
	if !(r.AgeSeconds >= 0) || math.IsInf(r.AgeSeconds, 0) {
		return fmt.Errorf("ageSeconds: %v is not at least 0 and finite", r.AgeSeconds)
	}
	if len(r.Intervals) > MaxIntervals {
		return fmt.Errorf("intervals: %d are more than %d", len(r.Intervals), MaxIntervals)
	}
	for i := range r.Intervals {
		v := &r.Intervals[i]
		if err := v.Validate(); err != nil {
			return fmt.Errorf("intervals[%d].%w", i, err)
		}
		if v.Node != r.Intervals[0].Node {
			return fmt.Errorf("intervals[%d].node: %q is not that of the interval before, %q", i, v.Node, r.Intervals[0].Node)
		}
	}
	return nil
}
