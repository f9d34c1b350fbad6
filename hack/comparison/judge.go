package comparison

import (
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/hack/scenario"
)

// Judge says how much the pods of a scenario are dilated where they are. It may be used by several goroutines at once.
type Judge interface {
	// Node returns the dilations of some pods, in their order, if they and no others are on a node.
	Node(node int, pods []int) ([]Dilation, error)
}

// Dilation is by how much longer a pod takes than alone, with the standard error of that, which is 0 where it is not estimated.
type Dilation struct{ Mean, Error float64 }

// Moment is what a placement comes to.
type Moment struct {
	// Dilations are those of all pods on nodes, and Violations how many of them are above what their SLA allows.
	Dilations  []float64
	Violations int
	// Nodes is how many nodes have pods.
	Nodes int
	// Error is the standard error of the mean dilation: the errors of pods on a node, which were estimated together, add up, and
	// those of nodes are independent.
	Error float64
}

// Mean returns the mean dilation of at least one pod.
func (m *Moment) Mean() float64 { return stat.Mean(m.Dilations, nil) }

// JudgeMoment judges a placement of the pods of a scenario.
func JudgeMoment(judge Judge, s *scenario.Scenario, at Placement) (*Moment, error) {
	byNode := at.byNode(s)
	dilations := make([][]Dilation, len(byNode))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n, pods := range byNode {
		group.Go(func() (err error) {
			dilations[n], err = judge.Node(n, pods)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	m, variance := &Moment{}, 0.0
	for n, pods := range byNode {
		if len(pods) > 0 {
			m.Nodes++
		}
		together := 0.0
		for k, i := range pods {
			d := dilations[n][k]
			if d.Mean > s.Pods[i].Application.Class.MaxDilation {
				m.Violations++
			}
			m.Dilations = append(m.Dilations, d.Mean)
			together += d.Error
		}
		variance += together * together
	}
	m.Error = math.Sqrt(variance) / float64(max(1, len(m.Dilations)))
	return m, nil
}

// byNode returns the pods of each node.
func (at Placement) byNode(s *scenario.Scenario) [][]int {
	pods := make([][]int, len(s.Nodes))
	for i, n := range at {
		if n != Nowhere {
			pods[n] = append(pods[n], i)
		}
	}
	return pods
}
