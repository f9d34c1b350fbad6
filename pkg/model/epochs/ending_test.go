package epochs_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

var errStop = errors.New("that is enough")

func TestAReplayThatIsEndedHasTheResultOfThePartThatWasDone(t *testing.T) {
	t.Parallel()
	// 100 jobs of 1 s, one after the other; every tenth requests a resource that does not exist.
	jobs := func(yield func(epochs.Job, error) bool) {
		for j := range 100 {
			job := jobOf("1", float64(j), 1)
			if j%10 == 9 {
				job = jobOf("1", float64(j), 1, 1)
			}
			if !yield(job, nil) {
				return
			}
		}
	}
	broken := func(yield func(epochs.Job, error) bool) {
		n := 0
		for job, err := range jobs {
			if n++; n == 30 {
				yield(epochs.Job{}, errStop)
				return
			}
			if !yield(job, err) {
				return
			}
		}
	}
	for name, test := range map[string]struct {
		jobs    iter.Seq2[epochs.Job, error]
		options func(cancel func()) epochs.Options
		want    error
		done    int
		dropped int
		lastEnd float64
	}{
		"by its context": {jobs, func(cancel func()) epochs.Options {
			return epochs.Options{Done: func(o *epochs.Outcome) error {
				if o.End == 25 {
					cancel()
				}
				return nil
			}}
		}, context.Canceled, 23, 2, 25},
		"by who is told of completions": {jobs, func(func()) epochs.Options {
			return epochs.Options{Done: func(o *epochs.Outcome) error {
				if o.End == 25 {
					return errStop
				}
				return nil
			}}
		}, errStop, 23, 2, 25},
		"by who is told of drops": {jobs, func(func()) epochs.Options {
			return epochs.Options{Dropped: func(*epochs.Drop) error { return errStop }}
		}, errStop, 9, 1, 9},
		"by who is told of epochs": {jobs, func(func()) epochs.Options {
			return epochs.Options{Epoch: func(e *epochs.Epoch) error {
				if e.End == 25 {
					return errStop
				}
				return nil
			}}
		}, errStop, 22, 2, 24},
		// The 28th job has arrived, the 29th was read when the trace broke.
		"by its trace": {broken, func(func()) epochs.Options { return epochs.Options{} }, errStop, 25, 2, 27},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		result, err := epochs.Replay(ctx, test.jobs, []epochs.NodeClass{nodes(1, 1)}, &placement.RoundRobin{}, test.options(cancel))
		cancel()
		if !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
		if result.Completed != test.done || result.Dropped != test.dropped || result.LastEnd != test.lastEnd {
			t.Errorf("%s: %d completed, %d dropped, until %v; want %d, %d, %v", name, result.Completed, result.Dropped, result.LastEnd, test.done, test.dropped, test.lastEnd)
		}
		if busy := result.Busy[0][0]; math.Abs(busy-float64(test.done)) > 1+1e-9 {
			t.Errorf("%s: busy for %v s", name, busy)
		}
	}
}

func TestACancelledContextEndsAReplayBeforeItBegins(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := epochs.Replay(ctx, trace(jobOf("1", 0, 1)), []epochs.NodeClass{nodes(1, 1)}, &placement.RoundRobin{}, epochs.Options{})
	if !errors.Is(err, context.Canceled) || result.Completed != 0 {
		t.Errorf("%d jobs completed, error %v", result.Completed, err)
	}
}

// A replay that ends early stops reading its trace.
func TestATraceIsNotReadAfterTheEnd(t *testing.T) {
	t.Parallel()
	read := 0
	endless := func(yield func(epochs.Job, error) bool) {
		for yield(jobOf("1", float64(read), 1), nil) {
			read++
		}
	}
	_, err := epochs.Replay(t.Context(), endless, []epochs.NodeClass{nodes(1, 1)}, &placement.RoundRobin{}, epochs.Options{
		Done: func(o *epochs.Outcome) error {
			if o.End > 1000 {
				return errStop
			}
			return nil
		},
	})
	if !errors.Is(err, errStop) || read > 1002 {
		t.Errorf("%d jobs were read, error %v", read, err)
	}
}

