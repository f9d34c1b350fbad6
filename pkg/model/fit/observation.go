package fit

import (
	"fmt"
	"math"
)

// The range of a dilation that can be true. Noise takes some a little below 1; a value outside is another quantity or
// another unit.
const (
	MinDilation = 0.01
	MaxDilation = 1e6
)

// Run is a set of jobs that shared a node, each for as long as it ran.
type Run struct {
	// Name identifies the run in reports.
	Name string
	// Members are the jobs that ran together. Each copy of a job is a member.
	Members []Member
}

// Member is one job of a run.
type Member struct {
	// Job names the kind of job. The same name is the same job in every run.
	Job string
	// Dilation is its completion time over its neutral time, from
	// [MinDilation] to [MaxDilation], or 0 where it was not measured.
	Dilation float64
	// Seconds is the time for which it was observed, or 0 where that is not known. Longer observations count more, see
	// [Fit].
	Seconds float64
	// Request is how many cores it requests, nil where that is not known, and Limit how many it may use on average, 0 for no
	// limit. Its neutral time is that with the limit. Of the members of a run all requests are known, or none.
	Request *float64
	Limit   float64
}

// measured reports whether the member's dilation is known.
func (m Member) measured() bool { return m.Dilation != 0 }

// validate returns an error that names the run, the job, the field, the value
// and the rule.
func (r Run) validate() error {
	for _, m := range r.Members {
		if m.Job == "" {
			return fmt.Errorf("run %q: job: the name is empty", r.Name)
		}
		if rule := dilationRule(m.Dilation); m.measured() && rule != "" {
			return fmt.Errorf("run %q: job %q: dilation: %v %s", r.Name, m.Job, m.Dilation, rule)
		}
		if rule := secondsRule(m.Seconds); m.Seconds != 0 && rule != "" {
			return fmt.Errorf("run %q: job %q: seconds: %v %s", r.Name, m.Job, m.Seconds, rule)
		}
	}
	return r.validateClaims()
}

// dilationRule returns the rule that a measured dilation breaks, or nothing.
func dilationRule(dilation float64) string {
	if !(dilation >= MinDilation && dilation <= MaxDilation) { // also catches NaN
		return fmt.Sprintf("is not between %v and %v: a dilation is the completion time over the neutral time", MinDilation, MaxDilation)
	}
	return ""
}

// secondsRule returns the rule that a known duration breaks, or nothing.
func secondsRule(seconds float64) string {
	if !(seconds > 0) || math.IsInf(seconds, 0) {
		return "is not a positive, finite number of seconds (leave it empty where it is not known)"
	}
	return ""
}
