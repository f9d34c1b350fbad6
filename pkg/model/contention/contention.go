// Package contention predicts how much jobs on one node slow each other down,
// and what it costs to put one more job there.
//
// It takes loading vectors (the fraction of its time that a job spends at each
// resource of a node) and the number of servers of each resource, and gives
// dilations (completion time over neutral time, at least 1) and prices.
// It knows nothing of pods, files or clocks: everything is a pure function of
// its arguments.
//
// # The model
//
// A job that is at a resource with c servers together with N other jobs runs
// there at 1/max(1, (N+1)/c) of its full speed. To first order the others are
// where their loading vectors say, independently of each other, so that N is a
// sum of independent Bernoulli variables and job j is dilated by
//
//	λ_j = 1 + Σ_i s_ij · E[(N_i + 1 − c_i)^+] / c_i
//
// where s_ij is the job's own loading (its sensitivity) and N_i counts the
// others, each there with probability q_ik (its pressure, equal to s_ik unless
// measured otherwise). With one server per resource and q = s = p this is
// Eq. (5) of Lim et al., "D-factor", SIGMETRICS 2012:
//
//	λ_j = 1 + p_j·p̄ − p_j·p_j
//
// A job with t threads at a resource counts there as t jobs.
//
// # Neutral time
//
// The neutral time of a job is what it takes alone on the node. Where the job has more
// threads than a resource has servers, they wait for each other even then, and that
// is part of it: alone every job has λ = 1. A loading vector, on the other hand, does
// not depend on the number of servers: it holds fractions of the job's own time, what
// a thread takes that never waits, not even for its siblings. For a job with one
// thread, or no more threads than there are servers, both times are the same. With
// R_j the time that job j takes, in own times, and R_j⁰ what it takes alone on the
// same node ([Alone]),
//
//	λ_j = R_j / R_j⁰,   R_j = 1 + Σ_i s_ij · E[(N_i + 1 − c_i)^+] / c_i
//
// where N_i counts the siblings of a thread, too. All dilations and prices of this
// package are such ratios, and sensitivities in prices are divided by R_j⁰.
//
// The first-order model is exact for two jobs and c = 1. For many jobs it can
// imply a resource that is more than fully busy; rank placements by it, and use
// [Predict] for dilations, which looks for the others where they are when all are
// dilated, by any of the solvers of package queueing.
//
// # Interference
//
// Jobs also slow each other down where nobody waits: at caches, memory bandwidth, and the units of a core. Such
// resources make the service of others at the processor slower, by an [Effect] of each job: first service is inflated,
// then jobs queue as ever. On a node without effects everything is as above.
//
// # Devices
//
// Of accelerators a node often has several, and a job is tied to one of them: it neither queues for the others nor presses
// there. A [Demand] says which device it is at, and jobs that are tied to different ones do not meet. How the jobs of one
// device share it is up to the device's driver: see [Devices].
//
// # Prices
//
// Put W = Σ_j (λ_j − 1), summed over the threads of a node. Adding a job raises W
// by what the new job waits plus what it makes the others wait. [Load] holds
// what the jobs of a node add up to, [Prices] what one more would cost, and
// [Prices.Of] answers ΔW for a [Candidate] with two dot products, exactly. For
// one server and symmetric jobs ΔW = 2 p'·p̄, so the cheapest node is that of
// Definition 2 of the paper, min p'·p̄.
package contention

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
)

// MaxThreads is the largest number of threads that a [Demand] may have, and
// MaxServers the largest number of servers of a resource. They bound the memory
// and time of one node; no machine comes near.
const (
	MaxThreads = 1 << 14
	MaxServers = 1 << 14
)

// Demand is what one job asks of one resource.
type Demand struct {
	// Loading is the fraction of the job's own time that each thread of it spends at
	// the resource, from 0 to 1: the paper's p_i.
	Loading float64
	// Pressure is the probability that others find a thread of the job at the
	// resource, from 0 to 1: how much the job stands in their way. Equal to
	// Loading unless measured otherwise; see [Symmetric].
	Pressure float64
	// Sensitivity is what waiting there costs the job, from 0 to 1: by how much a
	// job dilates it that is always at the resource. It is less than the loading
	// where the job waits for less than a whole service of the other. Zero means
	// Loading; it counts only where there is a loading.
	Sensitivity float64
	// Threads is how many threads of the job use the resource at once. Each is
	// as much a job to the others, and to its siblings, as a job of its own.
	// Zero means one.
	Threads int
	// Burst is for how long a thread is served there at a time, on average, in seconds, finite and at least 0; 0 where it is not
	// known. It counts where a quota stops the threads: see [Demand.Within].
	Burst float64
	// Effect is what the job has to do with the resource if it is shared without a queue. Loading, Pressure and
	// Sensitivity are then 0, and Threads counts for [Effect.Exclusive] only. Nil at resources with a queue.
	Effect *Effect
	// Device is the number, from 1 to [MaxDevices], of the device that the job is tied to where a node has several equal
	// ones: jobs that are tied to different devices do not meet at the resource. Servers are those of one device. Zero, like
	// 1, is the first, and the only one of all other resources. See [Devices].
	Device int
}

// Symmetric returns the demand of a single-threaded job whose pressure equals
// its loading, as in the D-factor paper.
func Symmetric(loading float64) Demand {
	return Demand{Loading: loading, Pressure: loading, Threads: 1}
}