func TestProgressCountsUp(t *testing.T) {
	t.Parallel()
	const jobs = 10_000
	last, calls := 0, 0
	class := nodes(10, 8, 2, 1)
	class.MaxJobs, class.Allocatable = 2, []float64{8}
	r, err := epochs.Replay(t.Context(), load(jobs, 10, 2, 3), []epochs.NodeClass{class}, &placement.RoundRobin{}, epochs.Options{
		Progress: func(arrived int) {
			if calls++; arrived < last || arrived > jobs {
				t.Errorf("%d jobs arrived, after %d", arrived, last)
			}
			last = arrived
		},
	})
	if err != nil || r.Completed != jobs || calls < 3 || calls > 10 {
		t.Errorf("progress was told %d times; %d of %d jobs completed: %v", calls, r.Completed, jobs, err)
	}
}

func TestInvalidJobsEndAReplay(t *testing.T) {
	t.Parallel()
	good := jobOf("good", 5, 1, 1)
	with := func(change func(*epochs.Job)) epochs.Job {
		j := good
		j.Name = "bad"
		change(&j)
		return j
	}
	vector := func(v ...loading.Demand) epochs.Job {
		return with(func(j *epochs.Job) { j.Type = &mix.JobType{Name: "odd", Vector: v} })
	}
	for name, test := range map[string]struct {
		job  epochs.Job
		want string
	}{
		"no arrival":               {with(func(j *epochs.Job) { j.Arrival = math.NaN() }), `job "bad": arrival: NaN is not a finite time`},
		"an arrival at the end":    {with(func(j *epochs.Job) { j.Arrival = math.Inf(1) }), `job "bad": arrival: +Inf is not a finite time`},
		"an unsorted trace":        {with(func(j *epochs.Job) { j.Arrival = 4 }), `job "bad": arrival: 4 is before that of the job before it, 5`},
		"no neutral time":          {with(func(j *epochs.Job) { j.Neutral = math.NaN() }), `job "bad": neutral time: NaN is not a finite time of at least 0`},
		"a negative neutral time":  {with(func(j *epochs.Job) { j.Neutral = -1 }), `job "bad": neutral time: -1 is not a finite time of at least 0`},
		"an endless job":           {with(func(j *epochs.Job) { j.Neutral = math.Inf(1) }), `job "bad": neutral time: +Inf is not a finite time of at least 0`},
		"no type":                  {with(func(j *epochs.Job) { j.Type = nil }), `job "bad": has no type`},
		"too many requests":        {with(func(j *epochs.Job) { j.Requests = []float64{1, 1} }), `job "bad": requests: 2 for nodes with 1 capacities`},
		"a negative request":       {with(func(j *epochs.Job) { j.Requests = []float64{-1} }), `job "bad": requests[0]: -1 is not a finite number of at least 0`},
		"a request that is NaN":    {with(func(j *epochs.Job) { j.Requests = []float64{math.NaN()} }), `job "bad": requests[0]: NaN is not a finite number of at least 0`},
		"a request for everything": {with(func(j *epochs.Job) { j.Requests = []float64{math.Inf(1)} }), `job "bad": requests[0]: +Inf is not a finite number of at least 0`},
		"a loading that is NaN":    {vector(loading.Symmetric(math.NaN())), `jobs of type "odd": resource 0: loading: NaN is not a fraction from 0 to 1`},
		"a negative pressure":      {vector(loading.Demand{Loading: 0.5, Pressure: -0.5}), `jobs of type "odd": resource 0: pressure: -0.5 is not a fraction from 0 to 1`},
		"loadings beyond 1":        {vector(loading.Symmetric(0.8), loading.Symmetric(0.8)), `jobs of type "odd": loading: 1.6 in all is more than 1: loadings are fractions of the neutral time`},
		"a crowd of threads":       {vector(loading.Demand{Loading: 0.5, Pressure: 0.5, Threads: 1 << 20}), `jobs of type "odd": resource 0: threads: 1.048576e+06 is not between 1 and 16384`},
	} {
		class := nodes(2, 1, 1)
		class.Capacity = []float64{10}
		result, err := epochs.Replay(t.Context(), trace(good, test.job), []epochs.NodeClass{class}, placement.LeastDilation{}, epochs.Options{})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if result == nil || result.Completed != 0 {
			t.Errorf("%s: %+v", name, result)
		}
	}
}

