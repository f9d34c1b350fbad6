package epochs_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/queueing"
)

// run replays, unless the solver has no answer.
func (d drawn) run(t *testing.T, rt *rapid.T) record {
	t.Helper()
	r, err := tryReplay(t, trace(d.jobs...), d.classes, newPolicy(d.policy), d.options)
	if errors.Is(err, queueing.ErrUnsettled) {
		rt.Skip(err)
	}
	if err != nil {
		rt.Fatal(err)
	}
	return r
}

// replays checks random replays by all solvers that are not for one special case.
func replays(t *testing.T, check func(*rapid.T, drawn, record)) {
	t.Helper()
	rapid.Check(t, func(rt *rapid.T) {
		d := drawReplay(rt)
		d.options.Solver.Solver = rapid.SampledFrom([]queueing.Solver{
			queueing.Auto, queueing.FirstOrder, queueing.Schweitzer, queueing.Linearizer,
		}).Draw(rt, "solver")
		check(rt, d, d.run(t, rt))
	})
}

func TestDemandDoneIsDemandAsked(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		for i := range drawnResources {
			done, asked := 0.0, 0.0
			for _, busy := range r.Result.Busy {
				if i < len(busy) {
					done += busy[i]
				}
			}
			for _, o := range r.Outcomes {
				demand := o.Type.Vector[i]
				asked += o.Neutral * demand.Loading * float64(max(1, demand.Threads)) / speed(d.classOf(o.Node), i)
			}
			if math.Abs(done-asked) > 1e-9*asked {
				t.Fatalf("resource %d: %v s were done, %v s asked for", i, done, asked)
			}
		}
	})
}

// In each epoch a job completes the fraction 1/λ of the time; in all, its time alone on its node.
func TestJobsDoWhatTheyWouldDoAlone(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		for _, o := range r.Outcomes {
			if want := alone(t, d.classOf(o.Node), &o.Job, d.options.Solver); !closeTo(o.Alone, want) {
				t.Fatalf("job %s would take %v alone, want %v", o.Name, o.Alone, want)
			}
			done := 0.0
			for _, e := range r.Epochs {
				if e.Node == o.Node && e.Start >= o.Start && e.End <= o.End {
					done += (e.End - e.Start) / e.Mix.Dilation(o.Type)
				}
			}
			if math.Abs(done-o.Alone) > 1e-9*max(1, o.End) {
				t.Fatalf("job %s did %v s, want %v", o.Name, done, o.Alone)
			}
			if o.Execution() < o.Alone-1e-9*max(1, o.End) || o.Dilation() < 1 {
				t.Fatalf("job %s took %v s, less than its neutral time of %v", o.Name, o.Execution(), o.Alone)
			}
			if o.Start < o.Arrival {
				t.Fatalf("job %s starts at %v, before it arrives at %v", o.Name, o.Start, o.Arrival)
			}
		}
	})
}

// Epochs of a node do not overlap, are none of no jobs, and come in order.
func TestEpochsTileTheBusyTimeOfANode(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		ends := make([]float64, d.nodes())
		jobSeconds, epochSeconds := 0.0, 0.0
		last := 0.0
		for _, e := range r.Epochs {
			if e.Start < ends[e.Node] || e.End <= e.Start || e.Mix.Jobs() == 0 || e.End < last {
				t.Fatalf("an epoch of %d jobs on node %d from %v to %v follows one that ended at %v", e.Mix.Jobs(), e.Node, e.Start, e.End, ends[e.Node])
			}
			ends[e.Node], last = e.End, e.End
			epochSeconds += (e.End - e.Start) * float64(e.Mix.Jobs())
		}
		for _, o := range r.Outcomes {
			jobSeconds += o.Execution()
		}
		if !closeTo(epochSeconds, jobSeconds) {
			t.Fatalf("jobs ran for %v s, in epochs for %v", jobSeconds, epochSeconds)
		}
	})
}

