package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"loadline.dev/loadline/pkg/evaluate/installation"
)

// components are the programs of the chart, with what their Deployment or DaemonSet is called.
var components = map[string]string{"manager": manager, "scheduler": scheduler, "gauge": gauge, "ui": ui}

// specOf returns the spec of a component's pods.
func specOf(t *testing.T, all []*unstructured.Unstructured, name string) *corev1.PodSpec {
	t.Helper()
	checked := pods(t, all)
	for i := range checked {
		if checked[i].name == name {
			return &checked[i].spec
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

func TestEveryComponentMayHaveAnotherSecurityContext(t *testing.T) {
	t.Parallel()
	for component, name := range components {
		t.Run(component, func(t *testing.T) {
			t.Parallel()
			all := render(t, "podSecurity: {runAsUser: 7}\n"+enabled(component, `
  podSecurityContext: {runAsUser: 1234, fsGroup: 5}
  securityContext: {readOnlyRootFilesystem: false, seccompProfile: {type: Localhost, localhostProfile: a.json}}
`))
			spec := specOf(t, all, name)
			same(t, "the user", *spec.SecurityContext.RunAsUser, 1234)
			same(t, "the group of volumes", *spec.SecurityContext.FSGroup, 5)
			same(t, "what stays of the pod's", *spec.SecurityContext.RunAsNonRoot, true)
			c := spec.Containers[0].SecurityContext
			same(t, "what is replaced", *c.ReadOnlyRootFilesystem, false)
			same(t, "what is added", *c.SeccompProfile.LocalhostProfile, "a.json")
			same(t, "what stays of the container's", c.Capabilities.Drop, []corev1.Capability{"ALL"})
			for other, otherName := range components {
				if other == component || other == "ui" {
					continue
				}
				unchanged := specOf(t, all, otherName)
				if *unchanged.SecurityContext.RunAsUser != 7 || !*unchanged.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("%s has changed, too", other)
				}
			}
		})
	}
}

// enabled returns values of a component, which is enabled.
func enabled(component, values string) string { return component + ":\n  enabled: true" + values }

func TestEveryComponentMayHaveOtherProbes(t *testing.T) {
	t.Parallel()
	for component, name := range components {
		all := render(t, enabled(component, `
  livenessProbe: {failureThreshold: 9, timeoutSeconds: 3}
  readinessProbe: {periodSeconds: 7}
`))
		before := specOf(t, render(t, enabled(component, "")), name).Containers[0]
		c := specOf(t, all, name).Containers[0]
		same(t, "what is replaced of "+component, c.LivenessProbe.FailureThreshold, 9)
		same(t, "what is added to "+component, c.LivenessProbe.TimeoutSeconds, 3)
		same(t, "what stays of "+component, c.LivenessProbe.PeriodSeconds, 20)
		same(t, "where "+component+" is asked whether it lives", c.LivenessProbe.HTTPGet, before.LivenessProbe.HTTPGet)
		same(t, "how often "+component+" is asked whether it is ready", c.ReadinessProbe.PeriodSeconds, 7)
		same(t, "where it is", c.ReadinessProbe.HTTPGet, before.ReadinessProbe.HTTPGet)

		// Another way to ask takes the place of the chart's.
		all = render(t, enabled(component, "\n  readinessProbe: {tcpSocket: {port: https}}\n  livenessProbe: {httpGet: {path: /other}}\n"))
		c = specOf(t, all, name).Containers[0]
		same(t, "how else "+component+" is asked", c.ReadinessProbe.ProbeHandler, corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("https")}})
		same(t, "where else", c.LivenessProbe.HTTPGet.Path, "/other")
		same(t, "at which port", c.LivenessProbe.HTTPGet.Port, before.LivenessProbe.HTTPGet.Port)
	}
}

func TestEveryComponentMayBeReplacedOtherwise(t *testing.T) {
	t.Parallel()
	rolling := map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)}}
	for component, name := range components {
		if component == "gauge" {
			continue
		}
		all := render(t, enabled(component, "\n  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n"))
		strategy, _, err := unstructured.NestedMap(get(t, all, "Deployment", name).Object, "spec", "strategy")
		must(t, err)
		same(t, "the strategy of "+component, strategy, rolling)
	}
	for values, want := range map[string]map[string]any{
		"": {"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": "10%"}},
		"updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}": {"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxUnavailable": int64(0), "maxSurge": int64(1)}},
		"updateStrategy: {type: OnDelete}":                                  {"type": "OnDelete"},
	} {
		strategy, _, err := unstructured.NestedMap(get(t, render(t, "gauge: {"+values+"}"), "DaemonSet", gauge).Object, "spec", "updateStrategy")
		must(t, err)
		same(t, "the gauges' strategy with "+values, strategy, want)
	}
}

func TestGoKeepsToNineTenthsOfTheLimitOfMemory(t *testing.T) {
	t.Parallel()
	for component, name := range components {
		for _, limit := range []string{`64Mi`, `"1Gi"`, `1.5G`, `"0.5Gi"`, `".5Gi"`, `700k`, `2e9`, `"2E9"`, `1Ti`, `536870912`, `"536870912"`, `400000000000m`} {
			c := specOf(t, render(t, enabled(component, "\n  resources: {limits: {memory: "+limit+"}}\n")), name).Containers[0]
			want := resource.MustParse(strings.Trim(limit, `"`))
			same(t, fmt.Sprintf("what %s keeps to with %s", component, limit), variable(&c, "GOMEMLIMIT"), fmt.Sprint(want.Value()/10*9+want.Value()%10*9/10))
		}
		c := specOf(t, render(t, enabled(component, "\n  resources: {limits: {memory: null}}\n")), name).Containers[0]
		given := specOf(t, render(t, enabled(component, "\n  extraEnv: [{name: GOMEMLIMIT, value: \"off\"}]\n")), name).Containers[0]
		same(t, "what "+component+" keeps to without a limit", variable(&c, "GOMEMLIMIT"), "")
		same(t, "what it keeps to where values say it", variable(&given, "GOMEMLIMIT"), "off")
		same(t, "how often that is said", strings.Count(fmt.Sprint(given.Env), "GOMEMLIMIT"), 1)
	}
}

