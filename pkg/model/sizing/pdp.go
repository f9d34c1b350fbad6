package sizing

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/pkg/model/queueing"
)

// verdict is the result of a simulation for a number of servers.
type verdict int

const (
	undecided verdict = iota
	misses            // the SLA of some class
	meets             // the SLAs of all
)

// trial is a pool that was simulated with some number of servers.
type trial struct {
	attained, halfWidth []float64
	verdict             verdict
}

// simulator tries numbers of servers.
type simulator struct {
	classes []Class
	options Options
	load    float64
	tried   map[int]trial
}

// sure reports whether the SLAs are met even if all jobs that wait are late. In the end
// that is so with enough servers, however near to its bound an SLA is.
func (s *simulator) sure(servers int) (bool, error) {
	q, err := queueing.NewMGm(streams(s.classes), servers)
	if err != nil {
		return false, err
	}
	for _, c := range s.classes {
		if (1-q.WaitProbability())*c.Bound() < c.SLA.Probability {
			return false, nil
		}
	}
	return true, nil
}

// control is a statistic of a simulation whose mean is known: that some number of jobs
// or more is found waiting. When all are served at one rate, that does not depend on the
// order in which they are. What is late by chance goes with it, and is corrected for.
type control struct {
	crowds []int     // the number for each class: those who are served within its time
	known  []float64 // the probability of each; nil if there is no control
}

func (s *simulator) control(servers int) (control, error) {
	if !uniform(s.classes) {
		return control{}, nil
	}
	rate := s.classes[0].Service
	q, err := queueing.NewMMm(arrivals(s.classes), rate, servers)
	if err != nil {
		return control{}, err
	}
	c := control{}
	for _, class := range s.classes {
		crowd := int(max(0, (class.SLA.Within-1/rate)*rate*float64(servers)))
		c.crowds = append(c.crowds, crowd)
		c.known = append(c.known, q.WaitProbability()*math.Pow(q.Utilization(), float64(crowd)))
	}
	return c, nil
}

func newSimulator(classes []Class, o Options) (*simulator, error) {
	s := &simulator{classes: classes, options: o, tried: map[int]trial{}}
	for k, c := range classes {
		if c.scv() != 1 {
			return nil, fmt.Errorf("classes[%d].scv: %v: %v is simulated with exponential service times only; leave scv out", k, c.SCV, o.Discipline)
		}
		s.load += c.load()
	}
	return s, nil
}

// simulate sizes the pool. What it attains is taken to grow with its servers.
func (p *Pool) simulate(ctx context.Context, classes []Class, atLeast int, o Options) error {
	s, err := newSimulator(classes, o)
	if err != nil {
		return err
	}
	fewest, m, err := s.bounds(atLeast)
	if err != nil {
		return err
	}
	if m, err = s.smallest(ctx, fewest, m); err != nil {
		return err
	}
	answer := s.tried[m]
	more, err := s.try(ctx, m+1)
	if err != nil {
		return err
	}
	p.Servers, p.Attained, p.HalfWidth, p.WithMore = m, answer.attained, answer.halfWidth, more.attained
	if float64(m-1) <= s.load {
		return nil
	}
	fewer, err := s.try(ctx, m-1)
	if err != nil {
		return err
	}
	p.WithFewer, p.Undecided = fewer.attained, fewer.verdict == undecided
	p.Binding = furthestBelow(classes, fewer.attained)
	return nil
}

// smallest returns the smallest number of servers, at least fewest, that meets the
// SLAs, looking up and down from m.
func (s *simulator) smallest(ctx context.Context, fewest, m int) (int, error) {
	t, err := s.try(ctx, m)
	for err == nil && t.verdict != meets {
		m++
		t, err = s.try(ctx, m)
	}
	for ; err == nil && m > fewest; m-- {
		if t, err = s.try(ctx, m-1); t.verdict != meets {
			break
		}
	}
	return m, err
}

// bounds returns the fewest servers that may do, and a number to try first: the need when jobs are
// served in order of arrival.
func (s *simulator) bounds(atLeast int) (fewest, first int, err error) {
	fewest = max(atLeast, int(s.load)+1)
	var fifo Pool
	if err := fifo.analyze(s.classes, 1, Options{MaxServers: s.options.MaxServers, Work: s.options.Work}); err != nil {
		return 0, 0, err
	}
	if s.options.Discipline == PDP {
		for _, c := range s.classes {
			var alone Pool
			if err := alone.analyze([]Class{c}, 1, Options{MaxServers: s.options.MaxServers, Work: s.options.Work}); err != nil {
				return 0, 0, err
			}
			fewest = max(fewest, alone.Servers)
		}
	}
	return fewest, max(fewest, fifo.Servers-1), nil
}

