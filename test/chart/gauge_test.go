package chart

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/observation"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// gaugePods returns the DaemonSet of the gauges and its container.
func gaugePods(t *testing.T, all []*unstructured.Unstructured) (*appsv1.DaemonSet, *corev1.Container) {
	t.Helper()
	d := as[appsv1.DaemonSet](t, all, "DaemonSet", gauge)
	if n := len(d.Spec.Template.Spec.Containers); n != 1 {
		t.Fatalf("a gauge has %d containers, want 1", n)
	}
	return d, &d.Spec.Template.Spec.Containers[0]
}

func TestGaugesRunOnEveryNodeWithoutPrivileges(t *testing.T) {
	t.Parallel()
	d, c := gaugePods(t, render(t, ""))
	pod := d.Spec.Template.Spec
	same(t, "what it tolerates", pod.Tolerations, []corev1.Toleration{{Operator: corev1.TolerationOpExists}})
	same(t, "its nodes", pod.NodeSelector, map[string]string{"kubernetes.io/os": "linux"})
	same(t, "its priority", pod.PriorityClassName, "loadline")
	same(t, "how many are replaced at once", *d.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromString("10%"))
	same(t, "the component of its pods", d.Spec.Template.Labels["app.kubernetes.io/component"], "gauge")
	if !pod.HostPID || pod.HostNetwork || pod.HostIPC {
		t.Errorf("it has process ids %v, network %v and IPC %v of the node, want the first alone", pod.HostPID, pod.HostNetwork, pod.HostIPC)
	}
	same(t, "the security of the pod", pod.SecurityContext, &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}, SupplementalGroups: []int64{0},
	})
	same(t, "the security of the container", c.SecurityContext, &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	})
	same(t, "the memory it may have", c.Resources.Limits.Memory().String(), "64Mi")
	same(t, "the CPU it asks for", c.Resources.Requests.Cpu().String(), "10m")
}

func TestGaugesMountTheirNodeReadOnly(t *testing.T) {
	t.Parallel()
	d, c := gaugePods(t, render(t, ""))
	paths := map[string]string{}
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.HostPath == nil || *v.HostPath.Type != corev1.HostPathDirectory {
			t.Errorf("the volume %s is no folder of the node", v.Name)
			continue
		}
		paths[v.Name] = v.HostPath.Path
	}
	same(t, "what it mounts", paths, map[string]string{"cgroup": "/sys/fs/cgroup", "pod-logs": "/var/log/pods"})
	for _, m := range c.VolumeMounts {
		if !m.ReadOnly || m.RecursiveReadOnly == nil || *m.RecursiveReadOnly != corev1.RecursiveReadOnlyIfPossible {
			t.Errorf("it can write to %s", m.Name)
		}
		if !slices.ContainsFunc(c.Args, func(arg string) bool { return strings.HasSuffix(arg, "="+m.MountPath) }) {
			t.Errorf("it is not told of %s: %q", m.MountPath, c.Args)
		}
	}
}

func TestGaugesWithoutNamesOfPodsAreNotOfTheGroupRoot(t *testing.T) {
	t.Parallel()
	d, c := gaugePods(t, render(t, "gauge: {podNames: false}"))
	same(t, "its groups", d.Spec.Template.Spec.SecurityContext.SupplementalGroups, nil)
	if len(c.VolumeMounts) != 1 || !slices.Contains(c.Args, "--pod-logs=") {
		t.Errorf("it mounts %v, with %q", c.VolumeMounts, c.Args)
	}
}

