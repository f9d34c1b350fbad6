package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/config/v1alpha1"
)

// written is what kube-scheduler hands over of arguments written like this.
func written(text string) *runtime.Unknown {
	return &runtime.Unknown{Raw: []byte(text), ContentType: runtime.ContentTypeJSON}
}

// cpuRule is the rule that pods without a profile follow by default.
var cpuRule = config.RequestRule{Resource: "cpu", Request: corev1.ResourceCPU, PerThread: 1, Utilization: 1, Minimum: 0.1}

// with returns the arguments of a user who gave none, but for some.
func with(change func(*config.DilationArgs)) config.DilationArgs {
	packing := resource.MustParse("1.2")
	args := config.DilationArgs{
		Requests: []config.RequestRule{cpuRule}, SyncTimeoutSeconds: 30, Objective: v1alpha1.ObjectiveTotal,
		PackingMaxDilation: packing.AsApproximateFloat64(), GuardMode: v1alpha1.GuardOff, EventsPerSecond: 5,
		Limits: config.Limits{MinMaxDilation: 1.05, MaxImportance: 10},
	}
	change(&args)
	return args
}

func TestWhatTheUserLeavesOutGetsItsDefault(t *testing.T) {
	t.Parallel()
	defaults := with(func(*config.DilationArgs) {})
	tests := map[string]struct {
		args runtime.Object
		want config.DilationArgs
	}{
		"no arguments":               {nil, defaults},
		"empty arguments":            {written(""), defaults},
		"an empty object":            {written("{}"), defaults},
		"requests that are null":     {written(`{"requests": null}`), defaults},
		"only the type":              {written(`{"apiVersion": "config.loadline.dev/v1alpha1", "kind": "DilationArgs"}`), defaults},
		"a kind without apiVersion":  {written(`{"kind": "DilationArgs"}`), defaults},
		"everything but the timeout": {written(`{"syncTimeoutSeconds": 0}`), with(func(a *config.DilationArgs) { a.SyncTimeoutSeconds = 0 })},
		"cpu's rule, by name only":   {written(`{"requests": [{"resource": "cpu"}]}`), defaults},
		"a minimum where the request is not cpu": {
			written(`{"requests": [{"resource": "cpu"}, {"resource": "gpu", "request": "nvidia.com/gpu"}]}`),
			with(func(a *config.DilationArgs) {
				a.Requests = []config.RequestRule{cpuRule, {Resource: "gpu", Request: "nvidia.com/gpu", PerThread: 1, Utilization: 1}}
			}),
		},
		"a minimum where another resource derives from the cpu request": {
			written(`{"requests": [{"resource": "memory-bandwidth", "request": "cpu", "utilization": "0.25"}]}`),
			with(func(a *config.DilationArgs) {
				a.Requests = []config.RequestRule{{Resource: "memory-bandwidth", Request: corev1.ResourceCPU, PerThread: 1, Utilization: 0.25, Minimum: 0.1}}
			}),
		},
		"an Off that YAML takes for false": {written("guard: {mode: Off}"), defaults},
		"a hold that does not say for how long": {
			written(`{"hold": {"maxDilation": "1.5"}}`),
			with(func(a *config.DilationArgs) { a.HoldMaxDilation, a.HoldMaxWait = 1.5, 5*time.Minute }),
		},
		"one limit of what profiles ask for": {
			written(`{"limits": {"maxImportance": 1}}`),
			with(func(a *config.DilationArgs) { a.Limits.MaxImportance = 1 }),
		},
		"limits of what profiles ask for": {
			written(`{"limits": {"minMaxDilation": "1.25", "maxImportance": "100"}}`),
			with(func(a *config.DilationArgs) { a.Limits = config.Limits{MinMaxDilation: 1.25, MaxImportance: 100} }),
		},
		"a guard and an objective": {
			written(`{"guard": {"mode": "Warn"}, "objective": "Packing", "packing": {"maxDilation": 2}, "eventsPerSecond": 0}`),
			with(func(a *config.DilationArgs) {
				a.GuardMode, a.Objective, a.PackingMaxDilation, a.EventsPerSecond = v1alpha1.GuardWarn, v1alpha1.ObjectivePacking, 2, 0
			}),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.LoadDilationArgs(test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("unexpected arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestArgumentsAreReadInEveryFormat(t *testing.T) {
	t.Parallel()
	const yaml = `apiVersion: config.loadline.dev/v1alpha1
kind: DilationArgs
syncTimeoutSeconds: 5
requests:
- resource: cpu
  perThread: 500m
  utilization: "0.8"
  minimum: 0.05
- {resource: gpu, request: nvidia.com/gpu, perThread: 2, minimum: 1e-1}
`
	want := with(func(a *config.DilationArgs) {
		a.SyncTimeoutSeconds = 5
		a.Requests = []config.RequestRule{
			{Resource: "cpu", Request: "cpu", PerThread: 0.5, Utilization: 0.8, Minimum: 0.05},
			{Resource: "gpu", Request: "nvidia.com/gpu", PerThread: 2, Utilization: 1, Minimum: 0.1},
		}
	})
	tests := map[string]string{
		"YAML":                       yaml,
		"YAML written on Windows":    strings.ReplaceAll(yaml, "\n", "\r\n"),
		"YAML with a document start": "---\n" + yaml,
		"JSON": `{"requests": [{"resource": "cpu", "perThread": "500m", "utilization": "800m", "minimum": "50m"},
			{"resource": "gpu", "request": "nvidia.com/gpu", "perThread": 2, "minimum": "100m"}], "syncTimeoutSeconds": 5}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.LoadDilationArgs(written(text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("unexpected arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// The longest rules are those of Kubernetes.
const (
	notALabel = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, " +
		"and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
	notAName = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	noMinimum = "requests: Required value: at least one rule must have a minimum above 0, or pods without requests would weigh nothing"
)

func TestAnInvalidArgumentIsRefusedByFieldValueAndRule(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ args, want string }{
		"a negative timeout": {
			`{"syncTimeoutSeconds": -1}`,
			`syncTimeoutSeconds: Invalid value: -1: must be at least 0`,
		},
		"no rule": {
			`{"requests": []}`,
			`requests: Required value: without a rule, pods that no profile matches would weigh nothing; leave the field out for the default`,
		},
		"no minimum": {`{"requests": [{"resource": "gpu"}]}`, noMinimum},
		"only minimums of 0": {
			`{"requests": [{"resource": "cpu", "minimum": 0}, {"resource": "gpu", "minimum": "-0"}]}`, noMinimum,
		},
		"two rules for one resource": {
			`{"requests": [{"resource": "cpu"}, {"resource": "gpu"}, {"resource": "cpu", "request": "memory"}]}`,
			`requests[2].resource: Duplicate value: "cpu"`,
		},
		"a resource with a space": {
			`{"requests": [{"resource": "my cpu", "request": "cpu"}]}`,
			`requests[0].resource: Invalid value: "my cpu": ` + notALabel,
		},
		"a resource that looks like cpu": { // its c is Cyrillic
			`{"requests": [{"resource": "сpu", "request": "cpu"}]}`,
			`requests[0].resource: Invalid value: "сpu": ` + notALabel,
		},
		"a resource that no profile could name": {
			`{"requests": [{"resource": "4g", "request": "cpu"}]}`,
			`requests[0].resource: Invalid value: "4g": ` + notALabel,
		},
		"a request that is no name": {
			`{"requests": [{"resource": "cpu"}, {"resource": "gpu", "request": "nvidia.com/gpu!"}]}`,
			`requests[1].request: Invalid value: "nvidia.com/gpu!": ` + notAName,
		},
		"threads of nothing": {
			`{"requests": [{"resource": "cpu", "perThread": 0}]}`,
			`requests[0].perThread: Invalid value: "0": must be more than 0 and at most 1e308`,
		},
		"threads of less than nothing": {
			`{"requests": [{"resource": "cpu", "perThread": "-500m"}]}`,
			`requests[0].perThread: Invalid value: "-500m": must be more than 0 and at most 1e308`,
		},
		"threads that no request makes": {
			`{"requests": [{"resource": "cpu", "perThread": "1e400"}]}`,
			`requests[0].perThread: Invalid value: "10e399": must be more than 0 and at most 1e308`,
		},
		"no utilization": {
			`{"requests": [{"resource": "cpu", "utilization": 0}]}`,
			`requests[0].utilization: Invalid value: "0": must be more than 0 and at most 1`,
		},
		"a utilization in per cent": {
			`{"requests": [{"resource": "cpu", "utilization": 80}]}`,
			`requests[0].utilization: Invalid value: "80": must be more than 0 and at most 1`,
		},
		"a utilization above 1 by the least that can be written": {
			`{"requests": [{"resource": "cpu", "utilization": "1.000000001"}]}`,
			`requests[0].utilization: Invalid value: "1.000000001": must be more than 0 and at most 1`,
		},
		"a negative minimum": {
			`{"requests": [{"resource": "cpu"}, {"resource": "gpu", "minimum": -1}]}`,
			`requests[1].minimum: Invalid value: "-1": must be at least 0 and at most 1e308`,
		},
		"a minimum beyond all numbers": {
			`{"requests": [{"resource": "cpu", "minimum": "1e400"}]}`,
			`requests[0].minimum: Invalid value: "10e399": must be at least 0 and at most 1e308`,
		},
		"an objective that there is not": {
			`{"objective": "total"}`,
			`objective: Unsupported value: "total": supported values: "Total", "Own", "SLARisk", "Packing"`,
		},
		"a mode that there is not": {
			`{"guard": {"mode": "on"}}`,
			`guard.mode: Unsupported value: "on": supported values: "Off", "Warn", "Enforce"`,
		},
		"a lowest bound that holds everything off": {
			`{"limits": {"minMaxDilation": 1}}`,
			`limits.minMaxDilation: Invalid value: "1": must be more than 1: how many times longer than alone a pod may take`,
		},
		"no importance": {
			`{"limits": {"maxImportance": "0.5"}}`,
			`limits.maxImportance: Invalid value: "500m": must be from 1, the importance of a profile that sets none, to 100`,
		},
		"an importance that no profile can have": {
			`{"limits": {"maxImportance": 101}}`,
			`limits.maxImportance: Invalid value: "101": must be from 1, the importance of a profile that sets none, to 100`,
		},
		"an On that YAML takes for true": {
			`guard: {mode: On}`,
			`guard.mode: Unsupported value: "true": supported values: "Off", "Warn", "Enforce"`,
		},
		"packing without any dilation": {
			`{"objective": "Packing", "packing": {"maxDilation": 1}}`,
			`packing.maxDilation: Invalid value: "1": must be more than 1: how many times longer than alone a pod may take`,
		},
		"a hold that does not say at what": {
			`{"hold": {}}`,
			`hold.maxDilation: Required value: say how many times longer than alone a pod may take, such as "1.5"`,
		},
		"a hold of less than no time": {
			`{"hold": {"maxDilation": 2, "maxWaitSeconds": -1}}`,
			`hold.maxWaitSeconds: Invalid value: -1: must be at least 0`,
		},
		"fewer events than none": {
			`{"eventsPerSecond": -1}`,
			`eventsPerSecond: Invalid value: -1: must be at least 0`,
		},
		"several mistakes": {
			`{"syncTimeoutSeconds": -1, "requests": [{"resource": "cpu", "perThread": 0, "utilization": 2}]}`,
			`[syncTimeoutSeconds: Invalid value: -1: must be at least 0, ` +
				`requests[0].perThread: Invalid value: "0": must be more than 0 and at most 1e308, ` +
				`requests[0].utilization: Invalid value: "2": must be more than 0 and at most 1]`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.LoadDilationArgs(written(test.args))
			if err == nil {
				t.Fatalf("accepted as %+v", got)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("unexpected error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNotDilationArgsIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args runtime.Object
		want string // a part of the error
	}{
		"another Go type":   {&corev1.Pod{}, "want args to be of type DilationArgs, got *v1.Pod"},
		"an unknown field":  {written(`{"request": []}`), `request: Forbidden: there is no such field`},
		"a field of a rule": {written(`{"requests": [{"resource": "cpu", "perCore": 1}]}`), `requests[0].perCore: Forbidden: there is no such field`},
		"a field by its wrong case": {
			written(`{"syncTimeoutseconds": 1}`), `syncTimeoutseconds: Forbidden: there is no such field`,
		},
		"a field given twice":  {written(`{"syncTimeoutSeconds": 1, "syncTimeoutSeconds": 2}`), `syncTimeoutSeconds: Forbidden: the field is there twice`},
		"another kind":         {written(`{"kind": "NodeResourcesFitArgs"}`), `kind: Unsupported value: "NodeResourcesFitArgs": supported values: "DilationArgs"`},
		"another version":      {written(`{"apiVersion": "config.loadline.dev/v1"}`), `apiVersion: Unsupported value: "config.loadline.dev/v1": supported values: "config.loadline.dev/v1alpha1"`},
		"another group":        {written(`{"apiVersion": "loadline.dev/v1alpha1", "kind": "WorkloadProfile"}`), `kind: Unsupported value: "WorkloadProfile"`},
		"text that is no YAML": {written("requests: [\n"), "reading DilationArgs: is not YAML: line 1: did not find expected node content"},
		"a list":               {written("[1, 2]"), "is a list where the API wants an object"},
		"a fractional timeout": {written(`{"syncTimeoutSeconds": 1.5}`), "syncTimeoutSeconds: Invalid value: 1.5: is a number where the API wants a whole number"},
		"a timeout too large":  {written(`{"syncTimeoutSeconds": 2147483648}`), "syncTimeoutSeconds: Invalid value: 2147483648: is more than the field holds"},
		"a quantity in words":  {written(`{"requests": [{"resource": "cpu", "minimum": "some"}]}`), `requests[0].minimum: Invalid value: "some": is not a quantity such as 500m or 2`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.LoadDilationArgs(test.args)
			if err == nil {
				t.Fatalf("accepted as %+v", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %q lacks %q", err, test.want)
			}
		})
	}
}

func TestLoadingLeavesTheUsersTextAlone(t *testing.T) {
	t.Parallel()
	args := written(`{"requests": [{"resource": "cpu"}]}`)
	before := args.DeepCopy()
	if _, err := config.LoadDilationArgs(args); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, args); diff != "" {
		t.Errorf("the arguments changed (-want +got):\n%s", diff)
	}
}
