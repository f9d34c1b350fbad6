package remediations

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func cpu(from, to string) *v1alpha1.CPUChange {
	return &v1alpha1.CPUChange{From: new(resource.MustParse(from)), To: new(resource.MustParse(to))}
}

// judged returns changes that ended, a minute one after the other, each with what it was
// predicted to win and has won.
func judged(n int, from time.Time, predicted, won float64) []v1alpha1.Remediation {
	all := make([]v1alpha1.Remediation, n)
	for i := range all {
		all[i] = completedAt(changeOf(fmt.Sprintf("r%s-%d", from.Format("150405"), i), "cart", "node-1"), from.Add(time.Duration(i)*time.Minute))
		all[i].Status.StartTime = new(metav1.NewTime(from.Add(time.Duration(i) * time.Minute)))
		all[i].Spec.Prediction.Win = Quantity(predicted)
		all[i].Status.Realized = &v1alpha1.RealizedWin{Win: Quantity(won), Low: Quantity(won), High: Quantity(won)}
	}
	return all
}

func statusOf(t *testing.T, p *v1alpha1.RemediationPolicy, all []v1alpha1.Remediation, now time.Time) *v1alpha1.RemediationPolicyStatus {
	t.Helper()
	return new(Status(&Input{Policy: p, Remediations: all, Now: metav1.NewTime(now)}))
}

func condition1(t *testing.T, status *v1alpha1.RemediationPolicyStatus, kind string) metav1.Condition {
	t.Helper()
	c := meta.FindStatusCondition(status.Conditions, kind)
	if c == nil {
		t.Fatalf("there is no condition %s", kind)
	}
	return *c
}

func TestAPolicyCountsItsChangesAndWhatTheyWon(t *testing.T) {
	t.Parallel()
	p := policyWith(t, "shop", func(*v1alpha1.RemediationPolicySpec) {}).RemediationPolicy
	all := judged(3, noon.Add(-time.Hour), 0.5, 0.4)
	all[2].Status.Conditions[0].Reason = v1alpha1.ReasonRolledBack
	all = append(all, changeOf("p", "a", "n"), startedAt(changeOf("q", "a", "n"), noon), with(changeOf("other", "a", "n"), func(r *v1alpha1.Remediation) { r.Spec.Policy = "etl" }))
	failed, expired := completedAt(changeOf("f", "a", "n"), noon), with(completedAt(changeOf("e", "a", "n"), noon), func(r *v1alpha1.Remediation) { r.Status.StartTime = nil })
	failed.Status.Conditions[0].Reason, expired.Status.Conditions[0].Reason = v1alpha1.ReasonFailed, v1alpha1.ReasonExpired
	status := statusOf(t, p, append(all, failed, expired), noon)
	got := fmt.Sprint(*status.Proposed, *status.Running, *status.Succeeded, *status.RolledBack, *status.Failed, status.PredictedWin, status.RealizedWin)
	if want := "1 1 2 1 1 1500m 1200m"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if want := "1.20 of 1.50"; status.Win != want {
		t.Errorf("the win is %q, want %q", status.Win, want)
	}
}

func TestAPolicyThatWinsTooLittlePausesUntilItIsChanged(t *testing.T) {
	t.Parallel()
	p := &v1alpha1.RemediationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "shop", Generation: 1}, Spec: v1alpha1.RemediationPolicySpec{Mode: v1alpha1.RemediationAutomatic}}
	p.Status = *statusOf(t, p, nil, noon)
	all := judged(9, noon.Add(time.Minute), 1, 0.2)
	p.Status = *statusOf(t, p, all, noon.Add(time.Hour))
	if c := condition1(t, &p.Status, v1alpha1.ConditionPaused); c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonTooFewJudged {
		t.Errorf("after nine changes: %+v", c)
	}
	all = append(all, judged(1, noon.Add(50*time.Minute), 1, 0.2)...)
	p.Status = *statusOf(t, p, all, noon.Add(time.Hour))
	paused := condition1(t, &p.Status, v1alpha1.ConditionPaused)
	if want := "the last 10 changes won 2.00 of the predicted 10.00; change spec to go on"; paused.Status != metav1.ConditionTrue || paused.Message != want {
		t.Errorf("after ten changes: %+v, want %q", paused, want)
	}
	if c := condition1(t, &p.Status, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse || c.Reason != v1alpha1.ReasonSuspended {
		t.Errorf("ready while paused: %+v", c)
	}
	all = append(all, judged(10, noon.Add(61*time.Minute), 1, 1)...) // such as were running
	if p.Status = *statusOf(t, p, all, noon.Add(2*time.Hour)); condition1(t, &p.Status, v1alpha1.ConditionPaused).Status != metav1.ConditionTrue {
		t.Error("it goes on by itself")
	}
	p.Generation = 2
	p.Status = *statusOf(t, p, all, noon.Add(3*time.Hour))
	if c := condition1(t, &p.Status, v1alpha1.ConditionPaused); c.Status != metav1.ConditionFalse {
		t.Errorf("after the spec was changed: %+v", c)
	}
	p.Status = *statusOf(t, p, all, noon.Add(4*time.Hour))
	if c := condition1(t, &p.Status, v1alpha1.ConditionPaused); c.Reason != v1alpha1.ReasonTooFewJudged {
		t.Errorf("earlier changes count: %+v", c)
	}
	p.Status = *statusOf(t, p, append(all, judged(10, noon.Add(4*time.Hour), 1, 0.9)...), noon.Add(5*time.Hour))
	if c := condition1(t, &p.Status, v1alpha1.ConditionPaused); c.Reason != v1alpha1.ReasonWonAsPredicted {
		t.Errorf("after ten that won: %+v", c)
	}
}

