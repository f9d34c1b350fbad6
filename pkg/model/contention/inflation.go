package contention

import "slices"

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

// interferes reports whether some job has an effect.
func interferes(jobs []Vector) bool { return slices.ContainsFunc(jobs, Vector.interferes) }

// interferes reports whether the job presses at some interference resource or is slowed down there.
func (v Vector) interferes() bool {
	return slices.ContainsFunc(v, func(d Demand) bool { return d.Effect != nil })
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
