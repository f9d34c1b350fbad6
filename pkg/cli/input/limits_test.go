package input

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/text"
)

// profileOf returns a WorkloadProfile with a spec, in flow style.
func profileOf(spec string) string {
	return `{"apiVersion": "loadline.dev/v1alpha1", "kind": "WorkloadProfile", "metadata": {"name": "a"}, "spec": ` + spec + "}\n"
}

// laughs are nine lists, each of nine of the one before.
func laughs() string {
	all := "a0: &a0 [x]\n"
	for i := range 9 {
		all += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9))
	}
	return all
}

// readers are the kinds that verbs read.
func readers() map[string][]Kind {
	return map[string][]Kind{
		"manifests": {WorkloadProfile, NodeProfile, PoolPlan, ShareTree, TraceReplay, RemediationPolicy, Remediation}, "snapshot": Snapshot(), "workloads": append(Workloads(), WorkloadProfile, NodeProfile), "pods": {Pod, Node},
	}
}

// read reads a text as standard input.
func read(text string, kinds ...Kind) (*Objects, error) {
	files := Files{Paths: []string{"-"}, For: "this"}
	return files.Read(verb.Streams{In: strings.NewReader(text)}, kinds...)
}

// hostile are files of at most 1 MB, with the refusal of each; nothing where that depends on the
// kinds that are read.
var hostile = map[string]struct{ file, refusal string }{
	"JSON that is nested deep":         {profileOf(strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)), ": document 1: values are nested 9,001 levels deep; 100 are read at most"},
	"JSON that is nested deeper":       {profileOf(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), ": document 1: is not YAML: exceeded max depth of 10000"},
	"indentation":                      {"a:\n" + indented(1200), ": document 1: values are nested 1,201 levels deep; 100 are read at most"},
	"lists on one line":                {strings.Repeat("- ", 5000) + "a\n", ": document 1: values are nested 5,000 levels deep; 100 are read at most"},
	"the second document":              {"# nothing\n---\n" + strings.Repeat("- ", 200) + "a\n", ": document 2: values are nested 200 levels deep; 100 are read at most"},
	"a billion laughs":                 {laughs(), ": document 1: its aliases stand for more than 3,145,728 bytes: write out what they stand for"},
	"one long laugh":                   {"a: &a " + strings.Repeat("x", 500_000) + "\nb: [" + strings.Repeat("*a, ", 900) + "]\n", ": document 1: its aliases stand for more than 3,145,728 bytes: write out what they stand for"},
	"an alias in what it stands for":   {"a: &a [*a]\n", ": document 1: an alias stands for what it is in"},
	"lines of dashes":                  {strings.Repeat("---\n", 100_000), ": the file has more than 20000 documents; files of up to that many are read"},
	"many documents":                   {strings.Repeat("---\na: 1\n", 100_000), ""},
	"a list of nothing":                {`{"apiVersion": "v1", "kind": "List", "items": [` + strings.Repeat("{},", 300_000) + "{}]}", ""},
	"pods of nothing":                  {`{"apiVersion": "v1", "kind": "PodList", "items": [` + strings.Repeat("{},", 300_000) + "{}]}", ""},
	"a list of nothing in YAML":        {"apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- {}\n", 200_000), ""},
	"an object with a list of nothing": {profileOf(`{"resources": [` + strings.Repeat("{},", 300_000) + "{}]}"), ", document 1: the object holds 300,008 values; 20,000 are read at most"},
	"a long name":                      {strings.Replace(profileOf("{}"), `"a"`, `"`+strings.Repeat("x", 1_000_000)+`"`, 1), ""},
}

func indented(levels int) string {
	var all strings.Builder
	for i := range levels {
		all.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return all.String()
}

// It is not parallel, since allocations of other tests would count.
//
//nolint:paralleltest // as above
func TestReadingAHostileFileCostsInProportionToItsSize(t *testing.T) {
	const most = 150 << 20
	for name, test := range hostile {
		for reader, kinds := range readers() {
			file := []byte(test.file)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := read(string(file), kinds...)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > most {
				t.Errorf("%s, read as %s: %s bytes were allocated for a file of %s, more than %s", name, reader, text.Count(int64(used)), text.Count(int64(len(file))), text.Count(most))
			}
			if want := "standard input" + test.refusal; test.refusal != "" && fmt.Sprint(err) != want {
				t.Errorf("%s, read as %s: the error is %q, want %q", name, reader, fmt.Sprint(err), want)
			}
		}
	}
}

func TestAListHandsOverItsItems(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"a List":              `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}]}`,
		"a PodList":           `{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}]}` + "\n---\n" + `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}`,
		"in YAML":             "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a}\n---\napiVersion: v1\nkind: NodeList\nitems: [{metadata: {name: b}}]\n",
		"JSON after JSON":     `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}` + "\n" + `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}`,
		"lists of none":       "apiVersion: v1\nkind: NodeList\nitems: null\n---\napiVersion: v1\nkind: PodList\nitems: []\n---\napiVersion: v1\nkind: PodList\nitems: [{metadata: {name: a}}]\n---\n" + `{"apiVersion": "v1", "kind": "NodeList", "items": null}` + "\n" + `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}`,
		"brackets in a text":  "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  annotations:\n    art: |\n      " + strings.Repeat("[{", 200) + "\n---\n" + `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}`,
		"an alias of a value": "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: &l {x: z}, annotations: *l}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := read(file, Pod, Node)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Pods) != 1 || got.Pods[0].Name != "a" || len(got.Nodes) != 1 || got.Nodes[0].Name != "b" {
				t.Errorf("read %d pods and %d nodes: %+v", len(got.Pods), len(got.Nodes), got)
			}
		})
	}
}

func TestAListWithoutNamesIsRefused(t *testing.T) {
	t.Parallel()
	_, err := read(`{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}, {}]}`, Pod)
	if want := "standard input, document 1: items[1]: metadata.name: there is none"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
