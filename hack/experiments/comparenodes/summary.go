package main

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/hack/experiments/program"
)

// figure is a time in an account of which the ratio together to alone is compared.
type figure func(*program.Account) float64

func roundTime(a *program.Account) float64 { return a.Round }
func workTime(a *program.Account) float64  { return a.Work }
func workP95(a *program.Account) float64   { return a.WorkP95 }

// dilations returns a figure of each pod of a turn over that of the program alone on the same node.
func (r *Results) dilations(t *Turn, f figure) []float64 {
	all := make([]float64, len(t.Accounts))
	for i, a := range t.Accounts {
		all[i] = f(a) / r.alone(r.Batches[t.Batch][i].Program, t.Nodes[i], f)
	}
	return all
}

// alike reports whether two placements are the same, or would be if the nodes were exchanged.
func alike(a, b []string) bool {
	for i := range a {
		for k := range i {
			if (a[i] == a[k]) != (b[i] == b[k]) {
				return false
			}
		}
	}
	return len(a) == len(b)
}

// measured is a batch as a scheduler placed it, over all turns with a placement alike.
type measured struct {
	turns []*Turn
	// dilations are those of the pods, and mean is their mean.
	dilations []float64
	mean      float64
}

// batches returns, for each batch that all schedulers have placed, what was measured of each scheduler. Schedulers that placed a
// batch alike share all that was measured of it.
func (r *Results) batches(f figure) []map[string]measured {
	var all []map[string]measured
	for b := range r.Batches {
		placed := map[string]*Turn{}
		for i := range r.Turns {
			if r.Turns[i].Batch == b {
				placed[r.Turns[i].Scheduler] = &r.Turns[i]
			}
		}
		if len(placed) < len(schedulers()) {
			continue
		}
		row := map[string]measured{}
		for name, t := range placed {
			var same []*Turn
			for _, s := range schedulers() {
				if other := placed[s.name]; alike(t.Nodes, other.Nodes) {
					same = append(same, other)
				}
			}
			row[name] = r.average(same, f)
		}
		all = append(all, row)
	}
	return all
}

// average returns the mean of turns with the same placement.
func (r *Results) average(turns []*Turn, f figure) measured {
	m := measured{turns: turns, dilations: make([]float64, len(turns[0].Accounts))}
	for _, t := range turns {
		for i, d := range r.dilations(t, f) {
			m.dilations[i] += d / float64(len(turns))
		}
	}
	m.mean = stat.Mean(m.dilations, nil)
	return m
}

// noise returns the standard deviation of the mean dilation of a batch from turn to turn with the same placement, and of how many
// degrees of freedom that is; 0 where none was repeated.
func (r *Results) noise(f figure) (deviation float64, freedom int) {
	squares := 0.0
	for _, row := range r.batches(f) {
		var seen []*Turn
		for _, s := range schedulers() {
			m := row[s.name]
			if len(m.turns) < 2 || slices.Contains(seen, m.turns[0]) {
				continue
			}
			seen = append(seen, m.turns...)
			for _, t := range m.turns {
				off := stat.Mean(r.dilations(t, f), nil) - m.mean
				squares += off * off
			}
			freedom += len(m.turns) - 1
		}
	}
	if freedom == 0 {
		return 0, 0
	}
	return math.Sqrt(squares / float64(freedom)), freedom
}

// noiseBound returns what the mean dilation of a batch in one turn differs by from its expectation in one case of twenty, by Student's
// t; 0 where noise is not known.
func (r *Results) noiseBound() float64 {
	deviation, freedom := r.noise(roundTime)
	if freedom == 0 {
		return 0
	}
	return deviation * quantileOfT(float64(freedom))
}

// quantileOfT returns how many standard errors a 95 % confidence interval has to either side.
func quantileOfT(freedom float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(0.975)
}

// Interval is an estimate with its 95 % confidence interval.
type Interval struct{ Mean, Low, High float64 }