// No schedule is shorter than its longest job, or than its work by the servers that
// there are; none is longer than the arrivals and all work one after the other.
func TestTheMakespanKeepsItsBounds(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		if len(r.Drops) > 0 {
			t.Skip("the first or the last may not have been replayed")
		}
		first, last := d.jobs[0].Arrival, d.jobs[len(d.jobs)-1].Arrival
		longest, sum := 0.0, 0.0
		for _, o := range r.Outcomes {
			longest = max(longest, o.Arrival+o.Alone-first)
			sum += o.Alone
		}
		for i := range drawnResources {
			servers, busy := 0, 0.0
			for _, class := range d.classes {
				if i < len(class.Servers) {
					servers += class.Count * class.Servers[i]
				}
			}
			for _, o := range r.Outcomes {
				// What presses less than it loads need not keep a server busy.
				demand := o.Type.Vector[i]
				busy += o.Neutral * min(demand.Loading, demand.Pressure) * float64(max(1, demand.Threads)) / speed(d.classOf(o.Node), i)
			}
			if servers > 0 {
				longest = max(longest, busy/float64(servers))
			}
		}
		got := r.Result.Makespan()
		// A job is dilated by the threads on its node at most: while something runs,
		// at least the fraction 1/threads of a second is done in each.
		if most := last - first + drawnThreads*sum; got < longest*(1-1e-9) || got > most*(1+1e-9)+1e-9 {
			t.Fatalf("the makespan is %v, want %v to %v", got, longest, most)
		}
	})
}

func TestEveryJobIsAccountedForOnce(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		seen := map[string]int{}
		last := 0.0
		for _, o := range r.Outcomes {
			seen[o.Name]++
			if o.End < last {
				t.Fatalf("job %s ends at %v, and is told of after one that ends at %v", o.Name, o.End, last)
			}
			last = o.End
		}
		for _, drop := range r.Drops {
			seen[drop.Name]++
		}
		for _, j := range d.jobs {
			if seen[j.Name] != 1 {
				t.Fatalf("job %s completed or was dropped %d times", j.Name, seen[j.Name])
			}
		}
		if got := r.Result; got.Completed != len(r.Outcomes) || got.Dropped != len(r.Drops) ||
			got.FirstArrival != d.jobs[0].Arrival || got.LastEnd != max(last, got.FirstArrival) {
			t.Fatalf("%d outcomes, %d drops, the last at %v; the result is %+v", len(r.Outcomes), len(r.Drops), last, got)
		}
	})
}

// A job is dropped if, and only if, no empty node can take it. No policy of ours
// refuses an idle cluster.
func TestExactlyTheJobsAreDroppedThatNoNodeCanTake(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		for _, j := range d.jobs {
			taken := false
			for i := range d.classes {
				taken = taken || suits(&d.classes[i], &j, make([]float64, drawnCapacities), 0)
			}
			dropped := false
			for _, drop := range r.Drops {
				dropped = dropped || drop.Name == j.Name
			}
			if taken == dropped {
				t.Fatalf("job %s: a node can take it is %v, it was dropped is %v", j.Name, taken, dropped)
			}
		}
	})
}

func TestNoNodeIsFilledBeyondItsLimits(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		for _, time := range r.between() {
			for node := range d.nodes() {
				class := d.classOf(node)
				requested, running := r.at(node, time)
				if class.MaxJobs > 0 && running > class.MaxJobs {
					t.Fatalf("%d jobs run on node %d at %v, at most %d may", running, node, time, class.MaxJobs)
				}
				for i, capacity := range class.Capacity {
					if requested[i] > capacity*(1+1e-8) {
						t.Fatalf("%v of %v are requested on node %d at %v", requested[i], capacity, node, time)
					}
				}
			}
		}
		for _, o := range r.Outcomes {
			if !suits(d.classOf(o.Node), &o.Job, make([]float64, drawnCapacities), 0) {
				t.Fatalf("job %s ran on node %d, which lacks what it needs", o.Name, o.Node)
			}
		}
	})
}

// While jobs wait no node has room: for any of them, or with FIFO for the first.
func TestJobsWaitOnlyWhileNoNodeHasRoom(t *testing.T) {
	t.Parallel()
	replays(t, func(t *rapid.T, d drawn, r record) {
		if d.policy == "lmuf-t" {
			t.Skip("its jobs wait for a node that is not too busy")
		}
		starts := map[string]float64{}
		for _, o := range r.Outcomes {
			starts[o.Name] = o.Start
		}
		for _, time := range r.between() {
			for _, j := range d.jobs { // in the order of the queue
				if start, ran := starts[j.Name]; !ran || j.Arrival > time || start <= time {
					continue
				}
				for node := range d.nodes() {
					if requested, running := r.at(node, time); suits(d.classOf(node), &j, requested, running) {
						t.Fatalf("job %s waits at %v from %v to %v, and node %d has room", j.Name, time, j.Arrival, starts[j.Name], node)
					}
				}
				if d.options.FIFO {
					break
				}
			}
		}
	})
}
