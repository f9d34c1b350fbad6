package measurement

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// idle is the phase in which no measurement is in progress.
type idle struct{ *input }

// plan begins the measurement of the first class of nodes that needs one and can be
// measured now. If there is none, it says why.
func (p *idle) plan() plan {
	var first *obstacle
	classes, memory, again := p.classes(), p.memory, time.Duration(0)
	for _, class := range classes {
		if p.fresh(class) {
			memory = memory.without(class)
			continue
		}
		where, why, wait := p.startable(class)
		if why == nil {
			return p.start(class, where, memory)
		}
		first, again = cmp.Or(first, why), sooner(again, wait)
	}
	covered := p.covered(p.measurements)
	for i := range p.measurements {
		if m := &p.measurements[i]; slices.Contains(covered, m.NodeProfile) {
			again = sooner(again, p.expires(m).Sub(p.now.Time))
		}
	}
	found := p.conclusion(classes, covered, first)
	var awaits []string
	if first != nil {
		awaits = first.awaited
	}
	return plan{
		awaits: awaits,
		status: p.status(nil, p.measurements, found), remove: p.jobsBut(nil), memory: memory, again: again, events: p.waitEvent(found),
	}
}

// startable returns where the measurement of a class can begin, or why it cannot and when
// to look again, 0 for when something changes.
func (p *idle) startable(class string) (where site, why *obstacle, again time.Duration) {
	if p.noTemplate != "" {
		return site{}, &obstacle{reason: v1alpha1.ReasonTargetFailed, message: p.noTemplate}, 0
	}
	if back := p.memory.setbacks[class]; back.Holds(p.questions[class], p.now.Time) {
		return site{}, &obstacle{reason: back.Reason, message: back.Message}, back.Until.Sub(p.now.Time)
	}
	where, why = p.choose(class)
	return where, why, recheckAfter
}

// start begins the measurement of a class.
func (p *idle) start(class string, where site, memory memory) plan {
	m := &v1alpha1.MeasurementProgress{
		NodeProfile: class, Node: where.node.name(), BaselineNode: where.baselineName(), Question: p.questions[class],
		StartTime: new(p.now), Round: new(int32(1)), Step: p.settings.steps(1, nil)[0].name(), Attempts: new(int32(0)),
	}
	text := fmt.Sprintf("measuring on node %s, class %s", m.Node, class)
	return plan{
		status: p.status(m, p.measurements, p.progress(text)), memory: memory, again: atOnce,
		events: newEvent(corev1.EventTypeNormal, v1alpha1.ReasonMeasuring, text),
	}
}

// conclusion describes the results when no step runs, and why there are not more.
func (p *idle) conclusion(classes, covered []string, first *obstacle) finding {
	found, imprecise := p.describe(p.measurements, covered)
	if first == nil && len(classes) == 0 {
		first = p.noSite()
		if p.allFresh(covered) { // results hold, wherever their nodes are
			found, first = found+"; "+first.message, nil
		}
	}
	switch {
	case first != nil && found != "":
		return finding{p.measured(p.measurements), first.reason, first.message + soFar + found}
	case first != nil:
		return finding{p.measured(p.measurements), first.reason, first.message}
	case imprecise:
		return finding{true, v1alpha1.ReasonImprecise, found}
	default:
		return finding{true, v1alpha1.ReasonMeasured, found}
	}
}

// noSite says why nothing can be measured on any node.
func (p *idle) noSite() *obstacle {
	if p.settings.target == nil && len(p.nodes) > 0 {
		return &obstacle{reason: v1alpha1.ReasonNoRunningPods, message: "no pod that follows the profile runs on a usable node"}
	}
	message := "no usable node is chosen by spec.measurement.nodes"
	if len(p.nodes) > 0 {
		message += ": " + probejob.Some(p.unusable(), "; ")
	}
	return &obstacle{reason: v1alpha1.ReasonNoNode, message: message}
}
