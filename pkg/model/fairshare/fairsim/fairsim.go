package fairsim

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Group is a group of a tree, or a workload if it has no members.
type Group struct {
	// Share is its weight among its siblings, above 0.
	Share float64
	// Rate is how many jobs of a workload arrive per second, at random, above 0.
	Rate float64
	// Service draws the service time of a job of a workload, in seconds.
	Service func(*rand.Rand) float64
	// Members are those of a group.
	Members []Group
}

// Exponential returns service times with a mean and the memoryless distribution.
func Exponential(mean float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return mean * r.ExpFloat64() }
}

// Constant returns service times that are all the same.
func Constant(service float64) func(*rand.Rand) float64 {
	return func(*rand.Rand) float64 { return service }
}

// Estimate is what was measured of one workload.
type Estimate struct {
	// Response is the mean response time in seconds.
	Response float64
	// Deviation is the standard deviation of that mean.
	Deviation float64
	// Jobs is how many were seen.
	Jobs int
}

// parts is how many parts a simulation has; the spread between them gives the
// deviation. Each starts and ends empty, so they are independent.
const parts = 100

// Simulate lets jobs come to some processors until there were at least a number of them, and
// returns an estimate per workload, in the order of the tree. It returns an error if the
// arguments make no sense, and that of ctx when it ends first.
func Simulate(ctx context.Context, root Group, processors, jobs int, random *rand.Rand) ([]Estimate, error) {
	s := &simulation{random: random, processors: processors}
	if err := s.collect(root, nil); err != nil {
		return nil, err
	}
	if processors < 1 || jobs < parts {
		return nil, fmt.Errorf("%d processors and %d jobs: there have to be at least 1 and %d", processors, jobs, parts)
	}
	totals := make([]tally, len(s.workloads))
	series := make([][]tally, len(s.workloads))
	for part := range parts {
		s.tallies = make([]tally, len(s.workloads))
		for s.seen < (part+1)*(jobs/parts) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s.busyPeriod()
		}
		for w, t := range s.tallies {
			totals[w].jobs += t.jobs
			totals[w].time += t.time
			series[w] = append(series[w], t)
		}
	}
	estimates := make([]Estimate, len(totals))
	for w, total := range totals {
		estimates[w] = total.estimate(series[w])
	}
	return estimates, nil
}

// tally is the jobs of one workload that left, and the sum of their response times.
type tally struct {
	jobs int
	time float64
}

// estimate returns the ratio of the sums, with the deviation of a ratio estimator.
func (t tally) estimate(series []tally) Estimate {
	mean := t.time / float64(t.jobs)
	squares := 0.0
	for _, part := range series {
		off := part.time - mean*float64(part.jobs)
		squares += off * off
	}
	n := float64(len(series))
	return Estimate{Response: mean, Deviation: math.Sqrt(squares*n/(n-1)) / float64(t.jobs), Jobs: t.jobs}
}

// job is one that has not left.
type job struct {
	workload int
	arrived  float64
	left     float64 // of its service
}

type workload struct {
	Group
	path []int // the nodes from below the root down
}

type simulation struct {
	random     *rand.Rand
	processors int
	workloads  []workload
	shares     []float64 // per node
	tallies    []tally
	seen       int
}

// collect lists the nodes and workloads of a tree.
func (s *simulation) collect(g Group, path []int) error {
	if len(g.Members) == 0 {
		if !(g.Rate > 0) || g.Service == nil {
			return fmt.Errorf("workload %d: rate %v: jobs have to arrive and to be served", len(s.workloads), g.Rate)
		}
		s.workloads = append(s.workloads, workload{g, path})
		return nil
	}
	for _, member := range g.Members {
		if !(member.Share > 0) {
			return fmt.Errorf("node %d: share %v is not above 0", len(s.shares), member.Share)
		}
		s.shares = append(s.shares, member.Share)
		if err := s.collect(member, append(slices.Clone(path), len(s.shares)-1)); err != nil {
			return err
		}
	}
	return nil
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
		next[w] = s.random.ExpFloat64() / s.workloads[w].Rate
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
		line = slices.Insert(line, at, job{arriving, now, s.workloads[arriving].Service(s.random)})
		next[arriving] = now + s.random.ExpFloat64()/s.workloads[arriving].Rate
	}
}

func (s *simulation) leave(j job, now float64) {
	s.tallies[j.workload].jobs++
	s.tallies[j.workload].time += now - j.arrived
}
