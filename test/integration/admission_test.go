package integration

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/feature"
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

// words returns a map of YAML with n entries, each by a format of its number.
func words(n int, format string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(format, i)
	}
	return "{" + strings.Join(entries, ", ") + "}"
}

func TestTheServerRefusesBadWorkloadProfiles(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}"
	const notALoading = `: a loading is a fraction of the neutral time: write a number from 0 to 1, such as "0.58"`
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
		"a percentage":             {"  selector: {}\n  resources: [{name: cpu, loading: 58%}]", `"58%"` + notALoading},
		"not a number":             {"  selector: {}\n  resources: [{name: cpu, loading: NaN}]", `"NaN"` + notALoading},
		"an endless exponent":      {"  selector: {}\n  resources: [{name: cpu, loading: '1e999999999999'}]", `"1e999999999999"` + notALoading},
		"infinity":                 {"  selector: {}\n  resources: [{name: cpu, loading: Inf}]", `"Inf"` + notALoading},
		"an empty loading":         {"  selector: {}\n  resources: [{name: cpu, loading: ''}]", `""` + notALoading},
		"a decimal comma":          {"  selector: {}\n  resources: [{name: cpu, loading: '0,58'}]", `"0,58"` + notALoading},
		"digits of another script": {"  selector: {}\n  resources: [{name: cpu, loading: '٠.٥'}]", `"٠.٥"` + notALoading},
		"a floating-point number":  {"  selector: {}\n  resources: [{name: cpu, loading: 0.58}]", "spec.resources[0].loading: Invalid value: \"number\""},
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
		"a negative demand":                      {"  selector: {}\n  resources: [{name: cpu, demandMillis: -1}]\n  neutralMillis: 10", "spec.resources[0].demandMillis: Invalid value: -1"},
		"a neutral time of zero":                 {"  selector: {}\n  resources: [{name: cpu, loading: '0.1'}]\n  neutralMillis: 0", "spec.neutralMillis: Invalid value: 0"},
		"zero threads":                           {"  selector: {}\n  resources: [{name: cpu, loading: '0.1', threads: 0}]", "spec.resources[0].threads: Invalid value: 0"},
		"too many threads":                       {"  selector: {}\n  resources: [{name: cpu, loading: '0.1', threads: 20000}]", "spec.resources[0].threads: Invalid value: 20000"},
		"a resource named twice":                 {"  selector: {}\n  resources: [{name: cpu, loading: '0.1'}, {name: cpu, loading: '0.2'}]", `spec.resources[1]: Duplicate value: {"name":"cpu"}`},
		"no resources":                           {"  selector: {}\n  resources: []", "spec.resources: Invalid value"},
		"resources left out":                     {"  selector: {}", "spec.resources: Required value: list the resources that the pods use, or say under measurement how to measure that, or under observation that gauges observe it"},
		"observed":                               {"  selector: {}\n  observation: {mode: apply}", ""},
		"observed, of no mode":                   {"  selector: {}\n  observation: {}", ""},
		"observed and declared":                  {"  selector: {}\n  observation: {}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.observation: Invalid value: resources declares the vector, and observation has it follow what gauges observe: leave one of them out"},
		"observed, of another mode":              {"  selector: {}\n  observation: {mode: 'on'}", `spec.observation.mode: Unsupported value: "on": supported values: "advise", "apply"`},
		"too many resources":                     {"  selector: {}\n  resources: [" + strings.TrimSuffix(strings.Repeat("{name: rX, loading: '0.01'},", 17), ",") + "]", "spec.resources: Too many: 17: must have at most 16 items"},
		"a name in capitals":                     {"  selector: {}\n  resources: [{name: CPU, loading: '0.1'}]", `spec.resources[0].name: Invalid value: "CPU": a resource name consists of lower-case letters, digits and '-'`},
		"a name in another script":               {"  selector: {}\n  resources: [{name: процессор, loading: '0.1'}]", `spec.resources[0].name: Invalid value: "процессор": a resource name consists of`},
		"a name that is too long":                {"  selector: {}\n  resources: [{name: " + strings.Repeat("a", 64) + ", loading: '0.1'}]", "spec.resources[0].name: Too long: may not be more than 63 bytes"},
		"no selector":                            {"  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Required value"},
		"an unknown operator":                    {"  selector: {matchExpressions: [{key: app, operator: Is, values: [a]}]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: operator must be In, NotIn, Exists or DoesNotExist"},
		"In without values":                      {"  selector: {matchExpressions: [{key: app, operator: In}]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: operators In and NotIn need values; Exists and DoesNotExist take none"},
		"Exists with values":                     {"  selector: {matchExpressions: [{key: app, operator: Exists, values: [a]}]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: operators In and NotIn need values"},
		"too many labels":                        {"  selector: {matchLabels: " + words(9, "k%d: a") + "}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: a selector has at most 8 matchLabels"},
		"as many as may be":                      {"  selector: {matchLabels: " + words(8, "k%d: a") + ", matchExpressions: [" + strings.Repeat("{key: app, operator: NotIn, values: [a, b, c, d, e, f, g, h]}, ", 8) + "]}\n  resources: [{name: cpu, loading: '0.1'}]", ""},
		"too many expressions":                   {"  selector: {matchExpressions: [" + strings.Repeat("{key: app, operator: Exists}, ", 9) + "]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: a selector has at most 8 matchExpressions"},
		"too many values":                        {"  selector: {matchExpressions: [{key: app, operator: NotIn, values: [" + strings.Repeat("a, ", 65) + "]}]}\n  resources: [{name: cpu, loading: '0.1'}]", "spec.selector: Invalid value: the matchExpressions of a selector have at most 64 values in all"},
		"too many labels of nodes to measure on": {"  selector: {}\n  measurement: {nodes: {matchLabels: " + words(9, "k%d: a") + "}}", "spec.measurement.nodes: Invalid value: a selector has at most 8 matchLabels"},
		"interference": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  interference: [{name: llc, pressure: '0.7', curve: [{pressure: '0.5', inflation: '1.3'}, {pressure: 1, inflation: 1800m}]}, {name: core, pressure: 2}]", "",
		},
		"interference at a resource with a queue": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}, {name: llc, loading: '0.1'}]\n  interference: [{name: llc}]",
			"spec.interference: Invalid value: a resource has a queue, or is shared without one: list it under resources or under interference, and not under both",
		},
		"a curve out of order": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  interference: [{name: llc, curve: [{pressure: '1', inflation: '1.3'}, {pressure: 500m, inflation: '1.8'}]}]",
			"spec.interference[0].curve: Invalid value: the points of a curve are in the order of their pressures, the smallest first",
		},
		"a falling curve": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  interference: [{name: llc, curve: [{pressure: '0.5', inflation: '2'}, {pressure: '1', inflation: '1.8'}]}]",
			"spec.interference[0].curve: Invalid value: a curve never falls: more pressure does not make a pod faster",
		},
		"a point at no pressure": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  interference: [{name: llc, curve: [{pressure: '0', inflation: '2'}]}]",
			`spec.interference[0].curve[0].pressure: Invalid value: "0": the pressure of a point is above 0 and at most 1000`,
		},
		"a speed-up under pressure": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  interference: [{name: llc, curve: [{pressure: '1', inflation: '0.5'}]}]",
			`spec.interference[0].curve[0].inflation: Invalid value: "0.5": an inflation is how many times longer a pod computes`,
		},
		"half a point": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  interference: [{name: llc, curve: [{pressure: '1'}]}]",
			"spec.interference[0].curve[0].inflation: Required value",
		},
		"a negative pressure": {
			"  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  interference: [{name: llc, pressure: '-1'}]",
			`spec.interference[0].pressure: Invalid value: "-1": a pressure is how hard a thread presses`,
		},
		"a misspelt field": {"  selector: {}\n  resources: [{name: cpu, loadign: '0.1'}]", `unknown field "spec.resources[0].loadign"`},
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
		"a class of nodes":    {"  selector: {matchLabels: {disk: nvme}}\n  resources: [{name: disk, servers: 8}]", ""},
		"zero servers":        {"  selector: {}\n  resources: [{name: disk, servers: 0}]", "spec.resources[0].servers: Invalid value: 0: a resource has between 1 and 16384 servers; leave out a resource that a node does not have"},
		"negative servers":    {"  selector: {}\n  resources: [{name: disk, servers: -1}]", "spec.resources[0].servers: Invalid value: -1: a resource has between 1 and 16384 servers"},
		"half a server":       {"  selector: {}\n  resources: [{name: disk, servers: 0.5}]", "spec.resources[0].servers in body must be of type int"},
		"servers left out":    {"  selector: {}\n  resources: [{name: disk}]", "spec.resources[0].servers: Required value"},
		"no resources":        {"  selector: {}\n  resources: []", "spec.resources: Invalid value"},
		"a resource twice":    {"  selector: {}\n  resources: [{name: disk, servers: 1}, {name: disk, servers: 2}]", `spec.resources[1]: Duplicate value: {"name":"disk"}`},
		"a name in capitals":  {"  selector: {}\n  resources: [{name: DISK, servers: 1}]", `spec.resources[0].name: Invalid value: "DISK": a resource name consists of`},
		"domains alone":       {"  selector: {}\n  interference: [{name: llc, domains: 2}]", ""},
		"no domains":          {"  selector: {}\n  interference: [{name: llc, domains: 0}]", "spec.interference[0].domains: Invalid value: 0: a node has between 1 and 16384 domains"},
		"servers and domains": {"  selector: {}\n  resources: [{name: llc, servers: 2}]\n  interference: [{name: llc, domains: 2}]", "spec.interference: Invalid value: a resource has servers, or is shared without a queue"},
		"no selector":         {"  resources: [{name: disk, servers: 1}]", "spec.selector: Required value"},

		"whole devices":                {"  selector: {}\n  devices: [{name: gpu, extendedResource: nvidia.com/gpu}, {name: mig, extendedResource: nvidia.com/mig-1g.10gb, sharing: Exclusive}]", ""},
		"shared devices":               {"  selector: {}\n  devices: [{name: gpu, count: 8, sharing: TimeSliced}, {name: npu, extendedResource: example.com/npu, replicas: 4, sharing: Concurrent, interference: [npu-memory]}]", ""},
		"no count of devices":          {"  selector: {}\n  devices: [{name: gpu}]", "spec.devices[0].count: Required value: say how many devices a node has under count, or under extendedResource as what it advertises them, such as nvidia.com/gpu"},
		"too many devices":             {"  selector: {}\n  devices: [{name: gpu, count: 65}]", "spec.devices[0].count: Invalid value: 65: a node has between 1 and 64 devices of a kind; leave out a kind that it does not have"},
		"nothing to share at a device": {"  selector: {}\n  devices: [{name: gpu, count: 1, sharing: Concurrent}]", "spec.devices[0].interference: Required value: list what the pods of a Concurrent device share, such as gpu-memory-bandwidth"},
		"replicas of whole devices":    {"  selector: {}\n  devices: [{name: gpu, count: 1, replicas: 4}]", "spec.devices[0].replicas: Invalid value: replicas are for devices that are shared: set sharing to TimeSliced or Concurrent"},
		"shared MIG slices":            {"  selector: {}\n  devices: [{name: gpu, extendedResource: nvidia.com/mig-1g.10gb, sharing: TimeSliced}]", "spec.devices[0].sharing: Invalid value: MIG slices are not shared: leave sharing out, or write Exclusive"},
		"another way to share":         {"  selector: {}\n  devices: [{name: gpu, count: 1, sharing: MPS}]", `spec.devices[0].sharing: Unsupported value: "MPS": supported values: "Exclusive", "TimeSliced", "Concurrent"`},
		"no extended resource":         {"  selector: {}\n  devices: [{name: gpu, extendedResource: gpu}]", `spec.devices[0].extendedResource: Invalid value: "gpu": an extended resource is a domain, a slash and a name, such as nvidia.com/gpu`},
		"a resource of the node":       {"  selector: {}\n  devices: [{name: gpu, count: 1, interference: [llc]}]", `spec.devices[0].interference[0]: Invalid value: "llc": this is a resource of the node: give that of the device another name`},
		"a device and a resource":      {"  selector: {}\n  resources: [{name: gpu, servers: 1}]\n  devices: [{name: gpu, count: 1}]", "spec.devices: Invalid value: a resource is the node's or a device's: list it under devices, or under resources or interference, and not under both"},
		"an unknown operator":          {"  selector: {matchExpressions: [{key: a, operator: is}]}\n  resources: [{name: disk, servers: 1}]", "spec.selector: Invalid value: operator must be In, NotIn, Exists or DoesNotExist"},
		"NotIn without values":         {"  selector: {matchExpressions: [{key: a, operator: NotIn, values: []}]}\n  resources: [{name: disk, servers: 1}]", "spec.selector: Invalid value: operators In and NotIn need values"},
		"too many labels":              {"  selector: {matchLabels: " + words(9, "k%d: a") + "}\n  resources: [{name: disk, servers: 1}]", "spec.selector: Invalid value: a selector has at most 8 matchLabels"},
		"as many as may be":            {"  selector: {matchLabels: " + words(8, "k%d: a") + ", matchExpressions: [" + strings.Repeat("{key: app, operator: NotIn, values: [a, b, c, d, e, f, g, h]}, ", 8) + "]}\n  resources: [{name: disk, servers: 1}]", ""},
		"too many expressions":         {"  selector: {matchExpressions: [" + strings.Repeat("{key: app, operator: Exists}, ", 9) + "]}\n  resources: [{name: disk, servers: 1}]", "spec.selector: Invalid value: a selector has at most 8 matchExpressions"},
		"too many values":              {"  selector: {matchExpressions: [{key: app, operator: NotIn, values: [" + strings.Repeat("a, ", 65) + "]}]}\n  resources: [{name: disk, servers: 1}]", "spec.selector: Invalid value: the matchExpressions of a selector have at most 64 values in all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}

func TestTheServerRefusesABadImportance(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}"
	for importance, want := range map[string]string{
		"5": "", "'0.1'": "", "100": "", "null": "",
		"0":        "spec.importance: Invalid value: 0: an importance is how many times as much a slowdown counts: write a number above 0 and at most 100",
		"'-1'":     "spec.importance: Invalid value: \"-1\": an importance",
		"'100.01'": "spec.importance: Invalid value: \"100.01\": an importance",
		"NaN":      "spec.importance: Invalid value: \"NaN\": an importance",
	} {
		check(t, admit(t, header, "  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  importance: "+importance), want)
	}
}

