package usage

import "fmt"

// Report is what a gauge answers: the latest of what it observed.
type Report struct {
	// AgeSeconds is how long ago the last interval ended, by a clock that is never set; 0 if there is none.
	AgeSeconds float64 `json:"ageSeconds"`
	// Intervals follow each other, the oldest first.
	Intervals []Interval `json:"intervals"`
}

// Collection is the first value of what the manager answers, in JSON. After it come the reports, each of another node and with an
// age of its own, as values on lines of their own, so that neither side holds all of them as text.
type Collection struct {
	// AgeSeconds is how long ago the manager last ended a round of asking all gauges.
	AgeSeconds float64 `json:"ageSeconds"`
}

// Validate returns an error that names the first field whose value no manager answers.
func (c *Collection) Validate() error { return amounts(amount{"ageSeconds", c.AgeSeconds}) }

// MaxIntervals is how many intervals a report may have.
const MaxIntervals = 1000

// Validate returns an error that names the first field whose value no gauge reports.
func (r *Report) Validate() error {
	if err := amounts(amount{"ageSeconds", r.AgeSeconds}); err != nil {
		return err
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
