package predict_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/prediction"
	"loadline.dev/loadline/pkg/profile"
)

// shopProfiles are those of their pods.
const shopProfiles = `---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: service, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, neutralMillis: 100000, resources: [{name: cpu, loading: "0.6"}]}
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: nightly, namespace: shop}
spec: {selector: {matchLabels: {app: batch}}, neutralMillis: 200000, resources: [{name: cpu, loading: "1"}]}
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: other, namespace: etl}
spec: {selector: {matchLabels: {app: web}}, resources: [{name: disk, loading: "1"}]}
`

func TestPredictTakesRequestsForVectorsWhereThereAreNoProfiles(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.ShopWorkloads+"---\n{apiVersion: v1, kind: Service, metadata: {name: web}}\n", "predict", "-f", "-")
	// As the scheduler has it: 500m is half of a core, and the default minimum of 100m counts for 50m.
	const want = `POD          REQUEST   VECTOR    DILATION   IF EQUAL   WAITS FOR
shop/web        500m   assumed      1.01×      1.05×   cpu 0.01 (shop/batch 0.01)
shop/batch       50m   assumed      1.12×      1.05×   cpu 0.12 (shop/web 0.12)
2 pods on one node (servers: cpu 1), exact
No WorkloadProfile selects shop/web (cpu 0.50), shop/batch (cpu 0.10): it is assumed, as by the scheduler, that a pod uses the CPU that it requests, or the rules' minimum, within its limit.
This is one pod of each workload; with all replicas: --pod shop/web=3.
`
	const skipped = "Skipped 1 object of a kind that predict has no use for: Service (1).\n"
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != skipped || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
}

func TestPredictFindsTheProfileThatSelectsAPod(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.ShopWorkloads+shopProfiles, "predict", "-f", "-", "-o", "wide", "--pod", "deployment/web", "--pod", "cj/shop/batch")
	const want = `POD              REQUEST   QOS         VECTOR                            NEUTRAL   DILATION   IF EQUAL   DONE AT   WAITS FOR
deployment/web      500m   Burstable   cpu 0.60 (profile shop/service)    100.0s      1.06×      1.60×    106.0s   cpu 0.06 (cj/shop/batch 0.06)
cj/shop/batch        50m   Burstable   cpu 1.00 (profile shop/nightly)    200.0s      2.30×      1.60×    260.0s   cpu 1.30 (deployment/web 1.30)
2 pods on one node (servers: cpu 1), exact; the node is done after 260.0s
`
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
	// The name of a profile stands for the pods that follow it, with their requests.
	code, stdout, stderr = clitest.Run(t, clitest.ShopWorkloads+shopProfiles, "predict", "-f", "-", "--pod", "service", "--pod", "nightly")
	if code != 0 || !strings.Contains(stdout, "nightly       50m    200.0s      2.30×") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
}

// A question by flags equals the one by the corresponding manifests.
func TestPredictTakesWhatIfsForManifests(t *testing.T) {
	t.Parallel()
	changed := strings.NewReplacer("requests: {cpu: 500m}", "requests: {cpu: 300m}, limits: {cpu: 400m}", "cpu: 50m", "cpu: 200m").Replace(clitest.ShopWorkloads)
	answers := map[string]*prediction.Answer{}
	for name, run := range map[string]struct {
		manifests string
		args      []string
	}{
		"by manifests": {changed, nil},
		"by flags":     {clitest.ShopWorkloads, []string{"--requests", "web=300m,cronjob/batch=200m", "--limits", "deploy/web=400m"}},
	} {
		code, stdout, stderr := clitest.Run(t, run.manifests+shopProfiles, append([]string{"predict", "-f", "-", "-o", "json"}, run.args...)...)
		p := &prediction.Answer{}
		if err := json.Unmarshal([]byte(stdout), p); code != 0 || err != nil {
			t.Fatalf("%s: exit code %d: %s %v", name, code, stderr, err)
		}
		answers[name] = p
	}
	if diff := cmp.Diff(answers["by manifests"], answers["by flags"]); diff != "" {
		t.Errorf("(-by manifests +by flags):\n%s", diff)
	}
	web := answers["by flags"].Pods[0]
	if web.Request.String() != "300m" || web.Limit.String() != "400m" || web.QoSClass != "Burstable" || web.Workload != "deployment/shop/web" ||
		*web.Replicas != 3 || web.Profile != "shop/service" || web.Vector.Source != profile.SourceDeclared {
		t.Errorf("%+v", web)
	}
}

