package contention

import (
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// slowed is jobs of one vector whose service at some resource, commonly the processor, interference may slow down.
type slowed struct {
	vector Vector
	number int // of the vector among all of the node
	copies int
	// importance is how many times what the jobs are slowed by counts in prices.
	importance float64

	loading   float64 // fraction of its own time that each thread is served there
	threads   int
	exclusive bool    // on servers of its own
	presence  float64 // fraction of its time that each thread is there, waiting included
	elsewhere float64 // what slower service at other resources adds to its own time
	inflation float64 // g
	parts     []float64
}

// newSlowed returns what of some equal jobs matters to interference with service at a resource.
func newSlowed(v Vector, copies, resource int) slowed {
	s := slowed{vector: v, copies: copies, importance: 1, inflation: 1, threads: 1}
	if resource < len(v) {
		s.loading, s.threads = v[resource].Loading, v[resource].threads()
	}
	for _, d := range v {
		if d.Effect != nil && d.Effect.Of == resource && d.Effect.Exclusive > 0 {
			s.loading, s.threads, s.exclusive = d.Effect.Exclusive, d.threads(), true
		}
	}
	s.presence = s.loading
	return s
}

// interference is the pressures on service at one resource of a node. Here that is called the processor.
type interference struct {
	of      int
	jobs    []slowed
	servers int       // of the processor
	cores   int       // with those that jobs have for themselves
	domain  []float64 // δ by resource, 0 at those with a queue

	there, others poissonbinomial.Distribution // threads at the processor
	shared        []pressures                  // by resource, of the threads that share the processor
	apart         []pressures                  // and of those with cores of their own
	levels        []level
	cuts          []float64
}

func newInterference(jobs []slowed, servers []int, of int) *interference {
	x := &interference{
		of: of, jobs: jobs, domain: make([]float64, len(servers)),
		shared: make([]pressures, len(servers)), apart: make([]pressures, len(servers)),
	}
	if len(servers) == 0 {
		return x
	}
	x.servers, x.cores = servers[of], servers[of]
	for k := range jobs {
		if jobs[k].exclusive {
			x.cores += jobs[k].copies * jobs[k].threads
		}
	}
	for i, domains := range servers {
		x.domain[i] = domainChance(x.cores, domains)
	}
	parts := make([]float64, len(jobs)*len(servers))
	for k := range jobs {
		size := len(jobs[k].vector)
		jobs[k].parts, parts = parts[:size:size], parts[size:]
	}
	return x
}

const (
	// inflationRounds bounds how often presences are found anew, and inflationTolerance is by how much an inflation may
	// change in the last round: those that would follow change it by less than half of that, and averaging over who runs
	// beside whom is off by more.
	inflationRounds, inflationTolerance = 30, 3e-3
)

// settle finds inflations and presences.
func (x *interference) settle() {
	x.sum()
	crowding := x.there.Excess(x.servers) / float64(x.servers) // roughly what a thread waits
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
		if s.loading < leastLoading {
			continue
		}
		beside, wait := x.beside(s)
		before := s.inflation
		s.inflation = x.inflation(s, beside)
		change = max(change, math.Abs(s.inflation-before))
		s.presence = s.present(wait)
	}
	return change
}

// present returns the fraction of its time that a thread is at the processor if it waits there for so many times its
// service.
func (s *slowed) present(wait float64) float64 {
	if s.exclusive {
		wait = 0
	}
	there := s.loading * s.inflation * (1 + wait)
	return there / (1 - s.loading + s.elsewhere + there)
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
				to[i].add(d.Effect.Pressure, s.presence, float64(n))
			}
		}
	}
}

// affects reports whether a demand is an effect on the service.
func (x *interference) affects(d Demand) bool { return d.Effect != nil && d.Effect.Of == x.of }

// beside returns how the threads at the processor run while one of the job does, and how long that waits there, as a
// multiple of its service.
func (x *interference) beside(s *slowed) (runs chances, wait float64) {
	if s.exclusive {
		return newChances(&x.there, x.servers), 0
	}
	x.others.Without(&x.there, s.presence)
	return newChances(&x.others, x.servers-1), x.others.Excess(x.servers) / float64(x.servers)
}

// inflation returns that of a job, and notes which resource adds what to it.
func (x *interference) inflation(s *slowed, runs chances) float64 {
	clear(s.parts)
	x.levels = x.levels[:0]
	for i, d := range s.vector {
		if !x.affects(d) || len(d.Effect.Curve) == 0 {
			continue
		}
		if l, pressed := x.level(s, i, d.Effect, runs); pressed {
			x.levels = append(x.levels, l)
		}
	}
	return x.combine(s.parts)
}

// level returns what stands for the pressure of the others on a thread of the job at one resource.
func (x *interference) level(s *slowed, resource int, e *Effect, runs chances) (level, bool) {
	shared, apart := x.shared[resource], x.apart[resource]
	if s.exclusive {
		apart.add(e.Pressure, s.presence, -1)
	} else {
		shared.add(e.Pressure, s.presence, -1)
	}
	l, pressed := x.levelOf(resource, &shared, &apart, runs)
	l.curve = e.Curve
	return l, pressed
}

// levelOf returns what stands for the pressure of some threads at a resource; false is none.
func (x *interference) levelOf(resource int, shared, apart *pressures, runs chances) (level, bool) {
	var cumulants [3]float64
	limit := 0.0
	if shared.threads > 0.5 { // else there is only what rounding left
		shared.cumulants(runs, x.domain[resource], &cumulants)
		limit += shared.bounds
	}
	if apart.threads > 0.5 {
		apart.cumulants(allRun, x.domain[resource], &cumulants)
		limit += apart.bounds
	}
	if cumulants[0] <= 0 {
		return level{}, false
	}
	l := level{resource: resource}
	l.low, l.high, l.chance = twoValues(cumulants, limit)
	return l, true
}

// combine returns the inflation under the pressures of all resources, and fills in what each adds to it.
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
			h := l.curve.more(at)
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