// sensitivity returns what waiting at the resource costs the job.
func (d Demand) sensitivity() float64 {
	if d.Sensitivity == 0 || d.Loading == 0 {
		return d.Loading
	}
	return d.Sensitivity
}

// threads returns the number of threads, at least one.
func (d Demand) threads() int { return max(d.Threads, 1) }

// idle reports whether the job leaves the resource alone.
func (d Demand) idle() bool { return d.Loading == 0 && d.Pressure == 0 }

// Vector holds a job's demand at each resource, in the order of the node's
// servers. It may be shorter than that list: what is missing is zero.
type Vector []Demand

// Loadings returns the vector of a symmetric single-threaded job: the loading
// vector p of the D-factor paper.
func Loadings(p ...float64) Vector {
	v := make(Vector, len(p))
	for i, loading := range p {
		v[i] = Symmetric(loading)
	}
	return v
}

// Alike reports whether jobs of two vectors load a node alike.
func (v Vector) Alike(w Vector) bool {
	device := func(a, b Demand) bool { return a.idle() && b.idle() || max(1, a.Device) == max(1, b.Device) }
	return slices.EqualFunc(v, w, device) && bytes.Equal(v.appendKey(nil), w.appendKey(nil))
}

// A DemandError says which demand of a vector is invalid and why.
type DemandError struct {
	Resource int     // index into the vector; −1 for a rule on the whole vector
	Field    string  // such as "loading" or "effect.curve[1].inflation"
	Value    float64 // the value found
	Rule     string  // the rule that it breaks
}

func (e *DemandError) Error() string {
	if e.Resource < 0 {
		return fmt.Sprintf("%s: %v %s", e.Field, e.Value, e.Rule)
	}
	return fmt.Sprintf("resource %d: %s: %v %s", e.Resource, e.Field, e.Value, e.Rule)
}

// sumTolerance is how far above 1 the loadings of a vector may add up: decimal
// fractions such as 0.58 and 0.42 are not exact in binary.
const sumTolerance = 1e-9

// Validate returns nil, or a [DemandError] for the first rule that v breaks:
// loadings, pressures and sensitivities are fractions from 0 to 1, the loadings
// add up to at most 1 (Eq. (2) of the D-factor paper; the rest is idle time), and
// threads are between 1 (or 0, which means 1) and [MaxThreads]. Effects are valid, and at resources without a queue.
func (v Vector) Validate() error {
	sum := 0.0
	for i, d := range v {
		if !(d.Loading >= 0 && d.Loading <= 1) { // also catches NaN
			return &DemandError{i, "loading", d.Loading, "is not a fraction from 0 to 1"}
		}
		if !(d.Pressure >= 0 && d.Pressure <= 1) {
			return &DemandError{i, "pressure", d.Pressure, "is not a fraction from 0 to 1"}
		}
		if !(d.Sensitivity >= 0 && d.Sensitivity <= 1) {
			return &DemandError{i, "sensitivity", d.Sensitivity, "is not a fraction from 0 to 1"}
		}
		if d.Threads < 0 || d.Threads > MaxThreads {
			return &DemandError{i, "threads", float64(d.Threads), fmt.Sprintf("is not between 1 and %d", MaxThreads)}
		}
		if !(d.Burst >= 0) || math.IsInf(d.Burst, 1) {
			return &DemandError{i, "burst", d.Burst, "is not at least 0 and finite"}
		}
		if d.Device < 0 || d.Device > MaxDevices {
			return &DemandError{i, "device", float64(d.Device), fmt.Sprintf("is not between 1 and %d", MaxDevices)}
		}
		if err := v.validateEffect(i); err != nil {
			return err
		}
		sum += d.Loading
	}
	if sum > 1+sumTolerance {
		return &DemandError{-1, "loading", math.Round(sum*1e9) / 1e9, "in all is more than 1: loadings are fractions of the neutral time"}
	}
	return nil
}

// validateEffect returns a [DemandError] for an effect that is invalid or out of place.
func (v Vector) validateEffect(resource int) error {
	d := v[resource]
	if d.Effect == nil {
		return nil
	}
	of := d.Effect.Of
	switch {
	case of < 0 || of < len(v) && v[of].Effect != nil:
		return &DemandError{resource, "effect.of", float64(of), "is not the index of a resource with a queue"}
	case d.Loading != 0:
		return &DemandError{resource, "loading", d.Loading, "is at a resource that is shared without a queue"}
	case !d.idle() || d.Sensitivity != 0:
		return &DemandError{resource, "pressure", max(d.Pressure, d.Sensitivity), "is at a resource that is shared without a queue: it belongs to the effect"}
	}
	if field, value, rule := d.Effect.validate(); rule != "" {
		return &DemandError{resource, "effect." + field, value, rule}
	}
	return nil
}

// ErrServers is wrapped by the error that [ValidateServers] returns.
var ErrServers = errors.New("invalid number of servers")

// ValidateServers returns an error that wraps [ErrServers] unless every
// resource has between 1 and [MaxServers] servers.
func ValidateServers(servers []int) error {
	for i, c := range servers {
		if c < 1 || c > MaxServers {
			return fmt.Errorf("resource %d: %w: %d is not between 1 and %d", i, ErrServers, c, MaxServers)
		}
	}
	return nil
}
