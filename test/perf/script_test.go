package perf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const twoCases = `
- name: Other
  workloadTemplate: []
  workloads: []
- name: Gated
  schedulerConfigPath: scheduler-config.yaml
  defaultPodTemplatePath: ../templates/light-pod.yaml
  defaultThresholdMetricSelector: {name: SchedulingThroughput, dataBucket: Perc50}
  featureGates: {SomeFeature: true}
  workloadTemplate:
  - opcode: createNodes
    count: 1
    nodeTemplatePath: ../templates/node.yaml
  - opcode: createNamespaces
    prefix: init
    countParam: $namespaces
  - opcode: createPodSets
    countParam: $namespaces
    namespacePrefix: init
    createPodsOp: {opcode: createPods, countParam: $pods, podTemplatePath: templates/pod.yaml}
  - opcode: churn
    mode: create
    templatePaths: [../templates/churn.yaml]
  - opcode: createPods
    countParam: $pods
    namespace: init-1
  - opcode: deletePods
    namespace: namespace-3
    skipWaitToCompletion: true
  - opcode: createPods
    countParam: $pods
    collectMetrics: true
  workloads:
  - name: small
    params: {namespaces: 1, pods: 1}
  - name: 5000Nodes
    labels: [integration-test]
    threshold: 100
    thresholdMetricSelector: {name: SchedulingThroughput, dataBucket: Perc50}
    params: {namespaces: 2, pods: 30000}
`

