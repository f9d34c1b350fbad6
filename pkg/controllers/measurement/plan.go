package measurement

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/condition"
)

const (
	// atOnce is when to look again after a change of the status.
	atOnce = time.Nanosecond
	// recheckAfter is the time until state that is not watched is read again: other measurements,
	// the obstacles that keep pods from starting, the pods of each node.
	recheckAfter = 10 * time.Second
	// maxAttempts is how many times a step is begun.
	maxAttempts = 5
	// firstRetry and lastRetry bound the time between a failure and the next try. It
	// doubles each time.
	firstRetry, lastRetry = 10 * time.Minute, 24 * time.Hour
	// soFar stands between an obstacle and the results so far.
	soFar = "; so far "
	// maxSamples is how many samples the status holds.
	maxSamples = 500
)

// plan holds the actions: write the status, then delete and apply Jobs. Each function that decides
// returns a whole plan, and nothing changes it afterwards.
type plan struct {
	status v1alpha1.WorkloadProfileStatus
	remove []*batchv1.Job
	apply  []*batchv1.Job
	memory memory
	// again is when to look again without having been woken, 0 for never.
	again time.Duration
	// events are the events about the status.
	events []statuses.Event
	// rounds is how many rounds this plan ends, and ended how it ends the measurement,
	// nil if it does not.
	rounds int
	ended  *ending
	// yields is true where the measurement leaves its nodes, to another namespace or because it cannot go on there, and
	// awaits are nodes that it waits for, which others have.
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

// finding is the content of the condition Measured.
type finding struct {
	measured        bool
	reason, message string
}

// sooner returns the earlier of two times to read again; a time that is not above 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}

// announced are the reasons that get an event, for users who wait for a result.
var announced = []string{
	v1alpha1.ReasonNoNode, v1alpha1.ReasonNoQuietNode, v1alpha1.ReasonNoRunningPods, v1alpha1.ReasonTargetFailed,
}

// newEvent returns an event.
func newEvent(kind, reason, message string) []statuses.Event {
	return []statuses.Event{{Type: kind, Reason: reason, Message: message, Action: "Measure"}}
}

// progress says how far the measurement is.
func (in *input) progress(text string) finding {
	if in.measured(in.measurements) {
		return finding{true, v1alpha1.ReasonStale, "being measured again: " + text}
	}
	return finding{false, v1alpha1.ReasonMeasuring, text}
}

// status returns the status with the measurement in progress, the results, and the condition
// Measured.
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

// unchanged returns the present status, without results of classes that no longer exist.
func (in *input) unchanged() v1alpha1.WorkloadProfileStatus {
	all := in.profile.Status
	all.Measurements = in.measurements
	return *all.DeepCopy()
}

// waitEvent returns the event about a new reason to wait.
func (in *input) waitEvent(found finding) []statuses.Event {
	was := meta.FindStatusCondition(in.profile.Status.Conditions, v1alpha1.ConditionMeasured)
	if was != nil && was.Reason == found.reason || !slices.Contains(announced, found.reason) {
		return nil
	}
	return newEvent(corev1.EventTypeWarning, found.reason, condition.Message(found.message))
}
