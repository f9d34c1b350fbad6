package measurement

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// running is the phase in which the Jobs of the current step run.
type running struct{ *measuring }

// plan looks after the Jobs of the current step.
func (p *running) plan() plan {
	m := p.profile.Status.Measuring
	if p.now.Sub(m.StartTime.Time) > p.settings.budget+longest { // a target that does not end
		return p.outOfTime()
	}
	if why := p.disturbance(); why != "" {
		return p.retry(v1alpha1.ReasonInterrupted, why)
	}
	ended, waits := 0, ""
	for _, r := range p.runs {
		job := p.job(r.job.Name)
		if job == nil {
			continue
		}
		o := p.outcomes[r.job.Name]
		switch {
		case !job.DeletionTimestamp.IsZero() && o.State != probejob.Succeeded:
			return p.retry(v1alpha1.ReasonInterrupted, fmt.Sprintf("Job %s was deleted", job.Name))
		case o.Retry(attempts(m)):
			return p.retry(v1alpha1.ReasonInterrupted, o.Message)
		case o.Bad() && r.role == roleProbe:
			return p.fail(p.measurements, v1alpha1.ReasonProbeFailed, "the probe: "+o.Message)
		case o.Bad():
			return p.fail(p.measurements, v1alpha1.ReasonTargetFailed, p.targetFailed(&o))
		case o.State == probejob.Succeeded:
			ended++
		case o.Message != "":
			waits = "; " + o.Message
		}
	}
	if ended == len(p.runs) {
		return (&completed{p.measuring}).plan()
	}
	apply, memory, wait, why := p.missing()
	if why != "" {
		return p.retry(v1alpha1.ReasonInterrupted, why)
	}
	return plan{
		status: p.status(m, p.measurements, p.progress(p.describeStep()+waits)), remove: p.jobsBut(p.needed()), apply: apply,
		memory: memory, again: sooner(recheckAfter, wait),
	}
}

// missing returns the Jobs of the step that do not exist and are to be applied: those that an
// earlier plan failed to apply, and the target once the probe has run for a while. Until then it
// returns the time to wait. Why is set where the target comes too late.
func (p *running) missing() (apply []*batchv1.Job, memory memory, wait time.Duration, why string) {
	memory = p.memory
	for _, r := range p.runs {
		if p.job(r.job.Name) != nil {
			continue
		}
		if r.later {
			probe := p.job(p.runs[0].job.Name)
			outcome := p.outcomes[p.runs[0].job.Name]
			if probe == nil || outcome.State == probejob.Pending {
				continue
			}
			if outcome.State == probejob.Succeeded {
				return nil, memory, 0, "the probe ended before the target began"
			}
			memory = memory.sawRunning(probe.UID, outcome.Started, p.now.Time)
			if left := p.lead() - p.now.Sub(memory.since); left > 0 {
				wait = left
				continue
			}
		}
		apply = append(apply, r.job)
	}
	return apply, memory, wait, ""
}

// lead is how long a probe runs before its target begins.
func (p *running) lead() time.Duration {
	return lead + p.probe(p.current(), p.profile.Status.Measuring.Node).Check
}

// disturbance names an event on the node of the current step that makes it worthless, "" for none.
func (p *running) disturbance() string {
	name, withFollowers := p.stepNode()
	n := p.node(name)
	if ok, why := n.alive(); !ok {
		return atNode(name, why)
	}
	if ok, why := n.quiet(p.sites, withFollowers); !ok {
		return atNode(name, why)
	}
	if n.measuredByOthers() {
		return atNode(name, "pods of another measurement run there")
	}
	if withFollowers && n.followers == 0 {
		return atNode(name, "no pod that follows the profile runs there any more")
	}
	if pod := n.leftover(p.needed()); pod != "" {
		return fmt.Sprintf("pod %s of another step runs on node %s", pod, name)
	}
	for _, r := range p.runs {
		if job := p.job(r.job.Name); job != nil {
			if pod := n.placedSince(job.CreationTimestamp.Time, p.home); pod != "" {
				return fmt.Sprintf("pod %s came to node %s meanwhile", pod, name)
			}
			break
		}
	}
	return ""
}

// targetFailed says why a target did not end well, and recommends an action.
func (p *running) targetFailed(o *probejob.Outcome) string {
	timeout := int(p.settings.timeout.Seconds())
	switch {
	case o.Reason != jobstatus.ReasonDeadline:
		return "the target: " + o.Message
	case p.current().kind == alone:
		return fmt.Sprintf("the target did not end within %d s; raise timeoutSeconds, or leave out target to measure the pods as they run", timeout)
	default:
		return fmt.Sprintf("the target did not end in company within %.2g times the %d s that it may take alone; raise timeoutSeconds",
			p.dilation(p.current()), timeout)
	}
}
