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
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Status writes what changed between two states of an object's status and emits
// a warning for each condition that turned bad, with its reason and message.
// Where nothing changed, or the object is gone, it does nothing. The conditions
// function returns those of an object. The object after then holds what the API
// server answered.
func Status[T client.Object](
	ctx context.Context, c client.StatusClient, recorder events.EventRecorder, before, after T, conditions func(T) []metav1.Condition,
) error {
	return status(ctx, c, recorder, before, after, conditions, client.MergeFrom(before))
}

// Shared is [Status] for an object whose status another controller writes, too: it
// is refused, with a conflict, if the object has changed since before was read. A
// list of conditions is written as a whole, and must not undo what the other wrote.
func Shared[T client.Object](
	ctx context.Context, c client.StatusClient, recorder events.EventRecorder, before, after T, conditions func(T) []metav1.Condition,
) error {
	return status(ctx, c, recorder, before, after, conditions, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func status[T client.Object](
	ctx context.Context, c client.StatusClient, recorder events.EventRecorder, before, after T, conditions func(T) []metav1.Condition, patch client.Patch,
) error {
	warnings := turnedBad(conditions(before), conditions(after))
	written, err := write(ctx, c, before, after, patch)
	if err != nil {
		return fmt.Errorf("writing the status of %s: %w", strings.TrimPrefix(client.ObjectKeyFromObject(before).String(), "/"), err)
	}
	if !written {
		return nil
	}
	for _, w := range warnings {
		recorder.Eventf(after, nil, corev1.EventTypeWarning, w.Reason, "Evaluate", "%s", w.Message)
	}
	return nil
}

// Patch writes what changed between two states of an object's status, and tells
// whether it did: it does nothing where nothing changed, or the object is gone.
// The object after then holds what the API server answered.
func Patch(ctx context.Context, c client.StatusClient, before, after client.Object) (written bool, err error) {
	return write(ctx, c, before, after, client.MergeFrom(before))
}

func write(ctx context.Context, c client.StatusClient, before, after client.Object, patch client.Patch) (written bool, err error) {
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	err = c.Status().Patch(ctx, after, patch)
	return err == nil, client.IgnoreNotFound(err)
}

// turnedBad returns the conditions that are bad after and were not before.
func turnedBad(before, after []metav1.Condition) []metav1.Condition {
	var turned []metav1.Condition
	for _, c := range after {
		if old := meta.FindStatusCondition(before, c.Type); bad(&c) && (old == nil || !bad(old)) {
			turned = append(turned, c)
		}
	}
	return turned
}

// bad reports whether a condition needs attention.
func bad(c *metav1.Condition) bool {
	switch c.Type {
	case v1alpha1.ConditionReady, v1alpha1.ConditionSLAAttainable:
		return c.Status == metav1.ConditionFalse
	case v1alpha1.ConditionMeasured, v1alpha1.ConditionCalibrated:
		return c.Status == metav1.ConditionFalse && !slices.Contains(underWay, c.Reason)
	case v1alpha1.ConditionConflicted:
		return c.Status == metav1.ConditionTrue
	}
	return false
}

// underWay are the reasons why there is no result yet, and nothing is wrong.
var underWay = []string{v1alpha1.ReasonMeasuring, v1alpha1.ReasonCalibrating, v1alpha1.ReasonQueued}
