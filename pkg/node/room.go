package node

import (
	"fmt"
	"strings"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/text"
)

// Refusal is that the guard refuses a node for a candidate.
type Refusal struct {
	// Node is the node without the candidate.
	Node *Node
	// Excess is the bound that the node is refused for. The candidate's index is that after all pods.
	Excess *Excess
	// Raise is how much sla.maxDilation of the candidate's profile would have to be for the node to take it, 0 where that alone
	// is not enough.
	Raise float64
	// Takes reports whether the node would take the candidate if one of its pods were gone.
	Takes func(without int) bool
}

// Own reports whether it is the candidate that would be dilated too much.
func (r *Refusal) Own() bool { return r.Excess.Pod == len(r.Node.Pods) }

// Refusal returns why the guard refuses a node for a candidate, nil where it does not. takes reports whether the node would take the
// candidate if one of its pods were gone.
func (v *Verdict) Refusal(n *Node, candidate *Pod, takes func(without int) bool) *Refusal {
	e := v.Refusing()
	if e == nil {
		return nil
	}
	r := &Refusal{Node: n, Excess: e, Takes: takes}
	if !v.Held {
		r.Raise = raised(v.Excesses, func(j int) bool { return j == len(n.Pods) || n.Pods[j].Workload == candidate.Workload })
	}
	return r
}

// raised returns the sla.maxDilation of the candidate's profile with which no enforced bound would be exceeded, whatever pods go:
// that of the pod which is dilated most for its request, of those that exceed their bounds. It is 0 where one of them has another
// profile, since raising that of the candidate does not help then. follows reports whether the pod of an index, which may be the
// candidate, follows the candidate's profile.
func raised(excesses []Excess, follows func(pod int) bool) (maxDilation float64) {
	for i := range excesses {
		e := &excesses[i]
		if e.Bound.Mode != configv1alpha1.GuardEnforce {
			continue
		}
		if !follows(e.Pod) {
			return 0
		}
		maxDilation = max(maxDilation, e.Worst/e.Bound.beyond())
	}
	return maxDilation
}

// inTheWay returns the pod of the node without which the candidate is most likely to fit, -1 if there is none: the one that
// the pod waits for which would be dilated too much, else that pod.
func (r *Refusal) inTheWay() int {
	because := r.Excess.Because
	switch {
	case because >= 0 && because < len(r.Node.Pods):
		return because
	case r.Own():
		return -1
	default:
		return r.Excess.Pod
	}
}

// Refusals are those of the nodes that a candidate was refused, as far as it takes to say what would make room for it.
type Refusals struct {
	nearest []*Refusal
	raise   float64 // the least of all, 0 if raising the candidate's bound is enough on no node
}

// maxNearest bounds for how many nodes is said what would make room.
const maxNearest = 3

// Add adds a refusal, and keeps those that are nearest to a bound.
func (r *Refusals) Add(one *Refusal) {
	if one.Raise > 0 && (r.raise == 0 || one.Raise < r.raise) {
		r.raise = one.Raise
	}
	at := len(r.nearest)
	for at > 0 && one.Excess.above() < r.nearest[at-1].Excess.above() {
		at--
	}
	if at == maxNearest {
		return
	}
	r.nearest = append(r.nearest[:at:at], append([]*Refusal{one}, r.nearest[at:]...)...)
	r.nearest = r.nearest[:min(len(r.nearest), maxNearest)]
}

// Room returns what would make room for the candidate, which has a promise: each of these is enough.
func (r *Refusals) Room(promise Promise) (ways []string) {
	for _, one := range r.nearest {
		pod := one.inTheWay()
		if pod < 0 {
			continue
		}
		if one.Takes(pod) {
			ways = append(ways, fmt.Sprintf("%s without %s", one.Node.Name, text.QualifiedName(one.Node.Pods[pod])))
		}
	}
	if r.raise > 0 && promise.Mode == configv1alpha1.GuardEnforce {
		ways = append(ways, fmt.Sprintf("sla.maxDilation of at least %s for it (now %s)",
			strings.TrimSuffix(text.TimesAbove(r.raise), "×"), strings.TrimSuffix(text.Times(promise.MaxDilation), "×")))
	}
	return ways
}

// RoomLine says what would make room, "" where nothing is known to.
func RoomLine(ways []string) string {
	if len(ways) == 0 {
		return ""
	}
	return "What would make room: " + strings.Join(ways, ", or ") + "."
}
