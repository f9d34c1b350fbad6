package nodesim

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

// Dilation is by how much longer a pod takes than alone on the node. Equal pods on a node have one in common.
type Dilation struct {
	// Mean is the estimate, and Error its standard error, by batch means.
	Mean, Error float64
	// Usage is where the time of the pod's threads went among the others, and of those of equal pods, and Alone where it goes alone.
	Usage, Alone linuxsched.Usage
}

// Judge simulates nodes, and remembers what it has found of each. It may be used by several goroutines at once.
type Judge struct {
	// Kernel is what runs on the nodes.
	Kernel linuxsched.Kernel
	// Discipline is the order in which disks and links serve.
	Discipline linuxsched.Discipline
	// Precision is the standard error, relative to the mean, that is small enough for every pod. The simulation of a node goes on until
	// then, or until it is as long as it may be.
	Precision float64

	mu    sync.Mutex
	known map[string]func() ([]stretch, error)
	spent time.Duration
}

// New returns a judge of nodes with Linux 6.12, with disks and links that serve all who are there at equal parts of their speed, which
// comes near to what devices with queues of small requests do. It is content with standard errors of 1 %.
func New() *Judge {
	return &Judge{Kernel: linuxsched.Linux6_12(), Discipline: linuxsched.Sharing, Precision: 0.01}
}

// Dilations returns by how much longer each of some pods takes on a node than alone there: with the same bursts and sleeps, by the same
// simulation. Servers are the node's: processors, then those of other resources, that serve one visit each at full speed.
// The error names the first value out of range, or a pod that does nothing at all among the others.
func (j *Judge) Dilations(servers []int, pods []Pod) ([]Dilation, error) {
	if err := validate(servers, pods); err != nil {
		return nil, err
	}
	n := newNode(servers, pods)
	together, err := j.stretches(n)
	if err != nil {
		return nil, err
	}
	dilations := make([]Dilation, len(pods))
	for k, kind := range n.kinds {
		alone, err := j.stretches(newNode(servers, []Pod{kind.Pod}))
		if err != nil {
			return nil, err
		}
		d := together[k].over(alone[0])
		for _, i := range kind.at {
			if math.IsInf(d.Mean, 0) {
				return nil, fmt.Errorf("pods[%d]: does nothing in %v among the others", i, d.Usage.Elapsed)
			}
			dilations[i] = d
		}
	}
	return dilations, nil
}

// Simulated returns how much time of nodes has been simulated so far.
func (j *Judge) Simulated() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.spent
}

func validate(servers []int, pods []Pod) error {
	if len(servers) == 0 {
		return errors.New("servers: there are none, where the processors come first")
	}
	for i, n := range servers {
		if n < 1 {
			return fmt.Errorf("servers[%d]: %d is not at least 1", i, n)
		}
	}
	for i := range pods {
		if err := pods[i].validate(len(servers)); err != nil {
			return fmt.Errorf("pods[%d]: %w", i, err)
		}
	}
	return nil
}

// stretches returns those of the kinds of pods on a node, and simulates it if that has not been done.
func (j *Judge) stretches(n *node) ([]stretch, error) {
	return j.remember(n)()
}

// remember returns what simulates a node once.
func (j *Judge) remember(n *node) func() ([]stretch, error) {
	key := string(n.appendKey(nil))
	j.mu.Lock()
	defer j.mu.Unlock()
	find, known := j.known[key]
	if known {
		return find
	}
	find = sync.OnceValues(func() ([]stretch, error) {
		found, spent, err := n.simulate(j.Kernel, j.Discipline, j.Precision)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.spent += spent
		return found, err
	})
	if j.known == nil {
		j.known = map[string]func() ([]stretch, error){}
	}
	j.known[key] = find
	return find
}
