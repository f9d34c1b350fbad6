package measurement

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// phase is a phase of the measurements of a profile. Its plan is pure: the same input gives the same plan. A plan
// leads to another phase by the status that it writes, and by the Jobs.
//
//	stopped    the profile asks for no measurement
//	idle       no measurement is in progress: one begins, or the status says why not
//	abandoned  the measurement in progress is no longer asked for
//	entering   the Jobs of its current step are not there yet
//	running    they run
//	completed  all have ended well: the step gives a sample, the last of a round an estimate
//	concluded  the estimate is precise enough, or rounds or time are used up
type phase interface{ plan() plan }

// decide plans the next step of the measurements of a profile. It is pure: the same
// input gives the same plan. What is wrong with the question goes to the status.
func decide(in *input) plan { return in.phase().plan() }

// phase returns the phase that the measurements of the profile are in.
func (in *input) phase() phase {
	switch {
	case in.settings == nil:
		return &stopped{in}
	case in.profile.Status.Measuring == nil:
		return &idle{in}
	default:
		return (&measuring{in}).phase()
	}
}

// phase returns the phase that a measurement in progress is in.
func (g *measuring) phase() phase {
	m := g.profile.Status.Measuring
	question := g.questions[m.NodeProfile]
	switch {
	case g.memory.denied != "":
		return &failed{g, g.measurements, v1alpha1.ReasonForbidden, g.memory.denied}
	case g.noTemplate != "":
		return &failed{g, g.measurements, v1alpha1.ReasonTargetFailed, g.noTemplate}
	case question != "" && question != m.Question:
		return &abandoned{g, "what is to be measured has changed"}
	case g.at < 0:
		return &abandoned{g, fmt.Sprintf("there is no step %q", m.Step)}
	case g.hasBegun():
		return &running{g}
	default:
		return &entering{g}
	}
}

// stopped is the phase of a profile that asks for no measurement.
type stopped struct{ *input }

// plan ends the steps that are no longer asked for, and drops the results.
func (s *stopped) plan() plan {
	p := plan{status: *s.profile.Status.DeepCopy(), remove: s.jobsBut(nil)}
	if p.status.Measuring != nil {
		p.ended = &ending{outcome: reasonStopped, seconds: s.elapsed()}
		p.events = newEvent(corev1.EventTypeNormal, reasonStopped, "the profile no longer asks for it")
	}
	p.status.Measurements, p.status.Measuring = nil, nil
	meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionMeasured)
	return p
}

// abandoned is the phase of a measurement whose question is no longer asked.
type abandoned struct {
	*measuring
	why string
}

// plan ends the measurement. The next one may begin at once.
func (p *abandoned) plan() plan {
	return plan{
		status: p.status(nil, p.measurements, p.progress(p.why)), memory: p.memory, again: atOnce,
		events: newEvent(corev1.EventTypeNormal, reasonAbandoned, p.why), ended: &ending{outcome: reasonAbandoned, seconds: p.elapsed()},
	}
}