// Every kind gives the answer that the pod itself does.
func TestPredictReadsEveryKindThatHasPods(t *testing.T) {
	t.Parallel()
	const template = `{metadata: {labels: {app: web}}, spec: {containers: [{name: main, resources: {requests: {cpu: 500m}, limits: {cpu: "1"}}}]}}`
	neighbour := "---\n{apiVersion: v1, kind: Pod, metadata: {name: neighbour}, spec: {containers: [{name: main, resources: {requests: {cpu: 50m}}}]}}\n"
	for kind, spec := range map[string]string{
		"apps/v1 Deployment":  "{template: " + template + "}",
		"apps/v1 StatefulSet": "{template: " + template + "}",
		"apps/v1 DaemonSet":   "{template: " + template + "}",
		"apps/v1 ReplicaSet":  "{template: " + template + "}",
		"batch/v1 Job":        "{template: " + template + "}",
		"batch/v1 CronJob":    "{schedule: '@daily', jobTemplate: {spec: {template: " + template + "}}}",
		"v1 Pod":              strings.TrimSuffix(strings.SplitN(template, "spec: ", 2)[1], "}"),
	} {
		version, name, _ := strings.Cut(kind, " ")
		one := fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: größe-1}, spec: %s}", version, name, spec)
		for how, text := range map[string]string{
			"alone":     one + "\n" + neighbour,
			"in a list": fmt.Sprintf("{apiVersion: v1, kind: List, items: [%s]}\n%s", one, neighbour),
			"in its list, with the line ends of Windows": strings.ReplaceAll(fmt.Sprintf("apiVersion: %s\nkind: %sList\nitems:\n- %s\n%s", version, name,
				strings.Replace(one, fmt.Sprintf("apiVersion: %s, kind: %s, ", version, name), "", 1), neighbour), "\n", "\r\n"),
		} {
			code, stdout, stderr := clitest.Run(t, text, "predict", "-f", "-", "-o", "json")
			var p prediction.Answer
			if err := json.Unmarshal([]byte(stdout), &p); code != 0 || err != nil {
				t.Errorf("%s, %s: exit code %d: %s %v", kind, how, code, stderr, err)
				continue
			}
			web := p.Pods[0]
			if web.Name != "größe-1" || web.Workload != strings.ToLower(name)+"/größe-1" || web.Request.String() != "500m" || web.Limit.String() != "1" ||
				math.Abs(web.Demands[0].Loading-0.5) > 1e-9 || web.Dilation <= 1 {
				t.Errorf("%s, %s: %+v", kind, how, web)
			}
		}
	}
}

// What kubectl get prints of everything in a namespace counts once.
func TestPredictCountsThePodsOfAWorkloadOnce(t *testing.T) {
	t.Parallel()
	const owned = `apiVersion: v1
kind: List
items:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, uid: d}, spec: {newer: than this program, replicas: 1, template: {spec: {containers: [{name: main}]}}}}
- {apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, uid: r, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: d, controller: true}]}, spec: {template: {spec: {containers: [{name: main}]}}}}
- {apiVersion: v1, kind: Pod, metadata: {name: web-1-a, uid: p, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: r, controller: true}]}, spec: {containers: [{name: main}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: over, uid: o}, spec: {containers: [{name: main}]}, status: {phase: Succeeded}}
- {apiVersion: apps/v1, kind: StatefulSet, metadata: {name: none}, spec: {replicas: 0, template: {spec: {containers: [{name: main}]}}}}
`
	code, stdout, stderr := clitest.Run(t, owned, "predict", "-f", "-")
	const want = `POD   REQUEST   VECTOR    DILATION   IF EQUAL   WAITS FOR
web         0   assumed      1.00×      1.00×   nothing
1 pod on one node (servers: cpu 1), exact
No WorkloadProfile selects web (cpu 0.10): it is assumed, as by the scheduler, that a pod uses the CPU that it requests, or the rules' minimum, within its limit.
pod/over is left out: it has ended.
statefulset/none is left out: it has no replicas.
`
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
}

