package remediations

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// policyWith returns a policy that makes changes, with a budget.
func policyWith(t *testing.T, name string, change func(*v1alpha1.RemediationPolicySpec)) *Policy {
	t.Helper()
	p := &v1alpha1.RemediationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.RemediationPolicySpec{Mode: v1alpha1.RemediationAutomatic}}
	change(&p.Spec)
	compiled, errs := Compile(p)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return compiled
}

// changeOf returns a proposed change of a pod of a workload on a node.
func changeOf(name, workload, node string) v1alpha1.Remediation {
	return v1alpha1.Remediation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)},
		Spec: v1alpha1.RemediationSpec{
			Policy: "shop", Pod: v1alpha1.RemediationPod{Name: name, UID: name, Node: node},
			Workload: &v1alpha1.WorkloadReference{APIVersion: "apps/v1", Kind: "Deployment", Name: workload},
			Change:   v1alpha1.RemediationChange{Action: v1alpha1.ActionMove},
		},
	}
}

func startedAt(r v1alpha1.Remediation, when time.Time) v1alpha1.Remediation {
	r.Status.StartTime = new(metav1.NewTime(when))
	return r
}

func completedAt(r v1alpha1.Remediation, when time.Time) v1alpha1.Remediation {
	r = startedAt(r, when.Add(-5*time.Minute))
	r.Status.CompletionTime = new(metav1.NewTime(when))
	r.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonSucceeded}}
	return r
}

func with(r v1alpha1.Remediation, change func(*v1alpha1.Remediation)) v1alpha1.Remediation {
	change(&r)
	return r
}

