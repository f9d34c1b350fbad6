package loading

import (
	"bytes"
	"slices"
)

// MaxThreads is the largest number of threads that a [Demand] may have, and
// MaxServers the largest number of servers of a resource. They bound the memory
// and time of one node; no machine comes near.
const (
	MaxThreads = 1 << 14
	MaxServers = 1 << 14
)

// Demand is a job's demand at one resource.
type Demand struct {
	// Loading is the fraction of the job's own time that each thread of it spends at
	// the resource, from 0 to 1: the paper's p_i.
	Loading float64
	// Pressure is the probability that others find a thread of the job at the
	// resource, from 0 to 1: how much the job stands in their way. Equal to
	// Loading unless measured otherwise; see [Symmetric].
	Pressure float64
	// Sensitivity is the cost of waiting there to the job, from 0 to 1: its dilation less 1 beside a job that is always at the
	// resource. It is less than the loading where the job waits for less than a whole service of the other. Zero means Loading; it
	// counts only where there is a loading.
	Sensitivity float64
	// Threads is the number of threads of the job that use the resource at once. Each acts on the others, and on its siblings, like
	// a separate job. Zero means one.
	Threads int
	// Burst is the mean time for which a thread is served there at a time, in seconds, finite and at least 0; 0 where it is not
	// known. It counts where a quota stops the threads: see [Demand.Within].
	Burst float64
	// Effect is the job's demand at a resource that is shared without a queue. Loading, Pressure and Sensitivity are then 0, and
	// Threads counts for [Effect.Exclusive] only. Nil at resources with a queue.
	Effect *Effect
	// Device is the number, from 1 to [MaxDevices], of the device that the job is assigned to where a node has several
	// equal ones: jobs that are assigned to different devices do not meet at the resource. Servers are those of one device. Zero, like
	// 1, is the first, and the only one of all other resources. See [Devices].
	Device int
}

// Symmetric returns the demand of a single-threaded job whose pressure equals
// its loading, as in the D-factor paper.
func Symmetric(loading float64) Demand {
	return Demand{Loading: loading, Pressure: loading, Threads: 1}
}

// EffectiveSensitivity returns the sensitivity, which is the loading unless it is given.
func (d Demand) EffectiveSensitivity() float64 {
	if d.Sensitivity == 0 || d.Loading == 0 {
		return d.Loading
	}
	return d.Sensitivity
}

// ThreadCount returns the number of threads, at least one.
func (d Demand) ThreadCount() int { return max(d.Threads, 1) }

// Idle reports whether the job does not use the resource.
func (d Demand) Idle() bool { return d.Loading == 0 && d.Pressure == 0 }

// Vector holds a job's demand at each resource, in the order of the node's servers. It may be shorter than that list: missing
// demands are zero.
type Vector []Demand

// ThreadsAt returns the number of threads of the job that use a resource at once, at least one.
func (v Vector) ThreadsAt(resource int) int {
	if resource >= len(v) {
		return 1
	}
	return v[resource].ThreadCount()
}

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
	device := func(a, b Demand) bool { return a.Idle() && b.Idle() || max(1, a.Device) == max(1, b.Device) }
	return slices.EqualFunc(v, w, device) && bytes.Equal(v.AppendKey(nil), w.AppendKey(nil))
}

// Uses reports whether the job is ever at a resource, given by its index; −1 is none.
func (v Vector) Uses(resource int) bool {
	return resource >= 0 && resource < len(v) && v[resource].Loading > MinLoading
}

// MinLoading is the smallest loading that counts where weights do: a job with less is never there.
const MinLoading = 1e-12

// Interferes reports whether the job presses at some interference resource or is slowed down there.
func (v Vector) Interferes() bool {
	return slices.ContainsFunc(v, func(d Demand) bool { return d.Effect != nil })
}
