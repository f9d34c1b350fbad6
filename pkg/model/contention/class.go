package contention

import (
	"fmt"
	"math"
)

// JobType is a kind of job: jobs that load a node alike, however long they take.
// It is known by its address, and must not change.
type JobType struct {
	// Name is for messages.
	Name string
	// Vector is the loading vector, as measured on a node of speed 1.
	Vector Vector
}

// NodeClass is a class of nodes: what equal nodes have in common.
type NodeClass struct {
	// Servers holds the number of servers of each resource; they must satisfy
	// [ValidateServers].
	Servers []int
	// Speeds holds how fast each resource serves, relative to the nodes that
	// loading vectors and own times are of, finite and above 0. Idle time
	// passes at the same speed everywhere. It may be shorter than Servers: what
	// is missing is 1.
	Speeds []float64
}

// Validate returns an error that names the first server or speed out of range.
func (c NodeClass) Validate() error {
	if err := ValidateServers(c.Servers); err != nil {
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
	return nil
}

// On returns what a vector is on the nodes of the class, and by how much the
// own time is stretched there: with p the loadings, s the speeds and Z = 1 −
// Σ p_i the idle time,
//
//	stretch = Z + Σ p_i/s_i,   p'_i = p_i/(s_i·stretch)
func (c NodeClass) On(v Vector) (scaled Vector, stretch float64) {
	if len(c.Speeds) == 0 {
		return v, 1
	}
	idle := 1.0
	for i, d := range v {
		idle -= d.Loading
		stretch += d.Loading / c.speed(i)
	}
	stretch += max(0, idle)
	scaled = make(Vector, len(v))
	for i, d := range v {
		by := 1 / (c.speed(i) * stretch)
		scaled[i] = Demand{Loading: min(1, d.Loading*by), Pressure: min(1, d.Pressure*by), Sensitivity: min(1, d.Sensitivity*by), Threads: d.Threads}
	}
	return scaled, stretch
}

func (c NodeClass) speed(i int) float64 {
	if i < len(c.Speeds) {
		return c.Speeds[i]
	}
	return 1
}
