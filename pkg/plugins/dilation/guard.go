package dilation

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/evaluate/nodes"
	"loadline.dev/loadline/pkg/text"
)

// PreFilter resolves the pod's vectors and its bound. Where no bound binds and no pod is held it has Filter left out.
func (d *Dilation) PreFilter(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if err := d.modes.await(ctx); err != nil {
		return nil, fwk.AsStatus(err)
	}
	if d.modes.off() && d.args.HoldMaxDilation == 0 {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	if _, err := d.begin(state, pod); err != nil {
		return nil, fwk.AsStatus(err)
	}
	return nil, nil
}

// PreFilterExtensions returns nil: all that Filter knows of a node it has from the NodeInfo that it is given, in which
// preemption has removed and added pods by then.
func (*Dilation) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses a node where the pod, or one that is there, would be dilated more than its bound allows, if the bound is
// enforced, and where the pod would be dilated so much that it is held.
func (d *Dilation) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	c, err := cycleOf(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	v := d.verdictOn(c, node)
	if v.code == fwk.Success {
		return nil
	}
	c.refusals.add(v)
	return fwk.NewStatus(v.code, v.reason)
}

// verdict is whether a node takes a newcomer.
type verdict struct {
	code    fwk.Code
	reason  string
	refusal *nodes.Refusal // nil unless a bound is in the way
}

// taken is the verdict that it does.
var taken = &verdict{code: fwk.Success}

// judge returns whether the node takes a newcomer, and whether that holds for the next of its kind.
func (t *tenants) judge(n *newcomer, b *budget) (v *verdict, lasting bool) {
	own := t.boundOf(n).Enforced()
	if n.hold > 0 && (own == 0 || n.hold < own) {
		own = n.hold
	}
	if t.surely(n, own, nodes.Bound.Enforced) {
		return taken, true
	}
	o := t.add(n, b)
	return t.verdict(n, o, b), !o.provisional
}

// verdict returns whether the node takes a newcomer, given how its pods would fare.
func (t *tenants) verdict(n *newcomer, o *outcome, b *budget) *verdict {
	if e := nodes.Refusing(o.excesses); e != nil {
		return &verdict{fwk.Unschedulable, t.reason(e), t.refuse(n, o, e, b)}
	}
	if o.held(n) {
		const reason = "node(s) too busy for now: the pod would run %s slower, and waits for less than %s"
		return &verdict{code: fwk.UnschedulableAndUnresolvable, reason: fmt.Sprintf(reason, text.TimesAbove(o.own), text.Times(n.hold))}
	}
	return taken
}

// held reports whether the newcomer would be dilated so much that it is held.
func (o *outcome) held(n *newcomer) bool { return n.hold > 0 && o.own > n.hold }

// reason says who would be dilated too much, by how much, and because of which resource. kube-scheduler counts nodes by
// equal reasons, so it names profiles rather than pods, and dilations to one decimal.
func (t *tenants) reason(e *nodes.Excess) string {
	whom := "the pod"
	if e.Pod < len(t.pods) {
		pod := t.pods[e.Pod]
		whom = "pods of " + text.QualifiedName(pod)
		if w := t.workloads[e.Pod]; w != nil {
			whom = "pods of " + w.Namespace + "/" + w.Name
		}
	}
	return "node(s) " + e.Reason(whom, text.TimesAbove(e.Dilation), nil, t.resources.Names())
}

// refuse returns that the node refuses a newcomer because of an excess.
func (t *tenants) refuse(n *newcomer, o *outcome, e *nodes.Excess, b *budget) *nodes.Refusal {
	r := &nodes.Refusal{Node: t.node.Name, Pods: t.pods, Excess: e, Takes: func(without int) bool { return t.without(without).takes(n, b) }}
	if !o.held(n) {
		r.Raise = nodes.Raised(o.excesses, func(pod int) bool { return pod == len(t.pods) || t.workloads[pod] == n.follows })
	}
	return r
}

// takes reports whether the node takes a newcomer, by the accurate model as far as the budget allows.
func (t *tenants) takes(n *newcomer, b *budget) bool {
	o := t.add(n, b)
	return nodes.Refusing(o.excesses) == nil && !o.held(n)
}

// refusals are those of one scheduling cycle.
type refusals struct {
	mu     sync.Mutex
	held   int
	own    int // nodes refused because of the newcomer's own bound
	others int // and because of that of a pod there
	nodes.Refusals
}

// add counts a node that does not take the pod.
func (r *refusals) add(v *verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case v.refusal == nil:
		if v.code == fwk.UnschedulableAndUnresolvable {
			r.held++
		}
		return
	case v.refusal.Own():
		r.own++
	default:
		r.others++
	}
	r.Add(v.refusal)
}

// PostFilter is called for a pod that no node takes. It says which pod less, or which bound, would make room, and sees to it
// that the pod is tried again when there may be.
func (d *Dilation) PostFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	none := fwk.NewStatus(fwk.Unschedulable)
	c, err := cycleOf(state)
	if err != nil { // PreFilter had Filter left out
		return nil, none
	}
	r := &c.refusals
	if r.held+r.own+r.others == 0 {
		return nil, none
	}
	reportRefusals(r)
	d.waiting.add(pod, c, d.args.HoldMaxWait)
	d.retrySince(c)
	ways := r.Room(c.newcomer.promise)
	if len(ways) == 0 {
		return nil, none
	}
	return nil, fwk.NewStatus(fwk.Unschedulable, nodes.RoomLine(ways))
}