func TestGaugesHaveANamespaceOfTheirOwn(t *testing.T) {
	t.Parallel()
	all := render(t, "")
	namespace := get(t, all, "Namespace", gauge)
	same(t, "what it enforces", namespace.GetLabels()["pod-security.kubernetes.io/enforce"], "privileged")
	for _, o := range all {
		ours := o.GetLabels()["app.kubernetes.io/name"] == gauge || isTest(o)
		if here := o.GetNamespace() == gauge; here && !ours || o.GetKind() == "DaemonSet" && !here {
			t.Errorf("%s %s is in the namespace %s", o.GetKind(), o.GetName(), o.GetNamespace())
		}
	}
	other := render(t, "gauge: {namespace: {name: monitoring, create: false}}")
	same(t, "the namespaces that are made", names(other, "Namespace"), []string{})
	same(t, "where the gauges are", get(t, other, "DaemonSet", gauge).GetNamespace(), "monitoring")
	for _, account := range []string{gauge, "loadline-reader"} {
		same(t, "where their account "+account+" is", get(t, other, "ServiceAccount", account).GetNamespace(), "monitoring")
	}
}

func TestGaugesMayAskWhoReadsAndReadersMayReadThem(t *testing.T) {
	t.Parallel()
	all := render(t, "")
	same(t, "what gauges may", as[rbacv1.ClusterRole](t, all, "ClusterRole", gauge).Rules, []rbacv1.PolicyRule{
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	})
	same(t, "who they are", as[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding", gauge).Subjects, []rbacv1.Subject{{Kind: "ServiceAccount", Name: gauge, Namespace: gauge}})
	same(t, "what readers may", as[rbacv1.ClusterRole](t, all, "ClusterRole", gauge+"-reader").Rules, []rbacv1.PolicyRule{{NonResourceURLs: []string{"/v1/usage"}, Verbs: []string{"get"}}})
	same(t, "who they are", as[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding", gauge+"-reader").Subjects, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "loadline-reader", Namespace: gauge}})
	reader := as[corev1.ServiceAccount](t, all, "ServiceAccount", "loadline-reader")
	if reader.AutomountServiceAccountToken == nil || *reader.AutomountServiceAccountToken {
		t.Error("pods get the reader's token without asking for it")
	}
}

// What kubectl loadline does to ask gauges works with any names: it takes the account that the pods name, of their namespace.
func TestTheAccountThatGaugesNameMayReadThemAndUsersMayMakeItsTokens(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{"default": "loadline-reader", "maximal": "dashboards"} {
		all := renderFile(t, matrix(t)[values])
		gauges := as[appsv1.DaemonSet](t, all, "DaemonSet", names(all, "DaemonSet")[0])
		name, pod := gauges.Name, &corev1.Pod{ObjectMeta: gauges.Spec.Template.ObjectMeta, Spec: gauges.Spec.Template.Spec}
		pod.Namespace = gauges.Namespace
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(gauges, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
		reader, err := installation.GaugeReader(pod)
		must(t, err)
		same(t, "the account with the values "+values, reader, types.NamespacedName{Namespace: gauges.Namespace, Name: want})
		same(t, "where it is", get(t, all, "ServiceAccount", reader.Name).GetNamespace(), reader.Namespace)
		same(t, "who may read", as[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding", name+"-reader").Subjects,
			[]rbacv1.Subject{{Kind: "ServiceAccount", Name: reader.Name, Namespace: reader.Namespace}})
		same(t, "what users may", as[rbacv1.ClusterRole](t, all, "ClusterRole", name+"-user").Rules, []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"pods/proxy"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, ResourceNames: []string{reader.Name}, Verbs: []string{"create"}},
		})
		for label, value := range installation.GaugeLabels() {
			same(t, "the pods' label "+label, pod.Labels[label], value)
		}
		if !installation.IsGauge(pod) {
			t.Errorf("with the values %s kubectl loadline takes no pod of the DaemonSet for a gauge", values)
		}
		same(t, "its port", installation.UsagePort(pod), usage.Port)
	}
}

// What kubectl loadline does to ask the manager works with any names: the gauges' pods say where it is, and it has its labels.
func TestGaugesNameTheManagerThatCollectsFromThem(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"": "loadline-system", "fullnameOverride: other": "loadline-system", "manager: {observe: {enabled: false}}": "", "manager: {enabled: false}": "",
	} {
		all := render(t, values)
		gauges := as[appsv1.DaemonSet](t, all, "DaemonSet", names(all, "DaemonSet")[0])
		same(t, "where gauges say it is, with "+values, gauges.Spec.Template.Annotations[installation.ManagerAnnotation], want)
		for _, name := range names(all, "Deployment") {
			if !strings.HasSuffix(name, "-manager") {
				continue
			}
			d := as[appsv1.Deployment](t, all, "Deployment", name)
			pod := &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
			same(t, "whether it is the manager", installation.IsManager(pod), true)
			for label, value := range installation.ManagerLabels() {
				same(t, "the label "+label, pod.Labels[label], value)
			}
			served := slices.ContainsFunc(pod.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool { return p.Name == "https" })
			same(t, "whether it serves what it collected, with "+values, served, want != "")
			same(t, "its port", installation.UsagePort(pod), usage.Port)
		}
	}
}

func TestProgramsThatShowSomethingMayAskWhoReads(t *testing.T) {
	t.Parallel()
	all := render(t, "")
	for _, role := range []string{gauge, manager} {
		rules := as[rbacv1.ClusterRole](t, all, "ClusterRole", role).Rules
		for group, resource := range map[string]string{"authentication.k8s.io": "tokenreviews", "authorization.k8s.io": "subjectaccessreviews"} {
			want := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"create"}}
			if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return cmp.Equal(r, want) }) {
				t.Errorf("%s may create no %s", role, resource)
			}
		}
	}
}

