package fairshare_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// This file simulates the standard model of fair share, event by event: jobs arrive, are
// put in line by the priority of their workload, preempt each other, and leave. It shares
// no code with package fairshare, which computes what it measures, so that either can
// show that the other is wrong.
//
// The order of priorities changes at the only moments when that leaves no trace: when a
// job finds the system idle. A busy period lasts as long and brings as many jobs whatever
// the order, with one processor or with exponential service times, so the mean response
// time over many of them is the mean over orders, weighted by their probabilities.

// measured is the mean response time of one workload.
type measured struct {
	response  float64
	deviation float64 // the standard deviation of that mean
}

// parts is how many parts a simulation has; the spread between them gives the
// deviation. Each starts and ends empty, so they are independent.
const parts = 100

// simulate lets jobs come to some processors until there were at least a number of them, and
// returns what it measured of each workload, in the order of the tree.
func simulate(root *fairshare.Group, processors, jobs int, random *rand.Rand) []measured {
	s := &simulation{random: random, processors: processors}
	s.collect(root, nil)
	totals := make([]tally, len(s.workloads))
	series := make([][]tally, len(s.workloads))
	for part := range parts {
		s.tallies = make([]tally, len(s.workloads))
		for s.seen < (part+1)*(jobs/parts) {
			s.busyPeriod()
		}
		for w, t := range s.tallies {
			totals[w].jobs += t.jobs
			totals[w].time += t.time
			series[w] = append(series[w], t)
		}
	}
	means := make([]measured, len(totals))
	for w, total := range totals {
		means[w] = total.mean(series[w])
	}
	return means
}

// tally is the jobs of one workload that left, and the sum of their response times.
type tally struct {
	jobs int
	time float64
}

// mean returns the ratio of the sums, with the deviation of a ratio estimator.
func (t tally) mean(series []tally) measured {
	mean := t.time / float64(t.jobs)
	squares := 0.0
	for _, part := range series {
		off := part.time - mean*float64(part.jobs)
		squares += off * off
	}
	n := float64(len(series))
	return measured{mean, math.Sqrt(squares*n/(n-1)) / float64(t.jobs)}
}

// job is one that has not left.
type job struct {
	workload int
	arrived  float64
	left     float64 // of its service
}

// source is a workload.
type source struct {
	rate    float64                  // of arrivals per second
	service func(*rand.Rand) float64 // draws the service time of a job
	path    []int                    // the nodes from below the root down
}

type simulation struct {
	random     *rand.Rand
	processors int
	workloads  []source
	shares     []float64 // per node
	tallies    []tally
	seen       int
}

// collect lists the nodes and workloads of a tree.
func (s *simulation) collect(g *fairshare.Group, path []int) {
	if g.Children == nil {
		s.workloads = append(s.workloads, sourceOf(g, path))
	}
	for _, member := range g.Children {
		s.shares = append(s.shares, member.Share)
		s.collect(member, append(slices.Clone(path), len(s.shares)-1))
	}
}

// sourceOf returns a source of jobs with service times of the moments of a workload.
func sourceOf(g *fairshare.Group, path []int) source {
	mean := cmp.Or(g.Service, 1)
	s := source{g.Utilization / mean, func(r *rand.Rand) float64 { return mean * r.ExpFloat64() }, path}
	if g.SecondMoment > 0 {
		s.service = func(*rand.Rand) float64 { return mean }
		if variance := g.SecondMoment - mean*mean; variance > 1e-9 {
			s.service = twoPoints(mean, variance)
		}
	}
	return s
}

// ranks draws an order: every node rings after a random time, in proportion to the
// inverse of its share, and the workloads are ordered by when the nodes around them rang,
// from the outermost in.
func (s *simulation) ranks() []int {
	clocks := make([]float64, len(s.shares))
	for k, share := range s.shares {
		clocks[k] = s.random.ExpFloat64() / share
	}
	order := make([]int, len(s.workloads))
	for w := range order {
		order[w] = w
	}
	slices.SortFunc(order, func(a, b int) int {
		return slices.CompareFunc(s.workloads[a].path, s.workloads[b].path, func(x, y int) int {
			switch {
			case clocks[x] < clocks[y]:
				return -1
			case clocks[x] > clocks[y]:
				return 1
			}
			return 0
		})
	})
	ranks := make([]int, len(order))
	for rank, w := range order {
		ranks[w] = rank
	}
	return ranks
}

// busyPeriod simulates from the arrival of a job at an idle system until it is idle again.
func (s *simulation) busyPeriod() {
	ranks := s.ranks()
	now := 0.0
	next := make([]float64, len(s.workloads)) // arrivals
	for w := range next {
		next[w] = s.random.ExpFloat64() / s.workloads[w].rate
	}
	var line []job // by rank, then by arrival
	for first := true; first || len(line) > 0; first = false {
		arriving := 0
		for w := range next {
			if next[w] < next[arriving] {
				arriving = w
			}
		}
		leaving, leaves := -1, math.Inf(1)
		served := min(s.processors, len(line))
		for i := range served {
			if at := now + line[i].left; at < leaves {
				leaving, leaves = i, at
			}
		}
		then := min(leaves, next[arriving])
		for i := range served {
			line[i].left -= then - now
		}
		now = then
		if leaves <= next[arriving] {
			s.leave(line[leaving], now)
			line = slices.Delete(line, leaving, leaving+1)
			continue
		}
		s.seen++
		at := len(line)
		for at > 0 && ranks[line[at-1].workload] > ranks[arriving] {
			at--
		}
		line = slices.Insert(line, at, job{arriving, now, s.workloads[arriving].service(s.random)})
		next[arriving] = now + s.random.ExpFloat64()/s.workloads[arriving].rate
	}
}

func (s *simulation) leave(j job, now float64) {
	s.tallies[j.workload].jobs++
	s.tallies[j.workload].time += now - j.arrived
}

// twoPoints returns service times with a mean and variance that are either long, one in
// ten, or short.
func twoPoints(mean, variance float64) func(*rand.Rand) float64 {
	const rare = 0.1
	long := mean + math.Sqrt(variance*(1-rare)/rare)
	short := mean - math.Sqrt(variance*rare/(1-rare))
	return func(r *rand.Rand) float64 {
		if r.Float64() < rare {
			return long
		}
		return short
	}
}
