package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/test/feature"
)

// ask runs kubectl loadline against the control plane.
func (e *environment) ask(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	command := exec.CommandContext(t.Context(), plugin, append(args, "--kubeconfig", e.plane.Kubeconfig())...)
	command.Stdout, command.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String(), errs.String()
}

// rankedNode is a node as kubectl loadline explain -o json has it.
type rankedNode struct {
	Node string
	Rank int
	Cost float64
}

// The scheduler, running, puts each pod on a node that kubectl loadline explain ranked
// first just before.
func TestTheSchedulerTakesANodeThatExplainRanksFirst(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 4)
	must(t, p.Create(t.Context(), p.oneCore()))
	for app, loadings := range papers {
		must(t, p.Create(t.Context(), p.profile(app, loadings)))
	}
	p.startScheduler(t, onlyDilation)
	for i, app := range []string{"sort", "fileserver", "filecomp", "filecomp", "none", "sort", "fileserver", "none"} {
		asked := p.pod(fmt.Sprintf("asked-%d", i), app)
		asked.Spec.SchedulerName = "nobody"
		must(t, p.Create(t.Context(), asked))
		code, stdout, stderr := p.ask(t, "explain", "pod", asked.Name, "-n", p.namespace, "-o", "json")
		var answer struct{ Nodes []rankedNode }
		if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil {
			t.Fatalf("exit code %d: %s %v", code, stderr, err)
		}
		must(t, p.Delete(t.Context(), asked))

		name := fmt.Sprintf("placed-%d", i)
		must(t, p.Create(t.Context(), p.pod(name, app)))
		chosen := p.awaitPod(t, name, func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" }).Spec.NodeName
		first := func(n rankedNode) bool { return n.Node == chosen && n.Rank == 1 }
		if !slices.ContainsFunc(answer.Nodes, first) {
			t.Errorf("%s, of %s, went to %s; the ranking is %+v", name, app, chosen, answer.Nodes)
		}
	}
	code, stdout, stderr := p.ask(t, "explain", "pod", p.namespace+"/placed-0")
	if want := p.namespace + "/placed-0 runs on "; code != 0 || !strings.HasPrefix(stdout, want) || !strings.Contains(stdout, "\nVector: WorkloadProfile "+p.namespace+"/sort, as declared.\n") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
}

// What status needs to know, a service account with these rights and no others finds
// out.
func TestStatusNeedsTheRightsThatItSays(t *testing.T) {
	t.Parallel()
	e := ownEnvironment(t)
	if code, stdout, stderr := e.ask(t, "status"); code != 1 || !strings.Contains(stdout, "not installed") || !strings.HasPrefix(stderr, "Error: not all is well: manager: not installed") {
		t.Errorf("nothing is installed, and the exit code is %d: %s\n%s", code, stderr, stdout)
	}

	const namespace = "loadline-system"
	p := e.newPlace(t, 1)
	must(t, p.Create(t.Context(), p.profile("sort", papers["sort"])))
	must(t, e.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	must(t, e.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "scheduler"}, Data: map[string]string{"scheduler.yaml": `
kind: KubeSchedulerConfiguration
leaderElection: {resourceNamespace: loadline-system}
profiles: [{schedulerName: loadline, plugins: {score: {enabled: [{name: Dilation}]}}}]
`}}))
	for _, component := range []string{"manager", "scheduler"} {
		must(t, e.Create(t.Context(), p.component(namespace, component)))
		must(t, e.Create(t.Context(), &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: component},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: new("loadline-" + component + "-0_1"), LeaseDurationSeconds: new(int32(3600)), RenewTime: new(metav1.NewMicroTime(time.Now())),
			},
		}))
	}
	get, list := []string{"get"}, []string{"list"}
	must(t, e.Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "status"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: list},
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: list},
			{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"scheduler"}, Verbs: get},
		},
	}))
	must(t, e.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "status"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"apps"}, Resources: []string{"daemonsets"}, Verbs: list},
			{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: list},
			{APIGroups: []string{"loadline.dev"}, Resources: []string{"workloadprofiles", "nodeprofiles"}, Verbs: list},
			{APIGroups: []string{"admissionregistration.k8s.io"}, Verbs: list, Resources: []string{
				"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
			}},
		},
	}))
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "default"}}
	must(t, e.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "status"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "status"},
	}))
	must(t, e.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "status"}, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "status"},
	}))

	as := []string{"--as", "system:serviceaccount:" + namespace + ":default", "--as-group", "system:serviceaccounts", "--as-group", "system:authenticated"}
	code, stdout, stderr := e.ask(t, append([]string{"status", "--wait", "1m"}, as...)...)
	if code != 0 || strings.Contains(stdout, "cannot tell") || strings.Contains(stdout, "not known") {
		t.Errorf("exit code %d: %s\n%s", code, stderr, stdout)
	}
	if has := feature.MutatingPolicies(t, e.plane.RESTConfig()); has == strings.Contains(stdout, "the API server has no MutatingAdmissionPolicy v1") {
		t.Errorf("the API server has MutatingAdmissionPolicy v1: %v\n%s", has, stdout)
	}
	code, stdout, stderr = e.ask(t, append([]string{"version"}, as...)...)
	if code != 0 || stderr != "" || !strings.Contains(stdout, "\nmanager 1.2.3 (loadline-system/loadline-manager: ") {
		t.Errorf("exit code %d: %s\n%s", code, stderr, stdout)
	}
}

// component is a Deployment of Loadline whose one pod is on the node of the place.
func (p *place) component(namespace, name string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": "loadline-" + name, "app.kubernetes.io/part-of": "loadline"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "loadline-" + name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					NodeName: p.nodes[0],
					Containers: []corev1.Container{{
						Name: name, Image: "example.test/loadline-" + name + ":1.2.3", Args: []string{"--config", "/etc/loadline/scheduler.yaml"},
						VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/loadline"}},
					}},
					Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: "scheduler"},
					}}}},
				},
			},
		},
	}
}
