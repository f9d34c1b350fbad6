package node

import (
	"math"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
)

// Budget grants steps of the accurate model (see [contention.Sharing.Steps]): it reports whether a number of them may be taken, and
// counts them as taken.
type Budget func(steps float64) bool

// MaxSteps is how many steps the accurate model may take for one node where pods are being placed: some tenths of a second, enough for the
// 110 pods that a kubelet takes by default, all different.
const MaxSteps = 5e6

// Granted is the [Budget] of one node: it reports whether steps are at most [MaxSteps].
func Granted(steps float64) bool { return steps <= MaxSteps }

// Predict returns how the pods fare by the accurate model, in their order, and last, where there is one, the system.
func (n *Node) Predict() (*contention.Prediction, error) {
	shared, err := n.Share()
	if err != nil {
		return nil, err
	}
	return shared.Predict(queueing.Options{})
}

// PredictEqualShares returns how the pods would fare if all requested the same and had no limits, and nothing else ran there.
func (n *Node) PredictEqualShares(options queueing.Options) (*contention.Prediction, error) {
	p, err := contention.PredictSharing(n.Vectors(), n.Servers, contention.EqualShares(n.CPU, len(n.Pods)), options)
	return p, n.named(err)
}

// Outlook is how the pods of a node fare.
type Outlook struct {
	// Dilations are those of the pods, in their order.
	Dilations []float64
	// Prediction is the solution that they are from. It is nil where they are bounds from above, since working them out took too
	// long or had no result: a pod is dilated by no more than that, whatever its neighbours declare.
	Prediction *contention.Prediction
}

// Bounded reports whether the dilations are bounds from above.
func (o *Outlook) Bounded() bool { return o.Prediction == nil }

// Outlook returns how the pods fare, by the accurate model where its steps are granted.
func (n *Node) Outlook(granted Budget) *Outlook {
	shared, err := n.Share()
	if err == nil && granted(shared.steps()) {
		if p, err := shared.Predict(queueing.Options{}); err == nil {
			return &Outlook{p.Dilations, p}
		}
	}
	return &Outlook{Dilations: n.bounds(shared)}
}

// Estimate returns estimates of the dilations of [Node.Predict], in a small part of the time (see [contention.EstimateSharing]);
// bounds from above on them for a node that even that takes long for.
func (n *Node) Estimate() []float64 {
	shared, err := n.Share()
	if err == nil && Granted(shared.steps()) {
		if dilations, err := shared.estimate(); err == nil {
			return dilations
		}
	}
	return n.bounds(shared)
}

// DepartureBounds returns bounds from above on the dilations of the pods that hold whichever others are gone: see
// [contention.BoundDepartures]; where its steps are not granted, those of [contention.BoundSharing], which hold then, too.
func (n *Node) DepartureBounds(granted Budget) []float64 {
	shared, err := n.Share()
	if err == nil && granted(shared.steps()) {
		if bounds, err := shared.departureBounds(); err == nil {
			return bounds
		}
	}
	return n.bounds(shared)
}

// bounds returns bounds on the dilations of pods, given how they share the node; nil for a node whose control groups are not
// known, whose pods count as if there were no classes among them.
func (n *Node) bounds(shared *Shared) []float64 {
	if shared != nil {
		if bounds, err := shared.bounds(); err == nil {
			return bounds
		}
	}
	return n.flatBounds()
}

// flatBounds returns bounds on the dilations of pods as if there were no classes among them.
func (n *Node) flatBounds() []float64 {
	sharing := contention.Sharing{Resource: n.CPU, Groups: []gps.Group{{}}}
	for i := range n.Pods {
		sharing.Shares = append(sharing.Shares, profile.Share(n.Pods[i].Pod))
	}
	bounds, err := contention.BoundSharing(n.Vectors(), n.Servers, sharing)
	if err != nil { // of a vector or share that is invalid: nothing is known
		bounds = make([]float64, len(n.Pods))
		for j := range bounds {
			bounds[j] = math.Inf(1)
		}
	}
	return bounds
}

// alike returns for each pod the first that fares like it and makes others fare like it does, and that has the same bound.
func (n *Node) alike() []int {
	alike := make([]int, len(n.Pods))
	shared, err := n.Share()
	for j := range alike {
		alike[j] = j
		for k := 0; k < j && err == nil && alike[j] == j; k++ {
			if alike[k] == k && n.Pods[k].Bound == n.Pods[j].Bound && shared.alike(k, j) {
				alike[j] = k
			}
		}
	}
	return alike
}
