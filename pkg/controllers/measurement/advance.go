package measurement

import (
	"fmt"
	"slices"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// goOn takes the measurement that is going on a step further.
func (p *plan) goOn(in *input) error {
	m := in.profile.Status.Measuring
	question, err := in.question(m.NodeProfile)
	if err != nil {
		return err
	}
	switch {
	case in.obstacle != "":
		p.fail(in, v1alpha1.ReasonTargetFailed, in.obstacle)
		return nil
	case question != "" && question != m.Question:
		p.abandon(in, "what is to be measured has changed")
		return nil
	}
	steps := in.settings.steps(*m.Round, m.Samples)
	at := find(steps, m.Step)
	if at < 0 {
		p.abandon(in, fmt.Sprintf("there is no step %q", m.Step))
		return nil
	}
	runs, err := in.runs(&steps[at])
	if err != nil {
		p.fail(in, v1alpha1.ReasonTargetFailed, err.Error())
		return nil
	}
	needed := map[string]bool{}
	for _, r := range runs {
		needed[r.job.Name] = true
	}
	if !slices.ContainsFunc(runs, func(r run) bool { return in.job(r.job.Name) != nil }) {
		p.removeBut(in, needed)
		p.enter(in, steps, at, runs)
		return nil
	}
	p.follow(in, steps, at, runs, needed)
	return nil
}

// abandon ends a measurement whose question is no longer asked. The next one may
// begin at once.
func (p *plan) abandon(in *input, why string) {
	p.ended = &ending{outcome: reasonAbandoned, message: why, seconds: in.elapsed()}
	p.status.Measuring = nil
	p.progress(in, why)
	p.remove, p.apply, p.again = nil, nil, atOnce
}

// enter begins a step, if the nodes are as they should be.
func (p *plan) enter(in *input, steps []step, at int, runs []run) {
	m := in.profile.Status.Measuring
	s := &steps[at]
	text := fmt.Sprintf("round %d of at most %d: %s on node %s", *m.Round, in.settings.rounds, m.Step, m.Node)
	if in.now.Sub(m.StartTime.Time) > in.settings.budget {
		p.outOfTime(in)
		return
	}
	if left := in.memory.resume.Sub(in.now.Time); left > 0 && attempts(m) > 0 {
		p.wake(left)
		return
	}
	if at == 0 && attempts(m) == 0 || in.lost() {
		if p.move(in, steps) {
			return
		}
	}
	if why := in.hindrance(s); why != nil {
		p.condition(in, in.measured(p.status.Measurements), why.reason, text+" waits: "+why.message)
		p.wake(recheckAfter)
		return
	}
	p.progress(in, text)
	for _, r := range runs {
		if !r.later {
			p.apply = append(p.apply, r.job)
		}
	}
	p.wake(recheckAfter)
}

// lost reports whether the measurement cannot go on where it takes place.
func (in *input) lost() bool {
	m := in.profile.Status.Measuring
	if ok, _ := in.node(m.Node).usable(); !ok {
		return true
	}
	if m.BaselineNode == "" {
		return false
	}
	ok, _ := in.node(m.BaselineNode).usable()
	return !ok
}

// move continues the measurement at another site, if there is one. The current round
// begins again there.
func (p *plan) move(in *input, steps []step) bool {
	m := in.profile.Status.Measuring
	where, why := in.choose(m.NodeProfile)
	if why != nil {
		return false
	}
	baselineNode := ""
	if where.baseline != nil {
		baselineNode = where.baseline.name()
	}
	if where.node.name() == m.Node && baselineNode == m.BaselineNode {
		return false
	}
	next := p.status.Measuring
	next.Node, next.BaselineNode = where.node.name(), baselineNode
	next.Step = steps[0].name()
	next.Samples = slices.DeleteFunc(next.Samples, func(s v1alpha1.MeasurementSample) bool { return *s.Round == *m.Round })
	p.progress(in, fmt.Sprintf("going on on node %s", next.Node))
	p.remove, p.again = nil, atOnce
	return true
}

// hindrance says why a step cannot begin yet, nil if it can.
func (in *input) hindrance(s *step) *obstacle {
	m := in.profile.Status.Measuring
	name, withFollowers := m.Node, in.settings.target == nil
	if s.kind == baseline {
		name, withFollowers = m.BaselineNode, false
	}
	n := in.node(name)
	if ok, why := n.usable(); !ok {
		return &obstacle{v1alpha1.ReasonNoNode, on(name, why)}
	}
	if in.taken.Has(m.Node) || in.taken.Has(m.BaselineNode) {
		return &obstacle{v1alpha1.ReasonQueued, "others measure there first"}
	}
	if in.full {
		return &obstacle{v1alpha1.ReasonQueued, limitReached}
	}
	if withFollowers && n.followers == 0 {
		return &obstacle{v1alpha1.ReasonNoRunningPods, on(name, "no pod that follows the profile runs there")}
	}
	if ok, why := n.quiet(in, withFollowers); !ok {
		return &obstacle{v1alpha1.ReasonNoQuietNode, on(name, why)}
	}
	if n.measured(in) {
		return &obstacle{v1alpha1.ReasonQueued, "pods of another measurement have not ended on node " + name}
	}
	if pod := n.left(in.profile.UID, nil); pod != "" {
		return &obstacle{v1alpha1.ReasonMeasuring, fmt.Sprintf("pod %s of the step before has not ended", pod)}
	}
	return nil
}
