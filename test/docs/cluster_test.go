package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/test/docs/page"
	"loadline.dev/loadline/test/feature"
)

// clusterUnderTest is a control plane with Loadline's objects, and what testdata/cluster.yaml has.
type clusterUnderTest struct {
	kubeconfig string
	kubectl    string // the folder of kubectl
	groups     bool   // it has groups of pods, of docs/workloads.md
	pools      bool   // it has the kind of policy that config/default has for pools
}

func newCluster(t *testing.T) *clusterUnderTest {
	t.Helper()
	groups, _ := feature.PodGroups(t)
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Log: os.Stderr, APIServerFlags: groups})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	var nodes []*corev1.Node
	for _, name := range []string{"worker-1", "worker-3", "worker-7"} {
		nodes = append(nodes, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("4Gi"), corev1.ResourcePods: resource.MustParse("110"),
			}},
		})
	}
	if err := plane.AddNodes(t.Context(), nodes...); err != nil {
		t.Fatal(err)
	}
	c := &clusterUnderTest{kubeconfig: plane.Kubeconfig(), kubectl: buildKubectl(t), groups: groups != nil}
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t, c)
	base := "config/default"
	if c.pools = feature.MutatingPolicies(t, plane.RESTConfig()); !c.pools {
		base = "config/without-pools"
	}
	for _, command := range []string{
		"kubectl apply --server-side -k " + base,
		"kubectl wait --for=condition=Established crd --all --timeout=1m",
		"kubectl apply -f " + filepath.Join(here, "cluster.yaml"),
	} {
		if printed, err := s.run(command); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, printed)
		}
	}
	return c
}

// buildKubectl builds the kubectl that hack/cluster pins, with its flags, so that what was built for the control plane is
// not built again.
func buildKubectl(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-buildvcs=false",
		"-o", filepath.Join(dir, "kubectl"), "k8s.io/kubernetes/cmd/kubectl")
	build.Dir = filepath.Join(root, "hack", "cluster", "binaries", "node")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=") // nothing of this module is for that one
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building kubectl: %v\n%s", err, out)
	}
	return dir
}

// accept checks that the API server would take the objects of a block. Configuration of the scheduler it does not know, nor
// what stands in the list others.
func (s *shell) accept(p *page.Page, b *page.Block) {
	s.Helper()
	if !s.cluster.groups && strings.Contains(b.Text, "kind: PodGroup") {
		s.Logf("%s: left out", at(p, b.Line))
		return
	}
	first, _, _ := strings.Cut(b.Text, "\n")
	if _, known := others[p.Path][first]; known || !whole(b) || b.Console() || strings.Contains(b.Text, "kind: KubeSchedulerConfiguration") {
		return
	}
	file := filepath.Join(s.dir, fmt.Sprintf("block-%d.yaml", b.Line))
	if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
		s.Fatal(err)
	}
	if printed, err := s.run("kubectl apply --dry-run=server --validate=strict -f " + file); err != nil {
		s.Errorf("%s: the API server refuses what the page shows: %v\n%s", at(p, b.Line), err, printed)
	}
}