// What looks for Loadline's pods finds them by their commands, and rules by their jobs.
func TestAnotherNameLeavesNothingUnfound(t *testing.T) {
	t.Parallel()
	const values = "nameOverride: slow\nui: {enabled: true}\nmetrics: {serviceMonitor: {enabled: true}}"
	all, err := template(t, "edge", values)
	must(t, err)
	for component := range components {
		name := "edge-slow-" + component
		kind := "Deployment"
		if component == "gauge" {
			kind = "DaemonSet"
		}
		labels, _, err := unstructured.NestedStringMap(get(t, all, kind, name).Object, "spec", "template", "metadata", "labels")
		must(t, err)
		selector, _, err := unstructured.NestedStringMap(get(t, all, kind, name).Object, "spec", "selector", "matchLabels")
		must(t, err)
		same(t, "the name of "+component, labels["app.kubernetes.io/name"], "slow-"+component)
		same(t, "what it is found by", selector, map[string]string{"app.kubernetes.io/name": "slow-" + component, "app.kubernetes.io/instance": "edge"})
		same(t, "what it is a part of", labels[installation.PartOfLabel], installation.PartOf)
		if component == "manager" {
			same(t, "whether kubectl loadline finds it", installation.IsManager(&corev1.Pod{Spec: *specOf(t, all, name)}), true)
		}
		if component == "ui" {
			continue
		}
		endpoint := endpoints(t, all, "ServiceMonitor", name)[0]
		same(t, "the job of "+component, endpoint["relabelings"], any([]any{map[string]any{"targetLabel": "job", "replacement": "loadline-" + component}}))
	}
	_, has := endpoints(t, render(t, "metrics: {serviceMonitor: {enabled: true}}"), "ServiceMonitor", manager)[0]["relabelings"]
	same(t, "whether the job is set without", has, false)
}

// endpoints returns where a monitor scrapes.
func endpoints(t *testing.T, all []*unstructured.Unstructured, kind, name string) []map[string]any {
	t.Helper()
	list, _, err := unstructured.NestedSlice(get(t, all, kind, name).Object, "spec", map[string]string{"PodMonitor": "podMetricsEndpoints", "ServiceMonitor": "endpoints"}[kind])
	must(t, err)
	var found []map[string]any
	for _, endpoint := range list {
		found = append(found, endpoint.(map[string]any)) //nolint:errcheck // an endpoint is an object
	}
	return found
}

func TestServicesAreScrapedWithATokenThatIsGiven(t *testing.T) {
	t.Parallel()
	all := render(t, "metrics: {serviceMonitor: {enabled: true, tokenSecret: {name: s}}}")
	for _, name := range []string{manager, scheduler, gauge} {
		endpoint := endpoints(t, all, "ServiceMonitor", name)[0]
		same(t, "the token of "+name, endpoint["authorization"], any(map[string]any{"type": "Bearer", "credentials": map[string]any{"name": "s", "key": "token"}}))
		_, reads := endpoint["bearerTokenFile"]
		same(t, "whether Prometheus reads a file", reads, false)
	}
}

func TestFurtherObjectsAreTemplates(t *testing.T) {
	t.Parallel()
	all := render(t, `
extraObjects:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-map"}, data: {a: b}}
- |
  apiVersion: v1
  kind: ConfigMap
  metadata: {name: {{ include "loadline.fullname" . }}-text}
`)
	same(t, "a map", get(t, all, "ConfigMap", "loadline-map").Object["data"], any(map[string]any{"a": "b"}))
	get(t, all, "ConfigMap", "loadline-text")
}

// boundIn returns the namespaces in which role bindings of a name are, "" for all.
func boundIn(all []*unstructured.Unstructured, name string) []string {
	where := []string{}
	for _, o := range all {
		if o.GetName() == name && strings.HasSuffix(o.GetKind(), "RoleBinding") {
			where = append(where, o.GetNamespace())
		}
	}
	slices.Sort(where)
	return where
}

func TestTheManagerRunsJobsWhereItMay(t *testing.T) {
	t.Parallel()
	for value, role := range map[string]string{"measurement": manager + "-measurer", "replay": manager + "-replayer"} {
		for values, want := range map[string][]string{
			"":                     {""},
			"allNamespaces: false": {"loadline-system"},
			"allNamespaces: false, namespaces: [shop, loadline-system]": {"loadline-system", "shop"},
		} {
			all := render(t, fmt.Sprintf("rbac: {%s: {%s}}", value, values))
			same(t, "where it may with "+values, boundIn(all, role), want)
			same(t, "where it may do the other", len(boundIn(all, manager+"-measurer"))+len(boundIn(all, manager+"-replayer")), len(want)+1)
		}
	}
	// Nothing but these lets it change what users have.
	all := render(t, "")
	for _, rule := range as[rbacv1.ClusterRole](t, all, "ClusterRole", manager).Rules {
		for _, changed := range []string{"jobs", "configmaps", "pods"} {
			if slices.Contains(rule.Resources, changed) && slices.ContainsFunc(rule.Verbs, func(v string) bool { return v != "get" && v != "list" && v != "watch" }) {
				t.Errorf("the manager's own role lets it %v %s", rule.Verbs, changed)
			}
		}
	}
}
