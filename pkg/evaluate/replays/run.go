package replays

import (
	"context"
	"errors"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Result is the result of one run. Times are in seconds.
type Result struct {
	Policy string `json:"policy"`
	Seed   uint64 `json:"seed"`
	// Partial reports whether the run was ended before its time: the rest is of the
	// jobs that were done by then.
	Partial bool `json:"partial,omitempty"`
	// Jobs counts the jobs that were done, Dropped those that no node could ever
	// take, FirstDrop being why of the first, Skipped those of the trace that are
	// no jobs to replay, FirstSkip likewise.
	Jobs      int    `json:"jobs"`
	Dropped   int    `json:"dropped,omitempty"`
	FirstDrop string `json:"firstDrop,omitempty"`
	Skipped   int    `json:"skipped,omitempty"`
	FirstSkip string `json:"firstSkip,omitempty"`
	// UnequalRequests reports whether some jobs would have more than twice the weight of others if cores were shared by
	// requests, where the TraceReplay does not say how they are.
	UnequalRequests bool `json:"unequalRequests,omitempty"`
	// MakespanSeconds is the time from the first arrival to the last completion.
	MakespanSeconds float64 `json:"makespanSeconds"`
	// Response is from arrival to completion: Wait, at the scheduler, and
	// Execution. Waited counts the jobs that waited at all.
	Response  Summary `json:"response"`
	Execution Summary `json:"execution"`
	Wait      Summary `json:"wait"`
	Waited    int     `json:"waited"`
	// Dilation is execution time over neutral time. DilationQuantiles holds its
	// quantiles at the fractions 0, 0.01, … 1.
	Dilation          Summary   `json:"dilation"`
	DilationQuantiles []float64 `json:"dilationQuantiles,omitempty"`
	// Utilization is that of the resources that some job used, from the first
	// arrival to the last completion.
	Utilization []ResourceUtilization `json:"utilization,omitempty"`
	// SLA counts the jobs that were done and have an SLA, nil if there is none.
	SLA *SLACount `json:"sla,omitempty"`

	// Occupancy is how busy each node was over time, where it was asked for.
	Occupancy *Occupancy `json:"-"`
}

// Summary describes a sample. Quantiles are within 0.1 %.
type Summary struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// ResourceUtilization is which fraction of the servers of a resource is busy, on
// average over the nodes that have it, and at the busiest node.
type ResourceUtilization struct {
	Resource string  `json:"resource"`
	Mean     float64 `json:"mean"`
	Busiest  float64 `json:"busiest"`
}

// SLACount counts the jobs with an SLA, and those of them that kept within it.
type SLACount struct {
	Jobs int `json:"jobs"`
	Kept int `json:"kept"`
}

// Watch holds the functions that are called while a replay runs. All may be nil.
type Watch struct {
	Progress func(arrived int)
	Job      func(*epochs.Outcome) error
	Epoch    func(*epochs.Epoch) error
	// Occupancy asks for how busy each node is over time.
	Occupancy bool
}

// Run carries out a run. When the context ends, or the trace turns out to be
// wrong, the result is that of the jobs done by then, marked as partial, beside
// the error. Runs do not depend on each other and may be carried out at once.
func (r *Replay) Run(ctx context.Context, run int, watch Watch) (*Result, error) {
	which := r.runs[run]
	policy, err := r.policy(run/r.seeds(), which.Seed)
	if err != nil {
		return nil, err
	}
	s, err := newStatistics(which)
	if err != nil {
		return nil, err
	}
	from := r.recorded()
	jobs := from.jobs(s.skipped)
	if r.spec.Arrivals != nil {
		if jobs, err = r.generated(which.Seed, from.weights); err != nil {
			return nil, err
		}
	}
	if watch.Occupancy {
		s.result.Occupancy = newOccupancy(r.NodeNames())
		jobs = s.result.Occupancy.noteFirst(jobs)
	}
	sum, err := epochs.Replay(ctx, jobs, r.nodes, policy, epochs.Options{
		Solver: queueing.Options{Solver: r.solver}, FIFO: r.spec.Queue == v1alpha1.QueueFIFO,
		Resource: from.resource, Capacity: func(i int) string { return r.requests[i] },
		Progress: watch.Progress,
		Done:     both(s.done, watch.Job),
		Dropped: func(d *epochs.Drop) error {
			s.dropped(d)
			return nil
		},
		Epoch: both(s.result.Occupancy.watch(), watch.Epoch),
	})
	s.result.Partial = err != nil
	s.result.UnequalRequests = from.weights != nil && from.weights.unequal()
	return s.result, errors.Join(err, s.finish(r, sum))
}

// both returns a function that calls two, either of which may be nil.
func both[T any](first, second func(*T) error) func(*T) error {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(what *T) error {
		if err := first(what); err != nil {
			return err
		}
		return second(what)
	}
}
