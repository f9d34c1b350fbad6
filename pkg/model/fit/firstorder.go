package fit

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Vectors are the jobs' slowdowns of each other to first order: λ_j = 1 + s_j · Σ_{k≠j} q_k.
type Vectors struct {
	Resources []string
	// Sensitivity and Pressure are by job, in the order of [Result.Jobs], and resource.
	// At each resource the largest pressure is 1, or all are 0.
	Sensitivity, Pressure [][]float64
	// Baseline is, by job, the true alone time over the stated one.
	Baseline []float64
}

// Pairs returns the dilation of each job beside each other one and beside a copy of
// itself, over its true alone time: [slowed job][because of job], in the order of
// [Result.Jobs]. It is the value to which [Result.Predict] gives an interval.
func (r *Result) Pairs() [][]float64 {
	pairs := make([][]float64, len(r.Jobs))
	for j := range pairs {
		pairs[j] = make([]float64, len(r.Jobs))
		for k := range pairs[j] {
			pairs[j][k] = r.value([]int{j, k}, 0)
		}
	}
	return pairs
}

// Predicted returns the runs that the result was made from with the dilations that it
// predicts for them where all jobs share alike, over true alone times.
func (r *Result) Predicted() []Run {
	runs := make([]Run, len(r.table.runs))
	for i, members := range r.table.members {
		runs[i].Name = r.table.runs[i].Name
		for a, job := range members {
			runs[i].Members = append(runs[i].Members, Member{Job: r.Jobs[job].Name, Dilation: r.value(members, a)})
		}
	}
	return runs
}

// value returns the dilation of a member of a run, without its interval.
func (r *Result) value(members []int, a int) float64 {
	return r.correction.dilation(rival{r.factors, r.predictor}, members, a)
}

// FirstOrder returns vectors at no more than a number of resources whose dilations
// of pairs, times the baselines, are those of [Result.Pairs] times the baselines of the
// result: the vectors of the result where nothing corrects these, else the nearest that
// [factorize] finds. A job that a correction makes faster than alone then has a smaller
// baseline.
//
// The error says that there are more resources, and too many jobs to find fewer.
func (r *Result) FirstOrder(resources int) (Vectors, error) {
	v := Vectors{Resources: r.Resources, Baseline: slices.Clone(r.factors.baseline)}
	f := r.factors
	if r.correction != nil || f.resources > resources {
		if n := len(r.Jobs); n > mostLikened {
			why := fmt.Sprintf("at no more than %d", resources)
			if r.correction != nil {
				why = "that say what a correction says"
			}
			return v, fmt.Errorf("resources: the vectors have %d, and %d jobs are too many, more than %d, to find others %s", f.resources, n, mostLikened, why)
		}
		pairs := r.Pairs()
		for j, row := range pairs {
			if least := slices.Min(row); least < 1 {
				v.Baseline[j] *= least
				floats.Scale(1/least, row)
			}
		}
		if f = factorize(pairs, f, resources); f.resources != r.factors.resources {
			v.Resources = hiddenNames(f.resources)
		}
	}
	_, hardest := f.largest()
	for j := range r.Jobs {
		s, q := slices.Clone(f.sensitivityOf(j)), slices.Clone(f.pressureOf(j))
		for i, unit := range hardest {
			if unit > 0 {
				s[i], q[i] = s[i]*unit, q[i]/unit
			}
		}
		v.Sensitivity, v.Pressure = append(v.Sensitivity, s), append(v.Pressure, q)
	}
	return v, nil
}

// hiddenNames returns the names of hidden resources.
func hiddenNames(resources int) []string {
	names := make([]string, resources)
	for i := range names {
		names[i] = fmt.Sprintf("r%d", i+1)
	}
	return names
}

const (
	// closeEnough is the largest relative difference from the dilations of pairs at
	// which no further resource is added.
	closeEnough = 0.005
	// factorRounds bounds the rounds of a factorization, and factorWork their
	// multiplications: with 200 jobs and 16 resources some seconds in all. It ends early
	// when checkedRounds of them take less than the fraction factorSettled from its loss.
	factorRounds, factorWork, factorSettled = 1000, 400_000_000, 5e-4
)

