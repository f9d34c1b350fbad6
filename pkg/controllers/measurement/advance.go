package measurement

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// goOn takes the measurement that is going on a step further.
func (in *input) goOn() plan {
	m := in.profile.Status.Measuring
	question := in.questions[m.NodeProfile]
	switch {
	case in.noTemplate != "":
		return in.fail(in.measurements, v1alpha1.ReasonTargetFailed, in.noTemplate)
	case question != "" && question != m.Question:
		return in.abandon("what is to be measured has changed")
	case in.at < 0:
		return in.abandon(fmt.Sprintf("there is no step %q", m.Step))
	case in.hasBegun():
		return in.follow()
	default:
		return in.enter()
	}
}

// hasBegun reports whether there are Jobs of the current step.
func (in *input) hasBegun() bool {
	return slices.ContainsFunc(in.runs, func(r run) bool { return in.job(r.job.Name) != nil })
}

// needed returns the names of the Jobs of the current step.
func (in *input) needed() map[string]bool {
	names := map[string]bool{}
	for _, r := range in.runs {
		names[r.job.Name] = true
	}
	return names
}

// jobsBut returns all Jobs but the needed ones and those that are being deleted already.
func (in *input) jobsBut(needed map[string]bool) []*batchv1.Job {
	var others []*batchv1.Job
	for i := range in.jobs {
		if job := &in.jobs[i]; !needed[job.Name] && job.DeletionTimestamp.IsZero() {
			others = append(others, job)
		}
	}
	return others
}

// abandon ends a measurement whose question is no longer asked. The next one may
// begin at once.
func (in *input) abandon(why string) plan {
	return plan{
		status: in.status(nil, in.measurements, in.progress(why)), memory: in.memory, again: atOnce,
		news: telling(corev1.EventTypeNormal, reasonAbandoned, why), ended: &ending{outcome: reasonAbandoned, seconds: in.elapsed()},
	}
}

// here says which step is going on.
func (in *input) here() string {
	m := in.profile.Status.Measuring
	return fmt.Sprintf("round %d of at most %d: %s on node %s", *m.Round, in.settings.rounds, m.Step, m.Node)
}

// enter begins the current step, if the nodes are as they should be.
func (in *input) enter() plan {
	m := in.profile.Status.Measuring
	others := in.jobsBut(in.needed())
	if in.now.Sub(m.StartTime.Time) > in.settings.budget {
		return in.outOfTime()
	}
	if left := in.memory.resume.Sub(in.now.Time); left > 0 && attempts(m) > 0 {
		return plan{status: in.unchanged(), remove: others, memory: in.memory, again: left}
	}
	if in.yields {
		found := finding{in.measured(in.measurements), v1alpha1.ReasonQueued, in.here() + " waits: it is another namespace's turn to measure"}
		return plan{
			status: in.status(m, in.measurements, found), remove: others, memory: in.memory, again: recheckAfter, news: in.waiting(found), yields: true,
		}
	}
	if where := in.elsewhere(); where != nil {
		return in.move(where)
	}
	if why := in.hindrance(); why != nil {
		found := finding{in.measured(in.measurements), why.reason, in.here() + " waits: " + why.message}
		return plan{
			status: in.status(m, in.measurements, found), remove: others, memory: in.memory, again: recheckAfter, news: in.waiting(found),
		}
	}
	return plan{
		status: in.status(m, in.measurements, in.progress(in.here())), remove: others, apply: in.firstJobs(), memory: in.memory, again: recheckAfter,
	}
}

// firstJobs returns the Jobs of the current step that begin at once.
func (in *input) firstJobs() []*batchv1.Job {
	var first []*batchv1.Job
	for _, r := range in.runs {
		if !r.later {
			first = append(first, r.job)
		}
	}
	return first
}

// elsewhere returns another site for the measurement, nil if it goes on where it is. It
// changes its site before a round, or where it cannot go on.
func (in *input) elsewhere() *site {
	m := in.profile.Status.Measuring
	if (in.at > 0 || attempts(m) > 0) && !in.lost() {
		return nil
	}
	where, why := in.choose(m.NodeProfile)
	if why != nil || where.node.name() == m.Node && where.baselineName() == m.BaselineNode {
		return nil
	}
	return &where
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

// move continues the measurement at another site. The current round begins again there.
func (in *input) move(where *site) plan {
	m := in.profile.Status.Measuring.DeepCopy()
	m.Node, m.BaselineNode, m.Step = where.node.name(), where.baselineName(), in.steps[0].name()
	m.Samples = slices.DeleteFunc(m.Samples, func(s v1alpha1.MeasurementSample) bool { return *s.Round == *m.Round })
	return plan{
		status: in.status(m, in.measurements, in.progress("going on on node "+m.Node)), memory: in.memory, again: atOnce,
	}
}

// stepNode returns the name of the node where the current step takes place, and whether
// pods that follow the profile belong to it.
func (in *input) stepNode() (name string, withFollowers bool) {
	m := in.profile.Status.Measuring
	if in.current().kind == baseline {
		return m.BaselineNode, false
	}
	return m.Node, in.settings.target == nil
}

// hindrance says why the current step cannot begin yet, nil if it can.
func (in *input) hindrance() *obstacle {
	m := in.profile.Status.Measuring
	name, withFollowers := in.stepNode()
	n := in.node(name)
	if ok, why := n.usable(); !ok {
		return &obstacle{reason: v1alpha1.ReasonNoNode, message: on(name, why)}
	}
	if in.taken.Has(m.Node) || in.taken.Has(m.BaselineNode) {
		return &obstacle{reason: v1alpha1.ReasonQueued, message: "others measure there first"}
	}
	if in.full {
		return &obstacle{reason: v1alpha1.ReasonQueued, message: limitReached}
	}
	if withFollowers && n.followers == 0 {
		return &obstacle{reason: v1alpha1.ReasonNoRunningPods, message: on(name, "no pod that follows the profile runs there")}
	}
	if ok, why := n.quiet(in, withFollowers); !ok {
		return &obstacle{reason: v1alpha1.ReasonNoQuietNode, message: on(name, why)}
	}
	if n.measuredByOthers() {
		return &obstacle{reason: v1alpha1.ReasonQueued, message: "pods of another measurement have not ended on node " + name}
	}
	if pod := n.left(nil); pod != "" {
		return &obstacle{reason: v1alpha1.ReasonMeasuring, message: fmt.Sprintf("pod %s of the step before has not ended", pod)}
	}
	return nil
}