// try simulates a number of servers until the confidence intervals decide whether the
// SLAs are met, or the budget is spent.
func (s *simulator) try(ctx context.Context, servers int) (trial, error) {
	if t, ok := s.tried[servers]; ok {
		return t, nil
	}
	if float64(servers) <= s.load {
		return trial{}, fmt.Errorf("%w: a load of %v keeps %d servers busy all the time", queueing.ErrUnstable, s.load, servers)
	}
	budget := s.options.Simulation
	var tallies [][]tally
	control, err := s.control(servers)
	if err != nil {
		return trial{}, err
	}
	sure, err := s.sure(servers)
	if err != nil {
		return trial{}, err
	}
	t := trial{}
	most := budget.replications()
	if sure {
		most = roundReplications // to estimate what it attains; the verdict is decided
	}
	for round := roundReplications; t.verdict == undecided && len(tallies) < most; round *= 2 {
		more, err := s.replicate(ctx, servers, control.crowds, len(tallies), min(round, most))
		if err != nil {
			return trial{}, err
		}
		tallies = append(tallies, more...)
		t = s.judge(tallies, control.known)
		if budget.Progress != nil {
			budget.Progress(Progress{len(s.classes), servers, len(tallies)})
		}
	}
	if t.verdict == undecided && sure {
		t.verdict = meets
	}
	s.tried[servers] = t
	return t, nil
}

// replicate plays the replications from one number to another, several at a time.
func (s *simulator) replicate(ctx context.Context, servers int, crowds []int, from, to int) ([][]tally, error) {
	jobs := s.options.Simulation.jobs(s.load / float64(servers))
	// A job is drawn, waits for its turn among the classes, and is served.
	if err := s.options.Work.spend(float64(to-from) * float64(jobs) * (2 + float64(len(s.classes))/4)); err != nil {
		return nil, err
	}
	tallies := make([][]tally, to-from)
	numbers := make(chan int)
	var workers sync.WaitGroup
	count := s.options.Simulation.Workers
	if count == 0 {
		count = runtime.GOMAXPROCS(0)
	}
	for range min(count, to-from) {
		workers.Go(func() {
			for n := range numbers {
				r := newReplication(s.classes, s.options.Discipline == LateLast, crowds, s.options.Simulation.Seed, n)
				tallies[n-from] = r.run(servers, jobs/10, jobs, ctx.Done())
			}
		})
	}
	for n := from; n < to && ctx.Err() == nil; n++ {
		numbers <- n
	}
	close(numbers)
	workers.Wait()
	return tallies, ctx.Err()
}

// judge compares the probabilities attained in replications with the SLAs.
func (s *simulator) judge(tallies [][]tally, known []float64) trial {
	t := trial{attained: make([]float64, len(s.classes)), halfWidth: make([]float64, len(s.classes)), verdict: meets}
	for k, c := range s.classes {
		if c.Arrival == 0 {
			t.attained[k] = c.Bound() // as with an idle server: no job makes it wait
			continue
		}
		series := make([]tally, len(tallies))
		for i := range tallies {
			series[i] = tallies[i][k]
		}
		var control *float64
		if known != nil {
			control = &known[k]
		}
		t.attained[k], t.halfWidth[k] = interval(series, control, s.options.Simulation.confidence())
		switch {
		case t.attained[k]+t.halfWidth[k] < c.SLA.Probability:
			t.verdict = misses
		case t.attained[k]-t.halfWidth[k] < c.SLA.Probability && t.verdict == meets:
			t.verdict = undecided
		}
	}
	return t
}

// interval returns the middle and half the width of the confidence interval of the probability of a
// class: the ratio of sums over replications, less the part of its error that the control explains,
// if its mean is known.
func interval(series []tally, known *float64, confidence float64) (middle, half float64) {
	within, total := 0.0, 0
	for _, t := range series {
		within += t.within
		total += t.total
	}
	if total == 0 {
		return 0, 1
	}
	n := float64(len(series))
	middle = within / float64(total)
	errs, control := make([]float64, len(series)), make([]float64, len(series))
	for i, t := range series {
		errs[i] = (t.within - middle*float64(t.total)) / (float64(total) / n)
		if known != nil {
			control[i] = float64(t.crowded)/float64(t.arrived) - *known
		}
	}
	freedom := n - 1
	if variance := stat.Variance(control, nil); variance > 0 {
		slope := stat.Covariance(errs, control, nil) / variance
		middle -= slope * stat.Mean(control, nil)
		for i := range errs {
			errs[i] -= slope * control[i]
		}
		freedom--
	}
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
	half = student * stat.StdDev(errs, nil) / math.Sqrt(n) * math.Sqrt((n-1)/freedom)
	// where none of these jobs waits, some of more jobs may
	half = max(half, -math.Log(1-confidence)/float64(total))
	return min(1, max(0, middle)), half
}
