package mix

import (
	"slices"

	"loadline.dev/loadline/pkg/model/queueing"
)

// unequal reports whether threads of different weights share the processor, and one may wait there.
func (x *Mix) unequal() bool {
	weight, threads, differ := 0.0, 0, false
	at := x.of.class.Processor
	for k := range x.parts {
		p := &x.parts[k]
		if p.weight == 0 { // is never there
			continue
		}
		differ = differ || weight != 0 && p.weight != weight
		weight, threads = p.weight, threads+p.Copies*p.vector[at].ThreadCount()
	}
	return differ && threads > x.of.class.Servers[at]
}

// throttled reports whether the limit of some job holds it back when it is alone.
func throttled(classes []class) bool {
	return slices.ContainsFunc(classes, func(c class) bool { return c.slack > 0 })
}

// predictUnequal fills in dilations and utilizations where weights differ, or limits hold jobs back.
func (x *Mix) predictUnequal(classes []class, solution *queueing.Solution) {
	responses, slowest := x.weigh(classes, solution)
	for c, class := range classes {
		waits := waitsForOthers(classes, solution, c)
		for k := class.first; k < class.end; k++ {
			x.parts[k].dilation = 1
			if waits {
				x.parts[k].dilation = max(1, responses[k]/class.alone)
			}
		}
	}
	x.conserve(classes, solution, slowest)
	for _, class := range classes {
		for k := class.first; k < class.end; k++ {
			for i := range class.vector {
				x.utilization[i] += x.used(class, k, i) / float64(x.of.class.Servers[i])
			}
		}
	}
	x.setBusiest()
}

// used returns how much of a resource the jobs of a part use, which is of a class.
func (x *Mix) used(class class, k, resource int) float64 {
	d := class.vector[resource]
	return float64(x.parts[k].Copies*d.ThreadCount()) * d.Loading / (class.alone * x.parts[k].dilation)
}

// overfull is by which fraction a processor may be used by more than it has, as rounding leaves it.
const overfull = 1e-10

// conserve reduces the processor usage of jobs that together would use more than there is, which other resources and the errors of
// the solution can cause: each gives up the same part of its usage above its guaranteed share. With the guaranteed share a job
// takes as long as slowest says. The guaranteed shares add up to no more than there is.
func (x *Mix) conserve(classes []class, solution *queueing.Solution, slowest []float64) {
	at := x.of.class.Processor
	there, used, guaranteed := 0.0, 0.0, 0.0
	for c, class := range classes {
		if !class.vector.Uses(at) {
			continue
		}
		// By equal shares; jobs that press less than they load may take more than there is.
		there += float64(class.copies*class.vector[at].ThreadCount()) * class.vector[at].Loading / class.vector.Response(solution.Waits[c])
		for k := class.first; k < class.end; k++ {
			used += x.used(class, k, at)
			guaranteed += x.used(class, k, at) * x.parts[k].dilation / x.parts[k].slowest(class, slowest[k])
		}
	}
	there = max(there, float64(x.of.class.Servers[at])) * (1 + overfull)
	if used <= there || used <= guaranteed {
		return
	}
	kept := max(0, there-guaranteed) / (used - guaranteed) // of the usage above that
	for _, class := range classes {
		for k := class.first; k < class.end && class.vector.Uses(at); k++ {
			p := &x.parts[k]
			least := p.dilation / p.slowest(class, slowest[k])
			p.dilation /= least + kept*(1-least)
		}
	}
}

// slowest returns the dilation of jobs with the given response, at least their present dilation.
func (p *part) slowest(class class, response float64) float64 {
	return max(p.dilation, response/class.alone)
}

// weigh returns the response of a job of each part, in own times without throttling, where weights differ or limits throttle jobs:
// the solution for equal shares, corrected for weights and limits. At the processor the correction is the stretch of a job's time
// there; at the other resources, a job that takes longer is present less often. It also returns the response of a job that never
// gets more than its guaranteed share.
func (x *Mix) weigh(classes []class, solution *queueing.Solution) (responses, slowest []float64) {
	at := x.of.class.Processor
	equal, weighted, most := x.of.sharing.stretches(x.of.class.Servers[at], x.threadClasses(classes, solution))
	responses, slowest = make([]float64, len(x.parts)), make([]float64, len(x.parts))
	paces := make([]float64, len(x.parts))
	n := 0
	for c, class := range classes {
		before := class.vector.Response(solution.Waits[c])
		for k := class.first; k < class.end; k++ {
			responses[k] = before - class.slack
			if class.vector.Uses(at) {
				stretch := 1 + solution.Waits[c][at]
				now := max(1, min(most[n], stretch*weighted[n]/equal[n]))
				responses[k] += class.vector[at].Loading * (now - stretch)
				slowest[k] = class.vector[at].Loading * (most[n] - now)
				n++
			}
			paces[k] = before / max(class.alone, responses[k])
		}
	}
	for i := range x.of.class.Servers {
		if i != at {
			x.meet(classes, solution, i, responses, paces)
		}
	}
	for k := range slowest {
		slowest[k] += responses[k]
	}
	return responses, slowest
}

// threadClasses returns the threads of the jobs on the processor, by part.
func (x *Mix) threadClasses(classes []class, solution *queueing.Solution) []threadClass {
	m := x.of
	at := m.class.Processor
	list := m.list[:0]
	for c, class := range classes {
		if !class.vector.Uses(at) {
			continue
		}
		d := class.vector[at]
		away := class.vector.Response(solution.Waits[c]) - d.Loading*(1+solution.Waits[c][at]) - class.slack
		one := threadClass{away: max(0, away) / d.Loading, held: class.slack / d.Loading}
		if class.slack > 0 {
			one.round = class.alone / d.Loading
		}
		for k := class.first; k < class.end; k++ {
			one.weight, one.jobs, one.siblings = x.parts[k].JobType.weight(), x.parts[k].Copies, d.ThreadCount()-1
			if !m.weighted { // each thread by itself
				one.weight, one.jobs, one.siblings = 1, one.jobs*d.ThreadCount(), 0
			}
			list = append(list, one)
		}
	}
	m.list = list
	return list
}

// meet adds to the responses the change at a resource other than the processor when the arrival rates of jobs there change,
// relative to those of the solution.
func (x *Mix) meet(classes []class, solution *queueing.Solution, i int, responses, paces []float64) {
	total, paced := 0.0, 0.0
	for c, class := range classes {
		if i >= len(class.vector) {
			continue
		}
		for k := class.first; k < class.end; k++ {
			there := float64(x.parts[k].Copies*class.vector[i].ThreadCount()) * solution.Presences[c][i]
			total += there
			paced += there * paces[k]
		}
	}
	for c, class := range classes {
		if i >= len(class.vector) {
			continue
		}
		own := float64(class.vector[i].ThreadCount()) * solution.Presences[c][i]
		for k := class.first; k < class.end; k++ {
			if others := total - own; others > roundings {
				wait := class.vector[i].Loading * solution.Waits[c][i]
				responses[k] += wait * ((paced-own*paces[k])/others - 1)
			}
		}
	}
}