func TestAPolicySaysWhetherItIsReady(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*v1alpha1.RemediationPolicySpec)
		stopped string
		want    string
	}{
		"advising":                        {func(s *v1alpha1.RemediationPolicySpec) { s.Mode = "" }, "", "True Advising: changes are proposed, and none is made"},
		"advising, though all is stopped": {func(s *v1alpha1.RemediationPolicySpec) { s.Mode = v1alpha1.RemediationAdvise }, "stop", "True Advising: "},
		"approving":                       {func(s *v1alpha1.RemediationPolicySpec) { s.Mode = v1alpha1.RemediationApprove }, "", "True Changing: changes that are approved are made"},
		"automatic":                       {func(*v1alpha1.RemediationPolicySpec) {}, "", "True Changing: changes are made"},
		"suspended":                       {func(s *v1alpha1.RemediationPolicySpec) { s.State = v1alpha1.PolicySuspended }, "", "False Suspended: no change is started, for spec.state is Suspended"},
		"stopped":                         {func(*v1alpha1.RemediationPolicySpec) {}, "nothing is done", "False Suspended: nothing is done"},
		"without budget": {func(s *v1alpha1.RemediationPolicySpec) {
			s.Budget = &v1alpha1.RemediationBudget{PerHour: new(int32(0))}
		}, "", "False NothingAllowed: no change is started, for spec.budget.perHour is 0"},
		"invalid": {func(s *v1alpha1.RemediationPolicySpec) {
			s.PodSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}
		}, "", "False Invalid: spec.podSelector"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1alpha1.RemediationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: v1alpha1.RemediationPolicySpec{Mode: v1alpha1.RemediationAutomatic}}
			test.change(&p.Spec)
			status := Status(&Input{Policy: p, Stopped: test.stopped, Now: metav1.NewTime(noon)})
			c := condition1(t, &status, v1alpha1.ConditionReady)
			if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message); !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAConflictIsNamed(t *testing.T) {
	t.Parallel()
	p := &v1alpha1.RemediationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	status := Status(&Input{Policy: p, Conflict: Conflict{Pods: 3, With: "all"}, Now: metav1.NewTime(noon)})
	c := condition1(t, &status, v1alpha1.ConditionConflicted)
	if c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "3 pods belong to RemediationPolicy all") {
		t.Errorf("got %+v", c)
	}
}

func TestOldChangesAreNotKeptUnlessTheyCount(t *testing.T) {
	t.Parallel()
	p := policyWith(t, "shop", func(s *v1alpha1.RemediationPolicySpec) { s.History = new(int32(10)) })
	all := append(judged(12, noon.Add(-3*time.Hour), 1, 1), judged(5, noon.Add(-30*time.Minute), 1, 1)...)
	all = append(all, startedAt(changeOf("runs", "cart", "node-1"), noon.Add(-24*time.Hour)))
	var got []string
	for _, r := range p.Outdated(all, noon) {
		got = append(got, r.Name)
	}
	if diff := cmp.Diff([]string{"r090000-6", "r090000-5", "r090000-4", "r090000-3", "r090000-2", "r090000-1", "r090000-0"}, got); diff != "" {
		t.Errorf("not kept (-want +got):\n%s", diff)
	}
	if got := p.Outdated(judged(30, noon.Add(-40*time.Minute), 1, 1), noon); len(got) > 0 {
		t.Errorf("%d of the last hour are not kept", len(got))
	}
}
