package epochs_test

import (
	"fmt"
	"iter"
	"runtime"
	"testing"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Not in parallel: all tests share the heap.
func TestMemoryDoesNotGrowWithTheTrace(t *testing.T) {
	const megabyte = 1 << 20
	few := epochs.Options{Solver: queueing.Options{Solver: queueing.FirstOrder}, MaxMixes: 1 << 12}
	for _, test := range []struct {
		name    string
		nodes   int
		jobs    iter.Seq2[epochs.Job, error]
		policy  string
		early   int // jobs done when the heap is first measured
		late    int
		options epochs.Options
	}{
		{"a few types", 100, load(200_000, 100, 4, 5), "round-robin", 10_000, 190_000, epochs.Options{}},
		{"as many types as jobs", 20, unique(load(60_000, 20, 4, 5)), "round-robin", 10_000, 55_000, few},
		{"as many types as jobs, looking ahead", 5, unique(load(6_000, 5, 4, 2)), "lrt", 1_000, 5_500, few},
	} {
		var early, late uint64
		done := 0
		options := test.options
		options.Done = func(*epochs.Outcome) error {
			switch done++; done {
			case test.early:
				early = heap()
			case test.late:
				late = heap()
			}
			return nil
		}
		class := nodes(test.nodes, 8, 2, 1)
		class.Allocatable = []float64{8}
		if _, err := epochs.Replay(t.Context(), test.jobs, []epochs.NodeClass{class}, newPolicy(test.policy), options); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f MB after %d jobs, %.1f MB after %d", test.name, float64(early)/megabyte, test.early, float64(late)/megabyte, test.late)
		if late > early+4*megabyte {
			t.Errorf("%s: the heap grew from %.1f to %.1f MB", test.name, float64(early)/megabyte, float64(late)/megabyte)
		}
	}
}

// heap returns the bytes of all that is still in use.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// unique gives each job a type of its own, a little different from all others.
func unique(jobs iter.Seq2[epochs.Job, error]) iter.Seq2[epochs.Job, error] {
	return func(yield func(epochs.Job, error) bool) {
		n := 0
		for job, err := range jobs {
			n++
			vector := make(loading.Vector, len(job.Type.Vector))
			for i, d := range job.Type.Vector {
				vector[i] = loading.Symmetric(d.Loading * (1 - 1e-9*float64(n)))
			}
			job.Type = &mix.JobType{Name: fmt.Sprint("type ", n), Vector: vector, Weight: job.Type.Weight, Limit: job.Type.Limit}
			if !yield(job, err) {
				return
			}
		}
	}
}
