package chart

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// kustomize returns what kustomize makes of a folder of the repository, by the
// kubectl that is pinned for the local cluster.
func kustomize(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "-C", filepath.Join(root, "hack", "cluster", "binaries", "node"),
		"tool", "kubectl", "kustomize", filepath.Join(root, filepath.FromSlash(folder)))
	command.Env = append(os.Environ(), "GOFLAGS=") // of another module
	out, err := command.Output()
	if err != nil {
		t.Fatalf("kustomize %s: %v\n%s", folder, err, stderrOf(err))
	}
	// It puts a hash behind the name of a ConfigMap that it makes, where the chart has an annotation.
	return objects(t, regexp.MustCompile(`\b(loadline-scheduler-config)-[a-z0-9]{10}\b`).ReplaceAllString(string(out), "$1"))
}

func stderrOf(err error) string {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

func TestTheChartHasTheSameObjectsAsConfig(t *testing.T) {
	t.Parallel()
	for folder, test := range map[string]struct {
		values string
		flags  []string
	}{
		"config/default":           {values: "one-replica"},
		"config/high-availability": {values: "high-availability"},
		"config/remediation":       {values: "remediation"},
		"config/ui":                {values: "ui"},
		"config/without-pools":     {values: "one-replica", flags: []string{"--kube-version", "1.34.12"}},
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			chart, config := essence(t, renderFile(t, matrix(t)[test.values], test.flags...)), essence(t, kustomize(t, folder))
			same(t, "the chart's objects", slices.Sorted(maps.Keys(chart)), slices.Sorted(maps.Keys(config)))
			for key, object := range config {
				same(t, "the chart's "+key, chart[key], object)
			}
		})
	}
}

// essence returns objects by what and where they are, without what Helm or
// kustomize alone can have:
//
//   - config has the namespace, and a chart is installed into one;
//   - the chart has leases, to remove those of its programs; with config they go with
//     the namespace;
//   - the chart has the objects of "helm test";
//   - Helm's labels, also where pods are selected by them, its annotations, and the
//     checksum by which a configuration replaces pods.
func essence(t *testing.T, all []*unstructured.Unstructured) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, o := range all {
		if isTest(o) || o.GetKind() == "Namespace" || o.GetKind() == "Lease" {
			continue
		}
		o = o.DeepCopy()
		removeAll(o.Object, "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart", "helm.sh/resource-policy", "checksum/config")
		labels := o.GetLabels()
		for _, label := range []string{"app.kubernetes.io/name", "app.kubernetes.io/part-of"} { // config has these where something selects by them
			delete(labels, label)
		}
		if len(labels) == 0 {
			labels = nil
		}
		o.SetLabels(labels)
		if o.GetKind() == "ConfigMap" {
			text, _, err := unstructured.NestedString(o.Object, "data", "scheduler.yaml")
			must(t, err)
			read := readSchedulerConfig(t, text)
			o.Object["data"] = []any{dilationArgs(t, read, "loadline"), withoutArgs(read)}
		}
		key := strings.Join([]string{o.GetKind(), o.GetNamespace(), o.GetName()}, " ")
		if found[key] != nil {
			t.Errorf("there are two %s", key)
		}
		found[key] = o.Object
	}
	return found
}

// removeAll removes keys wherever they are below a value, and maps that are empty
// then.
func removeAll(value any, keys ...string) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range keys {
			delete(value, key)
		}
		for name, below := range value {
			before, is := below.(map[string]any)
			full := is && len(before) > 0
			removeAll(below, keys...)
			if full && len(before) == 0 {
				delete(value, name)
			}
		}
	case []any:
		for _, below := range value {
			removeAll(below, keys...)
		}
	}
}