func TestPredictSaysThatPodsDoNotFit(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, clitest.ShopWorkloads, "predict", "-f", "-", "--pod", "web=5", "--cores", "2")
	if want := "They request 2500m CPU together, and the node has 2 cores: the scheduler would not put all of them there.\n"; code != 0 || !strings.Contains(stdout, want) {
		t.Errorf("exit code %d, errors %q, want %q in\n%s", code, stderr, want, stdout)
	}
}

func TestPredictRefusesBadManifests(t *testing.T) {
	t.Parallel()
	pod := func(spec string) string {
		return "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " + spec + "}"
	}
	resources := func(text string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{name: main, resources: " + text + "}]}}}}"
	}
	deployment, _, _ := strings.Cut(clitest.ShopWorkloads, "---")
	two := clitest.ShopWorkloads + "---\n" + strings.Replace(deployment, "kind: Deployment\nmetadata: {name: web", "kind: StatefulSet\nmetadata: {name: batch", 1)
	for name, test := range map[string]struct {
		manifest string
		args     []string
		want     string
	}{
		"another kind": {
			"{apiVersion: argoproj.io/v1alpha1, kind: Rollout}", nil,
			"Skipped 1 object of a kind that predict has no use for: Rollout (1).\nError: there is no WorkloadProfile, nor a workload such as a Deployment",
		},
		"an old version":                {"{apiVersion: apps/v1beta1, kind: Deployment}", nil, "predict has no use for: Deployment of apps/v1beta1 (1)."},
		"a node":                        {"{apiVersion: v1, kind: Node}", nil, "predict has no use for: Node (1).\npredict takes no Node: --cores, or a NodeProfile, says how many cores the node has."},
		"no kind":                       {"{apiVersion: v1}", nil, "document 1: kind: there is none"},
		"nothing with pods":             {"{apiVersion: v1, kind: Service}", nil, "there is no WorkloadProfile, nor a workload such as a Deployment"},
		"no name":                       {"{apiVersion: v1, kind: Pod, spec: {containers: [{name: main}]}}", nil, "pod: metadata.name: there is none"},
		"no containers":                 {pod("{containers: []}"), nil, "pod/a: spec.containers: Required value: a pod has at least one container"},
		"containers of one name":        {pod("{containers: [{name: main}, {name: main}]}"), nil, `pod/a: spec.containers[1].name: Duplicate value: "main"`},
		"a misspelt field":              {pod("{containers: [{name: main, resurces: {}}]}"), nil, `spec.containers[0].resurces: Forbidden: there is no such field`},
		"a request above its limit":     {resources("{requests: {cpu: 2}, limits: {cpu: 1}}"), nil, `deployment/a: spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "2": must be less than or equal to the limit of 1`},
		"a negative request":            {resources("{requests: {cpu: -1}}"), nil, `deployment/a: spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		"a negative limit":              {resources("{limits: {cpu: -500m}}"), nil, `limits[cpu]: Invalid value: "-500m": must be greater than or equal to 0`},
		"a huge request":                {resources("{requests: {cpu: 1e30}}"), nil, `requests[cpu]: Invalid value: "1e+30": is more than the 16384 cores that a node may have`},
		"a request in words":            {resources("{requests: {cpu: much}}"), nil, `document 1: spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "much": is not a quantity such as 500m or 2`},
		"two of one name":               {clitest.ShopWorkloads + "---\n" + clitest.ShopWorkloads, nil, "deployment/shop/web: there are two of that name"},
		"a name of two":                 {two, []string{"--pod", "batch"}, `pods "batch": there are several such workloads: cronjob/shop/batch and statefulset/shop/batch`},
		"an unknown workload":           {clitest.ShopWorkloads, []string{"--pod", "job/web"}, `pods "job/web": there is no such workload or WorkloadProfile (there are shop/web, shop/batch)`},
		"all pods are left out":         {pod("{containers: [{name: main}]}, status: {phase: Failed}"), nil, "there is no pod for the node: pod/a is left out, since it has ended; name pods, --pod NAME=COPIES"},
		"a limit in words":              {clitest.ShopWorkloads, []string{"--limits", "web=much"}, `--limits web=much: "much" is not a quantity of CPU such as 500m or 2`},
		"a negative what-if":            {clitest.ShopWorkloads, []string{"--limits", "web=-1"}, `limits: "web": -1 is less than 0`},
		"a huge what-if":                {clitest.ShopWorkloads, []string{"--requests", "web=20k"}, `requests: "web": 20k is more than the 16384 cores that a node may have`},
		"a what-if of no pod":           {clitest.ShopWorkloads, []string{"--limits", "db=1"}, `limits: there is no pod of "db" on the node`},
		"a what-if given twice":         {clitest.ShopWorkloads, []string{"--requests", "web=1,shop/web=2"}, `requests: "web" is given twice, by another name, too`},
		"a limit below the request":     {clitest.ShopWorkloads, []string{"--limits", "web=300m"}, `pods "shop/web": a request of 500m is above the limit of 300m: change both`},
		"a pod without a request":       {clitest.ShopWorkloads + shopProfiles, []string{"--pod", "web", "--pod", "other"}, `requests: there is none for "other": name what every pod on the node requests, 0 for nothing`},
		"an unknown version of cgroups": {clitest.ShopWorkloads, []string{"--cgroup", "v3"}, `--cgroup: "v3" is not one of v1, v2`},
		"an unknown policy":             {clitest.ShopWorkloads, []string{"--cpu-manager-policy", "dynamic"}, `--cpu-manager-policy: "dynamic" is not one of none, static`},
		"a node without a core left": {
			resources("{limits: {cpu: 1, memory: 1Gi}}") + "\n---\n" + clitest.ShopWorkloads,
			[]string{"--cpu-manager-policy", "static"},
			"cores: pods have 1 for themselves, of 1: none is left for the others",
		},
		"a profile that is invalid": {clitest.ShopWorkloads + strings.Replace(shopProfiles, `"0.6"`, `"1.6"`, 1), nil, "workload profile shop/service: spec.resources[0].loading"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, test.manifest, append([]string{"predict", "-f", "-"}, test.args...)...)
			if code != 2 || stdout != "" || !strings.Contains(stderr, test.want) {
				t.Errorf("exit code %d, output %q, errors %q, want %q", code, stdout, stderr, test.want)
			}
		})
	}
}

// The numbers are those of arithmetic: a CPU-bound pod with a limit of a quarter of a core takes four times as long alone, and
// leaves three quarters of the core to the other.
func TestPredictTakesThrottlingByItsOwnLimitForNeutralTime(t *testing.T) {
	t.Parallel()
	const busy = `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: a}
spec: {selector: {}, neutralMillis: 60000, resources: [{name: cpu, loading: "1"}]}
`
	both := busy + "---\n" + strings.Replace(busy, "name: a", "name: b", 1)
	code, stdout, stderr := clitest.Run(t, both, "predict", "-f", "-", "--limits", "a=250m", "--requests", "a=250m,b=250m")
	const want = `POD   REQUEST   LIMIT   NEUTRAL   DILATION   IF EQUAL   DONE AT   WAITS FOR
a        250m    250m    240.0s      1.00×      2.00×    240.0s   nothing
b        250m       -     60.0s      1.33×      2.00×     80.0s   cpu 0.33 (a 0.33)
2 pods on one node (servers: cpu 1), exact; the node is done after 240.0s
Its limit of 250m makes a take 4.00× as long even alone, which is its neutral time here.
`
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
}

func TestPredictGivesGuaranteedPodsCoresOfTheirOwn(t *testing.T) {
	t.Parallel()
	manifests := strings.Replace(clitest.ShopWorkloads, "{requests: {cpu: 500m}}", "{limits: {cpu: 2, memory: 1Gi}}", 1) + shopProfiles
	code, stdout, stderr := clitest.Run(t, manifests, "predict", "-f", "-", "--cores", "3", "--cpu-manager-policy", "static", "--pod", "web", "--pod", "batch=2")
	const want = `POD              REQUEST   LIMIT   VECTOR                 NEUTRAL   DILATION   IF EQUAL   DONE AT   WAITS FOR
web                    2       2   profile shop/service    100.0s      1.00×      1.00×    100.0s   nothing
batch (2 pods)       50m       -   profile shop/nightly    200.0s      2.00×      1.00×    400.0s   cpu 1.00 (batch 1.00)
3 pods on one node (servers: cpu 3), exact; the node is done after 400.0s
web has 2 cores for itself.
The others share 1 core.
`
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
}

// A resize that the node has not made yet changes nothing yet.
func TestPredictTakesWhatIsInEffectWhileAPodIsResized(t *testing.T) {
	t.Parallel()
	const resized = `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: main, resources: {requests: {cpu: 2}}}]},
  status: {phase: Running, qosClass: Burstable, containerStatuses: [{name: main, resources: {requests: {cpu: 300m}}}]}}`
	code, stdout, stderr := clitest.Run(t, resized, "predict", "-f", "-")
	if code != 0 || !strings.Contains(stdout, "\na        300m   assumed") || !strings.Contains(stdout, "a (cpu 0.30)") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
}

// What Koordinator hands out is no CPU request of Kubernetes.
func TestPredictSaysWhatItDoesNotTakeIntoAccount(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, "", "predict", "-f", "../testdata/foreign/batch.yaml", "--cores", "4")
	const want = "Not taken into account: batch requests 2 CPU as kubernetes.io/batch-cpu of Koordinator, which Kubernetes does not count as CPU: " +
		"it is taken for a pod that does not request them, with the weight and the limit of that; a WorkloadProfile can say what it uses.\n"
	if code != 0 || stderr != "" || !strings.HasSuffix(stdout, want) {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
	const there = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4}}}\n---\n" +
		"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x}, spec: {nodeName: n1, containers: [{name: c}]}}\n---\n" +
		"{apiVersion: v1, kind: Pod, metadata: {name: be, namespace: x}, spec: {nodeName: n1, containers: [{name: c, resources: {requests: {kubernetes.io/batch-cpu: 1k}}}]}}\n"
	code, stdout, stderr = clitest.Run(t, there, "explain", "pod", "x/a", "-f", "-")
	if code != 0 || !strings.Contains(stdout, "Not taken into account: x/be requests 1 CPU as kubernetes.io/batch-cpu of Koordinator") {
		t.Errorf("exit code %d, errors %q, output\n%s", code, stderr, stdout)
	}
}

// The annotation that names the devices of pods is one of the template, and a second device is refused.
func TestPredictGoesByTheDevicesOfAManifest(t *testing.T) {
	t.Parallel()
	const node = "apiVersion: loadline.dev/v1alpha1\nkind: NodeProfile\nmetadata: {name: gpus}\nspec: {selector: {}, devices: [{name: gpu, count: 2, extendedResource: nvidia.com/gpu, sharing: TimeSliced, replicas: 2}]}\n---\n"
	pod := func(name, devices string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: %s, annotations: {loadline.dev/devices: %q}}, spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}\n---\n", name, devices)
	}
	code, stdout, stderr := clitest.Run(t, node+pod("a", "gpu-1")+pod("b", "gpu-1"), "predict", "-f", "-", "--cores", "8", "-o", "json")
	var p prediction.Answer
	if err := json.Unmarshal([]byte(stdout), &p); code != 0 || err != nil {
		t.Fatalf("exit code %d: %s %v", code, stderr, err)
	}
	for _, pods := range p.Pods {
		if !cmp.Equal(pods.Devices, []string{"gpu-1"}) || pods.DevicesAssumed {
			t.Errorf("%s is at %v, assumed %v", pods.Name, pods.Devices, pods.DevicesAssumed)
		}
	}
	code, _, stderr = clitest.Run(t, node+pod("a", "gpu-0,gpu-1"), "predict", "-f", "-")
	if want := `"gpu-1" is a second device of its kind: a pod uses one`; code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d: %s, want %s", code, stderr, want)
	}
}

// What is assumed of a pod is no reason to say that its limit slows it down, whether manifests or flags set the limit.
func TestPredictDoesNotSayThatALimitHoldsBackWhatIsAssumed(t *testing.T) {
	t.Parallel()
	const exporter = `apiVersion: v1
