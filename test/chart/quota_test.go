package chart

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// criticalPodsAreLimited is how an API server, as those of GKE, admits critical pods only in namespaces that have a quota for them.
const criticalPodsAreLimited = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ResourceQuota
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ResourceQuotaConfiguration
    limitedResources:
    - resource: pods
      matchScopes:
      - {scopeName: PriorityClass, operator: In, values: [system-node-critical, system-cluster-critical]}
`

// docs/install.md has its readers apply that quota.
func TestTheQuotaForGKELetsThePodsOfTheChartIn(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "admission.yaml")
	must(t, os.WriteFile(config, []byte(criticalPodsAreLimited), 0o600))
	s := startServer(t, "--admission-control-config-file="+config)
	for _, name := range []string{"loadline-system", "elsewhere"} {
		s.addNamespace(t, name)
	}
	quota := quotaForGKE(t)
	must(t, s.Create(t.Context(), quota))

	all := render(t, "")
	pods := int64(0)
	for _, name := range []string{"loadline-manager", "loadline-scheduler"} {
		d := deployment(t, all, name)
		pods += 2 * int64(*d.Spec.Replicas) // those that are replaced and those in their place
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "elsewhere"}, Spec: d.Spec.Template.Spec}
		pod.Spec.ServiceAccountName = "default"
		if err := s.Create(t.Context(), pod.DeepCopy()); !withoutQuota(err) {
			t.Errorf("%s without a quota: %v", name, err)
		}
		pod.Namespace = quota.Namespace
		var refused error // until Kubernetes has counted what the quota is about
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			refused = s.Create(ctx, pod.DeepCopy())
			return refused == nil, nil
		}); err != nil {
			t.Errorf("%s with the quota: %v", name, refused)
		}
	}
	if allowed := quota.Spec.Hard[corev1.ResourcePods]; allowed.Value() < pods {
		t.Errorf("the quota is %s pods, want %d or more", allowed.String(), pods)
	}
}

// quotaForGKE returns the quota of docs/examples/gke-quota.yaml.
func quotaForGKE(t *testing.T) *corev1.ResourceQuota {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "examples", "gke-quota.yaml"))
	must(t, err)
	return as[corev1.ResourceQuota](t, objects(t, string(text)), "ResourceQuota", "critical-pods")
}

// withoutQuota reports whether a pod is refused because no quota of its namespace is about its class.
func withoutQuota(err error) bool {
	return err != nil && strings.Contains(err.Error(), "insufficient quota to match these scopes")
}
