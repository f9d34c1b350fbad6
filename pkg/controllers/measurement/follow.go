package measurement

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// follow looks after the Jobs of the current step.
func (in *input) follow() plan {
	m := in.profile.Status.Measuring
	if in.now.Sub(m.StartTime.Time) > in.settings.budget+longest { // a target that does not end
		return in.outOfTime()
	}
	if why := in.disturbance(); why != "" {
		return in.beginAgain(v1alpha1.ReasonInterrupted, why)
	}
	ended, waits := 0, ""
	for _, r := range in.runs {
		job := in.job(r.job.Name)
		if job == nil {
			continue
		}
		o := in.outcomes[r.job.Name]
		switch {
		case !job.DeletionTimestamp.IsZero() && o.State != probejob.Succeeded:
			return in.beginAgain(v1alpha1.ReasonInterrupted, fmt.Sprintf("Job %s was deleted", job.Name))
		case o.Retry(attempts(m)):
			return in.beginAgain(v1alpha1.ReasonInterrupted, o.Message)
		case o.Bad() && r.role == roleProbe:
			return in.fail(in.measurements, v1alpha1.ReasonProbeFailed, "the probe: "+o.Message)
		case o.Bad():
			return in.fail(in.measurements, v1alpha1.ReasonTargetFailed, in.targetFailed(&o))
		case o.State == probejob.Succeeded:
			ended++
		case o.Message != "":
			waits = "; " + o.Message
		}
	}
	if ended == len(in.runs) {
		return in.record()
	}
	apply, memory, wait, why := in.missing()
	if why != "" {
		return in.beginAgain(v1alpha1.ReasonInterrupted, why)
	}
	return plan{
		status: in.status(m, in.measurements, in.progress(in.here()+waits)), remove: in.jobsBut(in.needed()), apply: apply,
		memory: memory, again: sooner(recheckAfter, wait),
	}
}

// missing returns those Jobs of the step to apply that are not there: what an earlier plan
// was kept from applying, and the target once the probe has run for a while. Until then
// it returns how long to wait. Why is set where the target comes too late.
func (in *input) missing() (apply []*batchv1.Job, memory memory, wait time.Duration, why string) {
	memory = in.memory
	for _, r := range in.runs {
		if in.job(r.job.Name) != nil {
			continue
		}
		if r.later {
			probe := in.job(in.runs[0].job.Name)
			outcome := in.outcomes[in.runs[0].job.Name]
			if probe == nil || outcome.State == probejob.Pending {
				continue
			}
			if outcome.State == probejob.Succeeded {
				return nil, memory, 0, "the probe ended before the target began"
			}
			memory = memory.sawRunning(probe.UID, outcome.Started, in.now.Time)
			if left := in.lead() - in.now.Sub(memory.since); left > 0 {
				wait = left
				continue
			}
		}
		apply = append(apply, r.job)
	}
	return apply, memory, wait, ""
}

// lead is how long a probe runs before its target begins.
func (in *input) lead() time.Duration {
	return lead + in.probe(in.current(), in.profile.Status.Measuring.Node).Check
}

// disturbance says what happened on the node of the current step that makes it worthless,
// "" for nothing.
func (in *input) disturbance() string {
	name, withFollowers := in.stepNode()
	n := in.node(name)
	if ok, why := n.alive(); !ok {
		return on(name, why)
	}
	if ok, why := n.quiet(in, withFollowers); !ok {
		return on(name, why)
	}
	if n.measuredByOthers() {
		return on(name, "pods of another measurement run there")
	}
	if withFollowers && n.followers == 0 {
		return on(name, "no pod that follows the profile runs there any more")
	}
	if pod := n.left(in.needed()); pod != "" {
		return fmt.Sprintf("pod %s of another step runs on node %s", pod, name)
	}
	for _, r := range in.runs {
		if job := in.job(r.job.Name); job != nil {
			if pod := n.newcomer(job.CreationTimestamp.Time); pod != "" {
				return fmt.Sprintf("pod %s came to node %s meanwhile", pod, name)
			}
			break
		}
	}
	return ""
}

// targetFailed says why a target did not end well, and what to do about it.
func (in *input) targetFailed(o *probejob.Outcome) string {
	timeout := int(in.settings.timeout.Seconds())
	switch {
	case o.Reason != jobstatus.ReasonDeadline:
		return "the target: " + o.Message
	case in.current().kind == alone:
		return fmt.Sprintf("the target did not end within %d s; raise timeoutSeconds, or leave out target to measure the pods as they run", timeout)
	default:
		return fmt.Sprintf("the target did not end in company within %.2g times the %d s that it may take alone; raise timeoutSeconds",
			in.dilation(in.current()), timeout)
	}
}

// pauseAfter returns how long a step is left alone after its nth attempt was lost: 5, 10,
// 20 and 40 s, so that what comes back soon, such as a container runtime, is there again.
func pauseAfter(n int32) time.Duration { return 5 * time.Second << (n - 1) }

// beginAgain counts an attempt that came to nothing. The step is begun again after a
// pause, up to maxAttempts times.
func (in *input) beginAgain(reason, why string) plan {
	m := in.profile.Status.Measuring.DeepCopy()
	m.Attempts = new(attempts(m) + 1)
	if *m.Attempts >= maxAttempts {
		return in.fail(in.measurements, reason, fmt.Sprintf("step %s of round %d was begun %d times; the last time %s", m.Step, *m.Round, maxAttempts, why))
	}
	pause := pauseAfter(*m.Attempts)
	text := fmt.Sprintf("round %d: %s is begun again in %v, attempt %d of %d: %s", *m.Round, m.Step, pause, *m.Attempts+1, maxAttempts, why)
	return plan{
		status: in.status(m, in.measurements, in.progress(text)), memory: in.memory.resumingAt(in.now.Add(pause)), again: atOnce,
		news: telling(corev1.EventTypeWarning, v1alpha1.ReasonInterrupted, text),
	}
}
