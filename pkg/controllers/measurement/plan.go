package measurement

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/condition"
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

// plan is what to do: write the status, then delete and apply Jobs. Each function that
// decides returns a whole plan, and nothing changes it afterwards.
type plan struct {
	status v1alpha1.WorkloadProfileStatus
	remove []*batchv1.Job
	apply  []*batchv1.Job
	memory memory
	// again is when to look again without having been woken, 0 for never.
	again time.Duration
	// news are the events about the status.
	news []statuses.Event
	// rounds is how many rounds this plan ends, and ended how it ends the measurement,
	// nil if it does not.
	rounds int
	ended  *ending
	// yields is true where the measurement leaves its nodes to another namespace, and awaits
	// are nodes that it waits for, which others have.
	yields bool
	awaits []string
}

// ending is how a measurement ended, for the metrics.
type ending struct {
	outcome string // a reason of the condition
	seconds float64
	result  bool // there is one
}

// Outcomes of measurements that are ended by a change of the profile.
const (
	reasonStopped   = "Stopped"   // the profile no longer asks for a measurement
	reasonAbandoned = "Abandoned" // it asks for another one
)

// finding is what the condition Measured says.
type finding struct {
	measured        bool
	reason, message string
}

// decide plans the next step of the measurements of a profile. It is pure: the same
// input gives the same plan. What is wrong with the question goes to the status.
func decide(in *input) plan {
	switch {
	case in.settings == nil:
		return in.stop()
	case in.profile.Status.Measuring == nil:
		return in.begin()
	default:
		return in.goOn()
	}
}

// stop ends what is no longer asked for, and forgets what was found.
func (in *input) stop() plan {
	p := plan{status: *in.profile.Status.DeepCopy(), remove: in.jobsBut(nil)}
	if p.status.Measuring != nil {
		p.ended = &ending{outcome: reasonStopped, seconds: in.elapsed()}
		p.news = telling(corev1.EventTypeNormal, reasonStopped, "the profile no longer asks for it")
	}
	p.status.Measurements, p.status.Measuring = nil, nil
	meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionMeasured)
	return p
}

// begin begins the measurement of the first class of nodes that needs one and can be
// measured now. If there is none, it says why.
func (in *input) begin() plan {
	var first *obstacle
	classes, memory, again := in.classes(), in.memory, time.Duration(0)
	for _, class := range classes {
		if in.fresh(class) {
			memory = memory.without(class)
			continue
		}
		where, why, wait := in.startable(class)
		if why == nil {
			return in.start(class, where, memory)
		}
		first, again = cmp.Or(first, why), sooner(again, wait)
	}
	covered := in.covered(in.measurements)
	for i := range in.measurements {
		if m := &in.measurements[i]; slices.Contains(covered, m.NodeProfile) {
			again = sooner(again, in.expires(m).Sub(in.now.Time))
		}
	}
	found := in.conclusion(classes, covered, first)
	var awaits []string
	if first != nil {
		awaits = first.awaited
	}
	return plan{
		awaits: awaits,
		status: in.status(nil, in.measurements, found), remove: in.jobsBut(nil), memory: memory, again: again, news: in.waiting(found),
	}
}

// startable returns where the measurement of a class can begin, or why it cannot and when
// to look again, 0 for when something changes.
func (in *input) startable(class string) (where site, why *obstacle, again time.Duration) {
	if in.noTemplate != "" {
		return site{}, &obstacle{reason: v1alpha1.ReasonTargetFailed, message: in.noTemplate}, 0
	}
	if back := in.memory.setbacks[class]; back.holds(in.questions[class], in.now.Time) {
		return site{}, &obstacle{reason: back.reason, message: back.message}, back.until.Sub(in.now.Time)
	}
	where, why = in.choose(class)
	return where, why, recheckAfter
}

// sooner returns the earlier of two times to look again, of which those that are not above
// 0 are never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}

// start begins the measurement of a class.
func (in *input) start(class string, where site, memory memory) plan {
	m := &v1alpha1.MeasurementProgress{
		NodeProfile: class, Node: where.node.name(), BaselineNode: where.baselineName(), Question: in.questions[class],
		StartTime: new(in.now), Round: new(int32(1)), Step: in.settings.steps(1, nil)[0].name(), Attempts: new(int32(0)),
	}
	text := fmt.Sprintf("measuring on node %s, class %s", m.Node, class)
	return plan{
		status: in.status(m, in.measurements, in.progress(text)), memory: memory, again: atOnce,
		news: telling(corev1.EventTypeNormal, v1alpha1.ReasonMeasuring, text),
	}
}