// factorize returns factors at no more than a number of resources whose first-order
// dilations are near those of pairs, by relative error: a non-negative matrix
// factorization of the excess dilations, weighted, by alternating least squares
// (Paatero and Tapper, Environmetrics 5, 1994). It goes out from factors that are near,
// and adds a resource at a time, at first for the job that is furthest off. Where that
// does not get near, jobs that are no more than resources get one each. It takes
// O(jobs² · resources²) time per round.
func factorize(pairs [][]float64, near *factors, resources int) *factors {
	start := newFactors(len(pairs), 0, false)
	if near.resources <= resources {
		start = newFactors(len(pairs), near.resources, false)
		start.set(near)
	}
	best, least := settled(start, pairs)
	for best.resources < resources && least > closeEnough {
		best, least = settled(best.another(pairs), pairs)
	}
	if n := len(pairs); n <= resources && least > closeEnough {
		best = newFactors(n, n, false)
		for j, row := range pairs {
			best.pressureOf(j)[j] = 1
			for k, dilation := range row {
				best.sensitivityOf(j)[k] = dilation - 1
			}
		}
	}
	return best
}

// another returns the factors with a resource more, which is there for the job whose
// dilations, or whose company's, are furthest from those of pairs, alone.
func (f *factors) another(pairs [][]float64) *factors {
	n, m := len(pairs), f.resources
	suffered, inflicted := make([]float64, n), make([]float64, n)
	for j, row := range pairs {
		for k, dilation := range row {
			d := f.firstOrder(j, k)/dilation - 1
			suffered[j] += d * d
			inflicted[k] += d * d
		}
	}
	own, other := floats.MaxIdx(suffered), floats.MaxIdx(inflicted)
	g := newFactors(n, m+1, false)
	for j := range n {
		copy(g.sensitivityOf(j), f.sensitivityOf(j))
		copy(g.pressureOf(j), f.pressureOf(j))
	}
	if suffered[own] > inflicted[other] {
		clear(g.sensitivityOf(own))
		g.sensitivityOf(own)[m] = 1
		for k := range n {
			g.pressureOf(k)[m] = pairs[own][k] - 1
		}
		return g
	}
	clear(g.pressureOf(other))
	g.pressureOf(other)[m] = 1
	for j := range n {
		g.sensitivityOf(j)[m] = pairs[j][other] - 1
	}
	return g
}

// firstOrder returns the dilation of a job beside another to first order.
func (f *factors) firstOrder(job, other int) float64 {
	return 1 + dot(f.sensitivityOf(job), f.pressureOf(other))
}

// factorization is factors on the way to the dilations of pairs.
type factorization struct {
	*factors
	pairs  [][]float64
	solver quadratic
}

// settled returns the factors, or what alternating makes of them, whichever is nearer to
// pairs, and the largest relative difference of their dilations from those.
func settled(f *factors, pairs [][]float64) (*factors, float64) {
	_, first := f.differences(pairs)
	g := newFactors(len(pairs), f.resources, false)
	g.set(f)
	a := &factorization{g, pairs, newQuadratic(g.resources)}
	last, worst := math.Inf(1), math.Inf(1)
	for round := range min(factorRounds, 1+factorWork/max(1, len(f.sensitivity)*len(f.sensitivity))) {
		a.round()
		if round%checkedRounds != 0 {
			continue
		}
		var loss float64
		if loss, worst = g.differences(pairs); worst < closeEnough || last-loss < factorSettled*loss {
			break
		}
		last = loss
	}
	if worst < first {
		return g, worst
	}
	return f, first
}

// round finds each job's best sensitivities for the present pressures, and then each job's best
// pressures.
func (f *factorization) round() {
	improve := func(own, theirs func(int) []float64, pair func(j, k int) float64) {
		for j := range f.pairs {
			f.solver.reset()
			for k := range f.pairs {
				dilation := pair(j, k)
				f.solver.observe(theirs(k), dilation-1, 1/(dilation*dilation))
			}
			f.solver.mirror()
			f.solver.minimize(own(j), math.Inf(1), math.Inf(1))
		}
	}
	improve(f.sensitivityOf, f.pressureOf, func(j, k int) float64 { return f.pairs[j][k] })
	improve(f.pressureOf, f.sensitivityOf, func(j, k int) float64 { return f.pairs[k][j] })
}

// differences returns the mean squared relative difference of the dilations from those of
// pairs, and the largest difference.
func (f *factors) differences(pairs [][]float64) (mean, worst float64) {
	for j, row := range pairs {
		for k, dilation := range row {
			d := f.firstOrder(j, k)/dilation - 1
			mean += d * d
			worst = max(worst, math.Abs(d))
		}
	}
	return mean / float64(len(pairs)*len(pairs)), worst
}
