package input

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/cli/verb"
)

const foreign = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: worker-1}}
- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 3}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: a}
spec: {endpoints: "anything"}
---
{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: old}}
---
{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: b}}
`

// One object that a verb has no use for does not keep it from reading the others.
func TestWhatAVerbHasNoUseForIsSkippedAndCounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kinds                  []Kind
		pods, nodes, workloads int
		said                   string
	}{
		"pods":      {[]Kind{Pod}, 1, 0, 0, "Skipped 5 objects of kinds that it has no use for: Deployment (2), ServiceMonitor (2), Node (1).\n"},
		"snapshot":  {Snapshot(), 1, 1, 0, "Skipped 4 objects of kinds that it has no use for: Deployment (2), ServiceMonitor (2).\n"},
		"workloads": {Workloads(), 0, 0, 2, "Skipped 4 objects of kinds that it has no use for: ServiceMonitor (2), Deployment of apps/v1beta1 (1), Node (1).\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var errs bytes.Buffer
			files := Files{Paths: []string{"-"}, For: "it"}
			got, err := files.Read(verb.Streams{In: strings.NewReader(foreign), Err: verb.NewStream(&errs)}, test.kinds...)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Pods) != test.pods || len(got.Nodes) != test.nodes || len(got.Workloads) != test.workloads {
				t.Errorf("read %d pods, %d nodes and %d workloads", len(got.Pods), len(got.Nodes), len(got.Workloads))
			}
			if diff := cmp.Diff(test.said, errs.String()); diff != "" {
				t.Errorf("what is said (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFileIsRefusedByTheFieldOfItsObject(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"no kind":                   {"{metadata: {name: a}}", "document 1: kind: there is none: every object says which kind of which API it is"},
		"no version":                {"{kind: Pod}", "document 1: apiVersion: there is none: every object says which kind of which API it is"},
		"a kind that is no text":    {"{kind: [Pod]}", "document 1: kind: Invalid value: is a list where the API wants a string"},
		"no object":                 {"- a", "document 1: is a list where the API wants an object"},
		"a text":                    {"hello", "document 1: is a string where the API wants an object"},
		"no YAML":                   {"{apiVersion: v1, kind: Node}\n---\na: ]", "document 2: is not YAML: did not find expected node content"},
		"items that are no list":    {"{apiVersion: v1, kind: PodList, items: 7}", "document 1: items: is not a list"},
		"an item that is no object": {"{apiVersion: v1, kind: PodList, items: [7]}", "document 1: items[0]: is a number where the API wants an object"},
		"a misspelt kind of ours":   {"{apiVersion: loadline.dev/v1alpha1, kind: WorkloadProfil}", `document 1: kind: there is no "WorkloadProfil" of "loadline.dev/v1alpha1"; loadline.dev/v1alpha1 has WorkloadProfile, NodeProfile, PoolPlan, ShareTree, TraceReplay, RemediationPolicy, Remediation`},
		"a field of ours":           {"{apiVersion: loadline.dev/v1alpha1, kind: NodeProfile, metadata: {name: a}, spec: {resources: [{name: 7}]}}", "document 1: spec.resources[0].name: Invalid value: 7: is a number where the API wants a string"},
		"a misspelt field":          {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replica: 1}}", "document 1: spec.replica: Forbidden: there is no such field"},
		"metadata that is no text":  {"{apiVersion: v1, kind: Pod, metadata: {name: 7}}", "document 1: metadata.name: Invalid value: 7: is a number where the API wants a string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := read(test.text, append(Workloads(), WorkloadProfile, NodeProfile)...)
			if want := "standard input, " + test.want; err == nil || err.Error() != want {
				t.Errorf("the error is %v, want %s", err, want)
			}
		})
	}
}

// A newer API server has fields that this program lacks, and every object has a UID.
func TestUnknownFieldsOfACluster(t *testing.T) {
	t.Parallel()
	const printed = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, uid: x}, spec: {future: 1}}"
	if got, err := read(printed, Workloads()...); err != nil || len(got.Workloads) != 1 {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestFoldersAreReadAsKubectlReadsThem(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: a}}", "b.yml": "{apiVersion: v1, kind: Pod, metadata: {name: b}}", "c.json": `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c"}}`,
		"notes.txt": "no manifest", "below/d.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: d}}", "empty/notes.txt": "",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		files Files
		want  []string
		err   string
	}{
		"a folder":            {Files{Paths: []string{folder}}, []string{"a", "b", "c"}, ""},
		"and those below":     {Files{Paths: []string{folder}, Recursive: true}, []string{"a", "b", "d", "c"}, ""},
		"a folder and a file": {Files{Paths: []string{filepath.Join(folder, "below"), filepath.Join(folder, "a.yaml")}}, []string{"d", "a"}, ""},
		"none in it":          {Files{Paths: []string{filepath.Join(folder, "empty")}}, nil, filepath.Join(folder, "empty") + ": there is no .json, .yaml or .yml file in the folder; -R reads the folders in it, too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.files.Read(verb.Streams{}, Pod)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("the error is %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i := range got.Pods {
				names = append(names, got.Pods[i].Name)
			}
			if diff := cmp.Diff(test.want, names); diff != "" {
				t.Errorf("what is read (-want +got):\n%s", diff)
			}
		})
	}
}
