package comparison

import "loadline.dev/loadline/hack/scenario"

// utilizations returns which part of the CPU of each node is busy, in percent: what pods use alone, slowed down as they are.
func utilizations(judge Judge, s *scenario.Scenario, at Placement) (map[string]float64, error) {
	percent := map[string]float64{}
	for n, pods := range at.byNode(s) {
		dilations, err := judge.Node(n, pods)
		if err != nil {
			return nil, err
		}
		used := 0.0
		for k, i := range pods {
			cpu := s.Pods[i].Application.Vector[scenario.CPU]
			used += cpu.Loading * float64(cpu.Threads) / dilations[k].Mean
		}
		node := s.Nodes[n]
		percent[node.Name] = min(100, 100*used/float64(node.Size.Servers[scenario.CPU]))
	}
	return percent, nil
}
