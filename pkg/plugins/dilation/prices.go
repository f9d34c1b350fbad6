package dilation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/profile"
)

// nodePrices are the prices of one node.
type nodePrices struct {
	prices *price.Prices
	class  *profile.NodeClass // of the node, nil if it follows no profile
}

// priceNode returns the prices of a node, which are computed once for nodes that are alike.
func priceNode(ctx context.Context, r *residents) *nodePrices {
	alike := r.alikeAs()
	if alike == "" {
		return &nodePrices{r.price(ctx), r.class}
	}
	return &nodePrices{r.known.prices.of(alike, func() (*price.Prices, bool) { return r.price(ctx), true }), r.class}
}

// price computes the prices of a node from the pods on it, each with the vector
// that it has on nodes of this class, and the share of the processor that its
// requests and limits make. Annotations that name devices which are not there are
// ignored, and logged.
func (r *residents) price(ctx context.Context) *price.Prices {
	nodesRepriced.Inc()
	vectors := make([]loading.Vector, len(r.Pods))
	for j, k := range r.kinds {
		vectors[j] = r.ofKind(k).vector
	}
	prices, err := r.resources.Prices(r.object, r.class, r.Pods, vectors, func(j int) (loading.Share, float64) {
		some := r.ofKind(r.kinds[j])
		return some.share, some.importance
	})
	if err != nil {
		klog.FromContext(ctx).V(2).Info("Ignored annotations of pods that name wrong devices", "node", klog.KObj(r.object), "err", err)
	}
	return prices
}

func podsOf(node fwk.NodeInfo) []*corev1.Pod { return podsAfter(nil, node) }