func TestAChangeWaitsForItsBudgetAndCoolDown(t *testing.T) {
	t.Parallel()
	budget := func(b v1alpha1.RemediationBudget) func(*v1alpha1.RemediationPolicySpec) {
		return func(s *v1alpha1.RemediationPolicySpec) { s.Budget = &b }
	}
	defaults := func(*v1alpha1.RemediationPolicySpec) {}
	many := budget(v1alpha1.RemediationBudget{AtOnce: new(int32(9)), PerNode: new(int32(9)), PerWorkload: new(int32(9)), PerNamespace: new(int32(9)), PerHour: new(int32(2))})
	elsewhere := func(r v1alpha1.Remediation) v1alpha1.Remediation {
		return with(r, func(r *v1alpha1.Remediation) { r.Namespace = "etl" })
	}
	for name, test := range map[string]struct {
		policy func(*v1alpha1.RemediationPolicySpec)
		others []v1alpha1.Remediation
		want   string // the message begins with it; "" for none
		again  time.Duration
	}{
		"alone":                         {policy: defaults},
		"beside changes that only wait": {policy: defaults, others: []v1alpha1.Remediation{changeOf("b", "cart", "node-1"), changeOf("c", "cart", "node-1")}},
		"beside those of others that ended long ago": {policy: defaults, others: []v1alpha1.Remediation{completedAt(changeOf("b", "cart", "node-1"), noon.Add(-31*time.Minute))}},
		"itself does not count":                      {policy: defaults, others: []v1alpha1.Remediation{startedAt(changeOf("a", "cart", "node-1"), noon)}},
		"without any budget":                         {policy: budget(v1alpha1.RemediationBudget{PerNode: new(int32(0))}), want: "spec.budget.perNode of RemediationPolicy shop is 0"},
		"as many as may be at once": {
			policy: budget(v1alpha1.RemediationBudget{AtOnce: new(int32(1))}), others: []v1alpha1.Remediation{elsewhere(startedAt(changeOf("b", "sort", "node-9"), noon))},
			want: "1 changes of RemediationPolicy shop are running, and spec.budget.atOnce is 1",
		},
		"one of another policy does not count at once": {
			policy: budget(v1alpha1.RemediationBudget{AtOnce: new(int32(1))}),
			others: []v1alpha1.Remediation{with(startedAt(changeOf("b", "sort", "node-9"), noon), func(r *v1alpha1.Remediation) { r.Spec.Policy = "etl" })},
		},
		"of another pod of the workload":   {policy: defaults, others: []v1alpha1.Remediation{startedAt(changeOf("b", "cart", "node-2"), noon)}, want: "1 changes of the workload are running"},
		"of the same pod, whatever budget": {policy: many, others: []v1alpha1.Remediation{with(startedAt(changeOf("b", "cart", "node-2"), noon), func(r *v1alpha1.Remediation) { r.Spec.Pod.UID = "a" })}, want: "Remediation b changes the same pod"},
		"of a full namespace": {
			policy: defaults, others: []v1alpha1.Remediation{startedAt(changeOf("b", "x", "node-2"), noon), startedAt(changeOf("c", "y", "node-3"), noon)},
			want: "2 changes of the namespace are running",
		},
		"on the same node, of another policy": {
			policy: defaults, others: []v1alpha1.Remediation{with(elsewhere(startedAt(changeOf("b", "sort", "node-1"), noon)), func(r *v1alpha1.Remediation) { r.Spec.Policy = "etl" })},
			want: "1 changes that involve node node-1 are running",
		},
		"on a node that another one goes to": {
			policy: defaults, others: []v1alpha1.Remediation{with(elsewhere(startedAt(changeOf("b", "sort", "node-9"), noon)), func(r *v1alpha1.Remediation) { r.Spec.Change.ToNode = "node-1" })},
			want: "1 changes that involve node node-1 are running",
		},
		"on a node where another one landed": {
			policy: defaults, others: []v1alpha1.Remediation{with(elsewhere(startedAt(changeOf("b", "sort", "node-9"), noon)), func(r *v1alpha1.Remediation) {
				r.Status.Replacement = &v1alpha1.RemediationPod{Name: "b2", Node: "node-1"}
			})},
			want: "1 changes that involve node node-1 are running",
		},
		"as many as may be within an hour": {
			policy: many, others: []v1alpha1.Remediation{elsewhere(completedAt(changeOf("b", "x", "node-8"), noon.Add(-50*time.Minute))), elsewhere(startedAt(changeOf("c", "y", "node-9"), noon.Add(-59*time.Minute)))},
			want: "2 changes of RemediationPolicy shop were started within an hour", again: time.Minute,
		},
		"an hour ago": {
			policy: many, others: []v1alpha1.Remediation{elsewhere(startedAt(changeOf("b", "x", "node-8"), noon.Add(-time.Hour))), elsewhere(startedAt(changeOf("c", "y", "node-9"), noon.Add(-2*time.Hour)))},
		},
		"while its workload cools down": {
			policy: defaults, others: []v1alpha1.Remediation{completedAt(changeOf("b", "cart", "node-2"), noon.Add(-10*time.Minute))},
			want: "the workload was changed less than 30m0s ago", again: 20 * time.Minute,
		},
		"without a cool-down": {
			policy: func(s *v1alpha1.RemediationPolicySpec) { s.CoolDownSeconds = new(int32(0)) },
			others: []v1alpha1.Remediation{completedAt(changeOf("b", "cart", "node-2"), noon)},
		},
		"of a workload of the same name elsewhere": {policy: defaults, others: []v1alpha1.Remediation{elsewhere(completedAt(changeOf("b", "cart", "node-2"), noon))}},
		"of pods that nothing owns, which are each their own": {
			policy: defaults, others: []v1alpha1.Remediation{with(completedAt(changeOf("b", "", "node-2"), noon), func(r *v1alpha1.Remediation) { r.Spec.Workload = nil })},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := changeOf("a", "cart", "node-1")
			hold := policyWith(t, "shop", test.policy).Hold(&r, test.others, noon)
			if test.want == "" {
				if hold != nil {
					t.Errorf("held: %s", hold.Message)
				}
				return
			}
			if hold == nil || !strings.HasPrefix(hold.Message, test.want) || hold.Again != test.again {
				t.Errorf("got %+v, want %q again after %v", hold, test.want, test.again)
			}
		})
	}
}
