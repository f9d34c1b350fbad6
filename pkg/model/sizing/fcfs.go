package sizing

import (
	"iter"

	"loadline.dev/loadline/pkg/model/queueing"
)

// fcfsPool is a pool that serves jobs in order of arrival.
type fcfsPool struct {
	classes []Class
	size    int
	within  func(k int, x float64) float64
	off     float64 // a bound of the error of within
	suspect *int    // the class that missed its SLA last, and is looked at first
}

func (s fcfsPool) servers() int { return s.size }

func (s fcfsPool) bound() float64 { return s.off }

func (s fcfsPool) meets(k int) bool {
	return s.within(k, s.classes[k].SLA.Within) >= s.classes[k].SLA.Probability
}

func (s fcfsPool) order() ([]int, bool) {
	if !s.meets(*s.suspect) {
		return nil, false
	}
	for k := range s.classes {
		if !s.meets(k) {
			*s.suspect = k
			return nil, false
		}
	}
	return nil, true
}

func (s fcfsPool) attained([]int) []float64 {
	attained := make([]float64, len(s.classes))
	for k, c := range s.classes {
		attained[k] = s.within(k, c.SLA.Within)
	}
	return attained
}

func fcfsPools(classes []Class, atLeast int) (iter.Seq[computedPool], error) {
	if uniform(classes) {
		return uniformPools(classes, atLeast)
	}
	queues, err := queueing.MixedQueues(streams(classes), atLeast)
	if err != nil {
		return nil, err
	}
	return func(yield func(computedPool) bool) {
		suspect := new(int)
		for q := range queues {
			if !yield(fcfsPool{classes, q.Servers(), q.ResponseWithin, q.Error(), suspect}) {
				return
			}
		}
	}, nil
}

// uniformPools are for classes with one rate of exponential service: M/M/m.
func uniformPools(classes []Class, atLeast int) (iter.Seq[computedPool], error) {
	queues, err := queueing.Queues(arrivals(classes), classes[0].Service)
	if err != nil {
		return nil, err
	}
	return func(yield func(computedPool) bool) {
		suspect := new(int)
		for q := range queues {
			within := func(_ int, x float64) float64 { return q.ResponseWithin(x) }
			if q.Servers() >= atLeast && !yield(fcfsPool{classes, q.Servers(), within, 0, suspect}) {
				return
			}
		}
	}, nil
}

// uniform reports whether all service times are exponential with one rate.
func uniform(classes []Class) bool {
	for _, c := range classes {
		if c.scv() != 1 || c.Service != classes[0].Service {
			return false
		}
	}
	return true
}

// arrivals returns the rate of arrivals of all classes.
func arrivals(classes []Class) float64 {
	rate := 0.0
	for _, c := range classes {
		rate += c.Arrival
	}
	return rate
}

// fcfsPoolWith returns the pool with a number of servers.
func fcfsPoolWith(classes []Class, servers int) (computedPool, error) {
	if uniform(classes) {
		q, err := queueing.NewMMm(arrivals(classes), classes[0].Service, servers)
		if err != nil {
			return nil, err
		}
		return fcfsPool{classes, servers, func(_ int, x float64) float64 { return q.ResponseWithin(x) }, 0, new(int)}, nil
	}
	q, err := queueing.NewMGm(streams(classes), servers)
	if err != nil {
		return nil, err
	}
	return fcfsPool{classes, servers, q.ResponseWithin, q.Error(), new(int)}, nil
}

func streams(classes []Class) []queueing.Stream {
	streams := make([]queueing.Stream, len(classes))
	for k, c := range classes {
		streams[k] = c.stream()
	}
	return streams
}
