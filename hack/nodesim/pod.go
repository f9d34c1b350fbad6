package nodesim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/test/oracle/linuxsched"
)

// Pod is a pod as a node runs it.
type Pod struct {
	// Vector is what the pod is, alone on the node: its processors first, then the other resources in the order of the node's
	// servers. Loadings and Threads count: of the threads that the pod has, as many use a resource. Bursts at one resource
	// at least must be known; they say how long a round is, and it is the longest that they say.
	Vector loading.Vector
	// Weight is its cpu.weight, 1 to 10000.
	Weight int
	// Limit is its quota in cores, for each 100 ms, 0 for none.
	Limit float64
}

// leastLimit is the least quota that Linux takes, 1 ms in a period.
const leastLimit = 0.01

// validate returns an error unless the pod can be simulated on a node with a number of resources.
func (p *Pod) validate(resources int) error {
	if err := p.Vector.Validate(); err != nil {
		return err
	}
	switch {
	case len(p.Vector) > resources:
		return fmt.Errorf("vector: %d resources, where the node has %d", len(p.Vector), resources)
	case p.round() == 0:
		return errors.New("vector: no resource that the pod uses has a burst")
	case p.Weight < 1 || p.Weight > 10000:
		return fmt.Errorf("weight: %d is not from 1 to 10000", p.Weight)
	case p.Limit != 0 && !(p.Limit >= leastLimit && p.Limit <= loading.MaxServers):
		return fmt.Errorf("limit: %v is neither 0 nor from %v to %d", p.Limit, leastLimit, loading.MaxServers)
	}
	return nil
}

// round returns how long a round takes alone, on average: 0 where no burst is known.
func (p *Pod) round() time.Duration {
	seconds := 0.0
	for _, d := range p.Vector {
		if d.Loading > 0 {
			seconds = max(seconds, d.Burst/d.Loading)
		}
	}
	return time.Duration(seconds * float64(time.Second))
}

// threads returns how many threads the pod has.
func (p *Pod) threads() int {
	n := 1
	for i := range p.Vector {
		n = max(n, p.Vector.ThreadsAt(i))
	}
	return n
}

// simulated returns the nth of equal pods for the simulation.
func (p *Pod) simulated(nth int) linuxsched.Pod {
	const period = 100 * time.Millisecond
	s := linuxsched.Pod{Group: linuxsched.Group{Weight: p.Weight, Quota: time.Duration(p.Limit * float64(period))}}
	hash := fnv.New64a()
	hash.Write(p.appendKey(nil)) // never fails
	const pods, threads = 32, 16 // bits
	for k := range p.threads() {
		loadings := make([]float64, len(p.Vector))
		for i, d := range p.Vector {
			if k < d.ThreadCount() {
				loadings[i] = d.Loading
			}
		}
		seed := hash.Sum64() ^ uint64(nth)<<pods ^ uint64(k)<<threads
		s.Threads = append(s.Threads, linuxsched.Rounds(p.round(), loadings, linuxsched.Exponential, seed))
	}
	return s
}

// appendKey appends what distinguishes the pod from others that are not equal.
func (p *Pod) appendKey(key []byte) []byte {
	for _, d := range p.Vector {
		key = binary.AppendUvarint(loading.AppendFloat(key, d.Loading), uint64(d.ThreadCount()))
	}
	key = binary.AppendVarint(key, int64(p.round()))
	return loading.AppendFloat(binary.AppendVarint(key, int64(p.Weight)), p.Limit)
}
