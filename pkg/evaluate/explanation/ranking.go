package explanation

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/node"
)

// RankedNode is the cost of a pod on a node, to first order, as the scheduler plugin reckons it.
type RankedNode struct {
	Node        string `json:"node"`
	NodeProfile string `json:"nodeProfile,omitempty"`
	// Rank is 1 for the cheapest node that takes the pod; nodes that cost the same have the
	// same. It is absent for a node that does not fit, or is not known to, is refused, or is too busy for now.
	Rank int `json:"rank,omitempty"`
	// Cost is the dilation that the pod would add to the node: Waits to its own
	// threads, because of the pods that are there, and Inflicts to theirs. It counts
	// Waits, and Inflicts each of its parts, as many times as the importance of the
	// pod's profile says.
	Cost     float64 `json:"cost"`
	Waits    float64 `json:"waits"`
	Inflicts float64 `json:"inflicts"`
	// WaitsAt says where Waits is from, the largest part first.
	WaitsAt []ResourceWait `json:"waitsAt,omitempty"`
	// Pods is how many others there are.
	Pods int `json:"pods"`
	// SlowerBeside are the workloads there beside which pods of this profile were seen to serve slower, by their work counter. Cost is
	// without that.
	SlowerBeside []string `json:"slowerBeside,omitempty"`
	// Here marks the node that the pod is on, whose cost is as if it were not.
	Here bool `json:"here,omitempty"`
	// DoesNotFit says why the pod cannot go there, in the words of kube-scheduler's filter plugins.
	DoesNotFit string `json:"doesNotFit,omitempty"`
	// Unknown says what would have to be known to decide whether the pod fits there.
	Unknown string `json:"unknown,omitempty"`
	// Refused says why the scheduler's guard refuses the node, on which the pod fits.
	Refused string `json:"refused,omitempty"`
	// TooBusy says why the pod would rather wait than go there.
	TooBusy string `json:"tooBusy,omitempty"`
	// Exceeded are the limits of dilation that would not hold there with the pod, and that bind by the mode of the guard, the
	// furthest above first. Those of the node that the pod is on are not judged, nor where it is not known to fit.
	Exceeded []Exceeded `json:"exceeded,omitempty"`
}

// Takes reports whether the scheduler may put the pod there now.
func (n *RankedNode) Takes() bool { return n.order() == 0 }

// order is 0 for a node that takes the pod, 1 for one that is too busy for now, 2 for one that the guard refuses, 3 for one of
// which it is not known whether the pod fits, and 4 for one that does not.
func (n *RankedNode) order() int {
	switch {
	case n.DoesNotFit != "":
		return 4
	case n.Unknown != "":
		return 3
	case n.Refused != "":
		return 2
	case n.TooBusy != "":
		return 1
	default:
		return 0
	}
}

// ResourceWait is how long a pod would wait at a resource, or compute longer because of it.
type ResourceWait struct {
	Resource string  `json:"resource"`
	Waits    float64 `json:"waits"`
}

// At returns how long the pod would wait at a resource.
func (n *RankedNode) At(resource string) float64 {
	for _, w := range n.WaitsAt {
		if w.Resource == resource {
			return w.Waits
		}
	}
	return 0
}

// rank returns all nodes, the cheapest that takes the pod first.
func (x *explainer) rank() []RankedNode {
	ranked := make([]RankedNode, len(x.Nodes))
	fit := x.Feasibility.Of(x.Pod)
	for i := range x.Nodes {
		ranked[i] = x.price(&x.Nodes[i], fit)
	}
	slices.SortFunc(ranked, func(a, b RankedNode) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Node, b.Node))
	})
	for i := range ranked {
		n := &ranked[i]
		switch {
		case !n.Takes():
			return ranked
		case i > 0 && price.SameCost(ranked[i-1].Cost, n.Cost):
			n.Rank = ranked[i-1].Rank
		default:
			n.Rank = i + 1
		}
	}
	return ranked
}

// price returns the cost of the pod on a node, on which it is not counted, and reports whether it may go there.
func (x *explainer) price(object *corev1.Node, fit func(node string) node.Fit) RankedNode {
	class, others := x.snapshot.NodeClass(object), x.byNode[object.Name]
	candidate := x.snapshot.Candidate(class, x.Pod)
	n := RankedNode{Node: object.Name, Pods: len(others), Here: object.Name == x.Pod.Spec.NodeName}
	if class != nil {
		n.NodeProfile = class.Name
	}
	n.SlowerBeside = x.slowerBeside(others)
	prices, wrong := x.snapshot.Prices(object, class, x.snapshot.Follow(others))
	x.ignore(wrong)
	n.Waits, n.Inflicts = prices.Parts(candidate)
	n.Cost = prices.Of(candidate)
	for i, waits := range prices.WaitsAt(candidate) {
		if waits > 0 {
			n.WaitsAt = append(n.WaitsAt, ResourceWait{x.snapshot.Resources().Names()[i], waits})
		}
	}
	slices.SortStableFunc(n.WaitsAt, func(a, b ResourceWait) int { return cmp.Compare(b.Waits, a.Waits) })
	if n.Here {
		return n
	}
	f := fit(object.Name)
	if n.DoesNotFit, n.Unknown = f.Refused, f.Unknown; f == (node.Fit{}) {
		x.judge(&n, object, class, others)
	}
	return n
}
