package node

import (
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
)

// systemWeight is the weight of what runs in no pod, in prices: that of a pod that requests a core.
const systemWeight = 39

// Prices returns the cost of putting a pod on the node, to first order and by the weights that requests make of pods of one
// class. Devices count as one of each kind.
func (n *Node) Prices() *price.Prices {
	load := price.NewSharedLoad(n.Servers, n.CPU)
	for i := range n.Pods {
		load.AddShare(n.Pods[i].AtDevices(), cgroup.Flat(n.Pods[i].Pod))
	}
	if n.System.Vector != nil {
		load.AddShare(n.System.Vector, loading.Share{Weight: systemWeight})
	}
	return load.Prices()
}

// Candidate returns a pod as prices of nodes that have the CPU at the same index take it.
func (n *Node) Candidate(pod Pod) *price.Candidate {
	return price.NewShareCandidate(pod.Vector, n.CPU, cgroup.Flat(pod.Pod))
}

// Cost returns the cost of a candidate by the prices of a node: how long it would wait, and how long it would make others wait.
func Cost(prices *price.Prices, candidate *price.Candidate) float64 {
	waits, inflicts := prices.Parts(candidate)
	return waits + inflicts
}
