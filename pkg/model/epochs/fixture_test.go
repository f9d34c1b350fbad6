package epochs_test

import (
	"iter"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

// typeOf returns a type of jobs by its service demands, and the neutral time of
// such a job: their sum.
func typeOf(name string, demands ...float64) (*mix.JobType, float64) {
	neutral := 0.0
	for _, d := range demands {
		neutral += d
	}
	vector := make(loading.Vector, len(demands))
	for i, d := range demands {
		vector[i] = loading.Symmetric(d / neutral)
	}
	return &mix.JobType{Name: name, Vector: vector}, neutral
}

// jobOf returns a job of a type of its own.
func jobOf(name string, arrival float64, demands ...float64) epochs.Job {
	t, neutral := typeOf(name, demands...)
	return epochs.Job{Name: name, Arrival: arrival, Job: placement.Job{Type: t, Neutral: neutral}}
}

// trace returns jobs as a trace.
func trace(jobs ...epochs.Job) iter.Seq2[epochs.Job, error] {
	return func(yield func(epochs.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// nodes returns a class of some nodes with these numbers of servers per resource.
func nodes(count int, servers ...int) epochs.NodeClass {
	return epochs.NodeClass{Name: "node", Count: count, NodeClass: mix.NodeClass{Servers: servers}}
}

// record is all that a replay reports.
type record struct {
	Result   *epochs.Result
	Outcomes []epochs.Outcome
	Drops    []epochs.Drop
	Epochs   []epochs.Epoch
}

// replay replays jobs and records all that is reported.
func replay(t testing.TB, jobs iter.Seq2[epochs.Job, error], classes []epochs.NodeClass, policy placement.Policy, options epochs.Options) record {
	t.Helper()
	r, err := tryReplay(t, jobs, classes, policy, options)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryReplay(t testing.TB, jobs iter.Seq2[epochs.Job, error], classes []epochs.NodeClass, policy placement.Policy, options epochs.Options) (record, error) {
	t.Helper()
	var r record
	options.Done = func(o *epochs.Outcome) error {
		r.Outcomes = append(r.Outcomes, *o)
		return nil
	}
	options.Dropped = func(d *epochs.Drop) error {
		r.Drops = append(r.Drops, *d)
		return nil
	}
	options.Epoch = func(e *epochs.Epoch) error {
		r.Epochs = append(r.Epochs, *e)
		return nil
	}
	var err error
	r.Result, err = epochs.Replay(t.Context(), jobs, classes, policy, options)
	return r, err
}

// of returns the outcome of a job.
func (r record) of(t testing.TB, name string) epochs.Outcome {
	t.Helper()
	for _, o := range r.Outcomes {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("job %s did not complete", name)
	return epochs.Outcome{}
}

// closeTo allows for the rounding of times of some hours.
func closeTo(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }
