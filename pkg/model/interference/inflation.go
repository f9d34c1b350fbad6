package interference

import (
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
)

// This file computes the slowdown of service by interference, at the processor or another resource: see [loading.Effect]. The following is
// for the processor.
//
// While a thread of job j runs, those that run beside it in its domain press with X in all. Service advances at 1/g(X) of
// its full speed meanwhile, so that it takes, on average,
//
//	g_j = 1 / E[1/(1 + Σ_x h_jx(X_x))]
//
// times as long, h_jx being the curve of j at interference resource x, less 1: the times that several resources add to an
// instruction add up. The first three moments of X_x determine two values and their probabilities (the Gauss quadrature of its
// distribution), which stand for it: exactly where there is one other thread. Threads press at several resources at once, so the
// pressures at all of them are taken to be high and low together.
//
// Thread k is at the processor for a fraction u_k of its time. Of N threads that j finds there, M = min(N, c−1) run beside it on c
// servers, and K of these in its domain: see domains.go. All N are equally likely to be among the K, so that k is one of the K with
// probability u_k·E[K]/E[N], k and another l with u_k·u_l·E[K(K−1)]/E[N(N−1)], and so on. On a single core M is 0: a thread that
// waits for the core does not press on the thread that has it. The u_k depend on the inflations, and are found with them, by a
// fixed point that needs no solution of the node. Where service is slowed at several resources, the time that the slowdown at one
// of them adds to a job counts for its presence at the others.
//
// A job with a limit is at the processor for no more of its time than that allows: while it is throttled it presses on no
// other. All of its threads are throttled at once, so that those that run find their siblings as if there were no limit.

// Inflation is the effect of interference on one vector.
type Inflation struct {
	// services are those that it makes slower, commonly that of the processor alone.
	services []slowerService
	// Parts are the contributions of each resource to the own time, and Pressing the pressures of the job's threads there, averaged
	// over time, in the order of the resources.
	Parts, Pressing []float64
}

// slowerService is the effect of interference on the service of a job at one resource.
type slowerService struct {
	resource int
	// loading is the fraction of its own time that each thread is served there; together is the relative growth of that beside the
	// others, and alone the growth beside its own siblings.
	loading         float64
	together, alone float64
}

// grows returns the relative growth of the service, beside the others or alone.
func (s *slowerService) grows(alone bool) float64 {
	if alone {
		return s.alone
	}
	return s.together
}

// Stretch returns the factor of the own time, beside the others or alone.
func (f *Inflation) Stretch(alone bool) float64 {
	stretch := 1.0
	for k := range f.services {
		stretch += f.services[k].loading * (f.services[k].grows(alone) - 1)
	}
	return stretch
}

// AnyInterferes reports whether some job has an effect.
func AnyInterferes(jobs []loading.Vector) bool {
	return slices.ContainsFunc(jobs, loading.Vector.Interferes)
}

// Apply returns the vector of a job whose service takes as much longer as it does beside the others, or alone, as
// fractions of the own time that is so stretched. It uses the capacity of another vector, if there is one.
func (f *Inflation) Apply(v loading.Vector, alone bool, to loading.Vector) loading.Vector {
	stretch := f.Stretch(alone)
	if stretch == 1 {
		return v
	}
	w := append(to[:0], v...) //nolint:gocritic // the memory is another's, of a vector that is made now
	for i := range w {
		w[i].Loading /= stretch
		w[i].Sensitivity /= stretch
		w[i].Pressure /= stretch
	}
	for k := range f.services {
		i, by := f.services[k].resource, f.services[k].grows(alone)
		if by > 1 && v[i].Loading > 0 {
			w[i].Loading = min(1, v[i].Loading*by/stretch)
			w[i].Sensitivity = min(1, v[i].Sensitivity*by/stretch)
			w[i].Pressure = v[i].Pressure * by / (1 + v[i].Pressure*(by-1)) * (1 + f.services[k].loading*(by-1)) / stretch
		}
	}
	return w
}

// couplings is the number of passes over the services where several are slowed: the effect of one on the others is small.
const couplings = 3

// Kind is equal jobs on one node.
type Kind struct {
	Vector loading.Vector
	Copies int
	Limit  float64 // of each, see [loading.Share]
	Slack  float64 // see [hold]
}

// hold returns the effect of the limit on the processor, given by its index, on the jobs where service at another, or the same,
// resource is slower.
func (k *Kind) hold(processor, slower int) hold {
	if k.Limit == 0 || !k.Vector.Uses(processor) {
		return hold{}
	}
	d := k.Vector[processor]
	return hold{least: float64(d.ThreadCount()) * d.Loading / max(k.Limit, loading.MinLimit), computes: slower == processor, slack: k.Slack}
}

