package nodes

import (
	"math"

	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
)

// Outlook is how the pods of a node fare.
type Outlook struct {
	// Dilations are those of the pods, in their order.
	Dilations []float64
	// Prediction is what they are from. It is nil where they are bounds from above, since working them out took too long or had no
	// result: a pod is dilated by no more than that, whatever its neighbours claim.
	Prediction *contention.Prediction
}

// Bounded reports whether the dilations are bounds from above.
func (o *Outlook) Bounded() bool { return o.Prediction == nil }

// Outlook returns how the pods fare, by the accurate model where its steps are granted (see [contention.Sharing.Steps]).
func (n *Node) Outlook(granted func(steps float64) bool) *Outlook {
	shared, err := n.Share()
	if err == nil && granted(shared.Steps()) {
		if p, err := shared.Predict(queueing.Options{}); err == nil {
			return &Outlook{p.Dilations, p}
		}
	}
	return &Outlook{Dilations: n.bounds(shared)}
}

// Estimate returns about the dilations of [Node.Predict], in a small part of the time (see [contention.EstimateSharing]); bounds
// from above on them for a node that even that takes long for.
func (n *Node) Estimate() []float64 {
	shared, err := n.Share()
	if err == nil && Granted(shared.Steps()) {
		if dilations, err := shared.Estimate(); err == nil {
			return dilations
		}
	}
	return n.bounds(shared)
}

// bounds returns bounds on the dilations of pods, given how they share the node; nil for a node of which the control groups cannot
// be told, whose pods count as if there were no classes among them.
func (n *Node) bounds(shared *evaluate.SharedNode) []float64 {
	if shared != nil {
		if bounds, err := shared.Bounds(); err == nil {
			return bounds
		}
	}
	return n.flatBounds()
}

// DepartureBounds returns bounds from above on the dilations of the pods that hold whichever others are gone: see
// [contention.BoundDepartures]; where its steps are not granted, those of [contention.BoundSharing], which hold then, too.
func (n *Node) DepartureBounds(granted func(steps float64) bool) []float64 {
	shared, err := n.Share()
	if err == nil && granted(shared.Steps()) {
		if bounds, err := shared.DepartureBounds(); err == nil {
			return bounds
		}
	}
	return n.bounds(shared)
}

// alike returns for each pod the first that fares like it and makes others fare like it does, and that has the same bound.
func (n *Node) alike(bounds []Bound) []int {
	alike := make([]int, len(n.Pods))
	shared, err := n.Share()
	for j := range alike {
		alike[j] = j
		for k := 0; k < j && err == nil && alike[j] == j; k++ {
			if alike[k] == k && bounds[k] == bounds[j] && shared.Alike(k, j) {
				alike[j] = k
			}
		}
	}
	return alike
}

// flatBounds returns bounds on the dilations of pods as if there were no classes among them.
func (n *Node) flatBounds() []float64 {
	sharing := contention.Sharing{Resource: n.CPU, Groups: []gps.Group{{}}}
	for _, pod := range n.Pods {
		sharing.Shares = append(sharing.Shares, profile.Share(pod))
	}
	bounds, err := contention.BoundSharing(n.Vectors, n.Servers, sharing)
	if err != nil { // of a vector or share that is invalid: nothing is known
		bounds = make([]float64, len(n.Pods))
		for j := range bounds {
			bounds[j] = math.Inf(1)
		}
	}
	return bounds
}

// MaxSteps is how many steps the accurate model may take for one node where pods are being placed: some tenths of a second.
const MaxSteps = 4e6

// Granted grants up to [MaxSteps].
func Granted(steps float64) bool { return steps <= MaxSteps }
