package node

import (
	"fmt"
	"slices"
	"strings"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/model/contention"
)

// Excess is that a pod of a node is dilated more than it may be, or is once others are gone, and why.
type Excess struct {
	// Pod is the index of the pod.
	Pod int
	// Gone are the pods that are gone by then, in order; none where it is dilated so with all there.
	Gone []int
	// Dilation is how much it is dilated, and Bound how much it may be.
	Dilation float64
	Bound    Bound
	// Worst is a bound from above on how much it is dilated, whichever other pods go.
	Worst float64
	// Bounded says that the dilation is a bound from above: the pod might be dilated as much, and it was not worked out whether it is.
	Bounded bool
	Cause
}

// Cause is the resource at which a pod waits most, and the pod that it mostly waits for there, both by index. Both are -1 for
// a pod that does not wait.
type Cause struct{ Resource, Because int }

const (
	// boundTolerance is the relative difference within which a dilation keeps its bound: rounding.
	boundTolerance = 1e-9
	// worseTolerance is that within which a candidate does not dilate a pod more: rounding, too.
	worseTolerance = 1e-9
)

// exceededBy reports whether a dilation is more than the bound.
func (b Bound) exceededBy(dilation float64) bool { return dilation > b.Max*(1+boundTolerance) }

// above returns how many times its bound the pod is dilated.
func (e *Excess) above() float64 { return e.Dilation / e.Bound.Max }

// refusing returns the first excess of a bound that is enforced, nil where none is: it is because of that one that the guard
// refuses the node.
func refusing(excesses []Excess) *Excess {
	for i := range excesses {
		if excesses[i].Bound.Mode == configv1alpha1.GuardEnforce {
			return &excesses[i]
		}
	}
	return nil
}

// ResourceIn returns the resource at which the pod waits that is dilated too much, of the names of all resources.
func (c Cause) ResourceIn(names []string) string {
	if c.Resource < 0 {
		return "contention"
	}
	return names[c.Resource]
}

// UpTo is put before the dilation where that is a bound from above.
func (e *Excess) UpTo() string {
	if e.Bounded {
		return "up to "
	}
	return ""
}

// Reason says what a node would do: whom it would slow down, how many times, because of which of the resources, and once which
// pods are gone, by their names, or some where there are no names for them.
func (e *Excess) Reason(whom, times string, gone, resources []string) string {
	if e.Bounded {
		return fmt.Sprintf("might slow %s down %s%s, more than its limit of %s: too much runs there to say how much it does", whom, e.UpTo(), times, e.Bound)
	}
	return fmt.Sprintf("would slow %s down %s, more than its limit of %s, because of %s%s", whom, times, e.Bound, e.ResourceIn(resources), e.Once(gone))
}

// Once says once which pods are gone, by their names, the pod is dilated so; "" where all are there.
func (e *Excess) Once(gone []string) string {
	const named = 3
	switch {
	case len(e.Gone) == 0:
		return ""
	case len(gone) == 0 || len(gone) > named:
		return ", once other pods there are gone"
	case len(gone) == 1:
		return ", once " + gone[0] + " is gone"
	default:
		return ", once " + strings.Join(gone, " and ") + " are gone"
	}
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