// The kubelet asks for health at a port that serves nothing else, which no other port shares.
func TestHealthHasAPortOfItsOwn(t *testing.T) {
	t.Parallel()
	all := render(t, "")
	_, gauges := gaugePods(t, all)
	for name, c := range map[string]*corev1.Container{gauge: gauges, manager: &deployment(t, all, manager).Spec.Template.Spec.Containers[0]} {
		for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
			same(t, "the port of a probe of "+name, probe.HTTPGet.Port.StrVal, "health")
			same(t, "how it is asked", probe.HTTPGet.Scheme, "")
		}
		if !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == "health" && p.ContainerPort == 8081 }) {
			t.Errorf("%s has the ports %v", name, c.Ports)
		}
		for _, o := range all {
			if o.GetKind() == "Service" && strings.Contains(fmt.Sprint(o.Object), "health") {
				t.Errorf("the Service %s leads to it", o.GetName())
			}
		}
	}
}

func TestGaugesGetAProfileWhereThereIsAManagerThatMakesItAndASchedulerThatUsesIt(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"": v1alpha1.ModeApply, "scheduler: {enabled: false}": "", "manager: {enabled: false}": "", "manager: {observe: {enabled: false}}": "",
	} {
		same(t, "the label of their namespace, with "+values, get(t, render(t, values), "Namespace", gauge).GetLabels()[v1alpha1.ObservedProfilesLabel], want)
	}
}

func TestTheTestOfGaugesMayAskThem(t *testing.T) {
	t.Parallel()
	for values, want := range map[string][]string{"": {gauge, "loadline-system"}, "manager: {enabled: false}": {gauge}} {
		var where []string
		for _, o := range render(t, values) {
			if o.GetKind() == "RoleBinding" && isTest(o) {
				where = append(where, o.GetNamespace())
				binding := as[rbacv1.RoleBinding](t, []*unstructured.Unstructured{o}, "RoleBinding", o.GetName())
				same(t, "what is bound", binding.RoleRef.Name, gauge+"-user")
				same(t, "to whom", binding.Subjects, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "loadline-test", Namespace: "loadline-system"}})
			}
		}
		slices.Sort(where)
		same(t, "where it may, with "+values, where, want)
	}
}

