package remediation

import (
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

func TestPodsThatMustBeLeftAsTheyAreAre(t *testing.T) {
	t.Parallel()
	second := podOn("cart-9", "node-9", noon)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart"}}},
	}
	vertical := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "shop", "name": "cart"},
		"spec":     map[string]any{"targetRef": map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "cart"}},
	}}
	vertical.SetGroupVersionKind(disruption.VerticalPodAutoscalerVersion.WithKind("VerticalPodAutoscaler"))
	named := func(s *v1alpha1.RemediationPolicySpec) {
		s.SingleReplicas = []v1alpha1.NamespacedWorkload{{Namespace: "shop", Kind: "ReplicaSet", Name: "cart"}}
	}
	for name, test := range map[string]struct {
		policy *v1alpha1.RemediationPolicy
		change *v1alpha1.Remediation
		others []client.Object
		want   string // the refusal has it; "" for none
	}{
		"a move of one of two":                         {automatic(), move(), []client.Object{second}, ""},
		"a move of the only one":                       {automatic(), move(), nil, "1 ready replica"},
		"a move of the only one that is named":         {automatic(named), move(), nil, ""},
		"a move that a PodDisruptionBudget forbids":    {automatic(), move(), []client.Object{second, budget}, "PodDisruptionBudget"},
		"a resize of the only one":                     {automatic(), raise(), nil, ""},
		"a resize of what a VerticalPodAutoscaler has": {automatic(), raise(), []client.Object{vertical}, "VerticalPodAutoscaler"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, o := range test.others {
				if err := w.Create(t.Context(), o.DeepCopyObject().(client.Object)); err != nil { //nolint:errcheck // a copy is of the same type
					t.Fatal(err)
				}
			}
			pod := cart()
			if err := w.Create(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			policy, errs := remediations.Compile(test.policy)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			got, err := (&DisruptionRules{API: w.API, Clock: w.clock}).Refusal(t.Context(), policy, test.change, pod)
			if err != nil || (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("refused for %q and %v, want %q", got, err, test.want)
			}
		})
	}
}
