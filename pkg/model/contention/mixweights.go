package contention

import "loadline.dev/loadline/pkg/model/queueing"

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
		weight, threads = p.weight, threads+p.Copies*p.vector[at].threads()
	}
	return differ && threads > x.of.class.Servers[at]
}

// leastLoading is the smallest loading that counts where weights do: below it a job is never there.
const leastLoading = 1e-12

// computes reports whether a job is ever at the processor.
func (v Vector) computes(processor int) bool {
	return processor >= 0 && processor < len(v) && v[processor].Loading > leastLoading
}

// predictUnequal fills in dilations and utilizations where weights differ.
func (x *Mix) predictUnequal(classes []class, solution *queueing.Solution) {
	responses := x.weigh(classes, solution)
	for c, class := range classes {
		waits := waitsForOthers(classes, solution, c)
		for k := class.first; k < class.end; k++ {
			response := class.alone
			if waits {
				response = max(response, responses[k]-class.slack)
			}
			x.parts[k].dilation = response / class.alone
		}
	}
	x.conserve(classes, solution)
	for _, class := range classes {
		for k := class.first; k < class.end; k++ {
			response := x.parts[k].dilation * class.alone
			for i, d := range class.vector {
				x.utilization[i] += float64(x.parts[k].Copies*d.threads()) * d.Loading / (response * float64(x.of.class.Servers[i]))
			}
		}
	}
	x.setBusiest()
}

const (
	// leastWait is what a job that does not wait counts as waiting where the others alone cannot wait enough.
	leastWait = 1e-9
	// overfull is by which fraction a processor may be used by more than it has, as rounding leaves it.
	overfull = 1e-10
)

// conserve makes waiting jobs wait longer, all by the same factor, where the processor would do more than it can: what
// weights and limits change is found for each job on its own, and they do not change how much there is.
func (x *Mix) conserve(classes []class, solution *queueing.Solution) {
	at := x.of.class.Processor
	if at < 0 || at >= len(x.of.class.Servers) {
		return
	}
	there := 0.0 // by equal shares; jobs that press less than they load may take more than there is
	for c, class := range classes {
		if class.vector.computes(at) {
			there += float64(class.copies*class.vector[at].threads()) * class.vector[at].Loading / class.vector.response(solution.Waits[c])
		}
	}
	there = max(there, float64(x.of.class.Servers[at])) * (1 + overfull)
	if x.used(classes, at, 1) <= there {
		return
	}
	low, high := 1.0, 2.0
	for x.used(classes, at, high) > there {
		low, high = high, 2*high
	}
	for range bisections {
		if middle := low + (high-low)/2; x.used(classes, at, middle) > there {
			low = middle
		} else {
			high = middle
		}
	}
	for k := range x.parts {
		x.parts[k].dilation = x.parts[k].slower(high)
	}
}

// slower returns the dilation of jobs that wait so many times as long.
func (p *part) slower(times float64) float64 { return 1 + max(p.dilation-1, leastWait)*times }

// used returns how much of a resource is used when all jobs wait so many times as long.
func (x *Mix) used(classes []class, resource int, times float64) float64 {
	sum := 0.0
	for _, class := range classes {
		if !class.vector.computes(resource) {
			continue
		}
		d := class.vector[resource]
		for k := class.first; k < class.end; k++ {
			sum += float64(x.parts[k].Copies*d.threads()) * d.Loading / (class.alone * x.parts[k].slower(times))
		}
	}
	return sum
}

// weigh returns how long a job of each part takes, in own times, where weights differ: what the solution for equal
// shares says, corrected by what weights change. At the processor that is by how much they stretch a job's time
// there; at the other resources a job is met the less often the longer it takes.
func (x *Mix) weigh(classes []class, solution *queueing.Solution) []float64 {
	m := x.of
	at := m.class.Processor
	claims := m.list[:0]
	for c, class := range classes {
		if !class.vector.computes(at) {
			continue
		}
		away := class.vector.response(solution.Waits[c]) - class.vector[at].Loading*(1+solution.Waits[c][at])
		for k := class.first; k < class.end; k++ {
			claims = append(claims, claim{
				weight: x.parts[k].JobType.weight(), away: max(0, away) / class.vector[at].Loading,
				jobs: x.parts[k].Copies, siblings: class.vector[at].threads() - 1,
			})
		}
	}
	m.list = claims
	equal, weighted := m.shares.stretches(m.class.Servers[at], claims)

	responses, paces := make([]float64, len(x.parts)), make([]float64, len(x.parts))
	n := 0
	for c, class := range classes {
		for k := class.first; k < class.end; k++ {
			before := class.vector.response(solution.Waits[c])
			responses[k] = before
			if class.vector.computes(at) {
				responses[k] += class.vector[at].Loading * (1 + solution.Waits[c][at]) * (weighted[n]/equal[n] - 1)
				n++
			}
			paces[k] = before / responses[k]
		}
	}
	for i := range m.class.Servers {
		if i != at {
			x.meet(classes, solution, i, responses, paces)
		}
	}
	return responses
}

// meet adds to the responses what changes at a resource other than the processor when jobs come there at other paces,
// relative to those of the solution.
func (x *Mix) meet(classes []class, solution *queueing.Solution, i int, responses, paces []float64) {
	total, paced := 0.0, 0.0
	for c, class := range classes {
		if i >= len(class.vector) {
			continue
		}
		for k := class.first; k < class.end; k++ {
			there := float64(x.parts[k].Copies*class.vector[i].threads()) * solution.Presences[c][i]
			total += there
			paced += there * paces[k]
		}
	}
	for c, class := range classes {
		if i >= len(class.vector) {
			continue
		}
		own := float64(class.vector[i].threads()) * solution.Presences[c][i]
		for k := class.first; k < class.end; k++ {
			if others := total - own; others > roundings {
				wait := class.vector[i].Loading * solution.Waits[c][i]
				responses[k] += wait * ((paced-own*paces[k])/others - 1)
			}
		}
	}
}
