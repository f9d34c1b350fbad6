package chart

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// classes returns the priority classes of all pods but those of "helm test", by what they are.
func classes(t *testing.T, all []*unstructured.Unstructured) map[string]string {
	t.Helper()
	found := map[string]string{}
	checked := pods(t, all)
	for i := range checked {
		if pod := &checked[i]; !pod.test {
			found[pod.name[strings.LastIndex(pod.name, "-")+1:]] = pod.spec.PriorityClassName
		}
	}
	return found
}

func TestTheProgramsHaveAPriorityOfTheirOwn(t *testing.T) {
	t.Parallel()
	const page = "ui: {enabled: true}\n"
	for name, test := range map[string]struct {
		values string
		made   map[string]int32
		want   map[string]string
	}{
		"by default":        {"", map[string]int32{"loadline": 1000000000}, map[string]string{"manager": "loadline", "scheduler": "loadline", "gauge": "loadline", "ui": ""}},
		"with another name": {"fullnameOverride: other\npriorityClass: {value: -7}", map[string]int32{"other": -7}, map[string]string{"manager": "other", "scheduler": "other", "gauge": "other", "ui": ""}},
		"without one":       {"priorityClass: {create: false}", map[string]int32{}, map[string]string{"manager": "", "scheduler": "", "gauge": "", "ui": ""}},
		"with a class of theirs": {
			"priorityClass: {create: false}\nmanager: {priorityClassName: a}\ngauge: {priorityClassName: b}",
			map[string]int32{},
			map[string]string{"manager": "a", "scheduler": "", "gauge": "b", "ui": ""},
		},
		"one with another class": {"gauge: {priorityClassName: b}", map[string]int32{"loadline": 1000000000}, map[string]string{"manager": "loadline", "scheduler": "loadline", "gauge": "b", "ui": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := render(t, page+test.values)
			made := map[string]int32{}
			for _, name := range names(all, "PriorityClass") {
				made[name] = as[schedulingv1.PriorityClass](t, all, "PriorityClass", name).Value
			}
			same(t, "the classes that are made", made, test.made)
			same(t, "the classes of the pods", classes(t, all), test.want)
		})
	}
}

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

func TestThePodsOfTheChartTakeNoQuotaOnGKE(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "admission.yaml")
	must(t, os.WriteFile(config, []byte(criticalPodsAreLimited), 0o600))
	s := startServer(t, "--admission-control-config-file="+config)
	s.addNamespace(t, "loadline-system")
	all := render(t, "ui: {enabled: true}")
	must(t, s.Create(t.Context(), get(t, all, "Namespace", gauge)))
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: gauge, Name: "default"}} // the controller manager makes it too
	must(t, client.IgnoreAlreadyExists(s.Create(t.Context(), account)))
	must(t, s.Create(t.Context(), get(t, all, "PriorityClass", "loadline")))

	priorities := map[string]int32{}
	checked := pods(t, all)
	for i := range checked {
		if checked[i].test {
			continue
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: checked[i].name, Namespace: "loadline-system"}, Spec: checked[i].spec}
		pod.Spec.ServiceAccountName = "default"
		if checked[i].onNode {
			pod.Namespace = gauge
		}
		critical := pod.DeepCopy()
		critical.Spec.PriorityClassName = "system-cluster-critical"
		if err := s.Create(t.Context(), critical); err == nil || !strings.Contains(err.Error(), "insufficient quota to match these scopes") {
			t.Errorf("%s as a critical pod: %v", pod.Name, err)
		}
		var refused error // until the API server has seen the class
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			refused = s.Create(ctx, pod)
			return refused == nil, nil
		}); err != nil {
			t.Errorf("%s: %v", pod.Name, refused)
			continue
		}
		priorities[pod.Name] = *pod.Spec.Priority
	}
	same(t, "the priorities", priorities, map[string]int32{manager: 1000000000, scheduler: 1000000000, gauge: 1000000000, ui: 0})
}
