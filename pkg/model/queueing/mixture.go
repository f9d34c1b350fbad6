package queueing

import "fmt"

// mixture is the common part of the queues of some classes, whatever their servers.
type mixture struct {
	streams          []Stream
	services         []service
	arrival, service float64 // rates of all classes together
	scv              float64
	phases           phases    // of all classes, those with an scv below 1 taken for exponential
	least            float64   // the smallest scv of a class, 1 at most
	boundary         *boundary // of the last queue, for the next one
}

func newMixture(streams []Stream) (*mixture, error) {
	if len(streams) == 0 {
		return nil, &ValueError{"classes", 0, "is not at least 1"}
	}
	mix := &mixture{streams: streams, least: 1}
	for k, s := range streams {
		err := validateRates(s.Arrival, s.Service)
		if err == nil && !(s.SCV >= 0 && s.SCV <= MaxSCV) {
			err = &ValueError{"squared coefficient of variation", s.SCV, fmt.Sprintf("is not between 0 and %g", float64(MaxSCV))}
		}
		if err != nil {
			return nil, fmt.Errorf("classes[%d]: %w", k, err)
		}
		mix.services = append(mix.services, newService(s.Service, s.SCV))
		mix.arrival += s.Arrival
	}
	mix.summarize()
	return mix, nil
}

// summarize fills in the sums and means over the classes.
func (x *mixture) summarize() {
	mean, square := 0.0, 0.0
	var list []phase
	for k, share := range x.shares() {
		s := x.streams[k]
		mean += share / s.Service
		square += share * (1 + s.SCV) / (s.Service * s.Service)
		if share > 0 {
			x.least = min(x.least, s.SCV)
		}
		if h, ok := x.services[k].(hyperexponential); ok {
			list = append(list, phase{share * h.probability[0], float64(h.phase[0])}, phase{share * h.probability[1], float64(h.phase[1])})
		} else {
			list = append(list, phase{share, s.Service})
		}
	}
	x.service, x.scv = 1/mean, square/(mean*mean)-1
	if len(x.streams) == 1 {
		x.service, x.scv = x.streams[0].Service, x.streams[0].SCV
	}
	x.phases = newPhases(x.arrival, list)
}

// shares returns the fraction of the jobs that is of each class.
func (x *mixture) shares() []float64 {
	shares := make([]float64, len(x.streams))
	for k, s := range x.streams {
		shares[k] = s.Arrival / x.arrival
		if x.arrival == 0 { // no job waits: any shares will do
			shares[k] = 1 / float64(len(x.streams))
		}
	}
	return shares
}

// negligibleWait is a probability of waiting below which it does not matter for how long.
const negligibleWait = 1e-7

// queue returns the queue given the one with exponential service times of the same mean.
func (x *mixture) queue(q MMm) *MGm {
	result := &MGm{services: x.services}
	switch {
	case q.waits < negligibleWait:
		result.wait = delays{q.delay()}
	case q.servers == 1 && x.least < 1:
		result.wait = pollaczek{x}
	default:
		wait, off := x.exponentialWait(q)
		if x.least < 1 {
			wait = wait.stretched(x.shortening(q))
			off += smoothError * (1 - x.least)
		}
		result.wait, result.off = wait, min(off, q.waits)
	}
	return result
}

// exponentialWait returns the wait if classes with an scv below 1 had exponential service
// times, and a bound of the error of its distribution function.
func (x *mixture) exponentialWait(q MMm) (delays, float64) {
	if len(x.phases.list) == 1 {
		return delays{q.delay()}, 0
	}
	fitted, servers, off := x.phases.fit(q.servers)
	if servers == q.servers {
		if x.boundary == nil || len(x.boundary.list) != len(fitted.list) {
			x.boundary = newBoundary(fitted)
		}
		return x.boundary.wait(servers), off
	}
	smaller, factor := q.scaled(servers)
	fitted.arrival *= smaller.Load() / fitted.offered()
	return newBoundary(fitted).wait(servers).stretched(factor), off
}

// scaled returns a queue with fewer servers at which a job waits with the same
// probability, and by what factor the wait, if there is one, is shorter in q. With many
// servers in heavy traffic the two are the same queue at different scales, whatever the
// distribution of service times: Halfin and Whitt, "Heavy-traffic limits for queues
// with many exponential servers", Operations Research 29 (3), 1981; Puhalskii and Reiman,
// "The multiclass GI/PH/N queue in the Halfin-Whitt regime", Advances in Applied
// Probability 32 (2), 2000.
func (q MMm) scaled(servers int) (MMm, float64) {
	m := float64(servers)
	low, high := 0.0, 1-1e-12
	var smaller MMm
	for {
		utilization := low + (high-low)/2
		if utilization <= low || utilization >= high {
			break
		}
		candidate, err := NewMMm(utilization*m, 1, servers)
		if err != nil || candidate.waits > q.waits {
			high = utilization
		} else {
			low, smaller = utilization, candidate
		}
	}
	return smaller, m * (1 - smaller.Utilization()) / (float64(q.servers) * (1 - q.Utilization()))
}

// shortening returns by what factor classes with an scv below 1 shorten the mean wait,
// compared with exponential ones. It is right in light and in heavy traffic, and
// interpolated between them: Tijms, "A first course in stochastic models", Wiley 2003, 9.6.
//
//	W ∝ (1 − u)·γ + u·(1 + scv)/2,  γ = mμ ∫ (1 − F_e(t))^m dt
//
// u being the utilization, scv that of all classes together and F_e the distribution
// of the residual service time.
func (x *mixture) shortening(q MMm) float64 {
	interpolated := func(x *mixture) float64 {
		u := q.Utilization()
		return (1-u)*float64(q.servers)*newResidual(x).shortest(q.servers) + u*(1+x.scv)/2
	}
	return interpolated(x) / interpolated(x.exponential())
}

// exponential returns the same classes, those with an scv below 1 with exponential
// service times.
func (x *mixture) exponential() *mixture {
	other := &mixture{arrival: x.arrival, least: 1}
	for _, s := range x.streams {
		s.SCV = max(1, s.SCV)
		other.streams = append(other.streams, s)
		other.services = append(other.services, newService(s.Service, s.SCV))
	}
	other.summarize()
	return other
}
