package queueing

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
)

// Priority is a queue like [MMm] with classes of jobs: a server that becomes free takes a job of
// the highest class that waits: head of the line, non-preemptive. All classes are served at the
// same rate; each arrives at random.
type Priority struct {
	queue    MMm // of all classes together
	arrivals []float64
}

// Prioritized returns the queue with the same servers and the arrivals
// of each class: their rates, that of the highest first, which must add up to those of the
// queue.
func (q MMm) Prioritized(arrivals []float64) (*Priority, error) {
	total := 0.0
	for k, rate := range arrivals {
		if !(rate >= 0) {
			return nil, fmt.Errorf("classes[%d]: %w", k, &ValueError{"arrival rate", rate, "is not a finite rate of at least 0"})
		}
		total += rate
	}
	if math.Abs(total-q.arrival) > 1e-9*q.arrival {
		return nil, &ValueError{"arrival rate", total, fmt.Sprintf("of all classes is not that of the queue, %v", q.arrival)}
	}
	return &Priority{queue: q, arrivals: slices.Clone(arrivals)}, nil
}

// higher returns the rate of arrivals of the classes above class k.
func (p *Priority) higher(k int) float64 {
	sum := 0.0
	for _, rate := range p.arrivals[:k] {
		sum += rate
	}
	return sum
}

// ResponseWithin returns the probability that a job of class k takes at most x ≥ 0 from
// arrival to completion, to about 1e-9 times the probability that it waits.
//
// A job that has to wait is served after the jobs of its class and above that wait already, and
// after those of higher classes that arrive meanwhile. While all servers are busy, departures come
// at rate mμ whatever job is served, and the number of waiting jobs is geometrically distributed
// with ratio σ = Λ_≤k/(mμ). Each of them, and the departure that is due anyhow, takes a busy period
// with the higher classes, with transform B; so the wait has the transform (1 − σ)B/(1 − σB):
// Davis, "Waiting-time distribution of a multi-server, priority queuing system", Operations
// Research 14 (1), 1966.
func (p *Priority) ResponseWithin(k int, x float64) float64 {
	return max(0, -math.Expm1(-p.queue.service*max(0, x))-p.lateBecauseOfWait(k, x))
}

// lateBecauseOfWait returns the probability that the service takes at most x, but
// wait and service together take longer. Given that it waits, with transform W, that
// has the transform (1 − W)/s · μ/(μ + s), and 1 − W is (1 − B)/(1 − σB).
func (p *Priority) lateBecauseOfWait(k int, x float64) float64 {
	capacity := float64(p.queue.servers) * p.queue.service
	above := p.higher(k)
	if above == 0 { // those below do not matter once it waits
		return delay{p.queue.waits, math.FMA(float64(p.queue.servers), p.queue.service, -p.arrivals[k])}.lateBecauseOf(p.queue.service, x)
	}
	if p.queue.waits == 0 || !(x > 0) || math.IsInf(x, 1) {
		return 0
	}
	sigma, service := complex((above+p.arrivals[k])/capacity, 0), complex(p.queue.service, 0)
	transform := func(s complex128) complex128 {
		b := busyPeriod(s, above, capacity)
		return (1 - b) / (1 - sigma*b) / s * service / (service + s)
	}
	return p.queue.waits * min(1, max(0, invertLaplace(transform, x)))
}

// busyPeriod returns the transform of the busy period of a single server, at s: the
// root of λB² − (s + λ + μ)B + μ = 0 that is at most 1, in a form that cancels nothing.
func busyPeriod(s complex128, arrival, service float64) complex128 {
	sum := s + complex(arrival+service, 0)
	root := cmplx.Sqrt(sum*sum - complex(4*arrival*service, 0))
	if real(root)*real(sum)+imag(root)*imag(sum) < 0 { // the one on the side of sum
		root = -root
	}
	return complex(2*service, 0) / (sum + root)
}