func TestTheServerRefusesBadSLAs(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: job, namespace: default}"
	const profile = "  selector: {}\n  resources: [{name: cpu, loading: '0.5'}]\n  sla: "
	for name, test := range map[string]struct{ sla, want string }{
		"a response time":               {"{responseTimeMillis: 3000}", ""},
		"a percentile":                  {"{responseTimeMillis: 3000, probability: '0.99', maxDilation: '1.5'}", ""},
		"a dilation":                    {"{maxDilation: 2}", ""},
		"nothing":                       {"{}", "spec.sla: Invalid value: give responseTimeMillis (with a probability) or maxDilation, or both"},
		"a probability of nothing":      {"{maxDilation: 2, probability: '0.9'}", "spec.sla.probability: Invalid value: the probability is that of keeping within responseTimeMillis"},
		"a certainty":                   {"{responseTimeMillis: 1, probability: 1}", "spec.sla.probability: Invalid value: 1: a probability is a number above 0 and below 1"},
		"a dilation that speeds up":     {"{maxDilation: '0.9'}", `spec.sla.maxDilation: Invalid value: "0.9": a dilation is how many times longer than alone a job takes`},
		"a response time before asking": {"{responseTimeMillis: 0}", "spec.sla.responseTimeMillis: Invalid value: 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, profile+test.sla), test.want)
		})
	}
}

