package contention

import (
	"math"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/wakeup"
)

// Ceiling bounds from above how much the jobs of a node can be dilated. It takes O(m) time per job, where a solution
// takes O(n²·m) and more, so it finds the nodes that need none to be known to be good enough.
//
// A job alone uses resource i for the fraction q_i of its time, and among others for less, since it takes longer. So the
// others come to the resource no more often than a stream of visits that uses ρ = Σ q servers, and a job finds no more of
// them there than a random visit does: by the recursion of exact MVA, Q_i(S) = Σ_k X_k D_ik (1 + Q_i(S−k)) ≤ ρ (1 + max Q),
// so that Q ≤ ρ/(1−ρ) at one server. With c servers a job waits for at most (ρ/c)/(c−ρ) of its service: the wait in M/M/c,
// Erlang's C being at most ρ/c. Where jobs have unequal weights, a job may be one that yields to all others, and wait for
// (2c−ρ)/(c−ρ) times as long. Where bursts are known, a thread may also wait for a processor that is due to it ([wakeup.Longest]).
//
// A Ceiling is a value: copies are independent of each other. It is not safe for concurrent changes.
type Ceiling struct {
	servers     []int
	busy        []float64 // Σ q over the threads at each resource
	processor   int
	weight      float64 // that a thread of all jobs has at the processor, 0 before there is any
	group       int     // that all jobs there are of
	unequal     bool
	interfering bool
}

// NewCeiling returns that of an empty node, whose processor, the resource of that index, is shared by weights. Servers are
// as in [price.NewLoad].
func NewCeiling(servers []int, processor int) *Ceiling {
	return &Ceiling{servers: servers, busy: make([]float64, len(servers)), processor: processor}
}

// Add adds a number of jobs that are alike, at least one, with a weight at the processor, in a group of [Sharing]; their limit does not count.
// The vector must satisfy [loading.Vector.Validate] and be no longer than the node's list of resources. Jobs at several devices of a kind count
// as if all were at one.
func (c *Ceiling) Add(v loading.Vector, share loading.Share, jobs int) {
	for i, d := range v {
		if d.Effect != nil {
			c.interfering = true
		}
		if !d.Idle() {
			c.busy[i] += float64(jobs*d.ThreadCount()) * max(d.Pressure, d.Loading)
		}
	}
	if c.processor < len(v) && !v[c.processor].Idle() {
		weight := v[c.processor].ThreadWeight(share.EffectiveWeight())
		c.unequal = c.unequal || c.weight != 0 && (c.weight != weight || c.group != share.Group)
		c.weight, c.group = weight, share.Group
	}
}

// With returns the ceiling of the node with one more job.
func (c *Ceiling) With(v loading.Vector, share loading.Share) *Ceiling {
	with := *c
	with.busy = append(make([]float64, 0, len(c.busy)), c.busy...)
	with.Add(v, share, 1)
	return &with
}

// Dilation returns a bound on the dilation of one of the added jobs: at least 1, and +Inf where there is no such simple
// bound, at resources that might be overloaded and among jobs that make each other's service slower.
func (c *Ceiling) Dilation(v loading.Vector) float64 {
	if c.interfering {
		return math.Inf(1)
	}
	dilation := 1.0
	for i, d := range v {
		if !d.Idle() {
			dilation += max(d.Loading, d.EffectiveSensitivity()) * c.wait(i, d)
			if i == c.processor {
				dilation += d.Loading * c.woken(d)
			}
		}
	}
	return dilation
}

// woken returns a bound on how long a thread of a job with the given demand waits for a processor that is due to it, as a multiple
// of its service. It finds the part of the processors busy at most that the others would keep busy if each had one for itself.
func (c *Ceiling) woken(d loading.Demand) float64 {
	longest := wakeup.Longest(c.servers[c.processor], d.Loading, d.Burst)
	if longest == 0 {
		return 0
	}
	there := max(0, c.busy[c.processor]-max(d.Pressure, d.Loading)) * (1 + c.wait(c.processor, loading.Demand{}))
	return longest * min(1, there/float64(c.servers[c.processor]))
}

// wait returns a bound on the wait at a resource of a job with the given demand, as a multiple of its service: +Inf where
// the resource might be overloaded.
func (c *Ceiling) wait(resource int, d loading.Demand) float64 {
	others, servers := max(0, c.busy[resource]-max(d.Pressure, d.Loading)), float64(c.servers[resource])
	if others >= servers {
		return math.Inf(1)
	}
	wait := others / servers / (servers - others)
	if resource == c.processor && c.unequal {
		wait *= (2*servers - others) / (servers - others)
	}
	return wait
}
