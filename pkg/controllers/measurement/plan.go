package measurement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate"
)

const (
	// atOnce is when to look again after a change of the status.
	atOnce = time.Nanosecond
	// recheckAfter is when to look again at what is not watched: whether others
	// measure, what keeps pods from beginning, what runs on which node.
	recheckAfter = 10 * time.Second
	// maxAttempts is how many times a step is begun.
	maxAttempts = 5
	// firstRetry and lastRetry bound the time between a failure and the next try. It
	// doubles each time.
	firstRetry, lastRetry = 10 * time.Minute, 24 * time.Hour
	// soFar comes between what is wrong and what is known all the same.
	soFar = "; so far "
	// maxSamples is how many samples the status holds.
	maxSamples = 500
)

// plan is what to do: either write the status, or remove and then apply Jobs.
type plan struct {
	status v1alpha1.WorkloadProfileStatus
	remove []*batchv1.Job
	apply  []*batchv1.Job
	memory memory
	// again is when to look again without having been woken, 0 for never.
	again time.Duration
	// began, lost and ended tell of events: a measurement that begins, a step that is
	// begun again, and a measurement that ends.
	began, lost string
	ended       *ending
	// rounds is how many rounds this plan ends.
	rounds int
}

// ending is how a measurement ended.
type ending struct {
	outcome string // a reason of the condition
	message string
	seconds float64
	result  bool // there is one
}

// decide plans the next step of the measurements of a profile. It is pure: the same
// input gives the same plan. What is wrong with the question goes to the status; an
// error means that the status holds what the controller cannot have written.
func decide(in *input) (*plan, error) {
	p := &plan{memory: in.memory}
	p.memory.setbacks = maps.Clone(in.memory.setbacks)
	in.profile.Status.DeepCopyInto(&p.status)
	if in.settings == nil {
		return p.stop(in), nil
	}
	p.status.Measurements = slices.DeleteFunc(p.status.Measurements, func(m v1alpha1.MeasuredVector) bool {
		return m.NodeProfile != v1alpha1.NoNodeProfile && !in.known.Has(m.NodeProfile)
	})
	if p.status.Measuring != nil {
		return p, p.goOn(in)
	}
	return p, p.begin(in)
}

// stop ends what is no longer asked for, and forgets what was found.
func (p *plan) stop(in *input) *plan {
	if p.status.Measuring != nil {
		p.ended = &ending{outcome: reasonStopped, message: "the profile no longer asks for it", seconds: in.elapsed()}
	}
	p.status.Measurements, p.status.Measuring = nil, nil
	meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionMeasured)
	p.removeAll(in)
	p.memory = memory{}
	return p
}

// removeAll plans to delete all Jobs that are not being deleted already.
func (p *plan) removeAll(in *input) { p.removeBut(in, nil) }

// removeBut plans to delete all Jobs but the needed ones.
func (p *plan) removeBut(in *input, needed map[string]bool) {
	for i := range in.jobs {
		if job := &in.jobs[i]; !needed[job.Name] && job.DeletionTimestamp.IsZero() {
			p.remove = append(p.remove, job)
		}
	}
}

// begin looks for a class of nodes to measure, or says that there is none.
func (p *plan) begin(in *input) error {
	p.removeAll(in)
	var first *obstacle
	classes := in.classes()
	for _, class := range classes {
		question, err := in.question(class)
		if err != nil {
			return err
		}
		if in.fresh(in.result(class), question) {
			delete(p.memory.setbacks, class)
			continue
		}
		if in.obstacle != "" {
			first = cmp.Or(first, &obstacle{v1alpha1.ReasonTargetFailed, in.obstacle})
			continue
		}
		if back := p.memory.setbacks[class]; back.holds(question, in.now.Time) {
			first = cmp.Or(first, &obstacle{back.reason, back.message})
			p.wake(back.until.Sub(in.now.Time))
			continue
		}
		where, why := in.choose(class)
		if why != nil {
			first = cmp.Or(first, why)
			p.wake(recheckAfter)
			continue
		}
		p.start(in, class, question, where)
		return nil
	}
	p.conclude(in, classes, first)
	return nil
}

// wake has the controller look again after some time at the latest.
func (p *plan) wake(after time.Duration) {
	if p.again == 0 || after < p.again {
		p.again = max(after, atOnce)
	}
}