kind: Pod
metadata: {name: exporter}
spec: {containers: [{name: main, image: x, resources: {requests: {cpu: 30m}, limits: {cpu: 60m}}}]}
`
	unlimited := strings.Replace(exporter, ", limits: {cpu: 60m}", "", 1)
	for name, run := range map[string]struct {
		manifest string
		args     []string
	}{
		"by the manifest": {exporter, nil}, "by a flag": {unlimited, []string{"--limits", "exporter=60m"}},
		"by two": {strings.Replace(unlimited, "30m", "500m", 1), []string{"--requests", "exporter=30m", "--limits", "exporter=60m"}},
	} {
		code, stdout, stderr := clitest.Run(t, run.manifest, append([]string{"predict", "-f", "-", "-o", "json"}, run.args...)...)
		p := &prediction.Answer{}
		if err := json.Unmarshal([]byte(stdout), p); code != 0 || err != nil {
			t.Fatalf("%s: exit code %d: %s %v", name, code, stderr, err)
		}
		if pods := p.Pods[0]; pods.Throttling != nil || pods.MaxThrottling != nil || math.Abs(pods.Demands[0].Loading-0.06) > 1e-9 {
			t.Errorf("%s: %+v", name, pods)
		}
	}
	_, stdout, _ := clitest.Run(t, exporter, "predict", "-f", "-")
	if !strings.Contains(stdout, "60m   assumed ") || strings.Contains(stdout, "as long") {
		t.Errorf("output:\n%s", stdout)
	}
}

// A tenth of a second in every second takes 1.24 s within a quarter of a core, if it is computed at a time.
func TestPredictSaysWhatALimitMakesOfBursts(t *testing.T) {
	t.Parallel()
	const web = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec: {containers: [{name: main, image: x, resources: {requests: {cpu: 50m}, limits: {cpu: 250m}}}]}
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  neutralMillis: 1000
  resources: [{name: cpu, loading: "0.1"}]
`
	known := strings.Replace(web, `loading: "0.1"`, `loading: "0.1", burstMillis: 100`, 1)
	for name, test := range map[string]struct {
		files string
		args  []string
		want  string
	}{
		"not known":   {web, nil, "if it computes for long at a time, it takes up to 1.24× as long alone: burstMillis in WorkloadProfile web says for how long it does."},
		"known":       {known, nil, "Its limit of 250m makes web take 1.24× as long even alone, which is its neutral time here."},
		"in the time": {known, nil, "web       50m    250m   profile web      1.2s      1.00×"},
		"a core":      {known, []string{"--limits", "web=1"}, "web       50m       1   profile web      1.0s"},
	} {
		code, stdout, stderr := clitest.Run(t, test.files, append([]string{"predict", "-f", "-", "--cores", "4", "--pod", "web"}, test.args...)...)
		if code != 0 || !strings.Contains(stdout, test.want) {
			t.Errorf("%s: exit code %d: %s\n%s", name, code, stderr, stdout)
		}
	}
	if code, _, stderr := clitest.Run(t, strings.Replace(known, "cpu, l", "disk, l", 1), "predict", "-f", "-"); code == 0 || !strings.Contains(stderr, "burstMillis") {
		t.Errorf("bursts at a disk: exit code %d: %s", code, stderr)
	}
}
