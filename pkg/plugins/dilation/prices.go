package dilation

import (
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/profile"
)

// priceTable holds the prices of nodes. The scheduling cycle writes it in
// PreScore, when no Score is running, and Score only reads it: it needs no
// lock.
type priceTable struct {
	version uint64 // of the profile snapshot that all prices are of
	nodes   map[string]*nodePrices
}

// nodePrices are the prices of one node at one generation of its NodeInfo,
// which changes whenever a pod comes or goes, assumed ones included.
type nodePrices struct {
	generation int64
	prices     *contention.Prices
}

func newPriceTable() *priceTable {
	return &priceTable{nodes: map[string]*nodePrices{}}
}

// of returns the prices of a node, nil if update has not seen it.
func (t *priceTable) of(node fwk.NodeInfo) *contention.Prices {
	if n := t.nodes[node.Node().Name]; n != nil {
		return n.prices
	}
	return nil
}

// update brings the prices of the nodes up to date.
func (t *priceTable) update(snapshot *profile.Snapshot, nodes []fwk.NodeInfo) {
	if t.version != snapshot.Version {
		clear(t.nodes)
		t.version = snapshot.Version
		reportProfiles(snapshot)
	}
	repriced := 0
	for _, node := range nodes {
		name, generation := node.Node().Name, node.GetGeneration()
		known := t.nodes[name]
		if known != nil && known.generation == generation {
			continue
		}
		t.nodes[name] = price(snapshot, node)
		repriced++
	}
	nodesRepriced.Add(float64(repriced))
}

// price computes the prices of a node from the pods on it.
func price(snapshot *profile.Snapshot, node fwk.NodeInfo) *nodePrices {
	load := contention.NewLoad(snapshot.Servers(node.Node()))
	for _, pod := range node.GetPods() {
		load.Add(snapshot.Vector(pod.GetPod()))
	}
	return &nodePrices{generation: node.GetGeneration(), prices: load.Prices()}
}
