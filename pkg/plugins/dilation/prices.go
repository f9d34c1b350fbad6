package dilation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/profile"
)

// nodePrices are the prices of one node.
type nodePrices struct {
	prices *price.Prices
	class  *profile.NodeClass // of the node, nil if it follows no profile
}

// priceNode computes the prices of a node from the pods on it and what they follow, each with the vector
// that it has on nodes of this class, and the share of the processor that its
// requests and limits make. Annotations that name devices which are not there are
// ignored, and logged.
func priceNode(ctx context.Context, c *cycle, node *corev1.Node, f *profile.Followed) *nodePrices {
	nodesRepriced.Inc()
	class := c.snapshot.NodeClass(node)
	prices, err := c.snapshot.Prices(node, class, f)
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Ignored annotations of pods that name wrong devices", "node", klog.KObj(node), "err", err)
	}
	return &nodePrices{prices: prices, class: class}
}

func podsOf(node fwk.NodeInfo) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(node.GetPods()))
	for j, pod := range node.GetPods() {
		pods[j] = pod.GetPod()
	}
	return pods
}
