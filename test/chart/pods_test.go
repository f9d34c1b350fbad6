package chart

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"loadline.dev/loadline/pkg/evaluate/installation"
)

// podOf is a pod that an object is, or makes.
type podOf struct {
	name string
	meta metav1.ObjectMeta
	spec corev1.PodSpec
	test bool // of "helm test"
	// onNode is for a gauge, which sees the processes of its node, and mounts folders of it.
	onNode bool
}

// pods returns all pods of some objects.
func pods(t *testing.T, all []*unstructured.Unstructured) []podOf {
	t.Helper()
	var found []podOf
	for _, o := range all {
		switch o.GetKind() {
		case "Deployment":
			template := deployment(t, all, o.GetName()).Spec.Template
			found = append(found, podOf{name: o.GetName(), meta: template.ObjectMeta, spec: template.Spec})
		case "DaemonSet":
			template := as[appsv1.DaemonSet](t, all, "DaemonSet", o.GetName()).Spec.Template
			found = append(found, podOf{name: o.GetName(), meta: template.ObjectMeta, spec: template.Spec, onNode: true})
		case "Pod":
			pod := as[corev1.Pod](t, all, "Pod", o.GetName())
			found = append(found, podOf{name: o.GetName(), meta: pod.ObjectMeta, spec: pod.Spec, test: true})
		case "Job", "CronJob", "StatefulSet", "ReplicaSet":
			t.Errorf("%s %s: the checks of this file do not know its kind", o.GetKind(), o.GetName())
		}
	}
	return found
}

// onNodeReasons are the only ones for which a gauge is not restricted.
var onNodeReasons = []string{"host namespaces", "hostPath volumes", "restricted volume types"}

func TestEveryPodKeepsToGoodPractice(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	must(t, err)
	for name, file := range matrix(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := pods(t, renderFile(t, file))
			if len(all) == 0 {
				t.Fatal("there are no pods")
			}
			for i := range all {
				pod := &all[i]
				restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
				for _, result := range evaluator.EvaluatePod(restricted, &pod.meta, &pod.spec) {
					if !result.Allowed && (!pod.onNode || !slices.Contains(onNodeReasons, result.ForbiddenReason)) {
						t.Errorf("%s is not restricted: %s: %s", pod.name, result.ForbiddenReason, result.ForbiddenDetail)
					}
				}
				if pod.spec.ServiceAccountName == "" && (pod.spec.AutomountServiceAccountToken == nil || *pod.spec.AutomountServiceAccountToken) {
					t.Errorf("%s has the token of the default service account", pod.name)
				}
				if pod.spec.HostNetwork || pod.spec.HostPID != pod.onNode || pod.spec.HostIPC {
					t.Errorf("%s is in a namespace of its node", pod.name)
				}
				for j := range pod.spec.Containers {
					for _, complaint := range complaints(&pod.spec.Containers[j], pod.test) {
						t.Errorf("%s: container %s %s", pod.name, pod.spec.Containers[j].Name, complaint)
					}
				}
			}
		})
	}
}

// By Pod Security kubectl loadline tells gauges from pods that only have their labels: not even baseline lets such a pod in,
// whatever else it leaves out of what a gauge has.
func TestPodSecurityLetsNoPodInThatCouldBeTakenForAGauge(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	must(t, err)
	imitation := &corev1.Pod{Spec: corev1.PodSpec{HostPID: true, Containers: []corev1.Container{{Name: "gauge", Image: "any"}}}}
	imitation.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Controller: new(true)}}
	for taken, allowed := range map[bool]bool{true: false, false: true} {
		imitation.Spec.HostPID = taken
		same(t, "whether it is taken for a gauge", installation.IsGauge(imitation), taken)
		baseline := api.LevelVersion{Level: api.LevelBaseline, Version: api.LatestVersion()}
		result := policy.AggregateCheckResults(evaluator.EvaluatePod(baseline, &imitation.ObjectMeta, &imitation.Spec))
		same(t, "whether it is let in", result.Allowed, allowed)
	}
}

// complaints say what is wrong with a container.
func complaints(c *corev1.Container, test bool) []string {
	var all []string
	complain := func(when bool, what string) {
		if when {
			all = append(all, what)
		}
	}
	context := c.SecurityContext
	complain(context == nil || context.ReadOnlyRootFilesystem == nil || !*context.ReadOnlyRootFilesystem, "can write to its root file system")
	complain(context == nil || context.Capabilities == nil || !slices.Contains(context.Capabilities.Drop, "ALL"), "keeps capabilities")
	complain(c.Resources.Requests.Cpu().IsZero(), "requests no CPU")
	complain(c.Resources.Requests.Memory().IsZero(), "requests no memory")
	complain(c.Resources.Limits.Memory().IsZero(), "has no limit of memory")
	_, tag, _ := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":")
	complain(tag == "" || tag == "latest", "has the image "+c.Image+", which may be another tomorrow")
	if !test {
		complain(c.LivenessProbe == nil, "has no liveness probe")
		complain(c.ReadinessProbe == nil, "has no readiness probe")
		for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
			complain(probe != nil && !slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == probe.HTTPGet.Port.StrVal }), "has a probe of a port that it does not have")
		}
	}
	return all
}

func TestReplicasAreSpreadAndSelectedByWhatTheirPodsHave(t *testing.T) {
	t.Parallel()
	selects := func(t *testing.T, what string, selector *metav1.LabelSelector, pod map[string]string) {
		t.Helper()
		s, err := metav1.LabelSelectorAsSelector(selector)
		must(t, err)
		if !s.Matches(labels.Set(pod)) {
			t.Errorf("%s selects %s, and the pods have the labels %v", what, s, pod)
		}
	}
	for _, values := range []string{"default", "maximal"} {
		t.Run(values, func(t *testing.T) {
			t.Parallel()
			all := renderFile(t, matrix(t)[values])
			for _, name := range names(all, "Deployment") {
				d := deployment(t, all, name)
				pod := d.Spec.Template
				selects(t, "the Deployment", d.Spec.Selector, pod.Labels)
				selects(t, "the budget", as[policyv1.PodDisruptionBudget](t, all, "PodDisruptionBudget", name).Spec.Selector, pod.Labels)
				if !strings.HasSuffix(name, "-ui") { // it has no metrics
					name += "-metrics"
				}
				service := as[corev1.Service](t, all, "Service", name)
				selects(t, "the Service", &metav1.LabelSelector{MatchLabels: service.Spec.Selector}, pod.Labels)
				if len(pod.Spec.TopologySpreadConstraints) == 0 {
					t.Errorf("the replicas of %s are not spread", name)
				}
				for i := range pod.Spec.TopologySpreadConstraints {
					selects(t, "the spread", pod.Spec.TopologySpreadConstraints[i].LabelSelector, pod.Labels)
				}
				for _, other := range names(all, "Deployment") {
					if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); other != d.Name && (err != nil || s.Matches(labels.Set(deployment(t, all, other).Spec.Template.Labels))) {
						t.Errorf("%s selects the pods of %s: %v", name, other, err)
					}
				}
			}
		})
	}
}
