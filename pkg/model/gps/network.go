package gps

import (
	"fmt"
	"math"
)

// MaxThreads is the largest number of threads that a job may have, and MaxServers
// the largest number of servers of a station.
const (
	MaxThreads = 1 << 14
	MaxServers = 1 << 14
)

// DefaultBurst is the processor time that a job takes per visit unless it is given
// otherwise. Only the proportions of bursts count.
const DefaultBurst = 1

// Network holds the jobs of a node and the resources that they share.
type Network struct {
	// Servers holds the number of servers of each station. Station 0 is the
	// processor and its servers are cores.
	Servers []int
	// Jobs are the jobs, in any order.
	Jobs []Job
	// Groups are the inner nodes of the tree of shares, such as QoS classes and pods of
	// several containers. The first is the root, whose weight does not count; a tree of
	// jobs alone needs none. Each other group stands behind its parent.
	Groups []Group
}

// Group is an inner node of the tree of shares.
type Group struct {
	// Parent is the index of the group that it is a member of.
	Parent int
	// Weight is the group's weight among its siblings: it gets a part in proportion to it while any
	// member wants the processor, however many do; finite and above 0.
	Weight float64
	// Limit is how many cores the members may use together; 0 means no limit.
	Limit float64
}

// Job is a job that goes round for ever: it computes for a burst, then is
// elsewhere, at another station or idle, and comes back.
type Job struct {
	// Demands holds the fraction of its own time that the job spends at each station, from 0 to 1
	// and at most 1 together; the rest it is idle. It may be shorter than the list of stations:
	// missing demands are 0, and so is a demand below 1e-7.
	Demands []float64
	// Burst is the mean processor time that a thread takes per visit, in a unit that is the
	// same for all jobs; 0 means [DefaultBurst].
	Burst float64
	// Threads is how many threads the job has, each as it says; 0 means 1. They share
	// the job's weight and limit.
	Threads int
	// Weight is the job's weight among its siblings: it gets a part in proportion to it; 0 means 1.
	Weight float64
	// Limit is how many cores the job may use; 0 means no limit.
	Limit float64
	// Group is the index of the group that the job is a member of; 0 is the root.
	Group int
}

// least is the smallest demand that counts: the rest of a round is no infinite multiple of it.
const least = 1e-7

// demand returns the job's demand at a station.
func (j *Job) demand(station int) float64 {
	if station >= len(j.Demands) || j.Demands[station] < least {
		return 0
	}
	return j.Demands[station]
}

// idle returns the fraction of its own time that the job is at no station.
func (j *Job) idle() float64 {
	rest := 1.0
	for _, d := range j.Demands {
		rest -= d
	}
	return max(0, rest)
}

func (j *Job) threads() int { return max(1, j.Threads) }

func (j *Job) weight() float64 {
	if j.Weight == 0 {
		return 1
	}
	return j.Weight
}

func (j *Job) burst() float64 {
	if j.Burst == 0 {
		return DefaultBurst
	}
	return j.Burst
}

// Validate returns an error that names the first value out of range.
func (n *Network) Validate() error {
	if len(n.Servers) == 0 {
		return fmt.Errorf("servers: there is no processor")
	}
	for i, c := range n.Servers {
		if c < 1 || c > MaxServers {
			return fmt.Errorf("servers[%d]: %d is not between 1 and %d", i, c, MaxServers)
		}
	}
	for g := range n.Groups {
		if err := n.validateGroup(g); err != nil {
			return fmt.Errorf("groups[%d].%w", g, err)
		}
	}
	for j := range n.Jobs {
		if err := n.validateJob(&n.Jobs[j]); err != nil {
			return fmt.Errorf("jobs[%d].%w", j, err)
		}
	}
	return nil
}

func (n *Network) validateGroup(g int) error {
	group := n.Groups[g]
	switch {
	case g > 0 && (group.Parent < 0 || group.Parent >= g):
		return fmt.Errorf("parent: %d is not the index of a group before", group.Parent)
	case g > 0 && !positive(group.Weight):
		return fmt.Errorf("weight: %v is not a finite number above 0", group.Weight)
	case !limitOK(group.Limit):
		return fmt.Errorf("limit: %v is not a finite number of at least 0", group.Limit)
	}
	return nil
}

func (n *Network) validateJob(j *Job) error {
	if len(j.Demands) > len(n.Servers) {
		return fmt.Errorf("demands: %d for %d stations", len(j.Demands), len(n.Servers))
	}
	total := 0.0
	for i, d := range j.Demands {
		if !(d >= 0 && d <= 1) {
			return fmt.Errorf("demands[%d]: %v is not between 0 and 1", i, d)
		}
		total += d
	}
	switch {
	case total > 1+roundings:
		return fmt.Errorf("demands: %v together are more than 1", total)
	case j.Burst != 0 && !positive(j.Burst):
		return fmt.Errorf("burst: %v is not a finite number above 0", j.Burst)
	case j.Weight != 0 && !positive(j.Weight):
		return fmt.Errorf("weight: %v is not a finite number above 0", j.Weight)
	case j.Threads < 0 || j.Threads > MaxThreads:
		return fmt.Errorf("threads: %d is not between 0 and %d", j.Threads, MaxThreads)
	case !limitOK(j.Limit):
		return fmt.Errorf("limit: %v is not a finite number of at least 0", j.Limit)
	case j.Group < 0 || j.Group > 0 && j.Group >= len(n.Groups):
		return fmt.Errorf("group: %d is not the index of one of %d groups", j.Group, len(n.Groups))
	}
	return nil
}

// roundings is how far above 1 fractions of a whole may add up to.
const roundings = 1e-9

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

func limitOK(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
