package record

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/trace"
)

// Recording is a trace, and how it came about.
type Recording struct {
	// Start is second 0 of the trace.
	Start time.Time
	// Jobs are the jobs by arrival, those that arrived at once by name.
	Jobs []trace.Job
	// Columns are the resources of the jobs.
	Columns trace.Columns

	// Profiles holds the profiles that jobs follow, as namespace/name.
	Profiles map[string]bool
	// Timeless holds those of them that do not know the neutral time.
	Timeless map[string]bool
	// Derived counts the jobs that follow no profile.
	Derived int
	// Measured counts the jobs whose neutral time is how long they ran.
	Measured int
	// LeftOut counts the pods that are no jobs.
	LeftOut map[Reason]int
	// Columnless are requested resources that no column can be named after.
	Columnless []string
	// InvalidProfiles counts the profiles that were left out of account.
	InvalidProfiles int
}

// Recording returns what was recorded. The recorder is not to be used after that.
func (r *Recorder) Recording() *Recording {
	recording := &r.recording
	zero := float64(r.options.Since.Unix())
	if r.options.Since.IsZero() {
		zero = r.first
	}
	recording.Start = time.Unix(int64(zero), 0).UTC()

	resources := inOrder(r.requested)
	names := columns(resources)
	for _, resource := range resources {
		if name, named := names[resource]; named {
			recording.Columns.Requests = append(recording.Columns.Requests, name)
		} else {
			recording.Columnless = append(recording.Columnless, string(resource))
		}
	}
	recording.Columns.CPULimit = r.limited
	recording.Columns.Demands = slices.Sorted(maps.Keys(r.demanded))

	recording.Jobs = r.jobs
	for i := range recording.Jobs {
		finish(&recording.Jobs[i], zero, names)
	}
	slices.SortFunc(recording.Jobs, func(a, b trace.Job) int {
		return cmp.Or(cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.Name, b.Name))
	})
	return recording
}

// finish turns the times and names of the cluster into those of the trace.
func finish(job *trace.Job, zero float64, names map[corev1.ResourceName]string) {
	job.Arrival -= zero
	for _, moment := range []*trace.Moment{&job.Start, &job.End} {
		if moment.Happened {
			moment.At -= zero
		}
	}
	job.Requests = slices.DeleteFunc(job.Requests, func(q trace.Request) bool { return names[corev1.ResourceName(q.Resource)] == "" })
	for i := range job.Requests {
		job.Requests[i].Resource = names[corev1.ResourceName(job.Requests[i].Resource)]
	}
	slices.SortFunc(job.Requests, func(a, b trace.Request) int { return cmp.Compare(a.Resource, b.Resource) })
}

// Write writes the trace in our CSV format. A trace without jobs cannot be read.
func (r *Recording) Write(out io.Writer) error {
	w, err := trace.NewWriter(out, r.Columns)
	if err != nil {
		return err
	}
	for _, job := range r.Jobs {
		if err := w.Write(job); err != nil {
			return err
		}
	}
	return w.Flush()
}
