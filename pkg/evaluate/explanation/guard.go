package explanation

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/nodes"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// guard holds the modes of the scheduler's guard, by namespace.
type guard struct {
	fallback   configv1alpha1.GuardMode // of namespaces that do not say
	namespaces map[string]configv1alpha1.GuardMode
}

// newGuard returns the guard of the scheduler that places the explained pod. It is off where that scheduler is known not to
// place by dilation.
func (x *explainer) newGuard() *guard {
	g := &guard{configv1alpha1.GuardOff, map[string]configv1alpha1.GuardMode{}}
	if !x.mayBeByDilation() {
		return g
	}
	g.fallback = cmp.Or(x.GuardMode, g.fallback)
	for i := range x.Namespaces {
		ns := &x.Namespaces[i]
		mode, valid := nodes.GuardModeOf(ns.Labels)
		if !valid {
			x.ignore(fmt.Errorf("namespace %s: label %s: %q is not one of off, warn, enforce", ns.Name, v1alpha1.GuardLabel, ns.Labels[v1alpha1.GuardLabel]))
		}
		g.namespaces[ns.Name] = mode
	}
	return g
}

// mayBeByDilation reports whether the scheduler of the explained pod is not known to place otherwise than by dilation.
func (x *explainer) mayBeByDilation() bool {
	by := x.byDilation()
	return by == nil || *by
}

// newHold returns when the scheduler that places the explained pod lets it wait.
func (x *explainer) newHold() Hold {
	if !x.mayBeByDilation() {
		return Hold{}
	}
	return x.Hold
}

// mode returns the mode of a namespace.
func (g *guard) mode(namespace string) configv1alpha1.GuardMode {
	return cmp.Or(g.namespaces[namespace], g.fallback)
}

// promise returns what a pod is promised, as the guard has it.
func (x *explainer) promise(pod *corev1.Pod) nodes.Promise {
	return nodes.NewPromise(pod, x.snapshot.Workload(pod), x.guard.mode(pod.Namespace), x.Limits)
}

// boundOn returns the bound of a pod with a promise on a node of a class, nil for none.
func (x *explainer) boundOn(node *corev1.Node, class *profile.NodeClass, pod *corev1.Pod, p nodes.Promise) nodes.Bound {
	resources := x.snapshot.Resources()
	cpu := resources.Processor()
	return p.On(x.snapshot.VectorOn(class.Class(), pod)[cpu], resources.Servers(node, class)[cpu])
}

// site is a node with other pods than the explained one, on which the guard judges that.
type site struct {
	*explainer
	node   *corev1.Node
	class  *profile.NodeClass
	others []*corev1.Pod
	before *nodes.Outlook // of the others; nil until it is needed
}

// alone returns how the others fare, by bounds from above or by the accurate model.
func (s *site) alone(bounded bool) *nodes.Outlook {
	if s.before == nil {
		s.before = s.with(s.others).Outlook(func(float64) bool { return !bounded })
	}
	return s.before
}

// with returns the node with some pods. The weights are those that the scheduler goes by.
func (s *site) with(pods []*corev1.Pod) *nodes.Node {
	n, wrong := nodes.Of(s.snapshot, s.node, s.class, pods)
	s.ignore(wrong)
	return n
}

// bounds returns the bounds of the others, and last that of the pod.
func (s *site) bounds() []nodes.Bound {
	bounds := make([]nodes.Bound, 0, len(s.others)+1)
	for _, pod := range append(slices.Clone(s.others), s.Pod) {
		bounds = append(bounds, s.boundOn(s.node, s.class, pod, s.promise(pod)))
	}
	return bounds
}

// outcome is how a node fares with the pod, as far as bounds and holding are concerned.
type outcome struct {
	excesses []nodes.Excess // of bounds, because of the pod
	own      float64        // dilation of the pod, 1 where nothing depends on it
}

