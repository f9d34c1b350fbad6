package explanation

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/text"
)

// guardModes are the modes of the scheduler's guard, by namespace.
type guardModes struct {
	fallback   configv1alpha1.GuardMode // of namespaces that do not say
	namespaces map[string]configv1alpha1.GuardMode
}

// newGuardModes returns those of the scheduler that places the explained pod: off where that scheduler is known not to
// place by dilation.
func (x *explainer) newGuardModes() *guardModes {
	g := &guardModes{configv1alpha1.GuardOff, map[string]configv1alpha1.GuardMode{}}
	if !x.mayBeByDilation() {
		return g
	}
	g.fallback = cmp.Or(x.GuardMode, g.fallback)
	for i := range x.Namespaces {
		ns := &x.Namespaces[i]
		mode, valid := node.GuardModeOf(ns.Labels)
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
func (g *guardModes) mode(namespace string) configv1alpha1.GuardMode {
	return cmp.Or(g.namespaces[namespace], g.fallback)
}

// promise returns what a pod is promised, as the guard has it.
func (x *explainer) promise(pod *corev1.Pod) node.Promise {
	return node.NewPromise(pod, x.snapshot.Workload(pod), x.modes.mode(pod.Namespace), x.Limits)
}

// podOn returns a pod on nodes of a class, with the bound that a promise gives it on a node of those servers.
func (x *explainer) podOn(class *profile.NodeClass, servers []int, pod *corev1.Pod, p node.Promise) node.Pod {
	n, cpu := node.PodOf(x.snapshot, class, pod), x.snapshot.Resources().Processor()
	n.Bound = p.On(n.Vector[cpu], servers[cpu])
	return n
}

// nodeOf returns a node of a class with pods on it, and their bounds. The weights are those that the scheduler goes by.
func (x *explainer) nodeOf(object *corev1.Node, class *profile.NodeClass, pods []*corev1.Pod) *node.Node {
	resources, all := x.snapshot.Resources(), make([]node.Pod, len(pods))
	servers := resources.Servers(object, class)
	for j, pod := range pods {
		all[j] = x.podOn(class, servers, pod, x.promise(pod))
	}
	return node.New(resources, object, class, all)
}

// judged is a node on which the explained pod, the candidate, is judged by the guard.
type judged struct {
	*explainer
	guard     *node.Guard
	candidate node.Pod
	verdict   *node.Verdict
}

// verdictOn returns the guard's verdict on a candidate. It solves the model if any pod has a bound, or the candidate may be held.
// The scheduler may have to do with bounds from above where it has many nodes to look at.
func (x *explainer) verdictOn(g *node.Guard, candidate node.Pod) *node.Verdict {
	if x.hold.MaxDilation == 0 && candidate.Bound.Max == 0 && !g.Node.Bounded() {
		return &node.Verdict{}
	}
	x.ignore(g.Node.With(candidate).Ignored)
	return g.Judge(candidate, x.hold.MaxDilation, node.Granted)
}

// judge says of a node on which the pod fits what its guard does there, given the others there, and keeps why it is refused.
func (x *explainer) judge(n *RankedNode, object *corev1.Node, class *profile.NodeClass, others []*corev1.Pod) {
	g := &node.Guard{Node: x.nodeOf(object, class, others)}
	candidate := x.podOn(class, g.Node.Servers, x.Pod, x.promise(x.Pod))
	j := &judged{x, g, candidate, x.verdictOn(g, candidate)}
	for i := range j.verdict.Excesses {
		n.Exceeded = append(n.Exceeded, j.exceeded(&j.verdict.Excesses[i]))
	}
	r := j.verdict.Refusal(g.Node, &candidate, func(without int) bool {
		return x.verdictOn(&node.Guard{Node: g.Node.Without(without)}, candidate).Takes()
	})
	switch {
	case r != nil:
		n.Refused = j.reason(r.Excess)
		x.refusals.Add(r)
	case j.verdict.Held:
		n.TooBusy = fmt.Sprintf("the pod would run %s slower, and waits for less than %s", text.TimesAbove(j.verdict.Own), text.Times(x.hold.MaxDilation))
	}
}

// reason says how the node would slow down the pod that is dilated too much.
func (j *judged) reason(e *node.Excess) string {
	whom := "the pod"
	if e.Pod < len(j.guard.Node.Pods) {
		whom = j.name(e.Pod)
	}
	return e.Reason(whom, text.Times(e.Dilation), j.names(e.Gone), j.snapshot.Resources().Names())
}

// name returns that of one of the others, or of the pod, which is the last.
func (j *judged) name(i int) string {
	if i == len(j.guard.Node.Pods) {
		return text.QualifiedName(j.candidate)
	}
	return text.QualifiedName(j.guard.Node.Pods[i])
}

// names returns those of some pods.
func (j *judged) names(pods []int) (names []string) {
	for _, i := range pods {
		names = append(names, j.name(i))
	}
	return names
}

// exceeded writes an excess.
func (j *judged) exceeded(e *node.Excess) Exceeded {
	all := Exceeded{
		Pod: j.name(e.Pod), Gone: j.names(e.Gone), MaxDilation: e.Bound.Max, MaxDilationReason: e.Bound.Why(), Dilation: e.Dilation, GuardMode: e.Bound.Mode,
		Resource: e.ResourceIn(j.snapshot.Resources().Names()), Reason: j.reason(e),
	}
	if e.Because >= 0 {
		all.Because = j.name(e.Because)
	}
	if e.Pod < len(j.guard.Node.Pods) {
		all.Before = &j.guard.Before(j.verdict.Bounded).Dilations[e.Pod]
	}
	return all
}

// makeRoom says what would make room for the pod, if no node takes it and the guard refuses some.
func (x *explainer) makeRoom(e *Answer, ranked []RankedNode) {
	if len(ranked) > 0 && !ranked[0].Takes() {
		e.MakesRoom = x.refusals.Room(x.promise(x.Pod))
	}
}