func TestATestCaseKeepsOneWorkloadAndHasProfilesAndObservations(t *testing.T) {
	t.Parallel()
	script, err := Adaptation{Case: "Gated", Workload: "5000Nodes", Folder: "/perf/misc", Scheduler: "/tmp/scheduler.yaml", Profile: "/tmp/profile.yaml"}.Adapt([]byte(twoCases))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := yaml.Unmarshal([]byte(`
name: Gated
schedulerConfigPath: /tmp/scheduler.yaml
defaultPodTemplatePath: /perf/templates/light-pod.yaml
featureGates: {SomeFeature: true}
metricsCollectorConfig:
  metrics:
    scheduler_framework_extension_point_duration_seconds: [{label: extension_point, values: [PreScore, Score]}]
workloadTemplate:
- {opcode: createNodes, count: 1, nodeTemplatePath: /perf/templates/node.yaml}
- {opcode: createNamespaces, prefix: init, countParam: $namespaces}
- {opcode: createAny, namespace: init-0, templatePath: /tmp/profile.yaml}
- {opcode: createAny, namespace: init-1, templatePath: /tmp/profile.yaml}
- {opcode: createNodes, count: 0}
- opcode: createPodSets
  countParam: $namespaces
  namespacePrefix: init
  createPodsOp: {opcode: createPods, countParam: $pods, podTemplatePath: /perf/misc/templates/pod.yaml}
- {opcode: createAny, namespace: namespace-3, templatePath: /tmp/profile.yaml}
- {opcode: createNodes, count: 0}
- {opcode: churn, mode: create, namespace: namespace-3, templatePaths: [/perf/templates/churn.yaml]}
- {opcode: createPods, countParam: $pods, namespace: init-1}
- {opcode: deletePods, namespace: namespace-3, skipWaitToCompletion: true}
- {opcode: createAny, namespace: namespace-6, templatePath: /tmp/profile.yaml}
- {opcode: createNodes, count: 0}
- {opcode: createPods, countParam: $pods, namespace: namespace-6, collectMetrics: true}
- {opcode: createNodes, count: 0}
workloads:
- name: 5000Nodes
  labels: [performance]
  params: {namespaces: 2, pods: 30000}
`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, jsonOf(t, script.Case)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	steps := []Step{
		{},
		{Await: []string{"init-0", "init-1"}},
		{Await: []string{"namespace-3"}},
		{Await: []string{"namespace-6"}, Observe: Begin},
		{Observe: End},
	}
	if diff := cmp.Diff(steps, script.Steps); diff != "" {
		t.Errorf("steps (-want +got)\n%s", diff)
	}
	if want := "/perf/misc/scheduler-config.yaml"; script.SchedulerConfig != want {
		t.Errorf("scheduler configuration: got %q, want %q", script.SchedulerConfig, want)
	}
}

// jsonOf returns what upstream's loader reads of an object.
func jsonOf(t *testing.T, object map[string]any) (read map[string]any) {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestWithoutANameTheFirstWorkloadIsKept(t *testing.T) {
	t.Parallel()
	script, err := Adaptation{Case: "Gated"}.Adapt([]byte(twoCases))
	if err != nil {
		t.Fatal(err)
	}
	workloads, err := listOf(script.Case, "workloads")
	if err != nil || len(workloads) != 1 || workloads[0]["name"] != "small" {
		t.Errorf("got %v, %v", workloads, err)
	}
}

func TestMetricsThatAreCollectedFromOneOperationToAnotherAreObservedThere(t *testing.T) {
	t.Parallel()
	script, err := Adaptation{Case: "Events", Profile: "/tmp/profile.yaml"}.Adapt([]byte(`
- name: Events
  workloadTemplate:
  - {opcode: startCollectingMetrics, namespaces: [a]}
  - {opcode: createNodes, count: 1}
  - {opcode: createPods, count: 1, namespace: a}
  - {opcode: stopCollectingMetrics}
  workloads: [{name: one}]
`))
	if err != nil {
		t.Fatal(err)
	}
	steps := []Step{{Observe: Begin}, {}, {Await: []string{"a"}}, {Observe: End}}
	if diff := cmp.Diff(steps, script.Steps); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestATestCaseThatCannotBeAdaptedIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		adaptation Adaptation
		config     string
		want       string
	}{
		"another name":        {Adaptation{Case: "Basic"}, twoCases, "there is no test case Basic"},
		"another workload":    {Adaptation{Case: "Gated", Workload: "big"}, twoCases, "test case Gated: there is no workload big"},
		"no template":         {Adaptation{Case: "A"}, "[{name: A, workloads: [{name: one}]}]", "want workloadTemplate to be a list, got <nil>"},
		"nothing is measured": {Adaptation{Case: "A"}, "[{name: A, workloads: [{name: one}], workloadTemplate: [{opcode: createNodes}]}]", "want one operation that collects metrics"},
		"an unknown parameter": {
			Adaptation{Case: "A"},
			"[{name: A, workloads: [{name: one}], workloadTemplate: [{opcode: createPodSets, countParam: $n}]}]",
			"operation 0: want count or countParam to be a number, got <nil>",
		},
		"not a list": {Adaptation{Case: "A"}, "{}", "reading test cases"},
	} {
		if _, err := c.adaptation.Adapt([]byte(c.config)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestArgumentsOfPluginsAreAddedButForThoseThatThereAre(t *testing.T) {
	t.Parallel()
	got, err := WithPluginConfig([]byte(`
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig: [{name: Dilation, args: {ours: true}}]
`), []byte(`
profiles:
- plugins: {}
  pluginConfig: [{name: Dilation, args: {ours: false}}, {name: PodTopologySpread, args: {defaultingType: List}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := yaml.Unmarshal([]byte(`
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  pluginConfig: [{name: Dilation, args: {ours: true}}, {name: PodTopologySpread, args: {defaultingType: List}}]
`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestASchedulerConfigurationWithSeveralProfilesIsRefused(t *testing.T) {
	t.Parallel()
	one, two := []byte("profiles: [{}]"), []byte("profiles: [{}, {}]")
	for _, c := range [][2][]byte{{one, two}, {two, one}} {
		if got, err := WithPluginConfig(c[0], c[1]); err == nil {
			t.Errorf("got %v", got)
		}
	}
}
