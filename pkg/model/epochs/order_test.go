package epochs_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
)

// fate is an outcome in a form that can be compared.
type fate struct {
	name       string
	node       int
	start, end float64
}

// story returns a record in a form that can be compared: to the last bit, and in the
// order in which it was reported.
func (r record) story() (fates []fate, drops []string, result epochs.Result) {
	for _, o := range r.Outcomes {
		fates = append(fates, fate{o.Name, o.Node, o.Start, o.End})
	}
	for _, d := range r.Drops {
		drops = append(drops, d.Name+": "+d.Reason)
	}
	return fates, drops, *r.Result
}

// difference returns how two records differ, "" if they do not.
func difference(a, b record) string {
	fates, drops, result := a.story()
	otherFates, otherDrops, otherResult := b.story()
	return cmp.Diff(fates, otherFates, cmp.AllowUnexported(fate{})) + cmp.Diff(drops, otherDrops) + cmp.Diff(result, otherResult)
}

func TestTheOrderOfTheJobsOfOneInstantChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawReplay(rt)
		want := d.run(t, rt)
		shuffled := d
		shuffled.jobs = nil
		for rest := d.jobs; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].Arrival == rest[0].Arrival {
				n++
			}
			shuffled.jobs = append(shuffled.jobs, rapid.Permutation(rest[:n]).Draw(rt, "instant")...)
			rest = rest[n:]
		}
		if diff := difference(want, shuffled.run(t, rt)); diff != "" {
			rt.Fatalf("%s: (-as drawn +shuffled)\n%s", d.policy, diff)
		}
	})
}

func TestEqualReplaysAreEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawReplay(rt)
		if diff := difference(d.run(t, rt), d.run(t, rt)); diff != "" {
			rt.Fatalf("%s: (-first +second)\n%s", d.policy, diff)
		}
	})
}

// Replays share nothing that they change: types, classes and jobs are only read.
func TestReplaysDoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	jobs := slices.Collect(func(yield func(epochs.Job) bool) {
		for j, err := range load(500, 10, 3, 5) {
			if err != nil || !yield(j) {
				return
			}
		}
	})
	class := nodes(10, 8, 2, 1)
	class.Capacity = []float64{4}
	for _, name := range placement.Names() {
		run := func() (record, error) {
			return tryReplay(t, trace(jobs...), []epochs.NodeClass{class}, newPolicy(name), epochs.Options{MaxMixes: 500})
		}
		want, err := run()
		if err != nil {
			t.Fatal(err)
		}
		together := make([]record, 2*runtime.GOMAXPROCS(0))
		errs := make([]error, len(together))
		var group sync.WaitGroup
		for i := range together {
			group.Go(func() { together[i], errs[i] = run() })
		}
		group.Wait()
		for i, got := range together {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if diff := difference(want, got); diff != "" {
				t.Fatalf("%s: replay %d differs (-alone +together)\n%s", name, i, diff)
			}
		}
	}
}

// The cache of mixes has no influence but on the time that a replay takes.
func TestForgettingMixesChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawReplay(rt)
		want := d.run(t, rt)
		d.options.MaxMixes = 1 // forget at each event at which there is something to forget
		if diff := difference(want, d.run(t, rt)); diff != "" {
			rt.Fatalf("%s: (-all remembered +forgotten)\n%s", d.policy, diff)
		}
	})
}

// Completions that only rounding puts before an arrival are not lost: the job has no
// work left.
func TestACompletionWithinRoundingOfAnArrivalIsACompletion(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		start := rapid.Float64Range(0, 1e6).Draw(rt, "start")
		first := jobOf("1", start, rapid.Float64Range(1e-3, 10).Draw(rt, "demand"))
		second := first
		second.Name, second.Arrival = "2", start+first.Neutral
		for range rapid.IntRange(0, 3).Draw(rt, "ulps") {
			second.Arrival = below(second.Arrival)
		}
		r, err := tryReplay(t, trace(first, second), []epochs.NodeClass{nodes(1, 1)}, newPolicy("lrt"), epochs.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		for _, o := range r.Outcomes {
			if took := o.Execution(); took < first.Neutral-1e-9*(1+start) || took > first.Neutral+1e-9*(1+start) {
				rt.Fatalf("job %s takes %v, want %v", o.Name, took, first.Neutral)
			}
		}
		if len(r.Outcomes) != 2 {
			rt.Fatalf("%d jobs completed", len(r.Outcomes))
		}
	})
}

// A solver without an answer ends a replay with an error that says so.
func TestASolverWithoutAnAnswerEndsTheReplay(t *testing.T) {
	t.Parallel()
	job := jobOf("1", 0, 1, 1)
	other := jobOf("2", 0.5, 1, 2)
	solver := queueing.Options{Solver: queueing.Schweitzer, Tolerance: 1e-15, Iterations: 1}
	r, err := tryReplay(t, trace(job, other), []epochs.NodeClass{nodes(1, 1, 1)}, newPolicy("round-robin"), epochs.Options{Solver: solver})
	if !errors.Is(err, queueing.ErrUnsettled) || r.Result.Completed != 0 || len(r.Epochs) != 1 {
		t.Errorf("error %v, %+v", err, r.Result)
	}
}
