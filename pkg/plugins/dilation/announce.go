package dilation

import (
	"context"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/text"
)

// Reasons of events about pods that were placed.
const (
	ReasonPredicted = "DilationPredicted"
	ReasonExceeded  = "DilationExceeded"
)

// placement holds what the event of a placed pod says.
type placement struct {
	node      *node.Node // with the pod, the last; nil where nothing is worked out of it
	announced bool       // whether there is an event though no bound is exceeded
	most      float64    // a bound from above on the dilation of the pod if it is announced, +Inf for none
	excesses  []node.Excess
}

// maxWorkedOut is for how many pods on a node is worked out how the one that comes fares, to announce it: more than kubelets run. It takes about
// a millisecond, and more than in proportion to their number.
const maxWorkedOut = 1000

// Reserve takes down how the pod fares on the node that was chosen, and who is dilated there more than it may be.
func (d *Dilation) Reserve(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) *fwk.Status {
	d.waiting.remove(pod.UID)
	announced := d.events != nil && d.events.TryAccept()
	if !announced && d.modes.off() {
		return nil
	}
	c, err := cycleOf(state)
	if err != nil { // neither filtered nor scored, as where there is one node
		if c, err = d.begin(state, pod); err != nil {
			return fwk.AsStatus(err)
		}
	}
	info, err := d.cluster.NodeInfos().Get(nodeName)
	if err != nil {
		return fwk.AsStatus(err)
	}
	p := &placement{announced: announced}
	r := d.residentsOf(c, info)
	if !r.certain(c.candidate, r.podOf(c.candidate).Bound.Max, func(b node.Bound) float64 { return b.Max }) {
		p.excesses = r.add(c.candidate, c.budget).Excesses
	}
	if p.announced {
		p.most = r.most(c.candidate)
	}
	if worked := p.announced && len(r.Pods) < maxWorkedOut; worked || len(p.excesses) > 0 {
		p.node = r.and(c.candidate)
	}
	if p.announced || len(p.excesses) > 0 {
		c.placement = p
	}
	return nil
}

// Unreserve does nothing: only the cycle holds anything of a pod.
func (*Dilation) Unreserve(context.Context, fwk.CycleState, *corev1.Pod, string) {}

// PostBind says in events how the pod fares, and which bounds are exceeded.
func (d *Dilation) PostBind(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodeName string) {
	c, err := cycleOf(state)
	if err != nil || c.placement == nil {
		return
	}
	p := c.placement
	for i := range p.excesses {
		e := &p.excesses[i]
		boundsExceeded.WithLabelValues(string(e.Bound.Mode)).Inc()
		since := ""
		if e.Pod != len(p.node.Pods)-1 {
			since = fmt.Sprintf(" now that %s is placed there", text.QualifiedName(pod))
		}
		d.recorder.Eventf(p.node.Pods[e.Pod].Pod, nil, corev1.EventTypeWarning, ReasonExceeded, "Placing", "Predicted to run %s%s on %s%s, more than its limit of %s%s%s",
			e.UpTo(), slower(e.Dilation), nodeName, since, e.Bound, p.because(e.Cause), e.Once(p.named(e.Gone)))
	}
	if !p.announced {
		return
	}
	if much, why := p.outlook(c.budget); much != "" {
		d.recorder.Eventf(pod, nil, corev1.EventTypeNormal, ReasonPredicted, "Placing", "Predicted to run %s on %s%s", much, nodeName, why)
	}
}

// outlook says how the pod fares, and why; nothing where too many pods are there to say.
func (p *placement) outlook(b *budget) (much, why string) {
	most := p.most
	if p.node != nil && len(p.node.Pods) <= maxWorkedOut {
		g, last := grant{budget: b}, len(p.node.Pods)-1
		outlook := p.node.Outlook(g.granted)
		dilation := outlook.Dilations[last]
		if !outlook.Bounded() {
			predictedDilation.Observe(dilation)
			return slower(dilation), p.because(node.CauseOf(outlook.Prediction, last))
		}
		most = dilation
	}
	if math.IsInf(most, 1) {
		return "", ""
	}
	return "at most " + text.Times(most) + " slower than alone", ""
}

// named returns the names of some pods.
func (p *placement) named(pods []int) (names []string) {
	for _, j := range pods {
		names = append(names, text.QualifiedName(p.node.Pods[j]))
	}
	return names
}

// slower writes how much slower than alone a pod runs.
func slower(dilation float64) string {
	if text.Times(dilation) == text.Times(1) {
		return "as fast as alone"
	}
	return text.Times(dilation) + " slower than alone"
}

// because says why a pod is dilated.
func (p *placement) because(c node.Cause) string {
	if c.Resource < 0 {
		return ""
	}
	why := fmt.Sprintf(", because of %s", p.node.Resources()[c.Resource])
	if c.Because >= 0 {
		why += ", mostly of " + text.QualifiedName(p.node.Pods[c.Because])
	}
	return why
}
