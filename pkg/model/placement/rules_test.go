package placement_test

import (
	"math"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/oracle"
)

// The quantities that policies minimize, computed from all starts on a machine, and not from the
// node's state.

// running returns the runs that are not yet done, when they will be if no job
// arrives, and their vectors.
func (m *machine) running(t *testing.T, now float64) (runs []mix.Run, ends []float64, vectors []loading.Vector) {
	t.Helper()
	all := completionsOf(t, m, m.runs)
	for j, r := range m.runs {
		if all[j] > now {
			runs, ends, vectors = append(runs, r), append(ends, all[j]), append(vectors, r.Vector)
		}
	}
	return runs, ends, vectors
}

func completionsOf(t *testing.T, m *machine, runs []mix.Run) []float64 {
	t.Helper()
	ends, err := mix.CompletionsBy(runs, m.Class.Servers, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return ends
}

// workLeft is the remaining time alone of the running jobs: the whole time of each, less the work
// done, in each epoch the time over its dilation then.
func workLeft(t *testing.T, c cluster, m *machine) float64 {
	t.Helper()
	left := make([]float64, len(m.runs))
	for j, r := range m.runs {
		left[j] = r.Neutral
	}
	ends := completionsOf(t, m, m.runs)
	var events []float64
	for j, r := range m.runs {
		events = append(events, r.Start, ends[j])
	}
	events = append(events, c.now)
	slices.Sort(events)
	for e := 1; e < len(events) && events[e] <= c.now; e++ {
		var mix []loading.Vector
		var who []int
		for j, r := range m.runs {
			if r.Start <= events[e-1] && ends[j] > events[e-1] {
				mix, who = append(mix, r.Vector), append(who, j)
			}
		}
		prediction, err := contention.Predict(mix, m.Class.Servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k, j := range who {
			left[j] -= (events[e] - events[e-1]) / prediction.Dilations[k]
		}
	}
	sum := 0.0
	for j := range left {
		if ends[j] > c.now {
			sum += left[j]
		}
	}
	return sum
}

// scored are the two capacities of the machines.
var scored = []placement.Scored{placement.ScoredCPU(0), {Capacity: 1, Units: 1000, Missing: 200}}

// leastAllocated is the rule of kube-scheduler, with minus the score as the cost; and
// where requests do not fit, by how much.
func leastAllocated(t *testing.T, c cluster, m *machine) float64 {
	t.Helper()
	total, known, lacking := 0, 0, 0.0
	for _, s := range scored {
		whole := func(amount float64) int { return int(math.Round(amount * s.Units)) }
		allocatable := whole(m.Allocatable[s.Capacity])
		if allocatable == 0 {
			continue
		}
		asked, counted, own := 0.0, 0, 0
		for _, j := range append(m.still(t, c.now), c.job) {
			own = 0
			if s.Capacity < len(j.Requests) && j.Requests[s.Capacity] > 0 {
				own = whole(j.Requests[s.Capacity])
				asked += j.Requests[s.Capacity]
			} else {
				counted += int(s.Missing)
			}
		}
		counted += whole(asked)
		if own > 0 {
			lacking = max(lacking, float64(whole(asked)-allocatable)/float64(allocatable))
		}
		total += 100 * max(0, allocatable-counted) / allocatable
		known++
	}
	if lacking > 0 {
		return lacking
	}
	return -float64(total / max(1, known))
}

// still returns the jobs that run.
func (m *machine) still(t *testing.T, now float64) []*placement.Job {
	t.Helper()
	var jobs []*placement.Job
	for j, end := range completionsOf(t, m, m.runs) {
		if end > now {
			jobs = append(jobs, m.jobs[j])
		}
	}
	return jobs
}

// utilizations are those of the machine's resources now.
func (m *machine) utilizations(t *testing.T, now float64) []float64 {
	t.Helper()
	_, _, vectors := m.running(t, now)
	prediction, err := contention.Predict(vectors, m.Class.Servers, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := make([]float64, len(m.Class.Servers))
	for j, v := range vectors {
		response := prediction.Dilations[j] * m.alone(v)
		for i, d := range v {
			u[i] += d.Loading * float64(max(1, d.Threads)) / response / float64(m.Class.Servers[i])
		}
	}
	return u
}

func busiest(t *testing.T, c cluster, m *machine) float64 {
	t.Helper()
	return slices.Max(m.utilizations(t, c.now))
}

// packing is the formula of the published plugin, at the first resource; the
// highest score is the least cost. It is a fraction, as utilizations are.
func packing(target float64) func(t *testing.T, c cluster, m *machine) float64 {
	return func(t *testing.T, c cluster, m *machine) float64 {
		t.Helper()
		own := m.run(c.now, c.job).Vector[0]
		u := 100 * (m.utilizations(t, c.now)[0] + own.Loading*float64(max(1, own.Threads))/float64(m.Class.Servers[0]))
		x := 100 * target
		switch {
		case u > 100:
			return 0
		case u > x:
			return -x * (100 - u) / (100 - x) / 100
		default:
			return -((100-x)*u/x + x) / 100
		}
	}
}

// growthOfWait is ΔW by enumeration of the threads' places, before and after.
func growthOfWait(t *testing.T, c cluster, m *machine) float64 {
	t.Helper()
	_, _, vectors := m.running(t, c.now)
	with := append(slices.Clone(vectors), m.run(c.now, c.job).Vector)
	return oracle.TotalWait(m.Class.Servers, with) - oracle.TotalWait(m.Class.Servers, vectors)
}

func completionOfTheJob(t *testing.T, c cluster, m *machine) float64 {
	t.Helper()
	ends := completionsOf(t, m, append(slices.Clone(m.runs), m.run(c.now, c.job)))
	return ends[len(ends)-1] - c.now
}

func completionOfAll(t *testing.T, c cluster, m *machine) float64 {
	t.Helper()
	last := math.Inf(-1)
	for _, end := range completionsOf(t, m, append(slices.Clone(m.runs), m.run(c.now, c.job))) {
		last = max(last, end)
	}
	return last - c.now
}
