package queueing

// Stream is a class of jobs that arrive at random at a queue with general service
// times.
type Stream struct {
	Arrival float64 // rate λ, at least 0
	Service float64 // rate μ of each server, above 0; 1/μ is the mean service time
	// SCV is the squared coefficient of variation of the service time, variance over
	// squared mean, from 0 to [MaxSCV]: 0 for times that are all the same, 1 for
	// exponential ones.
	SCV float64
}

// MaxSCV is the largest squared coefficient of variation of service times.
const MaxSCV = 1e6

// MGm is a queue like [MMm] whose jobs are of several classes, each with its own
// distribution of service times: constant, gamma, exponential, or a mix of two
// exponential ones with balanced means, as its squared coefficient of variation says.
// All are served by the same servers, first come first served.
//
// All classes wait alike, for a time W; the service of a class comes on top, convolved
// exactly. The distribution of W is
//
//   - for one server exact: Pollaczek and Khinchine;
//   - for service times with an scv of 1 or more a sum of exponential functions,
//     which is exact (see boundary) while phases and servers are few: two phases and up
//     to 51 servers, three and 12, four and 6, …; a class of scv 1 is a phase, one above 1
//     is two;
//   - for more phases and servers that of a queue with the nearest phases merged, or
//     with fewer servers, at which as many jobs wait (see fit);
//   - for several servers and an scv below 1 that of exponential times, shortened.
//
// [MGm.Error] returns a bound on the error of the probabilities.
type MGm struct {
	services []service
	wait     wait
	off      float64
}

// NewMGm returns the queue with the given classes, at least one, and servers. A
// [ValueError] names a value out of range; the error of a queue whose offered load
// Σλ/μ is not below its servers wraps [ErrUnstable].
func NewMGm(streams []Stream, servers int) (*MGm, error) {
	mix, err := newMixture(streams)
	if err != nil {
		return nil, err
	}
	queue, err := NewMMm(mix.arrival, mix.service, servers)
	if err != nil {
		return nil, err
	}
	return mix.queue(queue), nil
}

// WaitProbability returns the probability that a job waits, of whatever class.
func (q *MGm) WaitProbability() float64 { return q.wait.beyond(0) }

// ResponseWithin returns the probability that a job of class k takes at most x ≥ 0 from
// arrival to completion.
func (q *MGm) ResponseWithin(k int, x float64) float64 {
	x = max(0, x)
	return max(0, q.services[k].within(x)-q.services[k].lateBecauseOf(q.wait, x))
}

// Error returns a bound of the error of the probabilities, that of any class at any time;
// 0 where they are exact but for roundings (1e-6). It was found by simulation, see
// docs/evidence/sizing-accuracy.md.
func (q *MGm) Error() float64 { return q.off }

// ServiceWithin returns the probability that the service alone takes at most x ≥ 0: the limit of
// the response with more and more servers.
func (s Stream) ServiceWithin(x float64) float64 {
	return newService(s.Service, s.SCV).within(max(0, x))
}
