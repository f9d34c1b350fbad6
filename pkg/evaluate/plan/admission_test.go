package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/admission"
)

// A request is raised only as far as LimitRanges and what earlier steps have left of a ResourceQuota allow.
func TestAPlanHasNothingThatTheAPIServerRefuses(t *testing.T) {
	t.Parallel()
	nodes := []corev1.Node{worker("worker-1", 1), worker("worker-2", 1)}
	all := []workload{
		{name: "a", node: "worker-1", request: 50, loading: 0.6},
		{name: "b", node: "worker-1", request: 300, loading: 1},
		{name: "c", node: "worker-2", request: 50, loading: 0.5},
		{name: "d", node: "worker-2", request: 300, loading: 1},
	}
	meta := metav1.ObjectMeta{Namespace: "shop", Name: "bounds"}
	quota := func(hard string) admission.Input {
		return admission.Input{Quotas: []corev1.ResourceQuota{{
			ObjectMeta: meta, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse(hard)}},
		}}}
	}
	limit := func(most string) admission.Input {
		return admission.Input{LimitRanges: []corev1.LimitRange{{ObjectMeta: meta, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypePod, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(most)},
		}}}}}}
	}
	for name, test := range map[string]struct {
		in   admission.Input
		want []string
	}{
		"no bound":                      {admission.Input{}, []string{"shop/a", "shop/c"}},
		"a quota for both":              {quota("1800m"), []string{"shop/a", "shop/c"}},
		"a quota that the first leaves": {quota("1300m"), []string{"shop/a"}},
		"a quota for none":              {quota("700m"), nil},
		"a limit":                       {limit("400m"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := observedAs(t, nodes, all)
			test.in.Pods = in.Pods
			rules, err := admission.New(&test.in)
			if err != nil {
				t.Fatal(err)
			}
			p := planOf(t, in, Options{Allow: []Action{RaiseRequest}, Admission: rules})
			var got []string
			for i := range p.Steps {
				got = append(got, p.Steps[i].Pod)
			}
			if len(got) != len(test.want) || len(got) > 0 && got[0] != test.want[0] {
				t.Errorf("got %q, want %q: %+v", got, test.want, p.Steps)
			}
		})
	}
}
