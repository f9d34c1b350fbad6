package integration

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/test/install/audit"
)

// The manager has the rights of config/rbac/role.yaml and config/remediation, and no others. KWOK
// plays the kubelet, except that the test says when a pod was resized. The API server's audit log
// says what the manager asked for.
func TestTheManagerResizesAndMovesPods(t *testing.T) { //nolint:tparallel // what it asked for is judged when all is over
	t.Parallel()
	log := filepath.Join(t.TempDir(), "audit.log")
	e := startEnvironment(t, controlplane.Options{AuditLog: log})
	p := e.newPlace(t, 1)
	e.createAll(t, "config/remediation/remediator.yaml")
	must(t, e.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "remediator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "loadline-manager-remediator"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "loadline-manager"}},
	}))
	policy := &v1alpha1.RemediationPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: v1alpha1.RemediationPolicySpec{
			Mode: v1alpha1.RemediationAdvise, Allow: []string{v1alpha1.ActionRaiseLimit, v1alpha1.ActionMove}, MinPodAgeSeconds: new(int32(0)),
			Budget: &v1alpha1.RemediationBudget{AtOnce: new(int32(9)), PerNode: new(int32(9)), PerNamespace: new(int32(9))},
		},
	}
	must(t, e.Create(t.Context(), policy))
	must(t, e.Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "team"},
		Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}},
	}))
	e.startManagerWithItsRole(t, "--remediation")

	advised := p.propose(t, "advised", p.runsAt(t, "advised"), raiseTo("1"))
	e.await(t, advised, func() bool {
		return has(advised.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonAdvising, "makes none")
	})
	for _, r := range remediating(t, log) {
		if r.Resource == "pods/resize" || r.Resource == "pods/eviction" {
			t.Errorf("though it only advises, the manager asked to %s", r.Right)
		}
	}
	must(t, e.Delete(t.Context(), advised))
	e.change(t, policy, func() { policy.Spec.Mode = v1alpha1.RemediationAutomatic })

	t.Run("changes", func(t *testing.T) { p.changes(t, policy) })

	content, err := os.ReadFile(filepath.Join(root, "config", "remediation", "remediator.yaml"))
	must(t, err)
	var role rbacv1.ClusterRole
	must(t, yaml.UnmarshalStrict(content, &role))
	grants, err := audit.Grants(remediator, "ClusterRole "+role.Name, role.Rules)
	must(t, err)
	findings := audit.Check(remediating(t, log), grants)
	for i := range findings.Forbidden {
		t.Errorf("forbidden: %s", &findings.Forbidden[i])
	}
	for i := range findings.Unused {
		if right := findings.Unused[i].String(); !slices.ContainsFunc(unusedHere, func(end string) bool { return strings.HasSuffix(right, end) }) {
			t.Errorf("never used: %s", right)
		}
	}
}

// remediator is the account of the manager.
const remediator = "system:serviceaccount:default:loadline-manager"

// unusedHere are the rights that the test has no use for: the test proposes the changes itself,
// without a plan and pods that have volumes, keeps all, and has no VerticalPodAutoscalers.
var unusedHere = []string{
	"create remediations.loadline.dev", "delete remediations.loadline.dev", "list verticalpodautoscalers.autoscaling.k8s.io",
	"list limitranges", "list resourcequotas",
	"list persistentvolumeclaims", "list persistentvolumes", "list csidrivers.storage.k8s.io", "list csinodes.storage.k8s.io",
	"list csistoragecapacities.storage.k8s.io", "list storageclasses.storage.k8s.io", "list volumeattachments.storage.k8s.io",
}

// remediating returns what the manager asked of the API server.
func remediating(t *testing.T, path string) []audit.Request {
	t.Helper()
	log, err := os.Open(filepath.Clean(path))
	must(t, err)
	defer log.Close()
	requests, err := audit.Read(log, remediator)
	must(t, err)
	if len(requests) == 0 {
		t.Fatal("the audit log has no request of the manager")
	}
	return requests
}