func TestTheServerRefusesBadTraceReplays(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: loadline.dev/v1alpha1\nkind: TraceReplay\nmetadata: {name: replay, namespace: default}"
	const (
		nodes = "  nodes: [{name: small}]\n"
		trace = "  trace: {configMap: {name: traces, key: week.csv}}\n"
		types = "types: [{profile: job}]"
	)
	arrivals := func(interarrival string) string {
		return nodes + "  arrivals: {jobs: 100, interarrival: {" + interarrival + "}, " + types + "}\n"
	}
	with := func(more string) string { return nodes + trace + "  " + more }
	for name, test := range map[string]struct{ spec, want string }{
		"a trace":               {nodes + trace, ""},
		"a trace on a volume":   {nodes + "  trace: {format: swf, persistentVolumeClaim: {claimName: data, path: traces/week..swf.gz}, limit: 1000, unsorted: sort}", ""},
		"Poisson arrivals":      {arrivals("meanMillis: 20"), ""},
		"bursty arrivals":       {arrivals("distribution: hyperexponential, meanMillis: 20, scv: '4.5'"), ""},
		"regular arrivals":      {arrivals("distribution: gamma, meanMillis: 20, scv: 250m"), ""},
		"measured arrivals":     {arrivals("distribution: empirical, gapsMillis: [0, 10, 30]"), ""},
		"all that nodes can be": {trace + "  nodes: [{name: large, count: 16, nodeProfile: nvme, maxJobs: 20, resources: [{name: cpu, servers: 16, speed: '1.5'}], capacity: [{name: memory, quantity: 64Gi}, {name: gpu, quantity: 0}]}]", ""},
		"all that one can ask":  {with("policies: [{name: lmuf-t, threshold: '0.9'}, {name: target-load-packing, target: '0.5'}]\n  seeds: 500\n  solver: first-order\n  queue: fifo\n  cpuShares: equal\n  parallelism: 8\n  output: {persistentVolumeClaim: {claimName: data, path: out}}"), ""},

		"requests and limits": {
			nodes + "  cpuShares: requests\n  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a, cpuRequest: 500m, cpuLimit: 500m}, " +
				"{profile: b, cpuRequest: 0, cpuLimit: '1.5'}, {profile: c, cpuRequest: 2}, {profile: d, cpuLimit: 1m}]}", "",
		},

		"neither trace nor arrivals": {nodes, "spec: Invalid value: give either trace (recorded jobs) or arrivals (generated jobs), and not both"},
		"a trace and arrivals":       {arrivals("meanMillis: 20") + trace, "spec: Invalid value: give either trace"},
		"a trace that is nowhere":    {nodes + "  trace: {format: csv}", "spec.trace: Invalid value: give either configMap or persistentVolumeClaim, and not both"},
		"a trace in two places": {
			nodes + "  trace: {configMap: {name: a, key: b}, persistentVolumeClaim: {claimName: a, path: b}}",
			"spec.trace: Invalid value: give either configMap or persistentVolumeClaim",
		},
		"an unknown format":      {nodes + "  trace: {format: tsv, configMap: {name: a, key: b}}", `spec.trace.format: Unsupported value: "tsv": supported values: "csv", "swf", "openb"`},
		"a key that is a path":   {nodes + "  trace: {configMap: {name: a, key: ../b}}", `spec.trace.configMap.key: Invalid value: "../b": a key of a ConfigMap consists of`},
		"an absolute path":       {nodes + "  trace: {persistentVolumeClaim: {claimName: a, path: /etc/passwd}}", "spec.trace.persistentVolumeClaim.path: Invalid value: \"/etc/passwd\": a path is relative"},
		"a path out of a volume": {nodes + "  trace: {persistentVolumeClaim: {claimName: a, path: traces/../../b}}", "spec.trace.persistentVolumeClaim.path: Invalid value: \"traces/../../b\": a path is relative"},
		"no jobs of a trace":     {nodes + "  trace: {limit: 0, configMap: {name: a, key: b}}", "spec.trace.limit: Invalid value: 0"},
		"no jobs":                {nodes + "  arrivals: {jobs: 0, interarrival: {meanMillis: 1}, " + types + "}", "spec.arrivals.jobs: Invalid value: 0"},
		"too many jobs":          {nodes + "  arrivals: {jobs: 10000001, interarrival: {meanMillis: 1}, " + types + "}", "spec.arrivals.jobs: Invalid value: 10000001"},
		"jobs of no type":        {nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: []}", "spec.arrivals.types: Invalid value: 0"},
		"a type twice":           {nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a}, {profile: a}]}", "spec.arrivals.types[1]: Duplicate value"},
		"a weight of zero":       {nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a, weight: 0}]}", "spec.arrivals.types[0].weight: Invalid value: 0"},
		"unknown shares":         {nodes + trace + "  cpuShares: fair", `spec.cpuShares: Unsupported value: "fair": supported values: "equal", "requests"`},
		"a limit below the request": {
			nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a, cpuRequest: 1, cpuLimit: 999m}]}",
			"spec.arrivals.types[0].cpuLimit: Invalid value: a limit must not be less than the request, cpuRequest",
		},
		"a negative request": {
			nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a, cpuRequest: -1m}]}",
			`spec.arrivals.types[0].cpuRequest: Invalid value: "-1m": a request is a number of cores from 0 to 16384, such as 500m`,
		},
		"a request that is no number": {
			nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a, cpuRequest: NaN, cpuLimit: 1}]}",
			`spec.arrivals.types[0].cpuRequest: Invalid value: "NaN": a request is a number of cores`,
		},
		"a limit of zero": {
			nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a, cpuLimit: 0}]}",
			"spec.arrivals.types[0].cpuLimit: Invalid value: 0: a limit is a number of cores above 0 and up to 16384, such as 500m; leave it out for no limit",
		},
		"a huge limit": {
			nodes + "  arrivals: {jobs: 1, interarrival: {meanMillis: 1}, types: [{profile: a, cpuLimit: 16385}]}",
			"spec.arrivals.types[0].cpuLimit: Invalid value: 16385: a limit is a number of cores above 0",
		},
		"arrivals without a mean": {arrivals("distribution: constant"), "spec.arrivals.interarrival: Invalid value: every distribution needs meanMillis, but for empirical"},
		"measured and with a mean": {
			arrivals("distribution: empirical, meanMillis: 3, gapsMillis: [1]"),
			"spec.arrivals.interarrival: Invalid value: every distribution needs meanMillis, but for empirical",
		},
		"measured without measurements": {arrivals("distribution: empirical"), "spec.arrivals.interarrival: Invalid value: the distribution empirical needs gapsMillis, the others take none"},
		"gaps of Poisson arrivals":      {arrivals("meanMillis: 3, gapsMillis: [1]"), "spec.arrivals.interarrival: Invalid value: the distribution empirical needs gapsMillis"},
		"a negative gap":                {arrivals("distribution: empirical, gapsMillis: [1, -1]"), "spec.arrivals.interarrival.gapsMillis[1]: Invalid value: -1"},
		"gamma without scv":             {arrivals("distribution: gamma, meanMillis: 3"), "spec.arrivals.interarrival: Invalid value: gamma, lognormal and hyperexponential need scv"},
		"scv of Poisson arrivals":       {arrivals("meanMillis: 3, scv: 2"), "spec.arrivals.interarrival: Invalid value: gamma, lognormal and hyperexponential need scv"},
		"scv of zero":                   {arrivals("distribution: gamma, meanMillis: 3, scv: 0"), "spec.arrivals.interarrival.scv: Invalid value: 0: a squared coefficient of variation is a number above 0"},
		"scv too small": {
			arrivals("distribution: hyperexponential, meanMillis: 3, scv: '0.5'"),
			"spec.arrivals.interarrival.scv: Invalid value: a hyperexponential distribution varies at least as much as an exponential one",
		},
		"scv with an endless exponent": {arrivals("distribution: hyperexponential, meanMillis: 3, scv: '1e99999999'"), "spec.arrivals.interarrival.scv: Invalid value: "},

		"no nodes":                {trace + "  nodes: []", "spec.nodes: Invalid value: 0"},
		"nodes left out":          {trace, "spec.nodes: Required value"},
		"nodes named twice":       {trace + "  nodes: [{name: a}, {name: a}]", "spec.nodes[1]: Duplicate value"},
		"zero nodes":              {trace + "  nodes: [{name: a, count: 0}]", "spec.nodes[0].count: Invalid value: 0"},
		"zero speed":              {trace + "  nodes: [{name: a, resources: [{name: cpu, speed: 0}]}]", "spec.nodes[0].resources[0].speed: Invalid value: 0: a speed is relative to the node on which demands were measured"},
		"zero servers of a class": {trace + "  nodes: [{name: a, resources: [{name: cpu, servers: 0}]}]", "spec.nodes[0].resources[0].servers: Invalid value: 0"},
		"a negative capacity":     {trace + "  nodes: [{name: a, capacity: [{name: cpu, quantity: '-1'}]}]", "spec.nodes[0].capacity[0].quantity: Invalid value: \"-1\": a capacity is a number that is not negative"},
		"a capacity in capitals":  {trace + "  nodes: [{name: a, capacity: [{name: GPU, quantity: 1}]}]", `spec.nodes[0].capacity[0].name: Invalid value: "GPU": a resource name consists of`},
		"no quantity":             {trace + "  nodes: [{name: a, capacity: [{name: cpu}]}]", "spec.nodes[0].capacity[0].quantity: Required value"},
		"nodes for no job":        {trace + "  nodes: [{name: a, maxJobs: 0}]", "spec.nodes[0].maxJobs: Invalid value: 0"},

		"an unknown policy":          {with("policies: [{name: best}]"), `spec.policies[0].name: Unsupported value: "best": supported values: "round-robin"`},
		"a policy twice":             {with("policies: [{name: lmuf}, {name: lmuf}]"), "spec.policies[1]: Duplicate value"},
		"no policy":                  {with("policies: []"), "spec.policies: Invalid value: 0"},
		"a threshold of another":     {with("policies: [{name: lmuf, threshold: 1}]"), "spec.policies[0].threshold: Invalid value: only lmuf-t has a threshold"},
		"a threshold that is full":   {with("policies: [{name: lmuf-t, threshold: '1.1'}]"), `spec.policies[0].threshold: Invalid value: "1.1": a threshold is a utilization`},
		"a target of another":        {with("policies: [{name: lmuf, target: '0.5'}]"), "spec.policies[0].target: Invalid value: only target-load-packing has a target"},
		"a target that is full":      {with("policies: [{name: target-load-packing, target: 1}]"), "spec.policies[0].target: Invalid value: 1: a target is a utilization"},
		"no seed":                    {with("seeds: 0"), "spec.seeds: Invalid value: 0"},
		"too many runs":              {with("policies: [{name: lmuf}, {name: lrt}]\n  seeds: 501"), "spec: Invalid value: each policy is run with each seed, 1000 runs at most"},
		"too many runs by default":   {with("seeds: 251"), "spec: Invalid value: each policy is run with each seed, 1000 runs at most"},
		"an unknown solver":          {with("solver: best"), "spec.solver: Unsupported value"},
		"an unknown queue":           {with("queue: lifo"), `spec.queue: Unsupported value: "lifo": supported values: "backfill", "fifo"`},
		"a replay that stands still": {with("parallelism: 0"), "spec.parallelism: Invalid value: 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, admit(t, header, test.spec), test.want)
		})
	}
}

