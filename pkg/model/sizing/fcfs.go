package sizing

import (
	"loadline.dev/loadline/pkg/model/queueing"
)

// fcfsPool is a pool that serves jobs in order of arrival.
type fcfsPool struct {
	classes []Class
	size    int
	within  func(k int, x float64) float64
	off     float64 // a bound of the error of within
}

func (s fcfsPool) servers() int { return s.size }

func (s fcfsPool) bound() float64 { return s.off }

func (s fcfsPool) meets(k int) bool {
	return s.within(k, s.classes[k].SLA.Within) >= s.classes[k].SLA.Probability
}

func (s fcfsPool) order() ([]int, bool) {
	for k := range s.classes {
		if !s.meets(k) {
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
		return fcfsPool{classes, servers, func(_ int, x float64) float64 { return q.ResponseWithin(x) }, 0}, nil
	}
	q, err := queueing.NewMGm(streams(classes), servers)
	if err != nil {
		return nil, err
	}
	return fcfsPool{classes, servers, q.ResponseWithin, q.Error()}, nil
}

func streams(classes []Class) []queueing.Stream {
	streams := make([]queueing.Stream, len(classes))
	for k, c := range classes {
		streams[k] = c.stream()
	}
	return streams
}
