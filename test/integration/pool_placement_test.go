package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/test/feature"
)

// poolKey is the label and the taint of a pool's nodes, and the label of its pods.
const poolKey = "loadline.dev/pool"

// createFrom creates the objects of a file of the repository, in order.
func (e *environment) createFrom(t *testing.T, file string, objects ...client.Object) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	must(t, err)
	documents := strings.Split(string(content), "\n---\n")
	if len(documents) != len(objects) {
		t.Fatalf("%s has %d objects, want %d", file, len(documents), len(objects))
	}
	for i, o := range objects {
		must(t, yaml.UnmarshalStrict([]byte(documents[i]), o))
		must(t, e.Create(t.Context(), o))
	}
}

func TestPodsOfAPoolReachItsNodesAndOthersNever(t *testing.T) {
	t.Parallel()
	if !feature.MutatingPolicies(t, shared.plane.RESTConfig()) {
		t.Skip("pods need the selector and the toleration of their pool in their own manifests")
	}
	p := ownEnvironment(t).newPlace(t, 5)
	p.createFrom(t, "config/admission/pool-placement.yaml",
		&admissionregistrationv1.MutatingAdmissionPolicy{}, &admissionregistrationv1.MutatingAdmissionPolicyBinding{})
	pool := map[string]string{p.nodes[0]: "checkout", p.nodes[1]: "checkout", p.nodes[2]: "search"} // the rest is for all pods
	for name, of := range pool {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		p.change(t, node, func() {
			node.Labels[poolKey] = of
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: poolKey, Value: of, Effect: corev1.TaintEffectNoSchedule})
		})
	}
	pooled := func(name, of string) *corev1.Pod {
		pod := p.pod(name, name)
		pod.Labels[poolKey] = of
		return pod
	}
	// The API server takes up a policy a moment after it was created.
	must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		trial := pooled("trial", "checkout")
		err := p.Create(ctx, trial, client.DryRunAll)
		return trial.Spec.NodeSelector[poolKey] == "checkout", err
	}))
	p.startScheduler(t, onlyDilation)

	for i := range 6 {
		must(t, p.Create(t.Context(), pooled(fmt.Sprintf("checkout-%d", i), "checkout")))
		must(t, p.Create(t.Context(), pooled(fmt.Sprintf("search-%d", i), "search")))
		must(t, p.Create(t.Context(), p.pod(fmt.Sprintf("other-%d", i), "other")))
	}
	for _, pod := range []*corev1.Pod{p.bare(pooled("checkout-bare", "checkout")), p.tolerant(pooled("search-tolerant", "search")), p.selective(pooled("checkout-wrong", "checkout"))} {
		must(t, p.Create(t.Context(), pod))
	}
	for pod, node := range p.awaitBound(t, 21) {
		want, _, _ := strings.Cut(pod, "-")
		if want == "other" {
			want = ""
		}
		if pool[node] != want {
			t.Errorf("%s runs on %s, a node of %q", pod, node, pool[node])
		}
	}

	// A pod of a pool without nodes waits; it goes nowhere else.
	must(t, p.Create(t.Context(), pooled("nowhere", "gone")))
	waiting := pooled("nowhere", "gone")
	p.await(t, waiting, func() bool {
		for _, c := range waiting.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
				return true
			}
		}
		return false
	})
}

// bare has no node selector, so that the policy makes one.
func (p *place) bare(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeSelector = nil
	return pod
}

// tolerant has a toleration already.
func (p *place) tolerant(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.Tolerations = []corev1.Toleration{{Key: poolKey, Operator: corev1.TolerationOpEqual, Value: pod.Labels[poolKey]}}
	return pod
}

// selective asks for the nodes of another pool than its label says.
func (p *place) selective(pod *corev1.Pod) *corev1.Pod {
	pod.Spec.NodeSelector[poolKey] = "search"
	return pod
}
