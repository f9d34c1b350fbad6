package fit

import (
	"math"
	"slices"
)

const (
	// fewestRounds come before an early end: the alternation crosses plateaus.
	fewestRounds  = 15
	checkedRounds = 5
	// trustedRounds is how often the trust in the samples is weighed anew.
	trustedRounds = 4
	// weighedRounds is the number of times that the effect of weights and limits is computed anew.
	weighedRounds = 3
	// loosely is the number of observations that an alone time counts for in some early rounds, so
	// that a grossly wrong one can move away from the stated value.
	loosely = 0.02
	// slowest is the factor by which one round may reduce a baseline.
	slowest = 0.1
)

// alternation improves factors by turns until they fit a problem. It owns its
// memory, so that a round allocates nothing.
type alternation struct {
	*problem
	*factors
	settings
	load         []float64 // per sample, the summed pressure of the others
	gain         []float64 // per sample, the predictor's excess dilation over the first order's
	weighed      []float64 // per sample, the factor of its excess dilation by weights
	grid         float64   // on which that is found
	trust        []float64 // per sample, from 0 for an outlier to 1
	stated       []float64 // per job, how many observations its stated alone time counts
	robustWeight []float64 // per job, its Cauchy weight
	own          side      // sensitivities
	theirs       side      // pressures
	solver       quadratic
	alone        nuisance // the relative change of a baseline
	row          []float64
	before       []float64
	errs         []float64
}

func newAlternation(p *problem, f *factors, s settings) *alternation {
	m := f.resources
	newSide := func() side { return side{make([]float64, m), make([]float64, m)} }
	a := &alternation{
		problem: p, factors: f, settings: s,
		load: make([]float64, len(p.samples)*m), gain: make([]float64, len(p.samples)), trust: make([]float64, len(p.samples)),
		weighed: slices.Repeat([]float64{1}, len(p.samples)), grid: coarse,
		stated: slices.Repeat([]float64{1}, len(p.jobs)), robustWeight: slices.Repeat([]float64{1}, len(p.jobs)),
		own: newSide(), theirs: newSide(), solver: newQuadratic(m), alone: nuisance{cross: make([]float64, m)},
		row: make([]float64, m), before: make([]float64, m), errs: make([]float64, len(p.samples)),
	}
	for o, s := range p.samples {
		a.gain[o], a.trust[o] = 1, 1
		for _, c := range s.others {
			for i, q := range f.pressureOf(c.job) {
				a.load[o*m+i] += float64(c.copies) * q
			}
		}
	}
	a.weigh()
	return a
}

// run alternates until the fit settles, leaves the factors where they were best,
// and returns the loss there: a gain that is taken as given may lead away from
// the best fit, slowly.
func (a *alternation) run(p patience) float64 {
	a.grid = p.grid
	last, least := math.Inf(1), math.Inf(1)
	best := newFactors(len(a.jobs), a.resources, a.symmetric())
	for round := range p.rounds {
		if round%weighedRounds == weighedRounds-1 {
			a.weigh()
		}
		a.correct()
		if a.symmetric() {
			a.improveBoth()
		} else {
			a.improveSensitivities()
			a.improvePressures()
		}
		if round%trustedRounds == trustedRounds-1 {
			a.reweight()
			if round < trustedRounds {
				copy(a.stated, slices.Repeat([]float64{loosely}, len(a.stated)))
			} else {
				a.center()
			}
		}
		if round%checkedRounds == checkedRounds-1 {
			loss := a.loss()
			if loss < least && round >= fewestRounds && !a.firstOrder() {
				least = loss
				best.set(a.factors)
			}
			if round >= fewestRounds && math.Abs(last-loss) <= p.settled*loss {
				break
			}
			last = loss
		}
	}
	if loss := a.loss(); loss < least {
		return loss
	}
	a.set(best)
	return least
}

// loadOf returns the summed pressure of the others in a sample.
func (a *alternation) loadOf(o int) []float64 {
	return a.load[o*a.resources : (o+1)*a.resources]
}

// predicted returns the dilation, over the stated alone time, that the current
// factors give for a sample.
func (a *alternation) predicted(o int) float64 {
	job := a.samples[o].job
	return a.baseline[job] * (1 + a.gain[o]*dot(a.sensitivityOf(job), a.loadOf(o)))
}

// loss returns the mean absolute relative error, without the pull. It compares starts, and detects
// convergence; the trusted squares that the rounds minimize cannot, because a fit can lower them by
// trusting less.
func (a *alternation) loss() float64 {
	total := 0.0
	for o := range a.samples {
		total += math.Abs(a.relativeError(o))
	}
	return total / float64(max(1, len(a.samples)))
}

// correct sets the gains: the ratio of the predictor's excess dilation to the first order's, with
// the present factors. The rounds hold them constant, which makes each a first-order fit to
// corrected dilations.
func (a *alternation) correct() {
	if a.firstOrder() {
		return
	}
	var sensitivity, pressure [][]float64
	var dilations []float64
	run := -1
	for o, s := range a.samples {
		if members := a.members[s.run]; s.run != run {
			run = s.run
			sensitivity, pressure = sensitivity[:0], pressure[:0]
			for _, job := range members {
				sensitivity = append(sensitivity, a.sensitivityOf(job))
				pressure = append(pressure, a.pressureOf(job))
			}
			dilations = slices.Grow(dilations[:0], len(members))[:len(members)]
			a.predictor.Dilations(sensitivity, pressure, dilations)
		}
		if first := dot(a.sensitivityOf(s.job), a.loadOf(o)); first > 0 {
			a.gain[o] = a.weighed[o] * (dilations[s.member] - 1) / first
		}
	}
}

