package remediations

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

func TestAPolicyChoosesPodsByTheirNamespaceAndLabels(t *testing.T) {
	t.Parallel()
	labelled := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "shop"}}
	web := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "web"}}
	pod := Pod{Namespace: "shop", NamespaceLabels: map[string]string{"team": "shop"}, Labels: map[string]string{"tier": "web"}}
	for name, test := range map[string]struct {
		spec   func(*v1alpha1.RemediationPolicySpec)
		change func(*Pod)
		want   bool
	}{
		"without selectors, all":              {func(*v1alpha1.RemediationPolicySpec) {}, func(*Pod) {}, true},
		"by the namespace":                    {func(s *v1alpha1.RemediationPolicySpec) { s.NamespaceSelector = labelled }, func(*Pod) {}, true},
		"of another namespace":                {func(s *v1alpha1.RemediationPolicySpec) { s.NamespaceSelector = labelled }, func(p *Pod) { p.NamespaceLabels = nil }, false},
		"by the pod":                          {func(s *v1alpha1.RemediationPolicySpec) { s.PodSelector = web }, func(*Pod) {}, true},
		"another pod":                         {func(s *v1alpha1.RemediationPolicySpec) { s.PodSelector = web }, func(p *Pod) { p.Labels = nil }, false},
		"not those of kube-system":            {func(*v1alpha1.RemediationPolicySpec) {}, func(p *Pod) { p.Namespace = "kube-system" }, false},
		"not critical ones":                   {func(*v1alpha1.RemediationPolicySpec) {}, func(p *Pod) { p.PriorityClass = "system-node-critical" }, false},
		"not those of Loadline":               {func(*v1alpha1.RemediationPolicySpec) {}, func(p *Pod) { p.Labels = map[string]string{"app.kubernetes.io/part-of": "loadline"} }, false},
		"critical ones where they are chosen": {func(s *v1alpha1.RemediationPolicySpec) { s.CriticalPods = v1alpha1.CriticalInclude }, func(p *Pod) { p.Namespace, p.PriorityClass = "kube-system", "system-node-critical" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chosen := pod
			test.change(&chosen)
			if got := policyWith(t, "shop", test.spec).Selects(&chosen); got != test.want {
				t.Errorf("chooses: %v, want %v", got, test.want)
			}
		})
	}
}

func TestASelectorThatIsNoneIsNamed(t *testing.T) {
	t.Parallel()
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}
	p := &v1alpha1.RemediationPolicy{Spec: v1alpha1.RemediationPolicySpec{NamespaceSelector: bad, PodSelector: bad}}
	_, errs := Compile(p)
	for _, want := range []string{"spec.namespaceSelector", "spec.podSelector"} {
		if err := errs.ToAggregate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error %v does not name %s", err, want)
		}
	}
}

// aged returns a policy of a mode that is as old as it says.
func aged(name, mode string, age time.Duration) v1alpha1.RemediationPolicy {
	return v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-age))}, Spec: v1alpha1.RemediationPolicySpec{Mode: mode},
	}
}

func TestOfSeveralPoliciesOneThatChangesPodsGoesFirstThenTheOldest(t *testing.T) {
	t.Parallel()
	all := CompileAll([]v1alpha1.RemediationPolicy{
		aged("advising", v1alpha1.RemediationAdvise, 3*time.Hour), aged("young", v1alpha1.RemediationAutomatic, time.Hour),
		aged("b", v1alpha1.RemediationApprove, 2*time.Hour), aged("a", v1alpha1.RemediationApprove, 2*time.Hour), aged("unset", "", 4*time.Hour),
	})
	var got []string
	for _, p := range all {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "young", "unset", "advising"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if first := Responsible(all, &Pod{Namespace: "shop"}); first == nil || first.Name != "a" {
		t.Errorf("the pod belongs to %v, want a", first)
	}
	if first := Responsible(all, &Pod{Namespace: "kube-system"}); first != nil {
		t.Errorf("a pod of kube-system belongs to %s", first.Name)
	}
	want := map[string]Conflict{"b": {Pods: 2, With: "a"}, "young": {Pods: 2, With: "a"}}
	if diff := cmp.Diff(want, Conflicts(all, []Pod{{Namespace: "shop"}, {Namespace: "etl"}, {Namespace: "kube-system"}})); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
}

func TestAChangeIsDescribedInAFewWords(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]v1alpha1.RemediationChange{
		"move to node-3":                                {Action: v1alpha1.ActionMove, ToNode: "node-3"},
		"move to another node":                          {Action: v1alpha1.ActionMove},
		"limit 300m → 1 of app":                         {Action: v1alpha1.ActionRaiseLimit, Container: "app", Limit: cpu("300m", "1")},
		"request 100m → 200m, limit 100m → 200m of app": {Action: v1alpha1.ActionRaiseRequest, Container: "app", Request: cpu("100m", "200m"), Limit: cpu("100m", "200m")},
	} {
		if got := Describe(&change); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
