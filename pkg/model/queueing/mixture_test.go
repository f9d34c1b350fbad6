package queueing_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/queueing"
)

var (
	studySets   = flag.Int("sets", 80, "random sets of classes that are compared with simulation")
	studyLength = flag.Float64("length", 40_000, "how long each is simulated, in service times of its slowest class")
	studyJobs   = flag.Float64("jobs", 500_000, "sets of which more jobs would have to be simulated are left out")
)

// arrivalOrder simulates the servers of a queue in order of arrival by the times at
// which they become free: Kiefer and Wolfowitz, "On the theory of queues with many servers",
// Transactions of the AMS 78 (1), 1955. Each job that arrives asks for a service of every
// class, to count how often each would take longer than its thresholds after the same
// wait; only its own keeps a server busy.
func (s simulation) arrivalOrder(seed uint64, thresholds [][]float64) [][][]float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	total, services := 0.0, make([]func() float64, len(s.classes))
	beyond := make([][][]float64, len(s.classes)) // [class][threshold][batch]
	for k, class := range s.classes {
		total += class.Arrival
		services[k] = sampler(class, r)
		beyond[k] = make([][]float64, len(thresholds[k]))
		for i := range beyond[k] {
			beyond[k][i] = make([]float64, batches)
		}
	}
	free := make([]float64, s.servers) // in ascending order
	now, size := 0.0, s.jobs/batches
	for n := -s.jobs / 10; n < batches*size; n++ {
		now += r.ExpFloat64() / total
		pick, own := r.Float64()*total, 0
		for own < len(s.classes)-1 && pick >= s.classes[own].Arrival {
			pick -= s.classes[own].Arrival
			own++
		}
		start := max(now, free[0])
		var end float64
		for k, service := range services {
			completed := start + service()
			if k == own {
				end = completed
			}
			for i, x := range thresholds[k] {
				if n >= 0 && completed-now > x {
					beyond[k][i][n/size] += 1 / float64(size)
				}
			}
		}
		at := 1
		for ; at < len(free) && free[at] < end; at++ {
			free[at-1] = free[at]
		}
		free[at-1] = end
	}
	return beyond
}

// classSet is a set of classes that share a queue.
type classSet struct {
	kind    string
	ratio   float64 // of the longest mean service time to the shortest
	servers int
	classes []queueing.Stream
}

// drawClassSet draws one to four classes with service times up to 1 : 1000 apart.
func drawClassSet(r *rand.Rand, n int) classSet {
	set := classSet{
		ratio:   []float64{1, 3, 10, 100, 1000}[n%5],
		servers: []int{1, 2, 3, 5, 8, 16, 40}[n/5%7],
	}
	variations := []float64{1}
	switch set.kind = []string{"scv 1", "scv 1 to 4", "scv 0.5 to 1", "scv 0 to 1"}[n%4]; set.kind {
	case "scv 1 to 4":
		variations = []float64{1, 2, 4}
	case "scv 0.5 to 1":
		variations = []float64{0.5, 0.75, 1}
	case "scv 0 to 1":
		variations = []float64{0, 0.25, 1}
	}
	count := 1
	if set.ratio > 1 {
		count = 2 + r.IntN(2)
	}
	load := 0.0
	for k := range count {
		c := queueing.Stream{Service: math.Pow(set.ratio, r.Float64()), SCV: variations[r.IntN(len(variations))]}
		if k < 2 {
			c.Service = math.Pow(set.ratio, float64(k))
		}
		c.Arrival = (0.05 + r.ExpFloat64()) * c.Service
		load += c.Arrival / c.Service
		set.classes = append(set.classes, c)
	}
	utilization := 0.5 + 0.43*r.Float64()
	for k := range set.classes {
		set.classes[k].Arrival *= utilization * float64(set.servers) / load
	}
	return set
}

func (s classSet) arrivals() float64 {
	sum := 0.0
	for _, c := range s.classes {
		sum += c.Arrival
	}
	return sum
}

// slowest returns the rate of service of the slowest class.
func (s classSet) slowest() float64 {
	least := math.Inf(1)
	for _, c := range s.classes {
		least = min(least, c.Service)
	}
	return least
}

// off returns by how much the probabilities of responses in time are off the simulated
// ones at most, and the same less what may be off by chance: five standard errors.
func (s classSet) off(t *testing.T, q *queueing.MGm, jobs int, seed uint64) (off, certain float64) {
	thresholds := make([][]float64, len(s.classes))
	for k, c := range s.classes {
		for _, p := range []float64{0.3, 0.6, 0.8, 0.9, 0.97} {
			thresholds[k] = append(thresholds[k], invert(func(x float64) float64 { return q.ResponseWithin(k, x) }, p)+1e-3/c.Service)
		}
	}
	beyond := simulation{servers: s.servers, classes: s.classes, jobs: jobs}.arrivalOrder(seed, thresholds)
	for k := range s.classes {
		for i, x := range thresholds[k] {
			e := estimated(beyond[k][i])
			by := math.Abs(q.ResponseBeyond(k, x) - e.mean)
			off, certain = max(off, by), max(certain, by-5*e.deviation)
		}
	}
	return off, certain
}

// Random sets of classes, simulated as long as there is time for; with longer service times
// of the slowest class it is the study of docs/evidence/sizing-accuracy.md.
func TestClassesOfDifferentTimesAgreeWithSimulation(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 4))
	worst, simulated := map[string]float64{}, 0
	for n := range *studySets {
		set := drawClassSet(r, n)
		q := mgm(t, set.servers, set.classes...)
		jobs := *studyLength * set.arrivals() / set.slowest()
		if jobs > *studyJobs {
			continue
		}
		simulated++
		off, certain := set.off(t, q, int(jobs), uint64(n))
		if certain > q.Error() {
			t.Errorf("%+v: off by %.4f, certainly by %.4f; the bound is %.4f", set, off, certain, q.Error())
		}
		for _, key := range []string{fmt.Sprintf("ratio %4v", set.ratio), fmt.Sprintf("servers %2v", set.servers), set.kind, fmt.Sprintf("%s, servers %2v, ratio %4v", set.kind, set.servers, set.ratio)} {
			worst[key] = max(worst[key], certain)
		}
	}
	t.Logf("%d sets of %d", simulated, *studySets)
	keys := make([]string, 0, len(worst))
	for key := range worst {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		t.Logf("%-40s off by %.3f", key, worst[key])
	}
}

// Rare long jobs among many short ones: a pool whose short jobs were once given half of the
// probability that they attain.
func TestShortJobsWaitForLongOnes(t *testing.T) {
	t.Parallel()
	classes := []queueing.Stream{{Arrival: 0.33, Service: 1, SCV: 1}, {Arrival: 57, Service: 100, SCV: 1}}
	for servers, want := range map[int]float64{1: 0.241, 2: 0.920} {
		q := mgm(t, servers, classes...)
		if got := q.ResponseWithin(1, 0.1); math.Abs(got-want) > 0.002 || q.Error() != 0 {
			t.Errorf("%d servers attain %.4f ± %v, want %.3f", servers, got, q.Error(), want)
		}
		set := classSet{servers: servers, classes: classes}
		if off, certain := set.off(t, q, 2_500_000, uint64(servers)); certain > 0 {
			t.Errorf("%d servers: off by %.4f, certainly by %.4f", servers, off, certain)
		}
	}
}
