package interference

import (
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// slowed is jobs of one vector whose service at some resource, commonly the processor, interference may slow down.
type slowed struct {
	vector loading.Vector
	number int // of the vector among all of the node
	copies int
	// importance is the factor of the jobs' slowdown in prices.
	importance float64

	loading   float64 // fraction of its own time that each thread is served there
	threads   int
	exclusive bool // on servers of its own
	hold      hold
	presence  float64 // fraction of its time that each thread is there, waiting included
	awake     float64 // fraction of its time for which it is not throttled: all its threads are at once
	elsewhere float64 // time that slower service at other resources adds to its own time
	inflation float64 // g
	parts     []float64
}

// newSlowed returns the inputs of some equal jobs to interference with service at a resource.
func newSlowed(v loading.Vector, copies, resource int) slowed {
	s := slowed{vector: v, copies: copies, importance: 1, inflation: 1, threads: 1, awake: 1}
	if resource < len(v) {
		s.loading, s.threads = v[resource].Loading, v[resource].ThreadCount()
	}
	for _, d := range v {
		if d.Effect != nil && d.Effect.Of == resource && d.Effect.Exclusive > 0 {
			s.loading, s.threads, s.exclusive = d.Effect.Exclusive, d.ThreadCount(), true
		}
	}
	s.presence = s.loading
	return s
}

// hold is the effect of a limit on the processor on a job.
type hold struct {
	// least is the least length of its own time: its service at the processor over the limit, 0 without one.
	least float64
	// computes reports whether that service is the one that interference slows, so that least grows with it.
	computes bool
	// slack is which fraction of its own time it is idle for no reason but the limit.
	slack float64
}

// takes returns how long the own time takes at least with service that is so much slower.
func (h *hold) takes(inflation float64) float64 {
	if h.computes {
		return h.least * inflation
	}
	return h.least
}

// interference is the pressures on service at one resource of a node. Here that is called the processor.
type interference struct {
	of      int
	jobs    []slowed
	servers int       // of the processor
	own     int       // that jobs have for themselves besides
	spreads []*spread // by resource

	there, others, rest poissonbinomial.Distribution // threads at the processor
	shared              []pressures                  // by resource, of the threads that share the processor
	apart               []pressures                  // and of jobs with cores of their own
	levels              []level
	cuts                []float64
}

// newInterference returns that of some jobs, on a node where no more threads share the processor than sharing says.
func newInterference(jobs []slowed, servers []int, of, sharing int) *interference {
	x := &interference{
		of: of, jobs: jobs, spreads: make([]*spread, len(servers)),
		shared: make([]pressures, len(servers)), apart: make([]pressures, len(servers)),
	}
	if len(servers) == 0 {
		return x
	}
	x.servers = servers[of]
	for k := range jobs {
		if jobs[k].exclusive {
			x.own += jobs[k].copies * jobs[k].threads
		}
	}
	x.spread(servers, min(x.servers, sharing)+x.own)
	parts := make([]float64, len(jobs)*len(servers))
	for k := range jobs {
		size := len(jobs[k].vector)
		jobs[k].parts, parts = parts[:size:size], parts[size:]
	}
	return x
}

// spread computes how the other threads, up to the given number, are spread over the domains of each resource at which some
// job presses.
func (x *interference) spread(domains []int, others int) {
	for k := range x.jobs {
		for i, d := range x.jobs[k].vector {
			if !x.affects(d) || x.spreads[i] != nil {
				continue
			}
			same := func(s *spread) bool { return s != nil && s.domains == domains[i] }
			if at := slices.IndexFunc(x.spreads, same); at >= 0 {
				x.spreads[i] = x.spreads[at]
			} else {
				x.spreads[i] = newSpread(domains[i], others)
			}
		}
	}
}

const (
	// inflationRounds bounds the number of times that presences are found anew, and inflationTolerance is the largest change
	// of an inflation in the last round: later rounds would change it by less than half of that, and the error of averaging
	// over the threads that run together is larger.
	inflationRounds, inflationTolerance = 30, 3e-3
)

// settle finds inflations and presences.
func (x *interference) settle() {
	x.sum()
	crowding := x.there.Excess(x.servers) / float64(x.servers) // approximate wait of a thread
	for k := range x.jobs {
		s := &x.jobs[k]
		s.presence = s.present(crowding)
	}
	for range inflationRounds {
		if x.round() < inflationTolerance {
			return
		}
	}
}

// round finds the inflations from the presences, and then these anew. It returns the largest change of an inflation.
func (x *interference) round() (change float64) {
	x.sum()
	for k := range x.jobs {
		s := &x.jobs[k]
		if s.loading < loading.MinLoading {
			continue
		}
		wait := x.lookBeside(s)
		before := s.inflation
		s.inflation = x.inflation(s)
		change = max(change, math.Abs(s.inflation-before))
		s.presence = s.present(wait)
	}
	return change
}

// present returns the fraction of its time that a thread is at the processor, given its wait there as a multiple of its
// service, and records the fraction for which it is not throttled.
func (s *slowed) present(wait float64) float64 {
	if s.exclusive {
		wait = 0
	}
	there := s.loading * s.inflation * (1 + wait)
	takes := max(0, 1-s.loading-s.hold.slack) + s.elsewhere + there
	least := s.hold.takes(s.inflation)
	s.awake = min(1, takes/least)
	return there / max(takes, least)
}

// sum adds up who is at the processor and who presses where.
func (x *interference) sum() {
	x.there.Reset()
	clear(x.shared)
	clear(x.apart)
	for k := range x.jobs {
		s := &x.jobs[k]
		n := s.copies * s.threads
		to := x.shared
		if s.exclusive {
			to = x.apart
		} else if s.presence > 0 {
			for range n {
				x.there.Add(s.presence)
			}
		}
		for i, d := range s.vector {
			if x.affects(d) {
				to[i].addTogether(d.Effect.Pressure, s.presence, s.awake, s.threads, float64(s.copies))
			}
		}
	}
}

// affects reports whether a demand is an effect on the service.
func (x *interference) affects(d loading.Demand) bool { return d.Effect != nil && d.Effect.Of == x.of }

// lookBeside finds the threads that share the processor while one of the job is there, and returns how long that waits, as a
// multiple of its service.
func (x *interference) lookBeside(s *slowed) (wait float64) {
	if s.exclusive {
		return 0
	}
	x.others.Without(&x.there, s.presence)
	if s.threads > 1 && s.awake < 1 { // its siblings are not throttled meanwhile
		for range s.threads - 1 {
			x.rest.Without(&x.others, s.presence)
			x.others, x.rest = x.rest, x.others
		}
		for range s.threads - 1 {
			x.others.Add(s.unthrottled())
		}
	}
	return x.others.Excess(x.servers) / float64(x.servers)
}

// unthrottled returns the presence of a thread while its job is not throttled.
func (s *slowed) unthrottled() float64 { return min(1, s.presence/s.awake) }

// inflation returns the inflation of a job beside those that [interference.lookBeside] found, and records the contribution of
// each resource.
func (x *interference) inflation(s *slowed) float64 {
	clear(s.parts)
	x.levels = x.levels[:0]
	around := x.around(s)
	var near chances
	var last *spread // that near is for
	for i, d := range s.vector {
		if !x.affects(d) || len(d.Effect.Curve) == 0 {
			continue
		}
		if last != x.spreads[i] {
			last = x.spreads[i]
			near = around.chances(last)
		}
		shared, apart := x.pressing(s, i, d.Effect)
		m := near.moments(&shared, &apart)
		if low, high, chance := m.values(0, shared.bounds+apart.bounds); high > 0 {
			x.levels = append(x.levels, level{d.Effect.Curve, i, low, high, chance})
		}
	}
	return x.combine(s.parts)
}

// around returns the surroundings of a thread of the job, after [interference.lookBeside].
func (x *interference) around(s *slowed) surroundings {
	if s.exclusive {
		return surroundings{threads: &x.there, servers: x.servers, own: x.own - 1}
	}
	return surroundings{threads: &x.others, servers: x.servers - 1, own: x.own}
}

// pressing returns the pressures on a thread of the job at a resource: of threads that share servers, and of threads with
// servers of their own.
func (x *interference) pressing(s *slowed, resource int, e *loading.Effect) (shared, apart pressures) {
	shared, apart = x.shared[resource], x.apart[resource]
	to := &shared
	if s.exclusive {
		to = &apart
	}
	if s.threads > 1 && s.awake < 1 {
		to.addTogether(e.Pressure, s.presence, s.awake, s.threads, -1)
		to.add(e.Pressure, s.unthrottled(), float64(s.threads-1))
	} else {
		to.add(e.Pressure, s.presence, -1)
	}
	if to.threads < 0.5 {
		*to = pressures{} // only rounding errors are left
	}
	return shared, apart
}

// combine returns the inflation under the pressures of all resources, and fills in the contribution of each.
func (x *interference) combine(parts []float64) float64 {
	if len(x.levels) == 0 {
		return 1
	}
	x.cuts = append(x.cuts[:0], 0, 1)
	for _, l := range x.levels {
		x.cuts = append(x.cuts, 1-l.chance)
	}
	slices.Sort(x.cuts)
	speed, more := 0.0, 0.0
	for k := 1; k < len(x.cuts); k++ {
		share := x.cuts[k] - x.cuts[k-1]
		if share <= 0 {
			continue
		}
		sum := 0.0
		for _, l := range x.levels {
			at := l.high
			if x.cuts[k] <= 1-l.chance {
				at = l.low
			}
			h := l.curve.Increase(at)
			parts[l.resource] += share * h
			sum += h
		}
		speed += share / (1 + sum)
		more += share * sum
	}
	inflation := 1 / speed
	if more > 0 {
		for _, l := range x.levels {
			parts[l.resource] *= (inflation - 1) / more
		}
	}
	return inflation
}
