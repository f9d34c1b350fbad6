package measurement

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// entering is the phase in which the Jobs of the current step are not there yet.
type entering struct{ *measuring }

// plan begins the current step, if the nodes are as they should be.
func (p *entering) plan() plan {
	m := p.profile.Status.Measuring
	others := p.jobsBut(p.needed())
	if p.now.Sub(m.StartTime.Time) > p.settings.budget {
		return p.outOfTime()
	}
	if left := p.memory.resume.Sub(p.now.Time); left > 0 && attempts(m) > 0 {
		return plan{status: p.unchanged(), remove: others, memory: p.memory, again: left}
	}
	if p.yields {
		found := finding{p.measured(p.measurements), v1alpha1.ReasonQueued, p.describeStep() + " waits: it is another namespace's turn to measure"}
		return plan{
			status: p.status(m, p.measurements, found), remove: others, memory: p.memory, again: recheckAfter, events: p.waitEvent(found), yields: true,
		}
	}
	switch where, why := p.newSite(); {
	case why != nil:
		found := finding{p.measured(p.measurements), why.reason, p.describeStep() + " cannot go on there: " + why.message}
		return plan{
			status: p.status(m, p.measurements, found), remove: others, memory: p.memory, again: recheckAfter, events: p.waitEvent(found), yields: true, awaits: why.awaited,
		}
	case where != nil:
		return p.move(where)
	}
	if why := p.hindrance(); why != nil {
		found := finding{p.measured(p.measurements), why.reason, p.describeStep() + " waits: " + why.message}
		return plan{
			status: p.status(m, p.measurements, found), remove: others, memory: p.memory, again: recheckAfter, events: p.waitEvent(found),
		}
	}
	return plan{
		status: p.status(m, p.measurements, p.progress(p.describeStep())), remove: others, apply: p.firstJobs(), memory: p.memory, again: recheckAfter,
	}
}

// newSite returns another site for the measurement, nil if it goes on where it is, or
// why there is none although it cannot. It changes its site before a round, or where it cannot go on.
func (p *entering) newSite() (*site, *obstacle) {
	m := p.profile.Status.Measuring
	lost := p.lost()
	if (p.at > 0 || attempts(m) > 0) && !lost {
		return nil, nil
	}
	where, why := p.choose(m.NodeProfile)
	switch {
	case why != nil && lost:
		return nil, why
	case why != nil || where.node.name() == m.Node && where.baselineName() == m.BaselineNode:
		return nil, nil
	}
	return &where, nil
}

// lost reports whether the measurement cannot go on where it takes place.
func (p *entering) lost() bool {
	m := p.profile.Status.Measuring
	if ok, _ := p.node(m.Node).usable(); !ok {
		return true
	}
	if m.BaselineNode == "" {
		return false
	}
	ok, _ := p.node(m.BaselineNode).usable()
	return !ok
}

// move continues the measurement at another site. The current round begins again there.
func (p *entering) move(where *site) plan {
	m := p.profile.Status.Measuring.DeepCopy()
	m.Node, m.BaselineNode, m.Step = where.node.name(), where.baselineName(), p.steps[0].name()
	m.Samples = slices.DeleteFunc(m.Samples, func(s v1alpha1.MeasurementSample) bool { return *s.Round == *m.Round })
	return plan{
		status: p.status(m, p.measurements, p.progress("going on on node "+m.Node)), memory: p.memory, again: atOnce,
	}
}

// hindrance says why the current step cannot begin yet, nil if it can.
func (p *entering) hindrance() *obstacle {
	m := p.profile.Status.Measuring
	name, withFollowers := p.stepNode()
	n := p.node(name)
	if ok, why := n.usable(); !ok {
		return &obstacle{reason: v1alpha1.ReasonNoNode, message: atNode(name, why)}
	}
	if p.taken.Has(m.Node) || p.taken.Has(m.BaselineNode) {
		return &obstacle{reason: v1alpha1.ReasonQueued, message: "others measure there first"}
	}
	if p.full {
		return &obstacle{reason: v1alpha1.ReasonQueued, message: limitReached}
	}
	if withFollowers && n.followers == 0 {
		return &obstacle{reason: v1alpha1.ReasonNoRunningPods, message: atNode(name, "no pod that follows the profile runs there")}
	}
	if ok, why := n.quiet(p.sites, withFollowers); !ok {
		return &obstacle{reason: v1alpha1.ReasonNoQuietNode, message: atNode(name, why)}
	}
	if n.measuredByOthers() {
		return &obstacle{reason: v1alpha1.ReasonQueued, message: "pods of another measurement have not ended on node " + name}
	}
	if pod := n.leftover(nil); pod != "" {
		return &obstacle{reason: v1alpha1.ReasonMeasuring, message: fmt.Sprintf("pod %s of the step before has not ended", pod)}
	}
	return nil
}
