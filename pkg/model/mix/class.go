package mix

import (
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/loading"
)

// JobType is a kind of job: jobs that load a node alike, however long they take.
// It is known by its address, and must not change.
type JobType struct {
	// Name is for messages.
	Name string
	// Vector is the loading vector, as measured on a node of speed 1.
	Vector loading.Vector
	// Weight is the job's weight where jobs want more of the processor than there is: the job gets a part in
	// proportion to it. Finite and at least 0; 0 means 1. Its threads share it.
	Weight float64
	// Limit is the number of servers of the processor that the job may use on average, finite and at least 0; 0 means
	// no limit. A job that needs more is stretched by that even if it is alone: it is part of its neutral time, and
	// no contention.
	Limit float64
}

// weight returns the weight of a job.
func (t *JobType) weight() float64 { return loading.Share{Weight: t.Weight}.EffectiveWeight() }

// validateShare returns an error for a weight or limit that is out of range.
func (t *JobType) validateShare() error {
	if !(t.Weight >= 0) || math.IsInf(t.Weight, 1) {
		return fmt.Errorf("weight: %v is not a finite number of at least 0", t.Weight)
	}
	if !(t.Limit >= 0) || math.IsInf(t.Limit, 1) {
		return fmt.Errorf("limit: %v is not a finite number of at least 0", t.Limit)
	}
	return nil
}

// NodeClass is a class of equal nodes.
type NodeClass struct {
	// Servers holds the number of servers of each resource; they must satisfy
	// [loading.ValidateServers].
	Servers []int
	// Speeds holds the speed of each resource, relative to the nodes that loading vectors and own times refer to,
	// finite and above 0. Idle time passes at the same speed everywhere. It may be shorter than Servers: missing
	// entries are 1.
	Speeds []float64
	// Processor is the index of the resource that is shared by the weights and limits of jobs, which count at no
	// other; −1 where all resources are shared equally.
	Processor int
}

// Validate returns an error that names the first server or speed out of range, or an unknown processor.
func (c NodeClass) Validate() error {
	if err := loading.ValidateServers(c.Servers); err != nil {
		return err
	}
	if len(c.Speeds) > len(c.Servers) {
		return fmt.Errorf("%d speeds for %d resources", len(c.Speeds), len(c.Servers))
	}
	for i, s := range c.Speeds {
		if !(s > 0) || math.IsInf(s, 0) {
			return fmt.Errorf("resource %d: speed: %v is not a finite number above 0", i, s)
		}
	}
	if c.Processor < -1 || c.Processor > 0 && c.Processor >= len(c.Servers) {
		return fmt.Errorf("processor: %d is neither −1 nor the index of one of %d resources", c.Processor, len(c.Servers))
	}
	return nil
}

// On converts a vector to the nodes of the class, and returns the stretch of the own time there: with p the loadings,
// s the speeds and Z = 1 − Σ p_i the idle time,
//
//	stretch = Z + Σ p_i/s_i,   p'_i = p_i/(s_i·stretch)
func (c NodeClass) On(v loading.Vector) (scaled loading.Vector, stretch float64) {
	if len(c.Speeds) == 0 {
		return v, 1
	}
	idle := 1.0
	for i, d := range v {
		idle -= d.Loading
		stretch += d.Loading / c.speed(i)
	}
	stretch += max(0, idle)
	scaled = make(loading.Vector, len(v))
	for i, d := range v {
		by := 1 / (c.speed(i) * stretch)
		scaled[i] = loading.Demand{
			Loading: min(1, d.Loading*by), Pressure: min(1, d.Pressure*by), Sensitivity: min(1, d.Sensitivity*by),
			Threads: d.Threads, Effect: d.Effect, Device: d.Device,
		}
	}
	return scaled, stretch
}

func (c NodeClass) speed(i int) float64 {
	if i < len(c.Speeds) {
		return c.Speeds[i]
	}
	return 1
}
