package contention

import (
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// This file finds by how much interference makes service at the processor slower: see [Effect].
//
// While a thread of job j runs, those that run beside it in its domain press with X in all. Service advances at 1/g(X) of
// its full speed meanwhile, so that it takes, on average,
//
//	g_j = 1 / E[1/(1 + Σ_x h_jx(X_x))]
//
// times as long, h_jx being the curve of j at interference resource x, less 1: what several resources add to the time
// of an instruction adds up. The first three moments of X_x determine two values and their probabilities (the Gauss
// quadrature of its distribution), which stand for it: exactly where there is one other thread. Threads press at several
// resources at once, so the pressures at all of them are taken to be high and low together.
//
// Thread k is at the processor for a fraction u_k of its time. Of N threads that j finds there, M = min(N, c−1) run beside
// it on c servers, any of them alike, so that k is one of them with probability u_k·E[M]/E[N], k and another l with
// u_k·u_l·E[M(M−1)]/E[N(N−1)], and so on; and each is in j's domain with a probability δ. On a single core M is 0: who waits
// for the core does not press on who has it. The u_k depend on the inflations, and are found with them, by a fixed point
// that needs no solution of the node.

// slowed is jobs of one vector whose service at the processor interference may slow down.
type slowed struct {
	vector Vector
	copies int

	loading   float64 // fraction of its own time that each thread computes
	threads   int
	exclusive bool    // on cores of its own
	presence  float64 // fraction of its time that each thread is at the processor, waiting there included
	inflation float64 // g
	parts     []float64
}

// inflation is what interference does to one vector.
type inflation struct {
	// loading is the fraction of its own time that each thread computes; together is by how much that grows beside the
	// others, and alone by how much beside its own siblings.
	loading         float64
	together, alone float64
	// parts is what each resource adds to together, and pressing how hard the job's threads press there, on average over
	// time, in the order of the resources.
	parts, pressing []float64
}

// stretch returns by how much the own time grows.
func (f *inflation) stretch() float64 { return 1 + f.loading*(f.together-1) }

// stretchAlone returns by how much it grows alone.
func (f *inflation) stretchAlone() float64 { return 1 + f.loading*(f.alone-1) }

const (
	// inflationRounds bounds how often presences are found anew, and inflationTolerance is by how much an inflation may
	// change in the last round: those that would follow change it by less than half of that, and averaging over who runs
	// beside whom is off by more.
	inflationRounds, inflationTolerance = 30, 3e-3
)

// interferes reports whether some job has an effect.
func interferes(jobs []Vector) bool { return slices.ContainsFunc(jobs, Vector.interferes) }

// interferes reports whether the job presses at some interference resource or is slowed down there.
func (v Vector) interferes() bool {
	return slices.ContainsFunc(v, func(d Demand) bool { return d.Effect != nil })
}

// newSlowed returns what of some equal jobs matters to interference.
func newSlowed(v Vector, copies int) slowed {
	s := slowed{vector: v, copies: copies, inflation: 1, threads: 1}
	if len(v) > 0 {
		s.loading, s.threads = v[0].Loading, v[0].threads()
	}
	for _, d := range v {
		if d.Effect != nil && d.Effect.Exclusive > 0 {
			s.loading, s.threads, s.exclusive = d.Effect.Exclusive, d.threads(), true
		}
	}
	s.presence = s.loading
	return s
}

// inflate returns what interference does to each of the jobs, which are on one node. It takes O(n²) time for n threads,
// and as much again per round.
func inflate(jobs []slowed, servers []int) []inflation {
	f := make([]inflation, len(jobs))
	newInterference(jobs, servers).settle()
	pressing := make([]float64, len(jobs)*len(servers))
	for k := range jobs {
		s := &jobs[k]
		f[k] = inflation{loading: s.loading, together: s.inflation, alone: 1, parts: s.parts, pressing: pressing[:len(s.vector):len(s.vector)]}
		pressing = pressing[len(s.vector):]
		for i, d := range s.vector {
			if d.Effect != nil {
				f[k].pressing[i] = float64(s.threads) * s.presence * d.Effect.Pressure
			}
		}
	}
	for k := range jobs {
		s := &jobs[k]
		switch {
		case s.threads == 1:
		case len(jobs) == 1 && s.copies == 1:
			f[k].alone = f[k].together
		default:
			alone := []slowed{newSlowed(s.vector, 1)}
			newInterference(alone, servers).settle()
			f[k].alone = min(alone[0].inflation, f[k].together)
		}
	}
	return f
}

// interference is the pressures on a node.
type interference struct {
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

// pressures are the sums over threads from which the moments of a pressure are made: of q·u, and of the squares and
// cubes of q times powers of u.
type pressures struct {
	first          float64
	second         [2]float64
	third          [3]float64
	anyone, bounds float64 // the number of threads that press, and the sum of their pressures
}

func (s *pressures) add(q, u, times float64) {
	if q*u < leastLoading { // powers of less would underflow
		return
	}
	s.first += times * q * u
	s.second[0] += times * q * q * u
	s.second[1] += times * q * q * u * u
	s.third[0] += times * q * q * q * u
	s.third[1] += times * q * q * q * u * u
	s.third[2] += times * q * q * q * u * u * u
	s.anyone += times
	s.bounds += times * q
}

// cumulants adds the first three of the pressure of threads of which one, two and three run at once as the chances say, each
// in the domain with probability δ.
func (s *pressures) cumulants(c chances, domain float64, to *[3]float64) {
	one, two, three := c[0]*domain, c[1]*domain*domain, c[2]*domain*domain*domain
	mean := one * s.first
	square := one*s.second[0] + two*(s.first*s.first-s.second[1])
	cube := one*s.third[0] + 3*two*(s.second[0]*s.first-s.third[1]) +
		three*(s.first*s.first*s.first-3*s.first*s.second[1]+2*s.third[2])
	to[0] += mean
	to[1] += max(0, square-mean*mean)
	to[2] += cube - 3*mean*square + 2*mean*mean*mean
}

// chances are E[M]/E[N], E[M(M−1)]/E[N(N−1)] and E[M(M−1)(M−2)]/E[N(N−1)(N−2)], where M of N threads run.
type chances [3]float64

// together are the chances of threads with a core each.
var together = chances{1, 1, 1}

// newChances returns those of threads, their number having that distribution, on some servers.
func newChances(threads *poissonbinomial.Distribution, servers int) chances {
	var found, running [3]float64
	low, high := threads.Range()
	if servers == 0 {
		return chances{}
	}
	if high <= servers {
		return together
	}
	for n := low; n <= high; n++ {
		p, a, b := threads.Probability()[n], float64(n), float64(min(n, servers))
		found[0] += p * a
		found[1] += p * a * (a - 1)
		found[2] += p * a * (a - 1) * (a - 2)
		running[0] += p * b
		running[1] += p * b * (b - 1)
		running[2] += p * b * (b - 1) * (b - 2)
	}
	var c chances
	for k := range c {
		if found[k] > 0 {
			c[k] = running[k] / found[k]
		}
	}
	return c
}

// level is the two values that stand for the pressure at one resource, and the probability of the higher one.
type level struct {
	curve     Curve
	resource  int
	low, high float64
	chance    float64
}

func newInterference(jobs []slowed, servers []int) *interference {
	x := &interference{
		jobs: jobs, domain: make([]float64, len(servers)),
		shared: make([]pressures, len(servers)), apart: make([]pressures, len(servers)),
	}
	if len(servers) == 0 {
		return x
	}
	x.servers, x.cores = servers[0], servers[0]
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

// domainChance returns the probability that a thread that runs beside another is in the same of some equal domains.
func domainChance(cores, domains int) float64 {
	if cores < 2 || domains < 2 {
		return 1
	}
	return max(0, float64(cores)/float64(domains)-1) / float64(cores-1)
}

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
	return there / (1 - s.loading + there)
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
			if d.Effect != nil {
				to[i].add(d.Effect.Pressure, s.presence, float64(n))
			}
		}
	}
}

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
		if d.Effect == nil || len(d.Effect.Curve) == 0 {
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
	if shared.anyone > 0.5 { // else there is only what rounding left
		shared.cumulants(runs, x.domain[resource], &cumulants)
		limit += shared.bounds
	}
	if apart.anyone > 0.5 {
		apart.cumulants(together, x.domain[resource], &cumulants)
		limit += apart.bounds
	}
	if cumulants[0] <= 0 {
		return level{}, false
	}
	l := level{resource: resource}
	l.low, l.high, l.chance = twoValues(cumulants, limit)
	return l, true
}