func TestTheSpecOfATraceReplayCannotBeChanged(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 0)
	replay := &v1alpha1.TraceReplay{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "replay"},
		Spec: v1alpha1.TraceReplaySpec{
			Trace: &v1alpha1.ReplayTrace{ConfigMap: &v1alpha1.ConfigMapKey{Name: "traces", Key: "week.csv"}},
			Nodes: []v1alpha1.ReplayNodes{{Name: "small"}},
		},
	}
	must(t, p.Create(t.Context(), replay))
	before := replay.DeepCopy()
	replay.Labels = map[string]string{"team": "a"}
	must(t, p.Patch(t.Context(), replay, client.MergeFrom(before)))
	before = replay.DeepCopy()
	replay.Spec.Seeds = new(int32(2))
	err := p.Patch(t.Context(), replay, client.MergeFrom(before))
	if want := "the spec of a TraceReplay cannot be changed: delete it and create another"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the server says %v, want %q", err, want)
	}
}

// check compares what the server says with the message wanted, "" for none. Where the server does not name values, the field and the
// rule must be there.
func check(t *testing.T, got, want string) {
	t.Helper()
	matches := strings.Contains(got, want)
	if !matches && !feature.ValuesInMessages(t, shared.plane.RESTConfig(), shared) {
		field, rule, is := strings.Cut(want, ": Invalid value")
		if !is {
			field, rule = "", want
		}
		matches = strings.Contains(got, field) && strings.Contains(got, withoutValue.ReplaceAllString(rule, ""))
	}
	if (want == "") != (got == "") || !matches {
		t.Errorf("the server says %q, want %q", got, want)
	}
}

// withoutValue matches what stands in a message before the rule: a value, or none.
var withoutValue = regexp.MustCompile(`^(: )?(("[^"]*"|-?[0-9.]+)(: |$))?`)
