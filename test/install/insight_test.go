//go:build e2e

package install

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
)

// gaugesAlone types what docs/who.md says, on a cluster on which one pod slows another down, and takes all of it away again.
func gaugesAlone(t *testing.T) {
	clearAway(t)
	namespace, node := cluster.NewNamespace(t), cluster.Workers[0].Name
	for name, request := range map[string]string{"cart": "50m", "sort": "400m"} {
		pod := cluster.ProbePod(namespace, name, node, "run", "--job", "cpu", "--duration", "1h")
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
		must(t, cluster.Create(t.Context(), pod))
	}
	before := awaitSettled(t, namespace)

	helm(t, "install", release, *chart, "--create-namespace", "--values", filepath.Join(*chart, "values-insight-only.yaml"), "--set", "image.tag="+*imageTag)
	f := cluster.AwaitFinding(t, node, namespace, "cart", func(*findings.Finding) bool { return true })
	if c := f.Causes[0]; c.Kind != observed.ByNeighbour || c.Pod != namespace+"/sort" {
		t.Errorf("the first cause is %+v, want the pod sort", c)
	}
	helm(t, "test", release, "--timeout", "5m")
	uninstall(t)
	awaitInventory(t, before, nil)
	removeNamespace(t, namespace) // the next part takes an inventory, too
}