// start begins the measurement of a class.
func (p *plan) start(in *input, class, question string, where site) {
	m := &v1alpha1.MeasurementProgress{
		NodeProfile: class, Node: where.node.name(), Question: question, StartTime: new(in.now), Round: new(int32(1)),
		Step: in.settings.steps(1, nil)[0].name(), Attempts: new(int32(0)),
	}
	if where.baseline != nil {
		m.BaselineNode = where.baseline.name()
	}
	p.status.Measuring = m
	p.remove, p.again = nil, atOnce
	p.began = fmt.Sprintf("measuring on node %s, class %s", m.Node, class)
	p.progress(in, p.began)
}

// conclude says what there is when nothing is going on, and why not more.
func (p *plan) conclude(in *input, classes []string, first *obstacle) {
	covered := in.covered(p.status.Measurements)
	for i := range p.status.Measurements {
		if m := &p.status.Measurements[i]; slices.Contains(covered, m.NodeProfile) {
			if left := in.expires(m).Sub(in.now.Time); left > 0 {
				p.wake(left)
			}
		}
	}
	found, imprecise := in.results(p.status.Measurements, covered)
	measured := in.measured(p.status.Measurements)
	if first == nil && len(classes) == 0 {
		first = in.nowhere()
		if in.allFresh(covered) { // what is known holds, wherever its nodes are
			found, first = found+"; "+first.message, nil
		}
	}
	switch {
	case first != nil:
		message := first.message
		if found != "" {
			message += soFar + found
		}
		p.condition(in, measured, first.reason, message)
	case imprecise:
		p.condition(in, true, v1alpha1.ReasonImprecise, found)
	default:
		p.condition(in, true, v1alpha1.ReasonMeasured, found)
	}
}

// nowhere says why nothing can be measured on any node.
func (in *input) nowhere() *obstacle {
	if in.settings.target == nil && len(in.nodes) > 0 {
		return &obstacle{v1alpha1.ReasonNoRunningPods, "no pod that follows the profile runs on a usable node"}
	}
	message := "no usable node is chosen by spec.measurement.nodes"
	if len(in.nodes) > 0 {
		message += ": " + some(in.unusable())
	}
	return &obstacle{v1alpha1.ReasonNoNode, message}
}

// progress says how far the measurement is.
func (p *plan) progress(in *input, text string) {
	all := in.measured(p.status.Measurements)
	reason := v1alpha1.ReasonMeasuring
	if all {
		reason = v1alpha1.ReasonStale
		text = "being measured again: " + text
	}
	p.condition(in, all, reason, text)
}

// condition sets the condition Measured.
func (p *plan) condition(in *input, measured bool, reason, message string) {
	status := metav1.ConditionFalse
	if measured {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&p.status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionMeasured, Status: status, Reason: reason, Message: evaluate.ConditionMessage(message),
		ObservedGeneration: in.profile.Generation, LastTransitionTime: in.now,
	})
}

// elapsed returns how long the measurement has been going on, in seconds.
func (in *input) elapsed() float64 {
	return in.now.Sub(in.profile.Status.Measuring.StartTime.Time).Seconds()
}

// fail ends a measurement that cannot go on, for a while.
func (p *plan) fail(in *input, reason, message string) {
	m := p.status.Measuring
	before, again := p.memory.setbacks[m.NodeProfile]
	back := setback{question: m.Question, reason: reason, failures: 1}
	if again && before.question == m.Question {
		back.failures = before.failures + 1
	}
	wait := min(lastRetry, firstRetry<<min(back.failures-1, 10))
	back.until = in.now.Add(wait)
	back.message = fmt.Sprintf("%s (%s; tried again at %s)", message, on(m.Node, "step "+m.Step), back.until.UTC().Format(time.RFC3339))
	if p.memory.setbacks == nil {
		p.memory.setbacks = map[string]setback{}
	}
	p.memory.setbacks[m.NodeProfile] = back
	p.ended = &ending{outcome: reason, message: back.message, seconds: in.elapsed()}
	p.status.Measuring = nil
	p.condition(in, in.measured(p.status.Measurements), reason, back.message)
	p.remove, p.apply, p.again = nil, nil, atOnce
}
