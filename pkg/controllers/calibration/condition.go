package calibration

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/condition"
)

// status returns the status with the calibration in progress, nil for none, without the results
// that are no longer asked for, and with the condition Calibrated. This follows from the results,
// the failures, and the reason for waiting. Without a calibration in the spec there is none.
func (in *input) status(progress *v1alpha1.CalibrationProgress, waits problem) v1alpha1.NodeProfileStatus {
	status := *in.profile.Status.DeepCopy()
	status.Calibrating = progress.DeepCopy()
	all := questions(in.profile)
	status.Resources = slices.DeleteFunc(status.Resources, func(r v1alpha1.CalibratedResource) bool {
		return !slices.ContainsFunc(all, func(q question) bool { return q.resource == r.Name })
	})
	if in.profile.Spec.Calibration == nil {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionCalibrated)
		return status
	}
	s := summarize(in)
	c := metav1.Condition{
		Type: v1alpha1.ConditionCalibrated, Status: metav1.ConditionFalse,
		ObservedGeneration: in.profile.Generation, LastTransitionTime: in.now,
	}
	if s.complete {
		c.Status = metav1.ConditionTrue
	}
	switch {
	case waits.reason != "" && s.complete:
		c.Reason, c.Message = v1alpha1.ReasonStale, "results are renewed, and stay in use meanwhile: "+waits.message
	case waits.reason != "":
		c.Reason, c.Message = waits.reason, waits.message
	case len(s.failures) > 0:
		c.Reason, c.Message = s.reason, "tried again later, or when spec.calibration is changed"
	case len(s.unsaturated) > 0:
		c.Reason, c.Message = v1alpha1.ReasonUnsaturated,
			"raise spec.calibration.maxServers or choose another job, or declare the servers in spec.resources"
	default:
		c.Reason, c.Message = v1alpha1.ReasonCalibrated, "the servers are "+strings.Join(s.found, ", ")
	}
	// Faults come first, actions last.
	parts := append(append(s.failures, s.unsaturated...), c.Message)
	c.Message = condition.Message(strings.Join(parts, "; "))
	meta.SetStatusCondition(&status.Conditions, c)
	return status
}

// summary describes the results and the failures.
type summary struct {
	// complete is true when there are servers for every resource, fresh or not.
	complete bool
	// found, failures and unsaturated say so in words, one resource each.
	found, failures, unsaturated []string
	reason                       string // of the first failure
}

func summarize(in *input) summary {
	s := summary{complete: true}
	for _, q := range questions(in.profile) {
		result, until := q.answer(in.profile)
		fresh := in.now.Time.Before(until)
		if f := in.failed(&q); f != nil && !fresh {
			s.failures = append(s.failures, f.Message)
			if s.reason == "" {
				s.reason = f.Reason
			}
		}
		switch {
		case result == nil:
			s.complete = false
		case result.Servers != nil:
			s.found = append(s.found, fmt.Sprintf("%s %d (node %s)", q.resource, *result.Servers, result.Node))
		default:
			s.complete = false
			if fresh {
				s.unsaturated = append(s.unsaturated, fmt.Sprintf(
					"%s: two copies of the standard job %s with up to %d requests each made each other only %.2f times slower on node %s, not 2 times, so they did not keep the resource busy",
					q.resource, q.job, q.maxServers, result.Dilation.AsApproximateFloat64(), result.Node))
			}
		}
	}
	return s
}
