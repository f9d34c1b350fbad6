package nodes

import (
	"cmp"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
)

// Excess is that a pod of a node is dilated more than it may be, and why.
type Excess struct {
	// Pod is the index of the pod.
	Pod int
	// Dilation is how much it is dilated, and Bound how much it may be.
	Dilation, Bound float64
	Cause
}

// Cause is the resource at which a pod waits most, and the pod that it mostly waits for there, both by index. Both are -1 for
// a pod that does not wait.
type Cause struct{ Resource, Because int }

// boundTolerance is the relative difference within which a dilation is what it may be: rounding.
const boundTolerance = 1e-9

// Exceeding returns the pods of a prediction that are dilated more than their bounds allow, the one furthest above first. A
// bound of 0 is none.
func Exceeding(p *contention.Prediction, bounds []float64) []Excess {
	var all []Excess
	for j, bound := range bounds {
		if bound > 0 && p.Dilations[j] > bound*(1+boundTolerance) {
			all = append(all, Excess{Pod: j, Dilation: p.Dilations[j], Bound: bound, Cause: CauseOf(p, j)})
		}
	}
	slices.SortStableFunc(all, func(a, b Excess) int { return cmp.Compare(b.Dilation/b.Bound, a.Dilation/a.Bound) })
	return all
}

// CauseOf returns why a pod of a prediction is dilated.
func CauseOf(p *contention.Prediction, pod int) Cause {
	cause := Cause{-1, -1}
	most := 0.0
	for i := range p.Resources() {
		if delay := p.Delay(pod, i); delay > most {
			most, cause.Resource = delay, i
		}
	}
	if most == 0 {
		return cause
	}
	blame := p.BlameAt(pod, cause.Resource)
	cause.Because = slices.Index(blame, slices.Max(blame))
	return cause
}
