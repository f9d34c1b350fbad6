package placement

import (
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// NodeState is a node to choose from.
type NodeState struct {
	// Class is the class of the node; Mixes predicts its mixes.
	Class mix.NodeClass
	Mixes *mix.Mixes
	// Running holds the jobs that run on the node, in their state at Since, in seconds. The set of jobs
	// has not changed since then.
	Running *mix.Running
	Since   float64
	// Capacity is the maximum of the sum of the requests of the jobs, in any units;
	// +Inf is no limit. MaxJobs is the maximum number of jobs; 0 is no limit.
	Capacity []float64
	MaxJobs  int
	// Requested is the sum of the requests now, and Requesting the number of running
	// jobs that request any of it. Both are as long as Capacity.
	Requested  []float64
	Requesting []int
	// Allocatable is the amount of each capacity that the node has, for policies that score by requests:
	// Capacity where that is a limit. 0 means unknown.
	Allocatable []float64
	// Devices are those that jobs share, nil for none.
	Devices *Devices
	// Index is the number of the node in the cluster.
	Index int
}

// NewNodeState returns an empty node of its own class, without limits.
func NewNodeState(class mix.NodeClass, options queueing.Options) (*NodeState, error) {
	mixes, err := mix.NewMixes(class, options)
	if err != nil {
		return nil, err
	}
	return &NodeState{Class: class, Mixes: mixes, Running: mix.NewRunning(mixes)}, nil
}

// Fits reports whether the node's limits have room for a job now.
func (n *NodeState) Fits(j *Job) bool {
	if n.MaxJobs > 0 && n.Running.Mix().Jobs() >= n.MaxJobs {
		return false
	}
	for i, r := range j.Requests {
		if r > 0 && !WithinCapacity(n.Requested[i]+r, n.Capacity[i]) {
			return false
		}
	}
	return true
}

// FitsEver reports whether they would if no other job ran there.
func (n *NodeState) FitsEver(j *Job) bool {
	for i, r := range j.Requests {
		if !WithinCapacity(r, n.Capacity[i]) {
			return false
		}
	}
	return true
}

// WithinCapacity reports whether a sum of requests is within a capacity, but for
// rounding.
func WithinCapacity(sum, capacity float64) bool { return sum <= capacity*(1+1e-9) }

// TypeOf returns how a job would load the node if it started there now: at the device that it would get.
func (n *NodeState) TypeOf(j *Job) *mix.JobType {
	if n.Devices == nil {
		return j.Type
	}
	return n.Devices.typeOf(j)
}

// Start starts a job on the node at a time not before Since, and returns done with
// the numbers of the jobs appended that completed until then.
func (n *NodeState) Start(now float64, j *Job, id int, done []int) []int {
	if n.Running.Mix().Jobs() > 0 && now > n.Since {
		done = n.Running.Advance(now-n.Since, done)
	}
	n.Since = now
	n.Running.Start(n.TypeOf(j), j.Neutral, id)
	if n.Devices != nil {
		n.Devices.take(j, id)
	}
	for i, r := range j.Requests {
		if r > 0 {
			n.Requested[i] += r
			n.Requesting[i]++
		}
	}
	return done
}

// Release gives back the requests of the job with the given number, which has completed on the node.
func (n *NodeState) Release(j *Job, id int) {
	if n.Devices != nil {
		n.Devices.release(j, id)
	}
	for i, r := range j.Requests {
		if r == 0 {
			continue
		}
		n.Requested[i] -= r
		if n.Requesting[i]--; n.Requesting[i] == 0 {
			n.Requested[i] = 0 // no rounding is left behind
		}
	}
}
