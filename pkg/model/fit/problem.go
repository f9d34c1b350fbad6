package fit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// table holds the observations, with jobs as numbers.
type table struct {
	jobs    []string // in alphabetical order
	runs    []Run
	members [][]int // per run, the job of each member

	weighing *weighing // nil if all share alike
}

// newTable numbers the jobs of runs and of beliefs.
func newTable(runs []Run, beliefs map[string]Belief) *table {
	t := &table{runs: runs, members: make([][]int, len(runs))}
	index := map[string]int{}
	for name := range beliefs {
		index[name] = 0
	}
	for _, r := range runs {
		for _, m := range r.Members {
			index[m.Job] = 0
		}
	}
	t.jobs = slices.Sorted(maps.Keys(index))
	for j, name := range t.jobs {
		index[name] = j
	}
	for r, run := range runs {
		t.members[r] = make([]int, len(run.Members))
		for a, m := range run.Members {
			t.members[r][a] = index[m.Job]
		}
	}
	return t
}

// allRuns returns the numbers of all runs.
func (t *table) allRuns() []int {
	all := make([]int, len(t.runs))
	for r := range all {
		all[r] = r
	}
	return all
}

// largest returns the number of members of the largest run.
func (t *table) largest() int {
	largest := 0
	for _, m := range t.members {
		largest = max(largest, len(m))
	}
	return largest
}

// sample is one measured dilation of a job in company.
type sample struct {
	run, member int
	job         int
	others      []company
	dilation    float64
	weight      float64 // of the squared absolute error: relative, and more for longer runs
}

// company is a job that others ran with, and in how many copies.
type company struct{ job, copies int }

// appearance is a sample in which a job is among the others.
type appearance struct{ sample, copies int }

// problem is a set of runs prepared for fitting.
type problem struct {
	*table
	use      []int // the runs, by number
	samples  []sample
	suffers  [][]int        // per job, the samples of its own dilation
	inflicts [][]appearance // per job, the samples that it may have dilated
	unit     float64        // the information in a typical observation
}

// leastExcess is the smallest excess dilation that counts for the unit of
// information.
const leastExcess = 1e-3

// newProblem prepares those runs of the table that use lists.
func newProblem(t *table, use []int) *problem {
	p := &problem{table: t, use: use, suffers: make([][]int, len(t.jobs)), inflicts: make([][]appearance, len(t.jobs))}
	typical := typicalSeconds(t, use)
	for _, r := range use {
		run, members := t.runs[r], t.members[r]
		if len(members) < 2 {
			continue // no other job to learn about
		}
		for a, m := range run.Members {
			if !m.measured() {
				continue
			}
			s := sample{run: r, member: a, job: members[a], others: othersOf(members, a), dilation: m.Dilation}
			s.weight = durationWeight(m.Seconds, typical) / (m.Dilation * m.Dilation)
			o := len(p.samples)
			p.samples = append(p.samples, s)
			p.suffers[s.job] = append(p.suffers[s.job], o)
			for _, c := range s.others {
				p.inflicts[c.job] = append(p.inflicts[c.job], appearance{o, c.copies})
			}
			p.unit += s.weight * max(leastExcess, m.Dilation-1)
		}
	}
	p.unit /= float64(max(1, len(p.samples)))
	return p
}

// companies returns in how many different companies the dilations of the jobs were
// measured, over all jobs.
func (p *problem) companies() int {
	seen := map[string]bool{}
	for _, s := range p.samples {
		seen[s.company()] = true
	}
	return len(seen)
}

// company returns a key that is equal for samples of one job in equal company.
func (s *sample) company() string {
	others := slices.Clone(s.others)
	slices.SortFunc(others, func(x, y company) int { return cmp.Compare(x.job, y.job) })
	return fmt.Sprint(s.job, others)
}

// othersOf returns the company of one member of a run.
func othersOf(members []int, member int) []company {
	others := make([]company, 0, len(members)-1)
	for b, job := range members {
		if b == member {
			continue
		}
		if i := slices.IndexFunc(others, func(c company) bool { return c.job == job }); i >= 0 {
			others[i].copies++
			continue
		}
		others = append(others, company{job, 1})
	}
	return others
}

// typicalSeconds returns the median of the known durations, or 0.
func typicalSeconds(t *table, use []int) float64 {
	var known []float64
	for _, r := range use {
		for _, m := range t.runs[r].Members {
			if m.measured() && m.Seconds > 0 {
				known = append(known, m.Seconds)
			}
		}
	}
	if len(known) == 0 {
		return 0
	}
	slices.Sort(known)
	return known[len(known)/2]
}

// durationWeight returns how much an observation counts for its duration: the
// square root of its share of the typical one, from ⅓ to 3. Not the share
// itself, for the noise of a run has a part that does not average out.
func durationWeight(seconds, typical float64) float64 {
	if seconds == 0 || typical == 0 {
		return 1
	}
	return min(3, max(1.0/3, math.Sqrt(seconds/typical)))
}