// changes has pods resized and moved.
func (p *place) changes(t *testing.T, policy *v1alpha1.RemediationPolicy) {
	t.Helper()
	t.Run("a resize", func(t *testing.T) {
		t.Parallel()
		pod := p.runsAt(t, "small")
		change := p.propose(t, "grow", pod, raiseTo("1"))
		p.await(t, pod, func() bool { return pod.Spec.Containers[0].Resources.Limits.Cpu().String() == "1" })
		p.followResize(t, pod)
		p.await(t, change, func() bool {
			return has(change.Status.Conditions, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonResized, "a limit of 1") &&
				has(change.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonObserving, "observed for 5m0s")
		})
	})
	t.Run("a resize beyond a LimitRange", func(t *testing.T) {
		t.Parallel()
		pod := p.runsAt(t, "large")
		change := p.propose(t, "burst", pod, raiseTo("4"))
		p.await(t, change, func() bool {
			return has(change.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonFailed, "maximum cpu usage per Container is 2, but limit is 4")
		})
		if must(t, p.Get(t.Context(), client.ObjectKeyFromObject(pod), pod)); pod.Spec.Containers[0].Resources.Limits.Cpu().String() != "300m" {
			t.Errorf("the limit is %s", pod.Spec.Containers[0].Resources.Limits.Cpu())
		}
	})
	t.Run("a resize that changes the class of service", func(t *testing.T) {
		t.Parallel()
		pod := p.runsAt(t, "guaranteed", func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m"), corev1.ResourceMemory: resource.MustParse("1Gi")}
			c.Resources.Limits = c.Resources.Requests.DeepCopy()
		})
		change := p.propose(t, "burstable", pod, raiseTo("1"))
		p.await(t, change, func() bool {
			return has(change.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, "its QoS class would change from Guaranteed to Burstable")
		})
	})
	t.Run("a move", func(t *testing.T) {
		t.Parallel()
		pod := p.deployed(t)
		change := p.propose(t, "move", pod, v1alpha1.RemediationChange{Action: v1alpha1.ActionMove})
		p.await(t, change, func() bool {
			return has(change.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionFalse, v1alpha1.ReasonNotAllowed, "PodDisruptionBudget")
		})
		must(t, p.Delete(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "web"}}))
		p.await(t, change, func() bool { // the template names the node
			return has(change.Status.Conditions, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonElsewhere, "and not on another one than before")
		})
		if r := change.Status.Replacement; r == nil || r.Name == pod.Name || r.UID == string(pod.UID) || r.Node != p.nodes[0] {
			t.Errorf("in its place is %+v", r)
		}
	})
	t.Run("the policy", func(t *testing.T) {
		t.Parallel()
		policy := policy.DeepCopy()
		p.await(t, policy, func() bool {
			return has(policy.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonChanging, "changes are made") && *policy.Status.Running >= 1
		})
	})
}

// raiseTo raises the limit of 300m.
func raiseTo(limit string) v1alpha1.RemediationChange {
	return v1alpha1.RemediationChange{
		Action: v1alpha1.ActionRaiseLimit, Container: "main", Limit: &v1alpha1.CPUChange{From: new(resource.MustParse("300m")), To: new(resource.MustParse(limit))},
	}
}

// containerOf300m is a container with a CPU limit of 300m.
func containerOf300m() corev1.Container {
	return corev1.Container{Name: "main", Image: "example.test/none", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("300m")},
	}}
}

// runsAt returns a pod that runs on the node of the place.
func (p *place) runsAt(t *testing.T, name string, change ...func(*corev1.Container)) *corev1.Pod {
	t.Helper()
	pod := p.pod(name, name)
	pod.Spec.NodeName, pod.Spec.Containers = p.nodes[0], []corev1.Container{containerOf300m()}
	for _, c := range change {
		c(&pod.Spec.Containers[0])
	}
	must(t, p.Create(t.Context(), pod))
	p.await(t, pod, func() bool { return pod.Status.Phase == corev1.PodRunning && pod.Status.StartTime != nil })
	p.followResize(t, pod) // a kubelet that does not say what containers have cannot resize them
	return pod
}

// deployed returns a pod of a Deployment whose PodDisruptionBudget lets none be evicted.
func (p *place) deployed(t *testing.T) *corev1.Pod {
	t.Helper()
	labels := map[string]string{"app": "web"}
	must(t, p.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}))
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{NodeName: p.nodes[0], Containers: []corev1.Container{containerOf300m()}}}
	must(t, p.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}))
	var pods corev1.PodList
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := p.List(ctx, &pods, client.InNamespace(p.namespace), client.MatchingLabels(labels))
		running := !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool { return pod.Status.Phase != corev1.PodRunning || pod.Status.StartTime == nil })
		return len(pods.Items) == 2 && running, err
	})
	must(t, err)
	return &pods.Items[0]
}

// propose proposes a change of a pod, as the manager does.
func (p *place) propose(t *testing.T, name string, pod *corev1.Pod, change v1alpha1.RemediationChange) *v1alpha1.Remediation {
	t.Helper()
	r := proposedMove(p.namespace, name)
	r.Spec.Pod = v1alpha1.RemediationPod{Name: pod.Name, UID: string(pod.UID), Node: pod.Spec.NodeName}
	r.Spec.Change = change
	must(t, p.Create(t.Context(), r))
	return r
}

// followResize says in the status of a pod that it has what it asks for, as a kubelet does.
func (p *place) followResize(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	before := pod.DeepCopy()
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].Resources = pod.Spec.Containers[i].Resources.DeepCopy()
	}
	must(t, p.Status().Patch(t.Context(), pod, client.MergeFrom(before)))
}
