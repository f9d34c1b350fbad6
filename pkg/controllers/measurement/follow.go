package measurement

import (
	"fmt"
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
)

// follow looks after the Jobs of a step.
func (p *plan) follow(in *input, steps []step, at int, runs []run, needed map[string]bool) {
	m := in.profile.Status.Measuring
	s := &steps[at]
	if why := in.disturbance(s, runs, needed); why != "" {
		p.begun(in, v1alpha1.ReasonInterrupted, why)
		return
	}
	ended, waits := 0, ""
	for _, r := range runs {
		job := in.job(r.job.Name)
		if job == nil {
			continue
		}
		o := in.outcomes[r.job.Name]
		switch {
		case !job.DeletionTimestamp.IsZero() && o.State != probejob.Succeeded:
			p.begun(in, v1alpha1.ReasonInterrupted, fmt.Sprintf("Job %s was deleted", job.Name))
			return
		case o.Retry(attempts(m)):
			p.begun(in, v1alpha1.ReasonInterrupted, o.Message)
			return
		case o.Bad() && r.role == roleProbe:
			p.fail(in, v1alpha1.ReasonProbeFailed, "the probe: "+o.Message)
			return
		case o.Bad():
			p.fail(in, v1alpha1.ReasonTargetFailed, in.targetFailed(s, &o))
			return
		case o.State == probejob.Succeeded:
			ended++
		case o.Message != "":
			waits = "; " + o.Message
		}
	}
	if ended == len(runs) {
		p.record(in, steps, at, runs)
		return
	}
	p.removeBut(in, needed)
	p.progress(in, fmt.Sprintf("round %d of at most %d: %s on node %s%s", *m.Round, in.settings.rounds, m.Step, m.Node, waits))
	p.wake(recheckAfter)
	p.applyMissing(in, runs)
}

// applyMissing applies those Jobs of the step that are not there: what an earlier
// plan was kept from applying, and the target once the probe has run for a while.
func (p *plan) applyMissing(in *input, runs []run) {
	for _, r := range runs {
		if in.job(r.job.Name) != nil {
			continue
		}
		if r.later {
			probe := in.job(runs[0].job.Name)
			switch state := in.outcomes[runs[0].job.Name].State; {
			case probe == nil || state == probejob.Pending:
				continue
			case state == probejob.Succeeded:
				p.begun(in, v1alpha1.ReasonInterrupted, "the probe ended before the target began")
				return
			case p.memory.probe != probe.UID:
				// The node's clock may be wrong, and then the first look counts.
				p.memory.probe, p.memory.since = probe.UID, earlier(in.outcomes[probe.Name].Started, in.now.Time)
			}
			if left := in.lead() - in.now.Sub(p.memory.since); left > 0 {
				p.wake(left)
				continue
			}
		}
		p.apply = append(p.apply, r.job)
	}
}

// lead is how long a probe runs before its target begins.
func (in *input) lead() time.Duration {
	m := in.profile.Status.Measuring
	steps := in.settings.steps(*m.Round, m.Samples)
	return lead + in.probe(&steps[find(steps, m.Step)], m.Node).Check
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// disturbance says what happened on the nodes of a step that makes it worthless, ""
// for nothing.
func (in *input) disturbance(s *step, runs []run, needed map[string]bool) string {
	m := in.profile.Status.Measuring
	name, withFollowers := m.Node, in.settings.target == nil
	if s.kind == baseline {
		name, withFollowers = m.BaselineNode, false
	}
	n := in.node(name)
	if ok, why := n.alive(); !ok {
		return on(name, why)
	}
	if ok, why := n.quiet(in, withFollowers); !ok {
		return on(name, why)
	}
	if n.measured(in) {
		return on(name, "pods of another measurement run there")
	}
	if withFollowers && n.followers == 0 {
		return on(name, "no pod that follows the profile runs there any more")
	}
	if pod := n.left(in.profile.UID, needed); pod != "" {
		return fmt.Sprintf("pod %s of another step runs on node %s", pod, name)
	}
	for _, r := range runs {
		if job := in.job(r.job.Name); job != nil {
			if pod := n.newcomer(in, job.CreationTimestamp.Time); pod != "" {
				return fmt.Sprintf("pod %s came to node %s meanwhile", pod, name)
			}
			break
		}
	}
	return ""
}

// targetFailed says why a target did not end well, and what to do about it.
func (in *input) targetFailed(s *step, o *probejob.Outcome) string {
	if o.Reason != probejob.ReasonDeadline {
		return "the target: " + o.Message
	}
	if s.kind == alone {
		return fmt.Sprintf("the target did not end within %d s; raise timeoutSeconds, or leave out target to measure the pods as they run", int(in.settings.timeout.Seconds()))
	}
	return fmt.Sprintf("the target did not end in company within %.2g times the %d s that it may take alone; raise timeoutSeconds", in.dilation(s), int(in.settings.timeout.Seconds()))
}

// pauseAfter returns how long a step is left alone after its nth attempt was lost: 5, 10,
// 20 and 40 s, so that what comes back soon, such as a container runtime, is there again.
func pauseAfter(n int32) time.Duration { return 5 * time.Second << (n - 1) }

// begun counts an attempt that came to nothing. The step is begun again after a pause, but
// not for ever.
func (p *plan) begun(in *input, reason, why string) {
	m := p.status.Measuring
	m.Attempts = new(attempts(m) + 1)
	if *m.Attempts >= maxAttempts {
		p.fail(in, reason, fmt.Sprintf("step %s of round %d was begun %d times; the last time %s", m.Step, *m.Round, maxAttempts, why))
		return
	}
	pause := pauseAfter(*m.Attempts)
	p.memory.resume = in.now.Add(pause)
	p.lost = fmt.Sprintf("round %d: %s is begun again in %v, attempt %d of %d: %s", *m.Round, m.Step, pause, *m.Attempts+1, maxAttempts, why)
	p.progress(in, p.lost)
	p.remove, p.apply, p.again = nil, nil, atOnce
}
