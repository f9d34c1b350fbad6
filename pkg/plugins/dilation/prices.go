package dilation

import (
	"context"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/profile"
)

// priceTable holds the prices of nodes.
//
// Its map is written by beginCycle alone, when no Score is running, so that
// Score reads it without a lock. What Score finds to be out of date it prices
// again in place: of the goroutines of a cycle only one scores a given node.
// Nodes that the map does not have yet wait in a list for the next cycle.
type priceTable struct {
	nodes map[string]*atomic.Pointer[nodePrices]

	mu    sync.Mutex
	added map[string]*nodePrices // not in nodes yet
}

// nodePrices are the prices of one node at one generation of its NodeInfo,
// which changes whenever a pod comes or goes, assumed ones included, and at one
// version of the profiles.
type nodePrices struct {
	generation int64
	version    uint64
	prices     *contention.Prices
	class      *profile.NodeClass // of the node, nil if it follows no profile
}

func newPriceTable() *priceTable {
	return &priceTable{nodes: map[string]*atomic.Pointer[nodePrices]{}, added: map[string]*nodePrices{}}
}

// beginCycle takes in the nodes that are new since the last cycle. A table that
// has grown to more than twice the number of nodes in the cluster is mostly
// about nodes that are gone, and starts again.
func (t *priceTable) beginCycle(clusterNodes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.added) == 0 {
		return
	}
	if len(t.nodes)+len(t.added) > 2*clusterNodes {
		clear(t.nodes)
	}
	for name, n := range t.added {
		p := &atomic.Pointer[nodePrices]{}
		p.Store(n)
		t.nodes[name] = p
	}
	clear(t.added)
}

// of returns the prices of a node as it is now. It takes no lock and allocates
// nothing unless the node, or the profiles, changed since it was last asked.
func (t *priceTable) of(ctx context.Context, snapshot *profile.Snapshot, node fwk.NodeInfo) *nodePrices {
	name := node.Node().Name
	known := t.nodes[name]
	if known != nil {
		if n := known.Load(); n.generation == node.GetGeneration() && n.version == snapshot.Version {
			return n
		}
	}
	n := price(ctx, snapshot, node)
	nodesRepriced.Inc()
	if known != nil {
		known.Store(n)
		return n
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.added[name] = n
	return n
}

// price computes the prices of a node from the pods on it, each with the vector
// that it has on nodes of this class, and the share of the processor that its
// requests and limits make. Annotations that name devices which are not there are
// ignored, and logged.
func price(ctx context.Context, snapshot *profile.Snapshot, node fwk.NodeInfo) *nodePrices {
	class := snapshot.NodeClass(node.Node())
	pods := make([]*corev1.Pod, len(node.GetPods()))
	for j, pod := range node.GetPods() {
		pods[j] = pod.GetPod()
	}
	prices, err := snapshot.Prices(node.Node(), class, pods)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Ignored annotations of pods that name wrong devices", "node", klog.KObj(node.Node()), "err", err)
	}
	return &nodePrices{generation: node.GetGeneration(), version: snapshot.Version, prices: prices, class: class}
}
