package replays

import (
	"encoding/binary"
	"io"
	"iter"
	"math"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/trace"
)

// recorded turns the jobs of a trace into jobs to replay, for one run.
type recorded struct {
	*Replay
	file  string
	index map[string]int // of resources, including those met in the trace that no node has
	known map[string]*mix.JobType
	// shared holds the types of jobs with a share of the cores.
	shared  map[sharedType]*mix.JobType
	weights *weightRange // of all jobs; nil unless a caller asks for them
}

// sharedType is a type of jobs without its share, and the share.
type sharedType struct {
	*mix.JobType
	share
}

// maxTypes bounds the types of jobs of a trace that are remembered.
const maxTypes = 1 << 14

func (r *Replay) recorded() *recorded {
	t := &recorded{
		Replay: r, index: map[string]int{}, known: map[string]*mix.JobType{}, shared: map[sharedType]*mix.JobType{},
	}
	if r.spec.CPUShares == "" {
		t.weights = &weightRange{}
	}
	for i, name := range r.resources.Names() {
		t.index[name] = i
	}
	return t
}

// resource names a resource by its place in vectors.
func (t *recorded) resource(i int) string {
	for name, at := range t.index {
		if at == i {
			return name
		}
	}
	return "" // there is no such place
}

// jobs returns the jobs of the trace.
func (t *recorded) jobs(skipped func(line int, name, reason string)) iter.Seq2[epochs.Job, error] {
	return func(yield func(epochs.Job, error) bool) {
		file, name, err := t.open()
		if err != nil {
			yield(epochs.Job{}, err)
			return
		}
		defer file.Close()
		t.file = name
		jobs, err := t.read(trace.Options{
			Format: trace.Format(t.spec.Trace.Format), Skipped: skipped,
			AllowUnsorted: t.spec.Trace.Unsorted == v1alpha1.UnsortedSort,
		}, file)
		if err != nil {
			yield(epochs.Job{}, err)
			return
		}
		left := t.Jobs() // 0 is no limit
		for j, err := range jobs {
			var job epochs.Job
			if err == nil {
				job, err = t.job(&j)
			}
			if !yield(job, err) || err != nil {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// read returns the jobs of a file in order.
func (t *recorded) read(options trace.Options, file io.Reader) (iter.Seq2[trace.Job, error], error) {
	jobs := trace.Jobs(t.file, file, options)
	if options.AllowUnsorted {
		return trace.Sorted(jobs)
	}
	return jobs, nil
}

// job converts a job of the trace: the trace's own values take precedence over its profile.
func (t *recorded) job(j *trace.Job) (epochs.Job, error) {
	job := epochs.Job{Name: j.Name, Arrival: j.Arrival, Job: placement.Job{Neutral: j.Neutral}}
	wrong := func(column, value, rule string) error {
		return &trace.Error{File: t.file, Line: j.Line, Column: column, Value: value, Rule: rule}
	}
	work := t.jobTypes.named(j.Type)
	if work != nil {
		job.Data = work.sla
		if job.Neutral == 0 {
			job.Neutral = work.neutral
		}
	}
	switch {
	case len(j.Demands) > 0:
		job.Type = t.derived(j)
	case work == nil:
		return job, wrong("type", j.Type, t.jobTypes.unknown(j.Type)+"; or give the job demands of its own")
	case job.Neutral == 0:
		return job, wrong("type", j.Type, "the WorkloadProfile has no neutralMillis, and the row no neutral time")
	default:
		job.Type = work.JobType
	}
	job.Requests = t.requestsOf(j.Requests, j.CPULimit, job.Type)
	if t.weights != nil {
		t.weights.add(job.Type, j.Requests, j.CPULimit)
	}
	job.Type = t.sharing(job.Type, t.shareOf(j.Requests, j.CPULimit))
	return job, nil
}

// sharing returns a type of jobs with a share of the cores.
func (t *recorded) sharing(kind *mix.JobType, s share) *mix.JobType {
	if s == (share{}) {
		return kind
	}
	key := sharedType{kind, s}
	if known, ok := t.shared[key]; ok {
		return known
	}
	if len(t.shared) >= maxTypes {
		clear(t.shared)
	}
	shared := s.sharing(kind)
	t.shared[key] = shared
	return shared
}

// derived returns the type of a job that brings its own demands: its loadings are
// demand / neutral time.
func (t *recorded) derived(j *trace.Job) *mix.JobType {
	vector := make(loading.Vector, 0, len(t.index))
	for _, d := range j.Demands {
		if d.Seconds == 0 {
			continue
		}
		i, ok := t.index[d.Resource]
		if !ok {
			i = len(t.index)
			t.index[d.Resource] = i
		}
		for len(vector) <= i {
			vector = append(vector, loading.Demand{})
		}
		fraction := min(1, d.Seconds/j.Neutral)
		vector[i] = loading.Demand{Loading: fraction, Pressure: fraction, Threads: d.Threads}
	}
	key := keyOf(j.Type, vector)
	if known, ok := t.known[key]; ok {
		return known
	}
	if len(t.known) >= maxTypes {
		clear(t.known)
		clear(t.shared)
	}
	kind := &mix.JobType{Name: j.Type, Vector: vector}
	if kind.Name == "" {
		kind.Name = "like " + j.Name
	}
	t.known[key] = kind
	return kind
}

// keyOf returns a key that distinguishes a type of jobs from others.
func keyOf(name string, v loading.Vector) string {
	key := append([]byte(name), 0)
	for i, d := range v {
		if d.Loading > 0 {
			key = binary.AppendUvarint(key, uint64(i))
			key = binary.AppendUvarint(key, uint64(d.Threads))
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(d.Loading))
		}
	}
	return string(key)
}
