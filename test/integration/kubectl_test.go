package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/pkg/evaluate/disruption"
	"loadline.dev/loadline/pkg/evaluate/kubectl"
)

// shell runs a command with kubectl for the cluster of the place.
func (p *place) shell(t *testing.T, command string) (output string, err error) {
	t.Helper()
	binaries, err := controlplane.NodeBinaries(t.Context(), "", os.Stderr)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Env = append(os.Environ(), "PATH="+binaries+":"+os.Getenv("PATH"), "KUBECONFIG="+p.plane.Kubeconfig())
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// controlled makes a ready pod of the place on a node without a kubelet, with two containers and a sidecar. An object controls it that does
// nothing.
func (p *place) controlled(t *testing.T, name string) *corev1.Pod {
	t.Helper()
	pod, amounts := p.pod(name, "web"), corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourcePods: resource.MustParse("110")}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: p.namespace, Labels: map[string]string{"place": p.namespace}},
		Status:     corev1.NodeStatus{Capacity: amounts, Allocatable: amounts},
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "owner"}}
	must(t, client.IgnoreAlreadyExists(p.Create(t.Context(), node)))
	must(t, client.IgnoreAlreadyExists(p.Create(t.Context(), owner)))
	must(t, p.Get(t.Context(), client.ObjectKeyFromObject(owner), owner))
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: new(true)}}
	pod.Spec.NodeName = node.Name
	cpu := func(request, limit string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)},
		}
	}
	pod.Spec.Containers[0].Resources = cpu("100m", "1")
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "log", Image: "example.test/none", Resources: cpu("10m", "20m")})
	pod.Spec.InitContainers = []corev1.Container{{Name: "mesh", Image: "example.test/none", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Resources: cpu("10m", "20m")}}
	must(t, p.Create(t.Context(), pod))
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	must(t, p.Status().Update(t.Context(), pod))
	return pod
}

// The commands that carry out changes do so as they are printed.
func TestTheCommandsOfAChangeWorkAsPrinted(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	pod := p.controlled(t, "web-1")
	cpus := []disruption.ContainerCPU{
		{Container: "main", Request: new(resource.MustParse("250m")), Limit: new(resource.MustParse("2"))}, {Container: "mesh", Request: new(resource.MustParse("15m"))},
	}
	want := disruption.Resized(pod, cpus).Spec
	if out, err := p.shell(t, kubectl.Resize(pod, cpus)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, p.Get(t.Context(), client.ObjectKeyFromObject(pod), pod))
	if diff := cmp.Diff(want, pod.Spec); diff != "" {
		t.Errorf("the pod after its resize (-want +got):\n%s", diff)
	}

	other := pod.DeepCopy()
	other.UID = "00000000-0000-0000-0000-000000000000"
	if out, err := p.shell(t, kubectl.Evict(other)); err == nil || !strings.Contains(out, "UID in the precondition") {
		t.Errorf("an earlier pod of its name is evicted: %v: %s", err, out)
	}
	if out, err := p.shell(t, kubectl.Evict(pod)); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := p.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); !apierrors.IsNotFound(err) {
		must(t, err)
		if pod.DeletionTimestamp == nil {
			t.Error("the pod is not evicted")
		}
	}
}

func TestThePatchOfATemplateIsApplied(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	pod := p.controlled(t, "web-1")
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: *pod.Spec.DeepCopy()}
	pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = "5d4f"
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web-5d4f", Controller: new(true)}}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template},
	}
	must(t, p.Create(t.Context(), web))
	cpus := []disruption.ContainerCPU{{Container: "main", Limit: new(resource.MustParse("2"))}, {Container: "mesh", Request: new(resource.MustParse("15m"))}}
	want := disruption.Resized(&corev1.Pod{Spec: web.Spec.Template.Spec}, cpus).Spec
	patch, err := kubectl.Template(pod, cpus)
	must(t, err)
	file := filepath.Join(t.TempDir(), "patch.yaml")
	must(t, os.WriteFile(file, []byte(patch), 0o600))
	if out, err := p.shell(t, "kubectl patch -n "+p.namespace+" deployment/web --patch-file "+file); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, p.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	if diff := cmp.Diff(want, web.Spec.Template.Spec); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the rules refuse by the code of the API server, that refuses; and what they let pass, it does.
func TestTheAPIServerRefusesWhatTheRulesDo(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	pod, other := p.controlled(t, "web-1"), p.controlled(t, "web-2")
	// guard makes a PodDisruptionBudget, and waits for its status.
	guard := func(name string, available int32) *policyv1.PodDisruptionBudget {
		guard := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name},
			Spec: policyv1.PodDisruptionBudgetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, MinAvailable: new(intstr.FromInt32(available)),
			},
		}
		must(t, p.Create(t.Context(), guard))
		p.await(t, guard, func() bool { return guard.Status.CurrentHealthy == 2 })
		return guard
	}
	rules := func() *disruption.Rules {
		t.Helper()
		var guards policyv1.PodDisruptionBudgetList
		must(t, p.List(t.Context(), &guards, client.InNamespace(p.namespace)))
		r, err := disruption.New(&disruption.Input{Pods: []corev1.Pod{*pod, *other}, Budgets: guards.Items, Now: time.Now()})
		must(t, err)
		return r
	}
	// evict compares what is said of an eviction, which the API server refuses in some words, or not.
	evict := func(words string) {
		t.Helper()
		said := rules().Evict(pod).Refused
		out, err := p.shell(t, kubectl.Evict(pod))
		if refused := words != ""; (said != "") != refused || (err != nil) != refused || !strings.Contains(out, words) {
			t.Errorf("the rules say %q, the API server: %v: %s", said, err, out)
		}
	}
	resize := func(request string, refused bool) {
		t.Helper()
		cpus := []disruption.ContainerCPU{{Container: "main", Request: new(resource.MustParse(request))}}
		said := rules().Resize(pod, cpus).Refused
		if out, err := p.shell(t, kubectl.Resize(pod, cpus)); (said != "") != refused || (err != nil) != refused {
			t.Errorf("of a request of %s the rules say %q, the API server: %v: %s", request, said, err, out)
		}
	}
	resize("3", true)
	resize("-1", true)
	resize("200m", false)

	strict := guard("strict", 2)
	evict("disruption budget")
	loose := guard("loose", 1)
	evict("more than one PodDisruptionBudget")
	must(t, p.Delete(t.Context(), strict))
	p.await(t, loose, func() bool { return loose.Status.DisruptionsAllowed == 1 })
	evict("")
}
