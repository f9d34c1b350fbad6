package comparison

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/node"
)

// Model is the judge that asks the most accurate model of Loadline, as kubectl loadline explain does, for the true vectors. It
// remembers each mix of applications that it has seen on nodes of a size.
type Model struct {
	scenario *scenario.Scenario

	mu    sync.Mutex
	known map[string][]float64
}

// NewModel returns the model as a judge of a scenario.
func NewModel(s *scenario.Scenario) *Model {
	return &Model{scenario: s, known: map[string][]float64{}}
}

// Node implements [Judge].
func (m *Model) Node(node int, pods []int) ([]Dilation, error) {
	s := m.scenario
	sorted := slices.SortedFunc(slices.Values(pods), func(a, b int) int {
		return cmp.Compare(s.Pods[a].Application.Name, s.Pods[b].Application.Name)
	})
	var mix strings.Builder
	mix.WriteString(s.Nodes[node].Size.Name)
	for _, i := range sorted {
		mix.WriteString(" " + s.Pods[i].Application.Name)
	}
	known, err := m.remember(mix.String(), func() ([]float64, error) { return m.predict(node, sorted) })
	if err != nil {
		return nil, err
	}
	of := map[*scenario.Application]float64{} // pods of one application are alike
	for k, i := range sorted {
		of[s.Pods[i].Application] = known[k]
	}
	dilations := make([]Dilation, len(pods))
	for k, i := range pods {
		dilations[k].Mean = of[s.Pods[i].Application]
	}
	return dilations, nil
}

// remember returns what is known of a mix, and finds it out first if that is nothing.
func (m *Model) remember(mix string, find func() ([]float64, error)) ([]float64, error) {
	m.mu.Lock()
	known, found := m.known[mix]
	m.mu.Unlock()
	if found {
		return known, nil
	}
	known, err := find()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[mix] = known
	return known, nil
}

// predict asks the model, with the weights that a kubelet makes of requests.
func (m *Model) predict(at int, pods []int) ([]float64, error) {
	s := m.scenario
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