// conclusion says what there is when nothing is going on, and why not more.
func (in *input) conclusion(classes, covered []string, first *obstacle) finding {
	found, imprecise := in.describe(in.measurements, covered)
	if first == nil && len(classes) == 0 {
		first = in.nowhere()
		if in.allFresh(covered) { // what is known holds, wherever its nodes are
			found, first = found+"; "+first.message, nil
		}
	}
	switch {
	case first != nil && found != "":
		return finding{in.measured(in.measurements), first.reason, first.message + soFar + found}
	case first != nil:
		return finding{in.measured(in.measurements), first.reason, first.message}
	case imprecise:
		return finding{true, v1alpha1.ReasonImprecise, found}
	default:
		return finding{true, v1alpha1.ReasonMeasured, found}
	}
}

// nowhere says why nothing can be measured on any node.
func (in *input) nowhere() *obstacle {
	if in.settings.target == nil && len(in.nodes) > 0 {
		return &obstacle{reason: v1alpha1.ReasonNoRunningPods, message: "no pod that follows the profile runs on a usable node"}
	}
	message := "no usable node is chosen by spec.measurement.nodes"
	if len(in.nodes) > 0 {
		message += ": " + probejob.Some(in.unusable(), "; ")
	}
	return &obstacle{reason: v1alpha1.ReasonNoNode, message: message}
}

// endingRound returns the plan as one that ends a round.
func (p plan) endingRound() plan {
	p.rounds = 1
	return p
}

// progress says how far the measurement is.
func (in *input) progress(text string) finding {
	if in.measured(in.measurements) {
		return finding{true, v1alpha1.ReasonStale, "being measured again: " + text}
	}
	return finding{false, v1alpha1.ReasonMeasuring, text}
}

// fail ends a measurement that cannot go on, for a while. The results are those that there
// are all the same.
func (in *input) fail(results []v1alpha1.MeasuredVector, reason, message string) plan {
	m := in.profile.Status.Measuring
	back := setback{question: m.Question, reason: reason, failures: 1}
	if before, again := in.memory.setbacks[m.NodeProfile]; again && before.question == m.Question {
		back.failures = before.failures + 1
	}
	back.until = in.now.Add(min(lastRetry, firstRetry<<min(back.failures-1, 10)))
	back.message = fmt.Sprintf("%s (%s; tried again at %s)", message, on(m.Node, "step "+m.Step), back.until.UTC().Format(time.RFC3339))
	return plan{
		status: in.status(nil, results, finding{in.measured(results), reason, back.message}), memory: in.memory.with(m.NodeProfile, back), again: atOnce,
		news: telling(corev1.EventTypeWarning, reason, back.message), ended: &ending{outcome: reason, seconds: in.elapsed()},
	}
}

// status returns the status with what is being measured, the results, and what the
// condition Measured says.
func (in *input) status(m *v1alpha1.MeasurementProgress, results []v1alpha1.MeasuredVector, found finding) v1alpha1.WorkloadProfileStatus {
	all := in.profile.Status
	all.Measuring, all.Measurements = m, results
	all = *all.DeepCopy()
	status := metav1.ConditionFalse
	if found.measured {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&all.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionMeasured, Status: status, Reason: found.reason, Message: condition.Message(found.message),
		ObservedGeneration: in.profile.Generation, LastTransitionTime: in.now,
	})
	return all
}

// unchanged returns the status as it is, without results of classes that are gone.
func (in *input) unchanged() v1alpha1.WorkloadProfileStatus {
	all := in.profile.Status
	all.Measurements = in.measurements
	return *all.DeepCopy()
}

// elapsed returns how long the measurement has been going on, in seconds.
func (in *input) elapsed() float64 {
	return in.now.Sub(in.profile.Status.Measuring.StartTime.Time).Seconds()
}

// worthTelling are the reasons of which users that wait for a result should be told.
var worthTelling = []string{
	v1alpha1.ReasonNoNode, v1alpha1.ReasonNoQuietNode, v1alpha1.ReasonNoRunningPods, v1alpha1.ReasonTargetFailed,
}

// waiting returns the event about a new reason to wait.
func (in *input) waiting(found finding) []statuses.Event {
	was := meta.FindStatusCondition(in.profile.Status.Conditions, v1alpha1.ConditionMeasured)
	if was != nil && was.Reason == found.reason || !slices.Contains(worthTelling, found.reason) {
		return nil
	}
	return telling(corev1.EventTypeWarning, found.reason, condition.Message(found.message))
}

// telling returns an event.
func telling(kind, reason, message string) []statuses.Event {
	return []statuses.Event{{Type: kind, Reason: reason, Message: message, Action: "Measure"}}
}
