package node

import (
	"encoding/binary"
	"slices"
)

const (
	// maxDepartures bounds how many sets of pods that may be left of a node are looked at.
	maxDepartures = 64
	// departureMargin is by which part of a pod's dilation above 1 the solution of a set of pods may exceed [Node.DepartureBounds].
	departureMargin = 0.1
)

// departures looks for pods of a node that are dilated more than they may be once others are gone, but for the candidate, which is
// the last. Others that go can make a pod wait longer: one that was held up by them at one resource is in its way more often at
// another. That is looked at for all sets of pods that can be left, from the largest on, as far as it can matter: a set in which no
// pod can exceed its bound by [Node.DepartureBounds] has no subset in which one does. Pods that are alike count as one kind.
type departures struct {
	node    *Node
	granted Budget
	most    []float64 // bounds on the dilations of the pods, whichever others go
	alike   []int     // of each pod, the first that is like it and has the same bound
	found   []Excess
	known   []bool // of which pods it is known that they exceed their bounds
}

// newDepartures bounds the dilations of the pods of a node, as simply as that is enough.
func newDepartures(n *Node, granted Budget) *departures {
	d := &departures{node: n, granted: granted, known: make([]bool, len(n.Pods))}
	none := func(float64) bool { return false }
	if d.most = n.DepartureBounds(none); len(d.atRisk(d.all(), d.most)) > 0 {
		d.most = n.DepartureBounds(granted)
	}
	return d
}

// all returns the set of all pods.
func (d *departures) all() []int {
	all := make([]int, len(d.node.Pods))
	for j := range all {
		all[j] = j
	}
	return all
}

// excesses returns what exceeds its bound besides what does with all there, until one is enforced. Where not all can be looked
// at that matters, the pods exceed their bounds that may exceed them.
func (d *departures) excesses(now []Excess) []Excess {
	for _, e := range now {
		d.known[e.Pod] = true
	}
	all := d.all()
	if len(d.atRisk(all, d.most)) == 0 {
		return nil
	}
	d.alike = d.node.alike()
	seen := map[string]bool{}
	for next := d.left(all); len(next) > 0; next = next[1:] {
		present, key := next[0], setKey(next[0])
		if seen[key] {
			continue
		}
		if seen[key] = true; len(seen) > maxDepartures {
			return d.possible()
		}
		node := d.node.only(present)
		at := d.atRisk(present, node.DepartureBounds(d.granted))
		if len(at) == 0 {
			continue
		}
		if !d.look(node, present, at) {
			return d.possible()
		}
		if refusing(d.found) != nil {
			break
		}
		next = append(next, d.left(present)...)
	}
	return d.found
}

// atRisk returns which of the pods that are present could be dilated more than they may be, given bounds on their dilations, and
// of which that is not known yet, as indices of present.
func (d *departures) atRisk(present []int, most []float64) (at []int) {
	for k, j := range present {
		bound, high := d.node.Pods[j].Bound, 1+(most[k]-1)*(1+departureMargin)
		if bound.Max > 0 && bound.exceededBy(high) && !d.known[j] {
			at = append(at, k)
		}
	}
	return at
}

// look finds how pods at risk fare on the node with those that are present, and reports whether that could be worked out. The
// candidate breaks a bound that would be kept without it.
func (d *departures) look(node *Node, present, at []int) bool {
	o := node.Outlook(d.granted)
	if o.Bounded() {
		return false
	}
	candidate := len(present) - 1
	var before *Outlook
	for _, k := range at {
		j, bound := present[k], node.Pods[k].Bound
		if !bound.exceededBy(o.Dilations[k]) {
			continue
		}
		if k != candidate {
			if before == nil {
				before = node.Without(candidate).Outlook(d.granted)
			}
			if before.Bounded() {
				return false
			}
			if bound.exceededBy(before.Dilations[k]) {
				continue // not because of the candidate
			}
		}
		cause := CauseOf(o.Prediction, k)
		if cause.Because >= 0 && cause.Because < len(present) {
			cause.Because = present[cause.Because]
		}
		d.add(Excess{Pod: j, Dilation: o.Dilations[k], Bound: bound, Gone: missing(present, len(d.node.Pods)), Cause: cause})
	}
	return true
}

// add takes down an excess of a pod, for all pods that are like it: any of them may be the one that is there.
func (d *departures) add(e Excess) {
	for j := range d.alike {
		if d.alike[j] != d.alike[e.Pod] {
			continue
		}
		other := e
		other.Pod, other.Gone = j, slices.Clone(e.Gone)
		if k := slices.Index(other.Gone, j); k >= 0 {
			other.Gone[k] = e.Pod
			slices.Sort(other.Gone)
		}
		if other.Because == j {
			other.Because = e.Pod
		}
		d.found, d.known[j] = append(d.found, other), true
	}
}

// left returns the sets of pods that are left of those present when one of the others goes, the last of those that are alike.
func (d *departures) left(present []int) (sets [][]int) {
	gone := map[int]bool{}
	for k := len(present) - 2; k >= 0; k-- {
		if kind := d.alike[present[k]]; !gone[kind] {
			gone[kind] = true
			sets = append(sets, slices.Delete(slices.Clone(present), k, k+1))
		}
	}
	return sets
}

// possible returns the excesses that were found, and those of pods that may exceed their bounds and to whose dilations the candidate may add.
func (d *departures) possible() []Excess {
	candidate := len(d.node.Pods) - 1
	var before []float64
	for j := range d.node.Pods {
		bound := d.node.Pods[j].Bound
		if bound.Max == 0 || d.known[j] || !bound.exceededBy(d.most[j]) {
			continue
		}
		if j != candidate {
			if before == nil {
				before = d.node.Without(candidate).DepartureBounds(d.granted)
			}
			if d.most[j] <= before[j]*(1+worseTolerance) {
				continue
			}
		}
		d.found = append(d.found, Excess{Pod: j, Dilation: d.most[j], Bound: bound, Bounded: true, Cause: Cause{-1, -1}})
	}
	return d.found
}

// missing returns the pods of so many that are not present, in order.
func missing(present []int, of int) (gone []int) {
	for j := range of {
		if !slices.Contains(present, j) {
			gone = append(gone, j)
		}
	}
	return gone
}

// setKey returns a string that only equal sets share.
func setKey(set []int) string {
	key := make([]byte, 0, len(set))
	for _, j := range set {
		key = binary.AppendUvarint(key, uint64(j))
	}
	return string(key)
}