// firstOrder reports whether dilations are those of the first order.
func (a *alternation) firstOrder() bool { return isFirstOrder(a.predictor) && a.weighing == nil }

// weigh computes the effect of weights and limits, with the present factors.
func (a *alternation) weigh() {
	if a.weighing == nil {
		return
	}
	var found []float64
	run := -1
	for o, s := range a.samples {
		if s.run != run {
			run = s.run
			sensitivity, pressure := a.of(a.members[run])
			found = a.weighing.factors(run, sensitivity, pressure, a.grid)
		}
		if found != nil {
			a.weighed[o] = found[s.member]
		}
	}
}

// improveSensitivities finds each job's best sensitivities for the present pressures.
func (a *alternation) improveSensitivities() {
	a.average(&a.own, a.sensitivityOf, a.suffersAtAll)
	for j := range a.jobs {
		strength := a.strength(j)
		if strength >= pinned && !a.baselines {
			continue
		}
		a.observeSensitivity(j)
		a.solver.mirror()
		towards := a.own.typical(a.sensitivityOf(j), len(a.suffers[j]), a.pull)
		if b := a.belief(j); b != nil {
			towards = b.Sensitivity
		}
		a.solver.pull(towards, strength*a.unit)
		a.improve(j)
	}
}

// observeSensitivity sets the solver to the information of the samples of a job's own dilation
// about its sensitivities. Two copies of one job beside each other make the dilation quadratic in
// them where pressures are sensitivities, and a free baseline multiplies them; it is linearized
// about the present value (Newton's method).
func (a *alternation) observeSensitivity(job int) {
	a.solver.reset()
	a.alone.reset()
	p, baseline := a.sensitivityOf(job), a.baseline[job]
	for _, o := range a.suffers[job] {
		s := &a.samples[o]
		copies := 0.0
		for _, c := range s.others {
			if c.job == job && a.symmetric() {
				copies = float64(c.copies)
			}
		}
		gain := baseline * a.gain[o]
		for i, x := range a.loadOf(o) {
			a.row[i] = gain * (x + copies*p[i])
		}
		target := s.dilation - baseline + gain*copies*dot(p, p)
		a.solver.observe(a.row, target, a.trust[o]*s.weight)
		if a.baselines {
			a.alone.observe(a.predicted(o), a.row, target, a.trust[o]*s.weight)
		}
	}
}

// improve finds the best sensitivities of a job together with its baseline. Its
// stated alone time is one more observation of it, in logarithms: log 1 = 0.
func (a *alternation) improve(job int) {
	p := a.sensitivityOf(job)
	if a.baselines {
		a.alone.curvature += a.stated[job]
		a.alone.slope -= a.stated[job] * math.Log(a.baseline[job])
		a.solver.eliminate(&a.alone)
	}
	most, total := a.bounds()
	if a.strength(job) < pinned {
		a.solver.minimize(p, most, total)
	}
	if a.baselines {
		a.baseline[job] *= max(slowest, 1+a.alone.best(p))
	}
}

// improvePressures finds each job's best pressures for the present sensitivities.
func (a *alternation) improvePressures() {
	a.average(&a.theirs, a.pressureOf, a.inflictsAtAll)
	most, _ := a.bounds()
	for k := range a.jobs {
		strength := a.strength(k)
		if strength >= pinned {
			continue
		}
		a.solver.reset()
		pressure := a.pressureOf(k)
		for _, in := range a.inflicts[k] {
			a.observePressure(in, pressure)
		}
		a.solver.mirror()
		towards := a.theirs.typical(pressure, len(a.inflicts[k]), a.pull)
		if b := a.belief(k); b != nil {
			towards = b.pressure()
		}
		a.solver.pull(towards, strength*a.unit)
		copy(a.before, pressure)
		a.solver.minimize(pressure, most, math.Inf(1))
		a.spread(k)
	}
}

// observePressure adds to the solver the information of a sample about one of the others.
func (a *alternation) observePressure(in appearance, pressure []float64) {
	s := &a.samples[in.sample]
	baseline := a.baseline[s.job]
	target := s.dilation - baseline
	load := a.loadOf(in.sample)
	for i, v := range a.sensitivityOf(s.job) {
		v *= baseline * a.gain[in.sample]
		a.row[i] = v * float64(in.copies)
		target -= v * (load[i] - float64(in.copies)*pressure[i])
	}
	a.solver.observe(a.row, target, a.trust[in.sample]*s.weight)
}

// improveBoth is a round for jobs whose pressures are their sensitivities.
func (a *alternation) improveBoth() {
	a.average(&a.own, a.sensitivityOf, a.suffersAtAll)
	for j := range a.jobs {
		a.observeSensitivity(j)
		p := a.sensitivityOf(j)
		for _, in := range a.inflicts[j] {
			if a.samples[in.sample].job != j {
				a.observePressure(in, p)
			}
		}
		a.solver.mirror()
		a.solver.pull(a.own.typical(p, len(a.suffers[j])+len(a.inflicts[j]), a.pull), a.strength(j)*a.unit)
		copy(a.before, p)
		a.improve(j)
		a.spread(j)
	}
}

// spread carries the change of a job's pressures into the loads.
func (a *alternation) spread(job int) {
	pressure := a.pressureOf(job)
	for _, in := range a.inflicts[job] {
		load := a.loadOf(in.sample)
		for i, v := range pressure {
			load[i] = max(0, load[i]+float64(in.copies)*(v-a.before[i]))
		}
	}
}
