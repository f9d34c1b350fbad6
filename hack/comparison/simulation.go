package comparison

import (
	"loadline.dev/loadline/hack/nodesim"
	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/cgroup"
)

// Simulation is the judge that simulates nodes, with the true vectors of pods and the weights that a kubelet makes of requests.
type Simulation struct {
	scenario *scenario.Scenario
	nodes    *nodesim.Judge
}

// NewSimulation returns the simulation as a judge of a scenario.
func NewSimulation(s *scenario.Scenario, nodes *nodesim.Judge) *Simulation {
	return &Simulation{s, nodes}
}

// Node implements [Judge].
func (j *Simulation) Node(node int, pods []int) ([]Dilation, error) {
	found, err := j.simulate(node, pods)
	if err != nil {
		return nil, err
	}
	dilations := make([]Dilation, len(pods))
	for k, d := range found {
		dilations[k] = Dilation{d.Mean, d.Error}
	}
	return dilations, nil
}

// simulate returns what the simulation finds of some pods on a node.
func (j *Simulation) simulate(node int, pods []int) ([]nodesim.Dilation, error) {
	s := j.scenario
	simulated := make([]nodesim.Pod, len(pods))
	for k, i := range pods {
		share := cgroup.Flat(s.PodObject(&s.Pods[i], ""))
		simulated[k] = nodesim.Pod{Vector: s.Pods[i].Application.Vector, Weight: int(share.Weight), Limit: share.Limit}
	}
	return j.nodes.Dilations(s.Nodes[node].Size.Servers, simulated)
}
