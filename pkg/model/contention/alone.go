package contention

import (
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// This file computes the waits of one job's threads for each other: the time of a job alone on a node, its neutral
// time, in units of its own time. See the package's documentation. Every other file divides by it.

// Alone returns how long a job takes alone on a node, as a multiple of its own time:
// at least 1, and 1 where no resource has fewer servers than the job has threads
// there. The node is solved as by [Predict] with the options.
//
// The error is as that of Predict.
func Alone(v loading.Vector, servers []int, options queueing.Options) (float64, error) {
	if err := loading.ValidateServers(servers); err != nil {
		return 0, err
	}
	if err := v.ValidateOn(servers); err != nil {
		return 0, err
	}
	return SolveAlone(loading.InEffect([]loading.Vector{v}, servers)[0], servers, options)
}

// SolveAlone is [Alone] of a valid vector whose threads are all in effect.
func SolveAlone(v loading.Vector, servers []int, options queueing.Options) (float64, error) {
	if !v.Oversubscribes(servers) {
		return 1, nil
	}
	options.Start = nil
	solution, err := queueing.Solve(&queueing.Network{Servers: servers, Classes: []queueing.Class{QueueingClass(v)}}, options)
	if err != nil {
		return 0, err
	}
	return v.Response(solution.Waits[0]), nil
}

// AloneServed returns the same as [Alone] for a vector whose loadings are fractions of the neutral time on the node
// rather than of the own time, as a stopwatch measures them: the loadings times the result are fractions of the own
// time. Pressures are taken to equal the loadings.
//
// It is the root R of Alone(R·v) = R, which grows from 1 to where R·v adds up to 1.
// Where there is none, as servers are said to do more work than they can, it is the
// latter. The error is as that of Alone.
func AloneServed(v loading.Vector, servers []int, options queueing.Options) (float64, error) {
	sum := 0.0
	for _, d := range v {
		sum += d.Loading
	}
	own := make(loading.Vector, len(v))
	short := func(times float64) (bool, error) {
		for i, d := range v {
			fraction := min(1, times*d.Loading)
			own[i] = loading.Demand{Loading: fraction, Pressure: fraction, Threads: d.Threads}
		}
		alone, err := Alone(own, servers, options)
		return alone > times, err
	}
	low, high := 1.0, max(1, 1/sum)
	if more, err := short(low); err != nil || !more {
		return low, err
	}
	for range bisections {
		middle := low + (high-low)/2
		more, err := short(middle)
		if err != nil {
			return 0, err
		}
		if more {
			low = middle
		} else {
			high = middle
		}
	}
	return high, nil
}

// bisections is the number of halvings of an interval up to the precision of a double.
const bisections = 52

// Throttled returns the vector under a limit at a resource, and the factor by which the limit stretches the own time:
// a job that needs loading·threads > limit servers on average takes loading·threads/limit as long, and while
// throttled it is idle and presses on no other job. A limit of 0 is none.
//
// The threads of a job may wait for each other, too, which leaves less to hold back: the time alone on the servers is
// the longer of that with the limit and that without.
//
// The vector must be valid; the error is that of [Alone].
func Throttled(v loading.Vector, resource int, limit float64, servers []int, options queueing.Options) (loading.Vector, float64, error) {
	if limit == 0 || resource < 0 || resource >= len(v) {
		return v, 1, nil
	}
	needs := v[resource].Loading * float64(v[resource].ThreadCount())
	if limit = max(limit, loading.MinLimit); needs <= limit {
		return v, 1, nil
	}
	most := needs / limit
	if !v.Oversubscribes(servers) {
		return v.Stretched(most), most, nil
	}
	alone, err := SolveAlone(v, servers, options)
	if err != nil || alone >= most {
		return v, 1, err
	}
	// The stretch s at which s·Alone(v/s) is the time with the limit; the product grows with s.
	low, high := 1.0, most
	for range bisections {
		middle := low + (high-low)/2
		if alone, err = SolveAlone(v.Stretched(middle), servers, options); err != nil {
			return v, 1, err
		}
		if middle*alone < most {
			low = middle
		} else {
			high = middle
		}
	}
	return v.Stretched(high), high, nil
}

// QueueingClass returns a vector as a class of a closed network, without a copy.
func QueueingClass(v loading.Vector) queueing.Class {
	class := queueing.Class{Demands: make([]float64, len(v)), Idle: 1}
	for i, d := range v {
		class.Demands[i] = d.Loading
		class.Idle -= d.Loading
		if d.Pressure != d.Loading && class.Pressures == nil {
			class.Pressures = make([]float64, len(v))
		}
		if d.EffectiveSensitivity() != d.Loading && class.Sensitivities == nil {
			class.Sensitivities = make([]float64, len(v))
		}
		if d.ThreadCount() > 1 && class.Threads == nil {
			class.Threads = make([]int, len(v))
		}
	}
	class.Idle = max(0, class.Idle)
	for i := range class.Pressures {
		class.Pressures[i] = v[i].Pressure
	}
	for i := range class.Sensitivities {
		class.Sensitivities[i] = v[i].EffectiveSensitivity()
	}
	for i := range class.Threads {
		class.Threads[i] = v[i].ThreadCount()
	}
	return class
}
