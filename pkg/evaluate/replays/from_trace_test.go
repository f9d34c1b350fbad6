package replays_test

import (
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/trace"
)

// readAs yields the list, and then an error unless that is nil.
func readAs[T any](end error, list ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range list {
			if !yield(item, nil) {
				return
			}
		}
		if end != nil {
			var none T
			yield(none, end)
		}
	}
}

var errCut = errors.New("the file is cut off")

func TestGapsAreBetweenRoundedArrivals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arrivals []float64
		want     []int64
	}{
		"no job":   {nil, nil},
		"one job":  {[]float64{3}, nil},
		"at once":  {[]float64{3, 3}, []int64{0}},
		"rounded":  {[]float64{0, 0.0004, 0.0008, 0.0012}, []int64{0, 1, 0}}, // they add up to the last arrival
		"the rest": {[]float64{10, 11.5, 20}, []int64{1500, 8500}},
	} {
		var jobs []trace.Job
		for _, at := range test.arrivals {
			jobs = append(jobs, trace.Job{Arrival: at})
		}
		got, err := replays.GapsOf(readAs(nil, jobs...))
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got): %v\n%s", name, err, diff)
		}
	}
	if gaps, err := replays.GapsOf(readAs(errCut, trace.Job{}, trace.Job{})); !errors.Is(err, errCut) {
		t.Errorf("error %v, gaps %v", err, gaps)
	}
}

func TestNodesOfOneShapeAreAClass(t *testing.T) {
	t.Parallel()
	small := trace.OpenbNode{CPUMilli: 64_000, MemoryMiB: 262_144}
	odd := trace.OpenbNode{CPUMilli: 64_500, MemoryMiB: 262_144} // whose short name is the same
	tiny := trace.OpenbNode{CPUMilli: 250, MemoryMiB: 512}
	gpu := trace.OpenbNode{CPUMilli: 32_000, MemoryMiB: 131_072, GPUs: 2}
	classes, err := replays.NodesOf(readAs(nil, gpu, small, odd, small, tiny), new(int32(7)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range classes {
		text := fmt.Sprintf("%d × %s, %d jobs:", *c.Count, c.Name, *c.MaxJobs)
		for _, r := range c.Resources {
			text += fmt.Sprintf(" %s %d", r.Name, *r.Servers)
		}
		for _, r := range c.Capacity {
			text += fmt.Sprintf(" %s=%s", r.Name, r.Quantity)
		}
		got = append(got, text)
	}
	want := []string{
		"1 × cpu0-mem0g-gpu0, 7 jobs: cpu 1 cpu=250m memory=512Mi",
		"2 × cpu64-mem256g-gpu0, 7 jobs: cpu 64 cpu=64 memory=256Gi",
		"1 × cpu64500m-mem262144m-gpu0, 7 jobs: cpu 65 cpu=64500m memory=256Gi",
		"1 × cpu32-mem128g-gpu2, 7 jobs: cpu 32 gpu 2 cpu=32 memory=128Gi gpu=2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected classes (-want +got):\n%s", diff)
	}
	if classes, err := replays.NodesOf(readAs(errCut, gpu), nil); !errors.Is(err, errCut) {
		t.Errorf("error %v, classes %v", err, classes)
	}
}
