package dilation

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/report/text"
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
	refusal *refusal // nil unless a bound is in the way
}

// taken is the verdict that it does.
var taken = &verdict{code: fwk.Success}

// judge returns whether the node takes a newcomer.
func (t *tenants) judge(n *newcomer) *verdict {
	own := n.bound.enforced()
	if n.hold > 0 && (own == 0 || n.hold < own) {
		own = n.hold
	}
	if t.surely(n, own, bound.enforced) {
		return taken
	}
	o, err := t.add(n)
	if err != nil { // of this node alone: another may take the pod
		return &verdict{code: fwk.Unschedulable, reason: "node(s) where bounds cannot be checked: " + err.Error()}
	}
	for i := range o.excesses {
		if e := &o.excesses[i]; e.mode == configv1alpha1.GuardEnforce {
			r := &refusal{tenants: t, excess: e}
			return &verdict{fwk.Unschedulable, r.reason(), r}
		}
	}
	if n.hold > 0 && o.own > n.hold {
		const reason = "node(s) too busy for now: the pod would run %s slower, and waits for less than %s"
		return &verdict{code: fwk.UnschedulableAndUnresolvable, reason: fmt.Sprintf(reason, times(o.own), text.Times(n.hold))}
	}
	return taken
}

// refusal is that a node was refused because of a bound.
type refusal struct {
	tenants *tenants
	excess  *excess
}

// own reports whether it is the newcomer that would be dilated too much.
func (r *refusal) own() bool { return r.excess.Pod == len(r.tenants.pods) }

// resource returns where the pod would wait that would be dilated too much.
func (r *refusal) resource() string {
	if r.excess.Resource < 0 {
		return "contention"
	}
	return r.tenants.snapshot.Resources().Names()[r.excess.Resource]
}

// reason says who would be dilated too much, by how much, and because of which resource. kube-scheduler counts nodes by
// equal reasons, so it names profiles rather than pods, and dilations to one decimal.
func (r *refusal) reason() string {
	whom := "the pod"
	if !r.own() {
		pod := r.tenants.pods[r.excess.Pod]
		whom = "pods of " + evaluate.QualifiedName(pod)
		if w := r.tenants.snapshot.Workload(pod); w != nil {
			whom = "pods of " + w.Namespace + "/" + w.Name
		}
	}
	return fmt.Sprintf("node(s) would slow %s down %s, more than its limit of %s, because of %s", whom, times(r.excess.Dilation), text.Times(r.excess.Bound), r.resource())
}

// times writes a dilation that is too much, to one decimal, and above 10 to none.
func times(dilation float64) string {
	unit := 10.0
	if dilation > unit {
		unit = 1
	}
	return fmt.Sprintf("%v×", math.Ceil(dilation*unit)/unit)
}

// refusals are those of one scheduling cycle.
type refusals struct {
	mu       sync.Mutex
	held     int
	own      int // nodes refused because of the newcomer's own bound
	others   int // and because of that of a pod there
	nearest  []*refusal
	dilation float64 // the least that the newcomer would have on a node where only its own bound is in the way, 0 if there is none
}

// maxNearest bounds for how many nodes is said what would make room.
const maxNearest = 3

// add counts a node that does not take the pod, and keeps those that are nearest to a bound.
func (r *refusals) add(v *verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := v.refusal
	if one == nil {
		if v.code == fwk.UnschedulableAndUnresolvable {
			r.held++
		}
		return
	}
	if one.own() {
		r.own++
		if d := one.excess.Dilation; r.dilation == 0 || d < r.dilation {
			r.dilation = d
		}
	} else {
		r.others++
	}
	above := func(r *refusal) float64 { return r.excess.Dilation / r.excess.Bound }
	at := len(r.nearest)
	for at > 0 && above(one) < above(r.nearest[at-1]) {
		at--
	}
	if at == maxNearest {
		return
	}
	r.nearest = append(r.nearest[:at:at], append([]*refusal{one}, r.nearest[at:]...)...)
	r.nearest = r.nearest[:min(len(r.nearest), maxNearest)]
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
	if d.current() != c.version { // it changed before the pod was among those to be told
		d.waiting.changed()
	}
	advice, err := r.advice(c.newcomer)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if advice == "" {
		return nil, none
	}
	return nil, fwk.NewStatus(fwk.Unschedulable, advice)
}

// advice says what would make room for the newcomer.
func (r *refusals) advice(n *newcomer) (string, error) {
	var ways []string
	for _, one := range r.nearest {
		way, err := one.without(n)
		if err != nil {
			return "", err
		}
		if way != "" {
			ways = append(ways, way)
		}
	}
	if r.dilation > 0 && n.bound.enforced() > 0 {
		ways = append(ways, fmt.Sprintf("sla.maxDilation of at least %s for it (now %s)", strings.TrimSuffix(times(r.dilation), "×"), strings.TrimSuffix(text.Times(n.bound.most), "×")))
	}
	if len(ways) == 0 {
		return "", nil
	}
	return "What would make room: " + strings.Join(ways, ", or ") + ".", nil
}

// without says that the newcomer would fit without the pod that is mostly to blame, empty if it would not.
func (r *refusal) without(n *newcomer) (string, error) {
	because := r.excess.Because
	if because < 0 || because == len(r.tenants.pods) { // the newcomer itself
		because = -1
		if !r.own() {
			because = r.excess.Pod // the pod whose bound it is
		}
	}
	if because < 0 {
		return "", nil
	}
	rest := r.tenants.without(because)
	o, err := rest.add(n)
	if err != nil {
		return "", err
	}
	for i := range o.excesses {
		if o.excesses[i].mode == configv1alpha1.GuardEnforce {
			return "", nil
		}
	}
	return fmt.Sprintf("%s without %s", r.tenants.node.Name, evaluate.QualifiedName(r.tenants.pods[because])), nil
}