// Inflate returns the effect of interference on each of some kinds of jobs on one node, whose limits are on the resource of the
// index processor. It takes O(n²) time for n threads, and the same again per round.
func Inflate(kinds []Kind, servers []int, processor int) []Inflation {
	vectors := make([]loading.Vector, len(kinds))
	for k := range kinds {
		vectors[k] = kinds[k].Vector
	}
	slower := slowedServices(vectors)
	f := newInflations(vectors, len(servers))
	pressures := make([]*interference, 0, len(slower))
	services := make([]int, len(vectors)) // of each vector, that are slowed
	coupled := false
	for _, of := range slower {
		jobs, sharing := make([]slowed, 0, len(vectors)/len(slower)+1), 0
		for k, v := range vectors {
			if s := newSlowed(v, kinds[k].Copies, of); s.loading > 0 { // a job that is never there neither presses nor suffers
				s.number, s.hold = k, kinds[k].hold(processor, of)
				jobs, sharing = append(jobs, s), sharing+s.copies*s.threads
				services[k]++
				coupled = coupled || services[k] > 1
			}
		}
		if len(jobs) == 0 || len(jobs) == 1 && jobs[0].copies*jobs[0].threads == 1 {
			continue // one thread has nothing that presses on it
		}
		x := newInterference(jobs, servers, of, sharing)
		x.settle()
		pressures = append(pressures, x)
	}
	if coupled {
		couple(pressures, len(vectors))
	}
	for _, x := range pressures {
		for k := range x.jobs {
			f[x.jobs[k].number].take(x, k, servers)
		}
	}
	return f
}

// newInflations returns room for the results.
func newInflations(vectors []loading.Vector, resources int) []Inflation {
	f := make([]Inflation, len(vectors))
	cells := make([]float64, 2*len(vectors)*resources)
	for k, v := range vectors {
		f[k].Parts, cells = cells[:len(v):len(v)], cells[len(v):]
		f[k].Pressing, cells = cells[:len(v):len(v)], cells[len(v):]
	}
	return f
}

// slowedServices returns the resources whose service some effect slows.
func slowedServices(vectors []loading.Vector) (of []int) {
	for _, v := range vectors {
		for _, d := range v {
			if d.Effect != nil && !slices.Contains(of, d.Effect.Of) {
				of = append(of, d.Effect.Of)
			}
		}
	}
	return of
}

// couple solves each slower service again, with the time that the others add for each of some vectors.
func couple(all []*interference, vectors int) {
	more := make([]float64, vectors)
	gain := func(s *slowed) float64 { return s.loading * (s.inflation - 1) }
	for _, x := range all {
		for k := range x.jobs {
			more[x.jobs[k].number] += gain(&x.jobs[k])
		}
	}
	for range couplings {
		for _, x := range all {
			for k := range x.jobs {
				s := &x.jobs[k]
				more[s.number] -= gain(s)
				s.elsewhere = max(0, more[s.number])
			}
			x.settle()
			for k := range x.jobs {
				more[x.jobs[k].number] += gain(&x.jobs[k])
			}
		}
	}
}

// take records the effect of a slower service on its k-th job.
func (f *Inflation) take(x *interference, k int, servers []int) {
	s := &x.jobs[k]
	for i, d := range s.vector {
		if x.affects(d) {
			f.Parts[i] = s.loading * s.parts[i]
			f.Pressing[i] = float64(s.threads) * s.presence * d.Effect.Pressure
		}
	}
	alone := 1.0
	switch {
	case s.threads == 1:
	case len(x.jobs) == 1 && s.copies == 1:
		alone = s.inflation
	default:
		single := []slowed{newSlowed(s.vector, 1, x.of)}
		single[0].hold = s.hold
		newInterference(single, servers, x.of, s.threads).settle()
		alone = min(single[0].inflation, s.inflation)
	}
	f.services = append(f.services, slowerService{resource: x.of, loading: s.loading, together: s.inflation, alone: alone})
}

// InflateEach returns the effect of interference on each of the jobs, equal ones being solved once. Shares has the limit of each on
// the processor, the resource of that index; nil is none.
func InflateEach(jobs []loading.Vector, servers []int, processor int, shares []loading.Share) []Inflation {
	var kinds []Kind
	class, known := make([]int, len(jobs)), make(map[string]int, len(jobs))
	key := make([]byte, 0, 256)
	for j, v := range jobs {
		key = v.AppendKey(key[:0])
		of := Kind{Vector: v}
		if shares != nil {
			of.Limit = shares[j].Limit
			key = loading.AppendFloat(key, of.Limit)
		}
		at, is := known[string(key)]
		if !is {
			at = len(kinds)
			known[string(key)] = at
			kinds = append(kinds, of)
		}
		kinds[at].Copies++
		class[j] = at
	}
	found := Inflate(kinds, servers, processor)
	all := make([]Inflation, len(jobs))
	for j := range jobs {
		all[j] = found[class[j]]
	}
	return all
}