// student returns the mean of values, of which there is at least one, with the interval of Student's t; of one there is none.
func student(values []float64) Interval {
	n := float64(len(values))
	if n < 2 {
		return Interval{values[0], math.NaN(), math.NaN()}
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	half := quantileOfT(n-1) * deviation / math.Sqrt(n)
	return Interval{mean, mean - half, mean + half}
}

// bootstrap returns a statistic of batches, by their numbers, with the percentile interval of samples of batches with replacement
// (Efron, 1979).
func bootstrap(batches int, statistic func(sample []int) float64) Interval {
	const samples = 2000
	random := rand.New(rand.NewPCG(1, 0))
	all := make([]int, batches)
	for i := range all {
		all[i] = i
	}
	values := make([]float64, samples)
	for i := range values {
		sample := make([]int, batches)
		for k := range sample {
			sample[k] = random.IntN(batches)
		}
		values[i] = statistic(sample)
	}
	slices.Sort(values)
	quantile := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, values, nil) }
	return Interval{statistic(all), quantile(0.025), quantile(0.975)}
}

// Row is a scheduler's.
type Row struct {
	Scheduler string
	// Mean is that of the mean dilations of batches, P95 of all pods, and Worst the largest.
	Mean, P95 Interval
	Worst     float64
	// Work is the mean of what the work of rounds took over what it took alone, and Requests95 that of the 95th percentile of
	// the requests of web servers.
	Work, Requests95 Interval
}

// Contest is Loadline beside another scheduler, batch by batch.
type Contest struct {
	Other string
	// Less is by how much the mean dilation of a batch is less with Loadline, and Saved the part of the other's excess
	// dilation, λ − 1, that it saves.
	Less, Saved Interval
	// Batches are won or lost where the difference is more than noise makes in one case of twenty. Alike are those that both
	// placed alike, which are among the ties.
	Won, Tied, Lost, Alike int
}

var errNoBatch = errors.New("no batch was measured by every scheduler")

// summarize returns a row for each scheduler.
func (r *Results) summarize() ([]Row, error) {
	rounds, work, p95 := r.batches(roundTime), r.batches(workTime), r.batches(workP95)
	if len(rounds) == 0 {
		return nil, errNoBatch
	}
	var rows []Row
	for _, s := range schedulers() {
		row := Row{Scheduler: s.name, Mean: student(means(rounds, s.name)), Work: student(means(work, s.name))}
		pooled := func(sample []int) []float64 {
			var all []float64
			for _, b := range sample {
				all = append(all, rounds[b][s.name].dilations...)
			}
			slices.Sort(all)
			return all
		}
		row.P95 = bootstrap(len(rounds), func(sample []int) float64 { return stat.Quantile(0.95, stat.Empirical, pooled(sample), nil) })
		for _, b := range rounds {
			row.Worst = max(row.Worst, slices.Max(b[s.name].dilations))
		}
		if requests := r.ofWeb(p95, s.name); len(requests) > 0 {
			row.Requests95 = student(requests)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// ofWeb returns the dilations of web servers.
func (r *Results) ofWeb(batches []map[string]measured, scheduler string) (all []float64) {
	for _, row := range batches {
		m := row[scheduler]
		for i, p := range r.Batches[m.turns[0].Batch] {
			if r.Programs[p.Program].Kind == program.Web {
				all = append(all, m.dilations[i])
			}
		}
	}
	return all
}

// means returns the mean dilations of the batches.
func means(batches []map[string]measured, scheduler string) []float64 {
	all := make([]float64, len(batches))
	for b := range batches {
		all[b] = batches[b][scheduler].mean
	}
	return all
}

// contest compares Loadline with another scheduler. There must be a batch.
func (r *Results) contest(other string) Contest {
	batches := r.batches(roundTime)
	ours, theirs := means(batches, loadline), means(batches, other)
	c, noise := Contest{Other: other}, r.noiseBound()
	less := make([]float64, len(ours))
	for b := range ours {
		less[b] = theirs[b] - ours[b]
		a, o := batches[b][loadline].turns, batches[b][other].turns
		bound := noise * math.Sqrt(1/float64(len(a))+1/float64(len(o)))
		switch {
		case alike(a[0].Nodes, o[0].Nodes):
			c.Alike++
			c.Tied++
		case math.Abs(less[b]) <= bound:
			c.Tied++
		case less[b] > 0:
			c.Won++
		default:
			c.Lost++
		}
	}
	c.Less = student(less)
	c.Saved = bootstrap(len(ours), func(sample []int) float64 {
		gained, excess := 0.0, 0.0
		for _, b := range sample {
			gained += less[b]
			excess += theirs[b] - 1
		}
		if excess <= 0 { // there is nothing to save
			return 0
		}
		return gained / excess
	})
	return c
}
