package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestAWrongValueIsRefusedByNameAndRule(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		values string
		want   []string // parts of the message
	}{
		"a misspelt value":               {"manager: {replica: 3}", []string{"/manager", "'replica' not allowed"}},
		"a misspelt section":             {"mannager: {replicas: 3}", []string{"'mannager' not allowed"}},
		"a value in the wrong section":   {"replicas: 3", []string{"'replicas' not allowed"}},
		"a number that is text":          {"manager: {replicas: \"3\"}", []string{"/manager/replicas", "want integer"}},
		"fewer than no replicas":         {"manager: {replicas: -1}", []string{"/manager/replicas", "want 0"}},
		"a digest that is too short":     {"manager: {image: {digest: sha256:abc}}", []string{"/manager/image/digest", "does not match pattern"}},
		"a tag in the repository":        {"manager: {image: {repository: \"a:b\"}}", []string{"/manager/image/repository", "does not match pattern"}},
		"a tag that is a number":         {"image: {tag: 1.10}", []string{"/image/tag", "want string"}},
		"a slash behind the registry":    {"image: {registry: r.example.com/}", []string{"/image/registry", "does not match pattern"}},
		"memory in words":                {"probe: {memory: much}", []string{"/probe/memory"}},
		"an argument that is no flag":    {"manager: {extraArgs: [v=2]}", []string{"/manager/extraArgs/0", "does not match pattern"}},
		"a label that is the chart's":    {"commonLabels: {app.kubernetes.io/name: mine}", []string{"/commonLabels/app.kubernetes.io~1name"}},
		"no limit on privileges":         {"podSecurity: {seccompProfile: {type: Unconfined}}", []string{"/podSecurity/seccompProfile/type", "RuntimeDefault"}},
		"a rule of Dilation with a typo": {"scheduler: {dilation: {requests: [{resource: cpu, min: 1}]}}", []string{"/scheduler/dilation/requests/0", "'min' not allowed"}},
		"more nodes than all":            {"scheduler: {percentageOfNodesToScore: 101}", []string{"/scheduler/percentageOfNodesToScore", "want 100"}},
		"another default of spreading":   {"scheduler: {defaultSpreading: List}", []string{"/scheduler/defaultSpreading", "'System', 'None'"}},
		"a constraint without a key":     {"manager: {topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}", []string{"topologyKey"}},
		"an interval in words":           {"metrics: {serviceMonitor: {interval: often}}", []string{"/metrics/serviceMonitor/interval", "does not match pattern"}},
		"two managers that both act":     {"manager: {leaderElection: {enabled: false}}", []string{"manager.replicas: 2 would all act at once: set it to 1, or manager.leaderElection.enabled to true"}},
		"two schedulers that both act":   {"scheduler: {leaderElection: {enabled: false}}", []string{"scheduler.replicas: 2 would all act at once"}},
		"kube-scheduler's name":          {"scheduler: {schedulerName: default-scheduler}", []string{"set scheduler.replaceDefault to true"}},
		"two kinds of monitors":          {"metrics: {serviceMonitor: {enabled: true}, podMonitor: {enabled: true}}", []string{"would be scraped twice"}},
		"a lowest limit of nothing":      {"limits: {minMaxDilation: 1}", []string{"limits.minMaxDilation: 1 must be more than 1"}},
		"an expression as a limit":       {"limits: {minMaxDilation: \"1' || true || '1\"}", []string{"/limits/minMaxDilation", "does not match pattern"}},
		"no importance":                  {"limits: {maxImportance: 0.5}", []string{"limits.maxImportance: 0.5 must be from 1"}},
		"an importance of no profile":    {"limits: {maxImportance: \"101\"}", []string{"limits.maxImportance: 101 must be from 1"}},
		"no threads":                     {"limits: {maxThreads: 0}", []string{"/limits/maxThreads", "want 1"}},
		"an account that does not exist": {"serviceAccounts: {manager: {create: false}}", []string{"serviceAccounts.manager.name", "must name a service account"}},
		"the root user":                  {"podSecurity: {runAsUser: 0}", []string{"/podSecurity/runAsUser", "want 1"}},
		"the root group":                 {"podSecurity: {runAsGroup: 0}", []string{"/podSecurity/runAsGroup", "want 1"}},
		"a priority of Kubernetes' own":  {"priorityClass: {value: 2000000000}", []string{"/priorityClass/value", "want 1"}},
		"some of all namespaces":         {"rbac: {measurement: {namespaces: [shop]}}", []string{"set rbac.measurement.allNamespaces to false"}},
		"replays in some of all":         {"rbac: {replay: {namespaces: [shop]}}", []string{"set rbac.replay.allNamespaces to false"}},
		"two managers in an upgrade":     {"manager: {replicas: 1, leaderElection: {enabled: false}, strategy: {type: RollingUpdate}}", []string{"manager.strategy: ", "set its type to Recreate"}},
		"another strategy":               {"scheduler: {strategy: {type: Rolling}}", []string{"/scheduler/strategy/type"}},
		"a probe with a typo":            {"manager: {livenessProbe: {periodSecond: 5}}", []string{"/manager/livenessProbe", "'periodSecond' not allowed"}},
		"a name that is no label":        {"nameOverride: a_b", []string{"/nameOverride", "does not match pattern"}},
		"an observation in words":        {"gauge: {interval: often}", []string{"/gauge/interval", "does not match pattern"}},
		"no pods in the metrics":         {"gauge: {maxPods: 0}", []string{"/gauge/maxPods", "want 1"}},
		"a namespace that is there":      {"gauge: {namespace: {name: loadline-system}}", []string{"gauge.namespace.create: the release's namespace, loadline-system, is there already"}},
		"an account of no gauge":         {"serviceAccounts: {gauge: {create: false}}", []string{"serviceAccounts.gauge.name", "must name a service account"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := template(t, "loadline", test.values)
			refused(t, err, test.want...)
		})
	}
}

