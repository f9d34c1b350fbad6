package queueing

import (
	"errors"
	"fmt"
	"iter"
	"math"
)

// ErrUnstable is wrapped by the error of a queue that grows without end: the jobs
// that arrive keep at least all servers busy.
var ErrUnstable = errors.New("the queue is not stable")

// MaxQueueServers is the largest number of servers of an open queue.
const MaxQueueServers = 1 << 30

// MMm is a queue in the steady state at which jobs arrive at random (a Poisson
// process), are served first come first served by any of m equal servers, and take
// exponentially distributed times. It is a small value, solved when it is made.
type MMm struct {
	arrival, service float64
	servers          int
	waits            float64 // probability that a job waits, Erlang's C
}

// NewMMm returns the queue with the given rate of arrivals λ, at least 0, and rate
// of service of each server μ, above 0, both in jobs per unit of time, and at least
// one server. It takes O(√ρ + m − ρ) time, ρ = λ/μ being the offered load. A
// [ValueError] names a value out of range; the error of a queue with ρ ≥ m wraps
// [ErrUnstable].
func NewMMm(arrival, service float64, servers int) (MMm, error) {
	if err := validateRates(arrival, service); err != nil {
		return MMm{}, err
	}
	if servers < 1 || servers > MaxQueueServers {
		return MMm{}, &ValueError{"servers", float64(servers), fmt.Sprintf("is not between 1 and %d", MaxQueueServers)}
	}
	load := arrival / service
	if load >= float64(servers) {
		return MMm{}, fmt.Errorf("%w: a load of %v keeps %d servers busy all the time; there must be at least %v", ErrUnstable, load, servers, math.Floor(load)+1)
	}
	blocked := 1.0
	for n := startOfErlang(load) + 1; n <= servers; n++ {
		if blocked = nextErlang(blocked, load, n); blocked == 0 {
			break
		}
	}
	return newMMm(arrival, service, servers, blocked), nil
}

func validateRates(arrival, service float64) error {
	if !(arrival >= 0) || math.IsInf(arrival, 1) {
		return &ValueError{"arrival rate", arrival, "is not a finite rate of at least 0"}
	}
	if !(service > 0) || math.IsInf(service, 1) {
		return &ValueError{"service rate", service, "is not a finite rate above 0"}
	}
	if load := arrival / service; load >= MaxQueueServers {
		return &ValueError{"arrival rate", arrival, fmt.Sprintf("is more than %d servers can serve", MaxQueueServers)}
	}
	return nil
}

// newMMm solves the queue, given Erlang's B.
func newMMm(arrival, service float64, servers int, blocked float64) MMm {
	m, load := float64(servers), arrival/service
	return MMm{arrival, service, servers, m * blocked / (m - load + load*blocked)}
}

// Erlang's B, the probability that all of n servers are busy and no job waits,
// follows from that of one server less:
//
//	B(n) = ρB(n−1) / (n + ρB(n−1))
//
// Whatever B is taken to be at first has been forgotten to 1e-17 once n comes to ρ
// from 9√ρ below: each step multiplies the relative error by n/ρ or less.
func nextErlang(blocked, load float64, servers int) float64 {
	b := load * blocked
	return b / (float64(servers) + b)
}

// startOfErlang returns a number of servers for which B may be taken to be 1.
func startOfErlang(load float64) int {
	return int(max(0, load-9*math.Sqrt(load)-10))
}

// Queues returns the stable queues with the given rates, from the fewest servers
// up. Each next one takes O(1) time.
func Queues(arrival, service float64) (iter.Seq[MMm], error) {
	if err := validateRates(arrival, service); err != nil {
		return nil, err
	}
	load := arrival / service
	return func(yield func(MMm) bool) {
		blocked := 1.0
		for n := startOfErlang(load) + 1; n <= MaxQueueServers; n++ {
			blocked = nextErlang(blocked, load, n)
			if float64(n) > load && !yield(newMMm(arrival, service, n, blocked)) {
				return
			}
		}
	}, nil
}

// Servers returns the number of servers m.
func (q MMm) Servers() int { return q.servers }

// Load returns the offered load ρ = λ/μ: how many servers are busy on average.
func (q MMm) Load() float64 { return q.arrival / q.service }

// Utilization returns the fraction of the servers that is busy, below 1.
func (q MMm) Utilization() float64 { return q.Load() / float64(q.servers) }

// WaitProbability returns the probability that a job waits: Erlang's C.
func (q MMm) WaitProbability() float64 { return q.waits }

// delay returns the waiting time. Its rate, mμ − λ, is rounded once: a rounded ρ
// would show where ρ is large and near m.
func (q MMm) delay() delay {
	return delay{q.waits, math.FMA(float64(q.servers), q.service, -q.arrival)}
}

// ResponseWithin returns the probability that a job takes at most x ≥ 0: the
// cumulative distribution function of the response time. It is Eq. (1) of Hu et al.,
// "Resource provisioning for cloud computing", CASCON 2009, in a form that loses no
// accuracy where m = ρ + 1, or with many servers:
//
//	P(T ≤ x) = 1 − e^(−μx) (1 + C·μx·φ((m − 1 − ρ)μx)),  φ(z) = (1 − e^(−z))/z
//
// With more servers it comes to 1 − e^(−μx) and no nearer to 1.
func (q MMm) ResponseWithin(x float64) float64 {
	return max(0, -math.Expm1(-q.service*max(0, x))-q.delay().lateBecauseOf(q.service, x))
}
