package statuses_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// accepting is a client that accepts every status.
type accepting struct {
	client.SubResourceWriter
}

func (a accepting) Status() client.SubResourceWriter { return a }
func (accepting) Patch(context.Context, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return nil
}

func TestAWarningIsEmittedWhenAConditionTurnsBadAndNotWhileItIsUnderWay(t *testing.T) {
	t.Parallel()
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	type state struct {
		status metav1.ConditionStatus
		reason string
	}
	tests := map[string]struct {
		kind          string
		before, after state
		want          []string
	}{
		"ready, then not":               {"Ready", state{yes, "Declared"}, state{no, "Invalid"}, []string{"Warning Invalid why"}},
		"not known to be ready":         {"Ready", state{}, state{unknown, "NotMeasured"}, nil},
		"never ready":                   {"Ready", state{}, state{no, "Invalid"}, []string{"Warning Invalid why"}},
		"not ready for another reason":  {"Ready", state{no, "Invalid"}, state{no, "Infeasible"}, nil},
		"in conflict":                   {"Conflicted", state{no, "NoOverlap"}, state{yes, "SelectorOverlap"}, []string{"Warning SelectorOverlap why"}},
		"conflict resolved":             {"Conflicted", state{yes, "SelectorOverlap"}, state{no, "NoOverlap"}, nil},
		"an SLA that cannot be kept":    {"SLAAttainable", state{unknown, "TreeNotFound"}, state{no, "ExceedsSLA"}, []string{"Warning ExceedsSLA why"}},
		"a measurement begins":          {"Measured", state{}, state{no, "Measuring"}, nil},
		"a measurement waits":           {"Measured", state{}, state{no, "Queued"}, nil},
		"a measurement fails":           {"Measured", state{no, "Measuring"}, state{no, "TargetFailed"}, []string{"Warning TargetFailed why"}},
		"a measurement fails again":     {"Measured", state{no, "TargetFailed"}, state{no, "ProbeFailed"}, nil},
		"a measurement is lost":         {"Measured", state{yes, "Measured"}, state{no, "NoNode"}, []string{"Warning NoNode why"}},
		"a measurement is done":         {"Measured", state{no, "TargetFailed"}, state{yes, "Measured"}, nil},
		"a calibration begins":          {"Calibrated", state{}, state{no, "Calibrating"}, nil},
		"a calibration finds no number": {"Calibrated", state{no, "Calibrating"}, state{no, "Unsaturated"}, []string{"Warning Unsaturated why"}},
		"a condition of somebody else":  {"Elsewhere", state{}, state{no, "Whatever"}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := func(s state) *v1alpha1.WorkloadProfile {
				p := &v1alpha1.WorkloadProfile{}
				if s.status != "" {
					p.Status.Conditions = []metav1.Condition{{Type: test.kind, Status: s.status, Reason: s.reason, Message: "why"}}
				}
				return p
			}
			recorder := events.NewFakeRecorder(10)
			before, after := profile(test.before), profile(test.after)
			if _, err := statuses.Write(t.Context(), accepting{}, recorder, before, after, statuses.Warnings(before, after)...); err != nil {
				t.Fatal(err)
			}
			var got []string
			for len(recorder.Events) > 0 {
				got = append(got, <-recorder.Events)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("unexpected events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMessagesArePrintableWhereverTheyAreFrom(t *testing.T) {
	t.Parallel()
	before := &v1alpha1.ShareTree{}
	after := before.DeepCopy()
	after.Status.Conditions = []metav1.Condition{{Type: "Ready", Message: "no\x1b[2J\nOK: all well"}}
	recorder := events.NewFakeRecorder(1)
	event := statuses.Event{Type: "Warning", Reason: "Failed", Message: "no\x1b[2J\nOK: all well"}
	if written, err := statuses.Write(t.Context(), accepting{}, recorder, before, after, event); !written || err != nil {
		t.Fatalf("written: %t, %v", written, err)
	}
	const want = `no\x1b[2J\nOK: all well`
	if got := after.Status.Conditions[0].Message; got != want {
		t.Errorf("the condition says %q, want %q", got, want)
	}
	if diff := cmp.Diff("Warning Failed "+want, <-recorder.Events); diff != "" {
		t.Errorf("the event differs (-want +got):\n%s", diff)
	}
	again := before.DeepCopy()
	again.Status.Conditions = []metav1.Condition{{Type: "Ready", Message: "no\x1b[2J\nOK: all well"}}
	if written, err := statuses.Write(t.Context(), accepting{}, recorder, after, again); written || err != nil {
		t.Errorf("what was written already is written again: %t, %v", written, err)
	}
}