func TestInvalidClustersAreRefused(t *testing.T) {
	t.Parallel()
	with := func(change func(*epochs.NodeClass)) []epochs.NodeClass {
		classes := []epochs.NodeClass{nodes(1, 1), nodes(1, 1)}
		classes[1].Name = "bad"
		change(&classes[1])
		return classes
	}
	for name, test := range map[string]struct {
		classes []epochs.NodeClass
		want    string
	}{
		"no nodes":            {nil, "nodes: there are none"},
		"a class of no nodes": {with(func(c *epochs.NodeClass) { c.Count = 0 }), "nodes[1] (bad): count: 0 is not at least 1"},
		"a negative count":    {with(func(c *epochs.NodeClass) { c.Count = -1 }), "nodes[1] (bad): count: -1 is not at least 1"},
		"too many nodes":      {with(func(c *epochs.NodeClass) { c.Count = 1_000_000 }), "nodes[1] (bad): count: 1000000, with the 1 nodes before, is more than 1000000"},
		"a count beyond all":  {with(func(c *epochs.NodeClass) { c.Count = math.MaxInt }), "nodes[1] (bad): count: 9223372036854775807, with the 1 nodes before, is more than 1000000"},
		"negative places":     {with(func(c *epochs.NodeClass) { c.MaxJobs = -1 }), "nodes[1] (bad): maxJobs: -1 is negative"},
		"no capacity":         {with(func(c *epochs.NodeClass) { c.Capacity = []float64{1, 0} }), "nodes[1] (bad): capacity[1]: 0 is not above 0"},
		"a NaN capacity":      {with(func(c *epochs.NodeClass) { c.Capacity = []float64{math.NaN()} }), "nodes[1] (bad): capacity[0]: NaN is not above 0"},
		"a negative size":     {with(func(c *epochs.NodeClass) { c.Allocatable = []float64{-1} }), "nodes[1] (bad): allocatable[0]: -1 is not a finite number of at least 0"},
		"an infinite size":    {with(func(c *epochs.NodeClass) { c.Allocatable = []float64{math.Inf(1)} }), "nodes[1] (bad): allocatable[0]: +Inf is not a finite number of at least 0"},
		"negative servers":    {with(func(c *epochs.NodeClass) { c.Servers = []int{-1} }), "nodes[1] (bad): resource 0: invalid number of servers: -1 is not between 1 and 16384"},
		"too many servers":    {with(func(c *epochs.NodeClass) { c.Servers = []int{1 << 20} }), "nodes[1] (bad): resource 0: invalid number of servers: 1048576 is not between 1 and 16384"},
		"too many speeds":     {with(func(c *epochs.NodeClass) { c.Speeds = []float64{1, 1} }), "nodes[1] (bad): speeds: 2 for 1 resources"},
		"no speed":            {with(func(c *epochs.NodeClass) { c.Speeds = []float64{0} }), "nodes[1] (bad): resource 0: speed: 0 is not a finite number above 0"},
		"a NaN speed":         {with(func(c *epochs.NodeClass) { c.Speeds = []float64{math.NaN()} }), "nodes[1] (bad): resource 0: speed: NaN is not a finite number above 0"},
	} {
		result, err := epochs.Replay(t.Context(), trace(jobOf("1", 0, 1)), test.classes, placement.LeastDilation{}, epochs.Options{})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if result == nil || result.Makespan() != 0 {
			t.Errorf("%s: %+v", name, result)
		}
	}
}
