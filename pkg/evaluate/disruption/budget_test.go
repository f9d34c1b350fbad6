package disruption_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// Each case is web-1 of three ready replicas, unless it is changed.
func TestWhatPodDisruptionBudgetsRefuse(t *testing.T) {
	t.Parallel()
	always := func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow) }
	starting := func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
	const two = "more than one PodDisruptionBudget guards it, which the Eviction API refuses: web, web-too"
	for name, test := range map[string]struct {
		budgets []policyv1.PodDisruptionBudget
		change  func(*corev1.Pod)
		want    string
	}{
		"none left":                 {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 3, 3))}, want: "PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 3"},
		"none left for another why": {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 3, 1))}, want: "PodDisruptionBudget web allows no disruption"},
		"one left":                  {budgets: []policyv1.PodDisruptionBudget{guard("web", says(1, 3, 2))}},
		"one of other pods":         {budgets: []policyv1.PodDisruptionBudget{guard("db", says(0, 1, 1), func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector.MatchLabels["app"] = "db" })}},
		"one of another namespace":  {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 3, 3), func(b *policyv1.PodDisruptionBudget) { b.Namespace = "bank" })}},
		"one without a selector":    {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 3, 3), func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = nil })}},
		"one of all pods":           {budgets: []policyv1.PodDisruptionBudget{guard("all", says(0, 3, 3), func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = &metav1.LabelSelector{} })}, want: "PodDisruptionBudget all allows no disruption: it needs 3 healthy pods and has 3"},
		"one that has just changed": {budgets: []policyv1.PodDisruptionBudget{guard("web", says(1, 3, 2), func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 })}, want: "PodDisruptionBudget web was changed, and the Eviction API waits for its status"},
		"two":                       {budgets: []policyv1.PodDisruptionBudget{guard("web-too", says(1, 3, 2)), guard("web", says(1, 3, 2))}, want: two},

		"without a status, a number that must be there":       {budgets: []policyv1.PodDisruptionBudget{guard("web", available("3"))}, want: "PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 3"},
		"without a status, fewer that must be there":          {budgets: []policyv1.PodDisruptionBudget{guard("web", available("2"))}},
		"without a status, a part that must be there":         {budgets: []policyv1.PodDisruptionBudget{guard("web", available("67%"))}, want: "PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 3"},
		"without a status, a smaller part":                    {budgets: []policyv1.PodDisruptionBudget{guard("web", available("60%"))}},
		"without a status, none may be missing":               {budgets: []policyv1.PodDisruptionBudget{guard("web", unavailable("0"))}, want: "PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 3"},
		"without a status, one may be missing":                {budgets: []policyv1.PodDisruptionBudget{guard("web", unavailable("1"))}},
		"without a status, a part may be missing, rounded up": {budgets: []policyv1.PodDisruptionBudget{guard("web", unavailable("1%"))}},

		"not ready, and enough others are":          {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 2, 2))}, change: unready},
		"not ready, and too few others are":         {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 2, 3))}, change: unready, want: "PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 2"},
		"not ready, and nothing is needed":          {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 0, 0))}, change: unready, want: "PodDisruptionBudget web allows no disruption: it needs 0 healthy pods and has 0"},
		"not ready, which is always allowed":        {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 2, 3), always)}, change: unready},
		"ready, where unready ones are allowed":     {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 2, 3), always)}, want: "PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 2"},
		"not started yet":                           {budgets: []policyv1.PodDisruptionBudget{guard("web", says(0, 2, 3)), guard("web-too", says(0, 2, 3))}, change: starting},
		"without a status, not ready":               {budgets: []policyv1.PodDisruptionBudget{guard("web", available("2"))}, change: unready},
		"without a status, not ready and one short": {budgets: []policyv1.PodDisruptionBudget{guard("web", available("3"))}, change: unready, want: "PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pod("web-1")
			if test.change != nil {
				test.change(&p)
			}
			r := rules(t, disruption.Input{Pods: []corev1.Pod{p, pod("web-2"), pod("web-3")}, Budgets: test.budgets})
			if got := r.Evict(&p).Refused; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestABudgetThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]policyv1.PodDisruptionBudget{
		`PodDisruptionBudget shop/web: spec.maxUnavailable: "most" is neither a number nor a percentage`: guard("web", unavailable("most")),
		`PodDisruptionBudget shop/web: spec.minAvailable: "x%" is neither a number nor a percentage`:     guard("web", available("x%")),
		`PodDisruptionBudget shop/web: spec.selector: "?" is not a valid label selector operator`: guard("web", func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}}
		}),
	} {
		_, err := disruption.New(&disruption.Input{Budgets: []policyv1.PodDisruptionBudget{b}})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A virtual machine that migrates live is guarded by a PodDisruptionBudget of KubeVirt, which allows no disruption: that has it migrate.
func TestAVirtualMachineMigrates(t *testing.T) {
	t.Parallel()
	machine := pod("virt-launcher-vm-x", of("VirtualMachineInstance", "vm"), labelled("kubevirt.io", "virt-launcher"), annotated("kubevirt.io/domain", "vm"), stored)
	kubevirt := guard("kubevirt-disruption-budget-x", says(0, 1, 1), func(b *policyv1.PodDisruptionBudget) {
		b.OwnerReferences = []metav1.OwnerReference{{Kind: "VirtualMachineInstance", Name: "vm", Controller: new(true)}}
	})
	for name, test := range map[string]struct {
		budgets []policyv1.PodDisruptionBudget
		want    disruption.Verdict
	}{
		"live": {[]policyv1.PodDisruptionBudget{kubevirt}, disruption.Verdict{
			Migrates: true, Notes: []string{"virtual machine shop/vm migrates live: the Eviction API answers 429 until it is on another node"},
		}},
		"not": {nil, disruption.Verdict{Refused: "virtual machine shop/vm would be shut down: it has no PodDisruptionBudget of KubeVirt, as one has that migrates live"}},
		"not for another budget": {[]policyv1.PodDisruptionBudget{kubevirt, guard("all", says(1, 2, 1))}, disruption.Verdict{
			Refused: "more than one PodDisruptionBudget guards it, which the Eviction API refuses: all, kubevirt-disruption-budget-x",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rules(t, disruption.Input{Pods: []corev1.Pod{machine}, Budgets: test.budgets})
			if diff := cmp.Diff(test.want, r.Evict(&machine)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
