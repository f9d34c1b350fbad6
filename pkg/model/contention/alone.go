package contention

import (
	"loadline.dev/loadline/pkg/model/poissonbinomial"
	"loadline.dev/loadline/pkg/model/queueing"
)

// This file is about what the threads of one job wait for each other: how long a job
// takes alone on a node, its neutral time, in units of its own time. See the
// package's documentation. Every other file divides by it.

// Alone returns how long a job takes alone on a node, as a multiple of its own time:
// at least 1, and 1 where no resource has fewer servers than the job has threads
// there. The node is solved as by [Predict] with the options.
//
// The error is as that of Predict.
func Alone(v Vector, servers []int, options queueing.Options) (float64, error) {
	if err := ValidateServers(servers); err != nil {
		return 0, err
	}
	if err := v.validateOn(servers); err != nil {
		return 0, err
	}
	return InEffect([]Vector{v}, servers)[0].alone(servers, options)
}

// alone is [Alone] of a valid vector.
func (v Vector) alone(servers []int, options queueing.Options) (float64, error) {
	if !v.crowds(servers) {
		return 1, nil
	}
	options.Start = nil
	solution, err := queueing.Solve(&queueing.Network{Servers: servers, Classes: []queueing.Class{v.queueingClass()}}, options)
	if err != nil {
		return 0, err
	}
	return v.response(solution.Waits[0]), nil
}

// AloneServed returns what [Alone] does of a vector whose loadings are fractions of the
// neutral time on the node rather than of the own time, as a stopwatch has them: times
// the result they are fractions of the own time. Pressures are taken to be the loadings.
//
// It is the root R of Alone(R·v) = R, which grows from 1 to where R·v adds up to 1.
// Where there is none, as servers are said to do more work than they can, it is the
// latter. The error is as that of Alone.
func AloneServed(v Vector, servers []int, options queueing.Options) (float64, error) {
	sum := 0.0
	for _, d := range v {
		sum += d.Loading
	}
	own := make(Vector, len(v))
	short := func(times float64) (bool, error) {
		for i, d := range v {
			loading := min(1, times*d.Loading)
			own[i] = Demand{Loading: loading, Pressure: loading, Threads: d.Threads}
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

// bisections halve an interval as often as doubles can tell its ends apart.
const bisections = 52

// crowds reports whether the job has more threads somewhere than there are servers,
// so that it waits even when it is alone.
func (v Vector) crowds(servers []int) bool {
	for i, d := range v {
		if !d.idle() && d.threads() > servers[i] {
			return true
		}
	}
	return false
}

// response returns how long a job takes that waits so long at each resource, as
// multiples of its service there, in own times.
func (v Vector) response(waits []float64) float64 {
	response := 1.0
	for i, d := range v {
		response += d.Loading * waits[i]
	}
	return response
}

// aloneToFirstOrder returns what [Alone] does to first order, without the bounds of
// the solvers: 1 + Σ_i s_i·E[(B_i + 1 − c_i)^+]/c_i, where a thread finds B_i of its
// siblings at resource i.
func (v Vector) aloneToFirstOrder(servers []int) float64 {
	alone := 1.0
	for i, d := range v {
		if !d.idle() {
			alone += d.sensitivity() * d.selfWait(servers[i])
		}
	}
	return alone
}

// selfWait returns E[(B + 1 − c)^+]/c, B the number of its siblings that a thread
// finds at a resource with c servers. It takes O(t) time for t > c > 1 threads.
func (d Demand) selfWait(servers int) float64 {
	t := d.threads()
	switch {
	case t <= servers:
		return 0
	case servers == 1:
		return float64(t-1) * d.Pressure
	}
	wait := 0.0
	low, siblings := d.siblings()
	for k, p := range siblings {
		wait += p * crowding(float64(low+k), servers)
	}
	return wait
}

// siblings returns the probabilities that a thread finds low, low + 1, … of its siblings at the resource.
func (d Demand) siblings() (low int, probability []float64) {
	return poissonbinomial.Binomial(d.threads()-1, d.Pressure)
}

// crowding returns how long a thread waits that finds x others at a resource with c
// servers, as a multiple of its service: (x + 1 − c)^+/c.
func crowding(x float64, c int) float64 { return max(0, x+1-float64(c)) / float64(c) }
