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
)

// alternation improves factors by turns until they fit a problem. It owns its
// memory, so that a round allocates nothing.
type alternation struct {
	*problem
	*factors
	settings
	load   []float64 // per sample, the summed pressure of the others
	gain   []float64 // per sample, the predictor's excess dilation over the first order's
	trust  []float64 // per sample, from 0 for an outlier to 1
	own    side      // sensitivities
	theirs side      // pressures
	solver quadratic
	row    []float64
	before []float64
	errs   []float64
}

func newAlternation(p *problem, f *factors, s settings) *alternation {
	m := f.resources
	newSide := func() side { return side{make([]float64, m), make([]float64, m)} }
	a := &alternation{
		problem: p, factors: f, settings: s,
		load: make([]float64, len(p.samples)*m), gain: make([]float64, len(p.samples)), trust: make([]float64, len(p.samples)),
		own: newSide(), theirs: newSide(), solver: newQuadratic(m),
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
	return a
}

// run alternates until the fit settles and returns its loss.
func (a *alternation) run(p patience) float64 {
	last := math.Inf(1)
	for round := range p.rounds {
		a.correct()
		if a.symmetric() {
			a.improveBoth()
		} else {
			a.improveSensitivities()
			a.improvePressures()
		}
		if round%trustedRounds == trustedRounds-1 {
			a.distrust()
		}
		if round%checkedRounds == checkedRounds-1 {
			loss := a.loss()
			if round >= fewestRounds && math.Abs(last-loss) <= p.settled*loss {
				break
			}
			last = loss
		}
	}
	return a.loss()
}

// loadOf returns the summed pressure of the others in a sample.
func (a *alternation) loadOf(o int) []float64 {
	return a.load[o*a.resources : (o+1)*a.resources]
}

// predicted returns the dilation that the current factors give for a sample.
func (a *alternation) predicted(o int) float64 {
	return 1 + a.gain[o]*dot(a.sensitivityOf(a.samples[o].job), a.loadOf(o))
}

// loss returns the mean absolute relative error, pull aside. It tells starts
// apart, and whether rounds still change anything; the trusted squares that the
// rounds minimize cannot, because a fit can lower them by trusting less.
func (a *alternation) loss() float64 {
	total := 0.0
	for o := range a.samples {
		total += math.Abs(a.relativeError(o))
	}
	return total / float64(max(1, len(a.samples)))
}

// correct sets the gains: how much the predictor's excess dilation is of the
// first order's, with the factors as they are. The rounds treat them as given,
// which makes each a first-order fit to corrected dilations.
func (a *alternation) correct() {
	if scaleFree(a.predictor) {
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
			a.gain[o] = (dilations[s.member] - 1) / first
		}
	}
}

// improveSensitivities finds each job's best sensitivities for the pressures as
// they are.
func (a *alternation) improveSensitivities() {
	a.average(&a.own, a.sensitivityOf, a.suffersAtAll)
	for j := range a.jobs {
		strength := a.strength(j)
		if strength >= pinned {
			continue
		}
		a.solver.reset()
		for _, o := range a.suffers[j] {
			s := &a.samples[o]
			for i, x := range a.loadOf(o) {
				a.row[i] = a.gain[o] * x
			}
			a.solver.observe(a.row, s.dilation-1, a.trust[o]*s.weight)
		}
		a.solver.mirror()
		towards := a.own.typical(a.sensitivityOf(j), len(a.suffers[j]), a.pull)
		if b := a.belief(j); b != nil {
			towards = b.Sensitivity
		}
		a.solver.pull(towards, strength*a.unit)
		most, total := a.bounds()
		a.solver.minimize(a.sensitivityOf(j), most, total)
	}
}

// improvePressures finds each job's best pressures for the sensitivities as
// they are.
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

// observePressure adds to the solver what a sample says of one of the others.
func (a *alternation) observePressure(in appearance, pressure []float64) {
	s := &a.samples[in.sample]
	target := s.dilation - 1
	load := a.loadOf(in.sample)
	for i, v := range a.sensitivityOf(s.job) {
		v *= a.gain[in.sample]
		a.row[i] = v * float64(in.copies)
		target -= v * (load[i] - float64(in.copies)*pressure[i])
	}
	a.solver.observe(a.row, target, a.trust[in.sample]*s.weight)
}

// improveBoth is a round for jobs whose pressures are their sensitivities. Two
// copies of one job beside each other make it quadratic in what is sought; it
// is taken to be linear about where it is (Newton's method).
func (a *alternation) improveBoth() {
	a.average(&a.own, a.sensitivityOf, a.suffersAtAll)
	for j := range a.jobs {
		a.solver.reset()
		p := a.sensitivityOf(j)
		for _, o := range a.suffers[j] {
			s := &a.samples[o]
			copies := 0.0
			for _, c := range s.others {
				if c.job == j {
					copies = float64(c.copies)
				}
			}
			for i, x := range a.loadOf(o) {
				a.row[i] = a.gain[o] * (x + copies*p[i])
			}
			a.solver.observe(a.row, s.dilation-1+a.gain[o]*copies*dot(p, p), a.trust[o]*s.weight)
		}
		for _, in := range a.inflicts[j] {
			if a.samples[in.sample].job != j {
				a.observePressure(in, p)
			}
		}
		a.solver.mirror()
		a.solver.pull(a.own.typical(p, len(a.suffers[j])+len(a.inflicts[j]), a.pull), a.strength(j)*a.unit)
		copy(a.before, p)
		most, total := a.bounds()
		a.solver.minimize(p, most, total)
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
