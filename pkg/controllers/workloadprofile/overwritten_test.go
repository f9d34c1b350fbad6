package workloadprofile

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/sharetree"
)

func TestOnlyWhatAnotherClientWroteHasANamespaceDecidedOnAgain(t *testing.T) {
	t.Parallel()
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(metav1.Now().Time), Trees: sharetree.NewAnswers()}
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}
	attainable := metav1.Condition{Type: v1alpha1.ConditionSLAAttainable, Status: metav1.ConditionTrue}
	for name, test := range map[string]struct {
		inTree     bool
		conditions []metav1.Condition
		want       bool
	}{
		"our own condition":                  {false, []metav1.Condition{ready}, false},
		"the condition of a tree, in none":   {false, []metav1.Condition{ready, attainable}, true},
		"in a tree that is not yet computed": {true, []metav1.Condition{ready, attainable}, false},
	} {
		p := &v1alpha1.WorkloadProfile{Status: v1alpha1.WorkloadProfileStatus{Conditions: test.conditions}}
		if test.inTree {
			p.Spec.FairShare = &v1alpha1.FairShare{Tree: "company"}
		}
		if got := r.overwritten().Update(event.UpdateEvent{ObjectOld: p, ObjectNew: p}); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
