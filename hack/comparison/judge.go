package comparison

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/node"
)

// Judge says how much the pods of a scenario are dilated where they are. It remembers each mix of applications that it
// has seen on nodes of a size. It may be used by several goroutines at once.
type Judge struct {
	scenario *scenario.Scenario

	mu    sync.Mutex
	known map[string][]float64
}

// NewJudge returns a judge.
func NewJudge(s *scenario.Scenario) *Judge {
	return &Judge{scenario: s, known: map[string][]float64{}}
}

// Moment is what a placement comes to.
type Moment struct {
	// Dilations are those of all pods on nodes, and Violations how many of them are above what their SLA allows.
	Dilations  []float64
	Violations int
	// Nodes is how many nodes have pods.
	Nodes int
}

// Mean returns the mean dilation of at least one pod.
func (m *Moment) Mean() float64 { return stat.Mean(m.Dilations, nil) }

// Moment judges a placement.
func (j *Judge) Moment(at Placement) (*Moment, error) {
	byNode := j.byNode(at)
	dilations := make([][]float64, len(byNode))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for n, pods := range byNode {
		group.Go(func() (err error) {
			dilations[n], err = j.Node(n, pods)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	m := &Moment{}
	for n, pods := range byNode {
		if len(pods) > 0 {
			m.Nodes++
		}
		for k, i := range pods {
			if dilations[n][k] > j.scenario.Pods[i].Application.Class.MaxDilation {
				m.Violations++
			}
		}
		m.Dilations = append(m.Dilations, dilations[n]...)
	}
	return m, nil
}

// byNode returns the pods of each node.
func (j *Judge) byNode(at Placement) [][]int {
	pods := make([][]int, len(j.scenario.Nodes))
	for i, n := range at {
		if n != Nowhere {
			pods[n] = append(pods[n], i)
		}
	}
	return pods
}

// Node returns the dilations of some pods, in their order, if they and no others are on a node.
func (j *Judge) Node(node int, pods []int) ([]float64, error) {
	s := j.scenario
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b int) int {
		return cmp.Compare(s.Pods[a].Application.Name, s.Pods[b].Application.Name)
	})
	var mix strings.Builder
	mix.WriteString(s.Nodes[node].Size.Name)
	for _, i := range sorted {
		mix.WriteString(" " + s.Pods[i].Application.Name)
	}
	known, err := j.remember(mix.String(), func() ([]float64, error) { return j.predict(node, sorted) })
	if err != nil {
		return nil, err
	}
	of := map[*scenario.Application]float64{} // pods of one application are alike
	for k, i := range sorted {
		of[s.Pods[i].Application] = known[k]
	}
	dilations := make([]float64, len(pods))
	for k, i := range pods {
		dilations[k] = of[s.Pods[i].Application]
	}
	return dilations, nil
}

// remember returns what is known of a mix, and finds it out first if that is nothing.
func (j *Judge) remember(mix string, find func() ([]float64, error)) ([]float64, error) {
	j.mu.Lock()
	known, found := j.known[mix]
	j.mu.Unlock()
	if found {
		return known, nil
	}
	known, err := find()
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.known[mix] = known
	return known, nil
}

// predict asks the model, with the weights that a kubelet makes of requests.
func (j *Judge) predict(at int, pods []int) ([]float64, error) {
	s := j.scenario
	n := &node.Node{Name: s.Nodes[at].Name, Servers: s.Nodes[at].Size.Servers, CPU: scenario.CPU}
	for _, i := range pods {
		n.Pods = append(n.Pods, node.Pod{Pod: s.PodObject(&s.Pods[i], ""), Vector: s.Pods[i].Application.Vector})
	}
	p, err := n.Predict()
	if err != nil {
		return nil, err
	}
	return p.Dilations, nil
}
