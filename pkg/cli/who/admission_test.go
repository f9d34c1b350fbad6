package who_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/plan"
)

// bounds are a LimitRange and a ResourceQuota, each with less than the limit that would help web/api.
func bounds() map[string]client.Object {
	cpu := func(name corev1.ResourceName, amount string) corev1.ResourceList {
		return corev1.ResourceList{name: resource.MustParse(amount)}
	}
	meta := metav1.ObjectMeta{Namespace: "web", Name: "bounds"}
	return map[string]client.Object{
		"a LimitRange": &corev1.LimitRange{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "LimitRange"}, ObjectMeta: meta,
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: cpu(corev1.ResourceCPU, "500m")}}},
		},
		"a ResourceQuota": &corev1.ResourceQuota{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}, ObjectMeta: meta, Spec: corev1.ResourceQuotaSpec{Hard: cpu(corev1.ResourceLimitsCPU, "800m")},
		},
	}
}

// actionsOf returns what a plan changes, given its JSON.
func actionsOf(t *testing.T, stdout string) (actions []plan.Action) {
	t.Helper()
	var p plan.Plan
	if err := json.Unmarshal([]byte(stdout), &p); err != nil {
		t.Fatal(err)
	}
	for i := range p.Steps {
		actions = append(actions, p.Steps[i].Action)
	}
	return actions
}

func TestAPlanAsksForNoMoreThanTheAPIServerAdmits(t *testing.T) {
	t.Parallel()
	for name, bound := range bounds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, reports := slowCluster()
			files := clusterFiles(t, append(objects, bound), reports)
			code, stdout, stderr := clitest.Run(t, "", append([]string{"plan", "-o", "json"}, files...)...)
			if code != 0 || stderr != "" || slices.Contains(actionsOf(t, stdout), plan.RaiseLimit) {
				t.Errorf("from files: exit code %d, %s\n%s", code, stderr, stdout)
			}
			s := gaugedServer(t)
			code, stdout, stderr = s.Ask(t, "plan", "-o", "json")
			if code != 0 || stderr != "" || !slices.Contains(actionsOf(t, stdout), plan.RaiseLimit) {
				t.Errorf("without it: exit code %d, %s\n%s", code, stderr, stdout)
			}
			s = gaugedServer(t)
			s.Objects = append(s.Objects, bound)
			code, stdout, stderr = s.Ask(t, "plan", "-o", "json")
			if code != 0 || stderr != "" || slices.Contains(actionsOf(t, stdout), plan.RaiseLimit) {
				t.Errorf("from a cluster: exit code %d, %s\n%s", code, stderr, stdout)
			}
		})
	}
}

// Who may not list the bounds has a plan all the same, and is warned.
func TestBoundsThatMayNotBeListedAreAWarning(t *testing.T) {
	t.Parallel()
	s := gaugedServer(t).Refuse("/api/v1/limitranges", "/api/v1/resourcequotas")
	code, stdout, stderr := s.Ask(t, "plan", "-o", "json")
	if code != 0 || !slices.Contains(actionsOf(t, stdout), plan.RaiseLimit) {
		t.Errorf("exit code %d, %s", code, stdout)
	}
	if n := strings.Count(stderr, "whether the API server would refuse a change because of them is not known"); n != 2 {
		t.Errorf("%d warnings: %s", n, stderr)
	}
}
