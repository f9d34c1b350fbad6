package statuses

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
)

// Event is emitted once a status has been written.
type Event struct {
	// Type is [corev1.EventTypeNormal] or [corev1.EventTypeWarning].
	Type string
	// Reason and Message are those of a condition, or say what happened.
	Reason, Message string
	// Action is the controller's action on such objects, such as "Measure".
	Action string
}

// Write writes the changes between two states of an object's status and then emits the events, and
// reports whether it did: it does nothing where nothing changed, or the object is gone. The object
// after then holds the answer of the API server.
func Write(
	ctx context.Context, c client.StatusClient, recorder events.EventRecorder, before, after client.Object, emit ...Event,
) (written bool, err error) {
	return write(ctx, c, recorder, before, after, client.MergeFrom(before), emit)
}

// WriteShared is [Write] for an object whose status another controller writes, too: it is refused,
// with a conflict, if the object has changed since before was read. A list of conditions is written
// as a whole, and must not undo the other's changes.
func WriteShared(
	ctx context.Context, c client.StatusClient, recorder events.EventRecorder, before, after client.Object, emit ...Event,
) (written bool, err error) {
	return write(ctx, c, recorder, before, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), emit)
}

func write(
	ctx context.Context, c client.StatusClient, recorder events.EventRecorder, before, after client.Object, patch client.Patch, emit []Event,
) (written bool, err error) {
	conditions := Conditions(after)
	for i := range conditions { // before they are compared with those that were written so
		conditions[i].Message = condition.Message(conditions[i].Message)
	}
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	err = c.Status().Patch(ctx, after, patch)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("writing the status of %s: %w", strings.TrimPrefix(client.ObjectKeyFromObject(before).String(), "/"), err)
	}
	written = err == nil
	if written {
		for _, e := range emit {
			recorder.Eventf(after, nil, e.Type, e.Reason, e.Action, "%s", condition.Message(e.Message))
		}
	}
	return written, nil
}

// Conditions returns those of one of Loadline's objects.
func Conditions(o runtime.Object) []metav1.Condition {
	switch o := o.(type) {
	case *v1alpha1.NodeProfile:
		return o.Status.Conditions
	case *v1alpha1.PoolPlan:
		return o.Status.Conditions
	case *v1alpha1.Remediation:
		return o.Status.Conditions
	case *v1alpha1.RemediationPolicy:
		return o.Status.Conditions
	case *v1alpha1.ShareTree:
		return o.Status.Conditions
	case *v1alpha1.TraceReplay:
		return o.Status.Conditions
	case *v1alpha1.WorkloadProfile:
		return o.Status.Conditions
	default:
		panic(fmt.Sprintf("want an object of Loadline, got %T", o))
	}
}

// Turned returns a condition that after has with another reason than before, nil if there is no
// such condition.
func Turned(before, after []metav1.Condition, kind string) *metav1.Condition {
	was, is := meta.FindStatusCondition(before, kind), meta.FindStatusCondition(after, kind)
	if is == nil || was != nil && was.Reason == is.Reason {
		return nil
	}
	return is
}

// Warnings returns an event for each condition of an object that turned bad, with its
// reason and message.
func Warnings(before, after client.Object) []Event {
	was := Conditions(before)
	var all []Event
	for _, c := range Conditions(after) {
		if old := meta.FindStatusCondition(was, c.Type); bad(&c) && (old == nil || !bad(old)) {
			all = append(all, Event{Type: corev1.EventTypeWarning, Reason: c.Reason, Message: c.Message, Action: "Evaluate"})
		}
	}
	return all
}

// bad reports whether a condition needs attention.
func bad(c *metav1.Condition) bool {
	switch c.Type {
	case v1alpha1.ConditionReady, v1alpha1.ConditionSLAAttainable:
		return c.Status == metav1.ConditionFalse
	case v1alpha1.ConditionMeasured, v1alpha1.ConditionCalibrated:
		return c.Status == metav1.ConditionFalse && !slices.Contains(underWay, c.Reason)
	case v1alpha1.ConditionConflicted, v1alpha1.ConditionDrifted, v1alpha1.ConditionPaused:
		return c.Status == metav1.ConditionTrue
	}
	return false
}

// underWay are the reasons why there is no result yet, and nothing is wrong.
var underWay = []string{v1alpha1.ReasonMeasuring, v1alpha1.ReasonCalibrating, v1alpha1.ReasonQueued}
