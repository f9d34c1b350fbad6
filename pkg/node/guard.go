package node

import (
	"cmp"
	"slices"
)

// Guard judges candidates for one node: whether they keep their bound there, and the pods that are there theirs. It keeps how these
// fare without a candidate, which is worked out when it is first needed. It must not be called by two goroutines at once.
type Guard struct {
	Node *Node
	// Solved is how many outlooks it has worked out.
	Solved int

	before *Outlook
}

// Verdict is the guard's answer for a candidate on a node.
type Verdict struct {
	Extremes
	// Excesses are the bounds that are exceeded because of the candidate, the one that is exceeded furthest first: see [Guard.Judge].
	Excesses []Excess
	// Held says that the candidate would be dilated so much that it is held.
	Held bool
	// Bounded says that dilations are bounds from above.
	Bounded bool
}

// Extremes are those of the dilations of a node's pods, of which the last is a candidate.
type Extremes struct {
	// Own is the dilation of the candidate, and Worst the largest of all.
	Own, Worst float64
	// Risk is how near a pod comes to its bound at worst: (λ − 1) over (bound − 1), 0 where no pod has a bound.
	Risk float64
}

// Extremes returns those of some dilations of the node's pods.
func (n *Node) Extremes(dilations []float64) Extremes {
	e := Extremes{Own: dilations[len(dilations)-1], Worst: slices.Max(dilations)}
	for j := range n.Pods {
		if limit := n.Pods[j].Bound.Max; limit > 0 && dilations[j] > 1 {
			e.Risk = max(e.Risk, (dilations[j]-1)/(limit-1))
		}
	}
	return e
}

// Judge returns the verdict on a candidate, which is held where it would be dilated more than hold, 0 for none.
//
// Because of the candidate its own bound is exceeded, and those of pods that are dilated more than without it; with all pods there,
// or once any of the others are gone. What may be left of the node is worked out as far as its steps are granted, and judged by
// [Node.DepartureBounds] beyond.
//
// Where dilations are bounds from above, only the candidate, and pods that were within their bounds before, exceed them: a promise
// that the requests of a pod do not warrant is not kept where it cannot be worked out, so that it keeps no other pod away. Such
// bounds hold whatever pods go.
func (g *Guard) Judge(candidate Pod, hold float64, granted Budget) *Verdict {
	g.Solved++
	with := g.Node.With(candidate)
	o := with.Outlook(granted)
	v := &Verdict{Extremes: with.Extremes(o.Dilations), Bounded: o.Bounded()}
	v.Held = hold > 0 && v.Own > hold
	v.Excesses = g.exceededNow(with, o)
	if !v.Bounded && with.Bounded() {
		d := newDepartures(with, granted)
		if v.Refusing() == nil {
			v.Excesses = slices.Concat(v.Excesses, d.excesses(v.Excesses))
		}
		for i := range v.Excesses {
			e := &v.Excesses[i]
			e.Worst = max(e.Dilation, d.most[e.Pod])
		}
	}
	slices.SortStableFunc(v.Excesses, func(a, b Excess) int { return cmp.Compare(b.above(), a.above()) })
	return v
}

// Before returns how the pods fare without a candidate, by bounds from above or by the accurate model.
func (g *Guard) Before(bounded bool) *Outlook {
	if g.before == nil || g.before.Bounded() != bounded {
		g.Solved++
		there := g.Node.assign(g.Node.Pods) // as with a candidate
		g.before = there.Outlook(func(float64) bool { return !bounded })
	}
	return g.before
}

// exceededNow returns which bounds are exceeded with all pods and the candidate there.
func (g *Guard) exceededNow(with *Node, o *Outlook) []Excess {
	var all []Excess
	candidate := len(with.Pods) - 1
	for j := range with.Pods {
		bound := with.Pods[j].Bound
		if bound.Max == 0 || !bound.exceededBy(o.Dilations[j]) {
			continue
		}
		if j != candidate && !o.makesWorse(g.Before(o.Bounded()), j, bound) {
			continue
		}
		e := Excess{Pod: j, Dilation: o.Dilations[j], Worst: o.Dilations[j], Bound: bound, Bounded: o.Bounded(), Cause: Cause{-1, -1}}
		if !o.Bounded() {
			e.Cause = CauseOf(o.Prediction, j)
		}
		all = append(all, e)
	}
	return all
}

// makesWorse reports whether a pod that exceeds its bound does so because of the candidate, given the outlook before that came.
func (o *Outlook) makesWorse(before *Outlook, pod int, bound Bound) bool {
	switch {
	case o.Bounded():
		return !bound.exceededBy(before.Dilations[pod])
	case before.Bounded(): // it is not known how the pod was before
		return true
	default:
		return o.Dilations[pod] > before.Dilations[pod]*(1+worseTolerance)
	}
}

// Takes reports whether the candidate may go to the node now.
func (v *Verdict) Takes() bool { return v.Refusing() == nil && !v.Held }

// Refusing returns the excess for which the guard refuses the node, nil where it does not.
func (v *Verdict) Refusing() *Excess { return refusing(v.Excesses) }