func TestTheManagerReadsGaugesWithATokenForThemUnlessOneSaysOtherwise(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]bool{"": true, "manager: {observe: {enabled: false}}": false, "gauge: {enabled: false}": false} {
		all := render(t, values)
		pods := deployment(t, all, manager).Spec.Template.Spec
		container := pods.Containers[0]
		same(t, "whether the role is bound to it, with "+values, slices.Contains(names(all, "ClusterRoleBinding"), manager+"-gauge-reader"), want)
		same(t, "whether it is told where they are, with "+values, slices.Contains(container.Args, "--gauge-namespace="+gauge), want)
		if !want {
			same(t, "how many volumes it has, with "+values, len(pods.Volumes)+len(container.VolumeMounts), 0)
			continue
		}
		token := pods.Volumes[0].Projected.Sources[0].ServiceAccountToken
		same(t, "for whom its token is", token.Audience, "loadline-gauge")
		same(t, "where its token is", filepath.Join(container.VolumeMounts[0].MountPath, token.Path), observation.TokenFile)
		binding := as[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding", manager+"-gauge-reader")
		same(t, "what is bound", binding.RoleRef.Name, gauge+"-reader")
		same(t, "to whom", binding.Subjects, []rbacv1.Subject{{Kind: "ServiceAccount", Name: manager, Namespace: "loadline-system"}})
	}
}

func TestMonitorsOfGaugesKeepTheNamesOfPods(t *testing.T) {
	t.Parallel()
	for kind, values := range map[string]string{
		"PodMonitor":     "metrics: {podMonitor: {enabled: true, tokenSecret: {name: s}}}",
		"ServiceMonitor": "metrics: {serviceMonitor: {enabled: true}}",
	} {
		monitor := get(t, render(t, values), kind, gauge)
		where, _, err := unstructured.NestedStringSlice(monitor.Object, "spec", "namespaceSelector", "matchNames")
		must(t, err)
		same(t, "where the "+kind+" looks", where, []string{gauge})
		same(t, "where the "+kind+" is", monitor.GetNamespace(), "loadline-system")
		list := map[string]string{"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}[kind]
		endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", list)
		must(t, err)
		endpoint := endpoints[0].(map[string]any) //nolint:errcheck // an endpoint is an object
		same(t, "whether it keeps labels", endpoint["honorLabels"], any(true))
		same(t, "its port", endpoint["port"], any("https"))
	}
}

func TestInsightAloneIsTheGaugesAndWhatTheyNeed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(chartDir(), "values-insight-only.yaml")
	all := renderFile(t, file)
	kinds := map[string][]string{}
	for _, o := range all {
		if o.GetKind() != "ClusterRole" { // users' roles stay, for who installs the rest later
			kinds[o.GetKind()] = append(kinds[o.GetKind()], o.GetName())
		}
		for label := range o.GetLabels() {
			if strings.Contains(label, "aggregate") {
				t.Errorf("%s %s changes Kubernetes' own roles", o.GetKind(), o.GetName())
			}
		}
	}
	same(t, "what there is", kinds, map[string][]string{
		"Namespace": {gauge}, "ServiceAccount": {gauge, "loadline-reader", "loadline-test"}, "ClusterRoleBinding": {gauge, gauge + "-reader", "loadline-test"},
		"DaemonSet": {gauge}, "NetworkPolicy": {gauge}, "Service": {gauge + "-metrics"}, "RoleBinding": {"loadline-test-gauge-user"}, "Pod": {"loadline-test-gauge"},
		"PriorityClass": {"loadline"},
	})
}

func TestWithoutGaugesThereIsNothingOfThem(t *testing.T) {
	t.Parallel()
	for _, o := range render(t, "gauge: {enabled: false}\nmetrics: {serviceMonitor: {enabled: true}}") {
		if strings.Contains(o.GetName(), "gauge") || strings.Contains(o.GetName(), "reader") && o.GetKind() == "ServiceAccount" {
			t.Errorf("there is a %s %s", o.GetKind(), o.GetName())
		}
	}
}