// leastVariance is the variance, in proportion to the square of the mean, below which a pressure is constant: what
// rounding leaves of it.
const leastVariance = 1e-9

// twoValues returns two values from 0 to a limit, and the probability of the second, larger one, that have the given
// mean, variance and third central moment.
func twoValues(cumulants [3]float64, limit float64) (low, high, chance float64) {
	mean, variance := cumulants[0], cumulants[1]
	if variance <= leastVariance*mean*mean {
		return mean, mean, 1
	}
	sigma := math.Sqrt(variance)
	half := cumulants[2] / (variance * sigma) / 2
	root := math.Hypot(1, half)
	return max(0, mean+sigma*(half-root)), min(limit, mean+sigma*(half+root)), (1 - half/root) / 2
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

// inflated returns the vector of a job whose computing takes so many times as long, as fractions of the own time that is
// so stretched. It is made in the capacity of another, if there is any.
func (v Vector) inflated(loading, by float64, to Vector) Vector {
	if by == 1 || loading == 0 {
		return v
	}
	stretch := 1 + loading*(by-1)
	w := append(to[:0], v...) //nolint:gocritic // the memory is another's, of a vector that is made now
	for i := range w {
		w[i].Loading /= stretch
		w[i].Sensitivity /= stretch
		w[i].Pressure /= stretch
	}
	if w[0].Loading > 0 {
		w[0].Loading = min(1, v[0].Loading*by/stretch)
		w[0].Sensitivity = min(1, v[0].Sensitivity*by/stretch)
		w[0].Pressure = v[0].Pressure * by / (1 + v[0].Pressure*(by-1))
	}
	return w
}

// inflateAll returns what interference does to each of the jobs, equal ones being found once.
func inflateAll(jobs []Vector, servers []int) []inflation {
	var classes []slowed
	class, known := make([]int, len(jobs)), make(map[string]int, len(jobs))
	var key []byte
	for j, v := range jobs {
		key = v.appendKey(key[:0])
		at, is := known[string(key)]
		if !is {
			at = len(classes)
			known[string(key)] = at
			classes = append(classes, newSlowed(v, 0))
		}
		classes[at].copies++
		class[j] = at
	}
	found := inflate(classes, servers)
	all := make([]inflation, len(jobs))
	for j := range jobs {
		all[j] = found[class[j]]
	}
	return all
}
