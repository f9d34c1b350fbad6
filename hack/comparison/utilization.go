package comparison

import "loadline.dev/loadline/hack/scenario"

// utilizations returns which part of the CPU of each node is busy, in percent: what pods use alone, slowed down as they are.
func (j *Judge) utilizations(at Placement) (map[string]float64, error) {
	percent := map[string]float64{}
	for n, pods := range j.byNode(at) {
		dilations, err := j.Node(n, pods)
		if err != nil {
			return nil, err
		}
		used := 0.0
		for k, i := range pods {
			cpu := j.scenario.Pods[i].Application.Vector[scenario.CPU]
			used += cpu.Loading * float64(cpu.Threads) / dilations[k]
		}
		node := j.scenario.Nodes[n]
		percent[node.Name] = min(100, 100*used/float64(node.Size.Servers[scenario.CPU]))
	}
	return percent, nil
}
