package report

import (
	"context"
	"fmt"

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
	warnings := turnedBad(conditions(before), conditions(after))
	written, err := Patch(ctx, c, before, after)
	if err != nil {
		return fmt.Errorf("writing the status of profile %s: %w", client.ObjectKeyFromObject(before), err)
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
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	err = c.Status().Patch(ctx, after, client.MergeFrom(before))
	return err == nil, client.IgnoreNotFound(err)
}

// turnedBad returns the conditions that are bad after and were not before.
func turnedBad(before, after []metav1.Condition) []metav1.Condition {
	var turned []metav1.Condition
	for _, c := range after {
		bad := c.Type == v1alpha1.ConditionReady && c.Status == metav1.ConditionFalse ||
			c.Type == v1alpha1.ConditionConflicted && c.Status == metav1.ConditionTrue
		if bad && !meta.IsStatusConditionPresentAndEqual(before, c.Type, c.Status) {
			turned = append(turned, c)
		}
	}
	return turned
}