// add puts the pod on the node. It solves the model if any pod has a bound, or the pod may be held. The scheduler may have to
// do with bounds from above where it has many nodes to look at.
func (s *site) add() *outcome {
	bounds := s.bounds()
	if s.hold.MaxDilation == 0 && !slices.ContainsFunc(bounds, func(b nodes.Bound) bool { return b.Max > 0 }) {
		return &outcome{own: 1}
	}
	n := s.with(append(slices.Clone(s.others), s.Pod))
	o := n.Outlook(nodes.Granted)
	return &outcome{nodes.Exceeding(n, o, bounds, s.alone, nodes.Granted), o.Dilations[len(s.others)]}
}

// held reports whether the pod is held rather than put on the node.
func (o *outcome) held(h Hold) bool { return h.MaxDilation > 0 && o.own > h.MaxDilation }

// takesWithout reports whether the guard would let the pod go there if one of the others were gone.
func (s *site) takesWithout(other int) bool {
	rest := *s
	rest.others, rest.before = slices.Delete(slices.Clone(s.others), other, other+1), nil
	o := rest.add()
	return nodes.Refusing(o.excesses) == nil && !o.held(s.hold)
}

// judge says of a node on which the pod fits what its guard does there, and keeps why it is refused.
func (x *explainer) judge(n *RankedNode, s *site) {
	o := s.add()
	for i := range o.excesses {
		n.Exceeded = append(n.Exceeded, s.exceeded(&o.excesses[i]))
	}
	held := o.held(x.hold)
	e := nodes.Refusing(o.excesses)
	if e == nil {
		if held {
			n.TooBusy = fmt.Sprintf("the pod would run %s slower, and waits for less than %s", text.TimesAbove(o.own), text.Times(x.hold.MaxDilation))
		}
		return
	}
	n.Refused = s.reason(e)
	r := &nodes.Refusal{Node: n.Node, Pods: s.others, Excess: e, Takes: s.takesWithout}
	if !held {
		own := x.snapshot.Workload(x.Pod)
		r.Raise = nodes.Raised(o.excesses, func(j int) bool { return j == len(s.others) || x.snapshot.Workload(s.others[j]) == own })
	}
	x.refusals.Add(r)
}

// reason says what the node would do to the pod that is dilated too much.
func (s *site) reason(e *nodes.Excess) string {
	whom := "the pod"
	if e.Pod < len(s.others) {
		whom = s.name(e.Pod)
	}
	return e.Reason(whom, text.Times(e.Dilation), s.gone(e), s.snapshot.Resources().Names())
}

// name returns that of one of the others, or of the pod, which is the last.
func (s *site) name(j int) string {
	if j == len(s.others) {
		return text.QualifiedName(s.Pod)
	}
	return text.QualifiedName(s.others[j])
}

// gone returns the names of the pods that are gone by an excess.
func (s *site) gone(e *nodes.Excess) (names []string) {
	for _, j := range e.Gone {
		names = append(names, s.name(j))
	}
	return names
}

// exceeded writes an excess.
func (s *site) exceeded(e *nodes.Excess) Exceeded {
	all := Exceeded{
		Pod: s.name(e.Pod), Gone: s.gone(e), MaxDilation: e.Bound.Max, MaxDilationReason: e.Bound.Why(), Dilation: e.Dilation, GuardMode: e.Bound.Mode,
		Resource: e.ResourceIn(s.snapshot.Resources().Names()), Reason: s.reason(e),
	}
	if e.Because >= 0 {
		all.Because = s.name(e.Because)
	}
	if e.Pod < len(s.others) {
		all.Before = &s.alone(false).Dilations[e.Pod]
	}
	return all
}

// makeRoom says what would make room for the pod, if no node takes it and the guard refuses some.
func (x *explainer) makeRoom(e *Answer, ranked []RankedNode) {
	if len(ranked) > 0 && !ranked[0].Takes() {
		e.MakesRoom = x.refusals.Room(x.promise(x.Pod))
	}
}
