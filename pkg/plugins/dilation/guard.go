package dilation

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/node"
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
func (d *Dilation) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	c, err := cycleOf(state)
	if err != nil {
		return fwk.AsStatus(err)
	}
	f := d.filteredOn(c, info)
	if f.code == fwk.Success {
		return nil
	}
	c.refusals.add(f)
	return fwk.NewStatus(f.code, f.reason)
}

// filtered is what Filter finds of a node for a candidate.
type filtered struct {
	code    fwk.Code
	reason  string
	refusal *node.Refusal // nil unless a bound is in the way
}

// taken is that the node takes it.
var taken = &filtered{code: fwk.Success}

// filter returns whether the node takes a candidate, and whether that holds for the next of its kind.
func (r *residents) filter(n *candidate, b *budget) (f *filtered, lasting bool) {
	own := r.podOf(n).Bound.Enforced()
	if n.hold > 0 && (own == 0 || n.hold < own) {
		own = n.hold
	}
	if r.certain(n, own, node.Bound.Enforced) {
		return taken, true
	}
	o := r.add(n, b)
	return r.filtered(n, o, b), !o.provisional
}

// filtered returns whether the node takes a candidate by its verdict.
func (r *residents) filtered(n *candidate, o *outcome, b *budget) *filtered {
	pod := r.podOf(n)
	refusal := o.Refusal(r.node(), &pod, func(without int) bool { return r.without(without).add(n, b).Takes() })
	switch {
	case refusal != nil:
		return &filtered{fwk.Unschedulable, r.reason(refusal.Excess), refusal}
	case o.Held:
		const reason = "node(s) too busy for now: the pod would run %s slower, and waits for less than %s"
		return &filtered{code: fwk.UnschedulableAndUnresolvable, reason: fmt.Sprintf(reason, text.TimesAbove(o.Own), text.Times(n.hold))}
	default:
		return taken
	}
}

// reason says who would be dilated too much, by how much, and because of which resource. kube-scheduler counts nodes by
// equal reasons, so it names profiles rather than pods, and dilations to one decimal.
func (r *residents) reason(e *node.Excess) string {
	whom := "the pod"
	if pods := r.node().Pods; e.Pod < len(pods) {
		pod := &pods[e.Pod]
		whom = "pods of " + text.QualifiedName(pod)
		if w := pod.Workload; w != nil {
			whom = "pods of " + w.Namespace + "/" + w.Name
		}
	}
	return "node(s) " + e.Reason(whom, text.TimesAbove(e.Dilation), nil, r.node().Resources())
}

// refusals are those of one scheduling cycle.
type refusals struct {
	mu     sync.Mutex
	held   int
	own    int // nodes refused because of the candidate's own bound
	others int // and because of that of a pod there
	node.Refusals
}

// add counts a node that does not take the pod.
func (r *refusals) add(f *filtered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case f.refusal == nil:
		if f.code == fwk.UnschedulableAndUnresolvable {
			r.held++
		}
		return
	case f.refusal.Own():
		r.own++
	default:
		r.others++
	}
	r.Add(f.refusal)
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
	ways := r.Room(c.candidate.promise)
	if len(ways) == 0 {
		return nil, none
	}
	return nil, fwk.NewStatus(fwk.Unschedulable, node.RoomLine(ways))
}
