package integration

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// admit sends a manifest to the API server as kubectl apply would, without
// keeping it, and returns what the server says against it.
func admit(t *testing.T, header, spec string) string {
	t.Helper()
	object := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(header+"\nspec:\n"+spec), object))
	err := shared.Create(t.Context(), object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
	if err == nil {
		return ""
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Fatalf("the server refuses for another reason: %v", err)
	}
	return err.Error()
}

func TestTheServerRefusesBadWorkloadProfiles(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}"
	const sum = "spec.resources: Invalid value: the loadings add up to more than 1"
	for name, test := range map[string]struct{ spec, want string }{
		"what the paper measured": {"  selector: {matchLabels: {app: filecomp}}\n  resources: [{name: cpu, loading: '0.58'}, {name: disk, loading: '0.42'}]\n  neutralMillis: 78080", ""},
		"an integer loading":      {"  selector: {}\n  resources: [{name: cpu, loading: 1}]", ""},
		"milli notation":          {"  selector: {}\n  resources: [{name: cpu, loading: 580m, pressure: 1000m, threads: 4}]", ""},
		"demands":                 {"  selector: {}\n  resources: [{name: cpu, demandMillis: 300}, {name: disk, demandMillis: 700}]\n  neutralMillis: 1000", ""},
		"loading and demand":      {"  selector: {}\n  resources: [{name: cpu, demandMillis: 300}, {name: disk, loading: '0.7'}]\n  neutralMillis: 1000", ""},

		"a sum over 1": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.72'}, {name: disk, loading: '0.42'}]",
			sum + "; they are fractions of the neutral time, so they may add up to 1 at most (the rest is idle time)",
		},
		"a sum of demands over 1": {
			"  selector: {}\n  resources: [{name: cpu, demandMillis: 600}, {name: disk, demandMillis: 700}]\n  neutralMillis: 1000",
			sum + "; they are fractions of the neutral time (demandMillis / neutralMillis)",
		},
		"a mixed sum over 1": {"  selector: {}\n  resources: [{name: cpu, loading: '0.6'}, {name: disk, demandMillis: 700}]\n  neutralMillis: 1000", sum},
		"a negative loading": {
			"  selector: {}\n  resources: [{name: cpu, loading: '-0.1'}]",
			`spec.resources[0].loading: Invalid value: "-0.1": a loading is a fraction of the neutral time: write a number from 0 to 1, such as "0.58"`,
		},
		"a loading above 1": {
			"  selector: {}\n  resources: [{name: cpu, loading: '1.2'}]",
			`spec.resources[0].loading: Invalid value: "1.2": a loading is a fraction of the neutral time`,
		},
		"a percentage":            {"  selector: {}\n  resources: [{name: cpu, loading: 58%}]", "spec.resources[0].loading: Invalid value: "},
		"not a number":            {"  selector: {}\n  resources: [{name: cpu, loading: NaN}]", "spec.resources[0].loading: Invalid value: "},
		"an endless exponent":     {"  selector: {}\n  resources: [{name: cpu, loading: '1e999999999999'}]", "spec.resources[0].loading: Invalid value: "},
		"infinity":                {"  selector: {}\n  resources: [{name: cpu, loading: Inf}]", "spec.resources[0].loading: Invalid value: "},
		"a floating-point number": {"  selector: {}\n  resources: [{name: cpu, loading: 0.58}]", "spec.resources[0].loading: Invalid value: \"number\""},
		"a pressure above 1": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.1', pressure: '3'}]",
			`spec.resources[0].pressure: Invalid value: "3": a pressure is a fraction of time`,
		},
		"no loading at all": {
			"  selector: {}\n  resources: [{name: cpu}]",
			"spec.resources[0]: Invalid value: give either loading (a fraction of the neutral time) or demandMillis (the time spent at the resource), and not both",
		},
		"loading and demand of one": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.1', demandMillis: 10}]\n  neutralMillis: 100",
			"spec.resources[0]: Invalid value: give either loading",
		},
		"a demand without neutral time": {
			"  selector: {}\n  resources: [{name: cpu, demandMillis: 300}]",
			"spec.neutralMillis: Required value: demandMillis is turned into a loading by dividing it by neutralMillis",
		},
		"a negative demand":        {"  selector: {}\n  resources: [{name: cpu, demandMillis: -1}]\n  neutralMillis: 10", "spec.resources[0].demandMillis: Invalid value: -1"},
		"a neutral time of zero":   {"  selector: {}\n  resources: [{name: cpu, loading: '0.1'}]\n  neutralMillis: 0", "spec.neutralMillis: Invalid value: 0"},
		"zero threads":             {"  selector: {}\n  resources: [{name: cpu, loading: '0.1', threads: 0}]", "spec.resources[0].threads: Invalid value: 0"},
		"too many threads":         {"  selector: {}\n  resources: [{name: cpu, loading: '0.1', threads: 20000}]", "spec.resources[0].threads: Invalid value: 20000"},
		"a resource named twice":   {"  selector: {}\n  resources: [{name: cpu, loading: '0.1'}, {name: cpu, loading: '0.2'}]", `spec.resources[1]: Duplicate value: {"name":"cpu"}`},
		"no resources":             {"  selector: {}\n  resources: []", "spec.resources: Invalid value"},
		"resources left out":       {"  selector: {}", "spec.resources: Required value"},
		"too many resources":       {"  selector: {}\n  resources: [" + strings.TrimSuffix(strings.Repeat("{name: rX, loading: '0.01'},", 17), ",") + "]", "spec.resources: Too many: 17: must have at most 16 items"},
		"a name in capitals":       {"  selector: {}\n  resources: [{name: CPU, loading: '0.1'}]", `spec.resources[0].name: Invalid value: "CPU": a resource name consists of lower-case letters, digits and '-'`},
		"a name in another script": {"  selector: {}\n  resources: [{name: процессор, loading: '0.1'}]", `spec.resources[0].name: Invalid value: "процессор": a resource name consists of`},
		"a name that is too long":  {"  selector: {}\n  resources: [{name: " + strings.Repeat("a", 64) + ", loading: '0.1'}]", "spec.resources[0].name: Too long: may not be more than 63 bytes"},
		"no selector":              {"  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Required value"},
		"an unknown operator":      {"  selector: {matchExpressions: [{key: app, operator: Is, values: [a]}]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: operator must be In, NotIn, Exists or DoesNotExist"},
		"In without values":        {"  selector: {matchExpressions: [{key: app, operator: In}]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: operators In and NotIn need values; Exists and DoesNotExist take none"},
		"Exists with values":       {"  selector: {matchExpressions: [{key: app, operator: Exists, values: [a]}]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: operators In and NotIn need values"},
		"a misspelt field":         {"  selector: {}\n  resources: [{name: cpu, loadign: '0.1'}]", `unknown field "spec.resources[0].loadign"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}

func TestTheServerRefusesBadNodeProfiles(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: NodeProfile\nmetadata: {name: class}"
	for name, test := range map[string]struct{ spec, want string }{
		"a class of nodes":     {"  selector: {matchLabels: {disk: nvme}}\n  resources: [{name: disk, servers: 8}]", ""},
		"zero servers":         {"  selector: {}\n  resources: [{name: disk, servers: 0}]", "spec.resources[0].servers: Invalid value: 0: a resource has between 1 and 16384 servers; leave out a resource that a node does not have"},
		"negative servers":     {"  selector: {}\n  resources: [{name: disk, servers: -1}]", "spec.resources[0].servers: Invalid value: -1: a resource has between 1 and 16384 servers"},
		"half a server":        {"  selector: {}\n  resources: [{name: disk, servers: 0.5}]", "spec.resources[0].servers in body must be of type int32"},
		"servers left out":     {"  selector: {}\n  resources: [{name: disk}]", "spec.resources[0].servers: Required value"},
		"no resources":         {"  selector: {}\n  resources: []", "spec.resources: Invalid value"},
		"a resource twice":     {"  selector: {}\n  resources: [{name: disk, servers: 1}, {name: disk, servers: 2}]", `spec.resources[1]: Duplicate value: {"name":"disk"}`},
		"a name in capitals":   {"  selector: {}\n  resources: [{name: DISK, servers: 1}]", `spec.resources[0].name: Invalid value: "DISK": a resource name consists of`},
		"no selector":          {"  resources: [{name: disk, servers: 1}]", "spec.selector: Required value"},
		"an unknown operator":  {"  selector: {matchExpressions: [{key: a, operator: is}]}\n  resources: [{name: disk, servers: 1}]", "spec.selector: Invalid value: operator must be In, NotIn, Exists or DoesNotExist"},
		"NotIn without values": {"  selector: {matchExpressions: [{key: a, operator: NotIn, values: []}]}\n  resources: [{name: disk, servers: 1}]", "spec.selector: Invalid value: operators In and NotIn need values"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}

// check compares what the server says with the message wanted, "" for none.
func check(t *testing.T, got, want string) {
	t.Helper()
	if (want == "") != (got == "") || !strings.Contains(got, want) {
		t.Errorf("the server says %q, want %q", got, want)
	}
}