// refused checks that Helm refused values, and that its message has some texts.
func refused(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was accepted")
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the message lacks %q:\n%v", text, err)
		}
	}
}

func TestOldReleasesOfKubernetesAreRefused(t *testing.T) {
	t.Parallel()
	for version, taken := range map[string]bool{"1.34.0": true, "1.34.1-eks-1a2b3c": true, "1.37.2": true, "1.33.9": false, "1.33.14-gke.100": false} {
		for _, values := range []string{"default", "insight-only"} {
			_, err := templateFile(t, "loadline", matrix(t)[values], "--kube-version", version)
			switch {
			case taken && err != nil:
				t.Errorf("%s, %s: %v", version, values, err)
			case !taken:
				refused(t, err, "chart requires kubeVersion: >=1.34.0-0")
			}
		}
	}
}

// open are the values whose fields Kubernetes defines, so that the chart cannot
// know them all.
var open = map[string]bool{"scheduler.config": true, "manager.affinity.nodeAffinity": true, "scheduler.affinity.nodeAffinity": true}

func TestATypoIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(chartDir(), "values.yaml"))
	must(t, err)
	var values map[string]any
	must(t, yaml.UnmarshalStrict(content, &values))
	for _, path := range append(sections(nil, values), nil) { // nil is the whole
		t.Run(strings.Join(path, "."), func(t *testing.T) {
			t.Parallel()
			text := "tpyo: {a: {}}" // no label or quantity either
			for _, section := range slices.Backward(path) {
				text = fmt.Sprintf("%s: {%s}", section, text)
			}
			if _, err := template(t, "loadline", text); err == nil || !strings.Contains(err.Error(), "tpyo") {
				t.Errorf("%s was not refused by name: %v", text, err)
			}
		})
	}
}

// sections returns the paths of all values that are maps.
func sections(path []string, values map[string]any) [][]string {
	var all [][]string
	for name, v := range values {
		here := append(append([]string(nil), path...), name)
		if section, is := v.(map[string]any); is && !open[strings.Join(here, ".")] {
			all = append(all, here)
			all = append(all, sections(here, section)...)
		}
	}
	return all
}
