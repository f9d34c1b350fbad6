package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/explanation"
)

// Two nodes where one more job would make the resident pods exceed their limits, and one that is cordoned.
const (
	guardedNamespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: etl, labels: {loadline.dev/guard: enforce}}\n"
	onlyFullNodes    = clitest.PaperJobsOfEtl + `---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: worker-1, labels: {zone: a}}, status: {allocatable: {cpu: "1", pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-2, labels: {zone: a}}, status: {allocatable: {cpu: "1", pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-3, labels: {zone: a}}, spec: {unschedulable: true}, status: {allocatable: {cpu: "1"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: io-0, namespace: etl, labels: {app: std-io}}, spec: {nodeName: worker-1, containers: [{name: main}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: io-1, namespace: etl, labels: {app: std-io}}, spec: {nodeName: worker-2, containers: [{name: main}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: filecomp-1, namespace: etl, labels: {app: filecomp}}, spec: {nodeName: worker-2, containers: [{name: main}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: filecomp-2, namespace: etl, labels: {app: filecomp}}, spec: {schedulerName: loadline, containers: [{name: main}]}, status: {phase: Pending}}
`
)

func TestSimulateLeavesOutNodesThatTheGuardRefuses(t *testing.T) {
	t.Parallel()
	cluster := clitest.WriteFile(t, "cluster.yaml", strings.Replace(onlyFullNodes, "spec: {unschedulable: true}, ", "", 1)+guardedNamespace)
	code, stdout, stderr := clitest.Run(t, sortJob, "explain", "--simulate", "-", "-f", cluster, "--nodes")
	const want = `A pod of job/etl/sort would go to worker-3, the only node that fits. The scheduler's guard refuses worker-1, worker-2.
There it would run as fast as alone.
RESOURCE   SERVERS   LOADING   WAITS   BECAUSE OF   INFLICTS   ON
cpu              1      0.58    0.00   -                0.00   -
disk             1      0.42    0.00   -                0.00   -
That is within its limit of 1.50×.
Alone it takes 78.1s, there 78.1s.
Vector: WorkloadProfile etl/filecomp, as declared.
This is about the first of its 3 pods; those that follow find it there.

RANK   NODE        COST   WAITS   INFLICTS   PODS   REMARK
   1   worker-3   0.000   0.000      0.000      0
   -   worker-1   0.840   0.420      0.420      1   refused: would slow etl/io-0 down 1.42×, more than its limit of 1.30×, because of disk
   -   worker-2   2.611   0.605      2.006      2   refused: would slow etl/filecomp-1 down 2.24×, more than its limit of 1.50×, because of disk
`
	if diff := cmp.Diff(want, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
	_, stdout, _ = clitest.Run(t, sortJob, "explain", "--simulate", "-", "-f", cluster)
	if want := "The scheduler's guard refuses worker-1, worker-2 (--nodes says why).\n"; !strings.Contains(stdout, want) {
		t.Errorf("%q is not in\n%s", want, stdout)
	}
}

func TestWhereAllNodesAreRefusedTheAnswerIsNo(t *testing.T) {
	t.Parallel()
	cluster := clitest.WriteFile(t, "cluster.yaml", onlyFullNodes+guardedNamespace)
	code, stdout, stderr := clitest.Run(t, sortJob, "explain", "--simulate", "-", "-f", cluster)
	const simulated = `A pod of job/etl/sort would wait: the scheduler's guard refuses all 2 nodes that fit.
What would make room: worker-1 without etl/io-0.
Vector: WorkloadProfile etl/filecomp, as declared.
This is about the first of its 3 pods; those that follow find it there.

RANK   NODE        COST   WAITS   INFLICTS   PODS   REMARK
   -   worker-1   0.840   0.420      0.420      1   refused: would slow etl/io-0 down 1.42×, more than its limit of 1.30×, because of disk
   -   worker-2   2.611   0.605      2.006      2   refused: would slow etl/filecomp-1 down 2.24×, more than its limit of 1.50×, because of disk
   -   worker-3   0.000   0.000      0.000      0   does not fit: node(s) were unschedulable
`
	if diff := cmp.Diff(simulated, stdout); code != 1 || stderr != "Error: no node takes the pod: the scheduler's guard refuses all 2 nodes that fit\n" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}

	// The same of a pod that waits, by the mode of the scheduler's configuration.
	scheduler := clitest.WriteFile(t, "scheduler.yaml", guarding("Enforce"))
	code, stdout, stderr = clitest.Run(t, onlyFullNodes, "explain", "pod", "etl/filecomp-2", "-f", "-", "--scheduler", scheduler)
	const waiting = `etl/filecomp-2 waits for a node.
Vector: WorkloadProfile etl/filecomp, as declared.

RANK   NODE        COST   WAITS   INFLICTS   PODS   REMARK
   -   worker-1   0.840   0.420      0.420      1   refused: would slow etl/io-0 down 1.42×, more than its limit of 1.30×, because of disk
   -   worker-2   1.866   0.933      0.933      2   refused: would slow etl/io-1 down 1.79×, more than its limit of 1.30×, because of disk
   -   worker-3   0.000   0.000      0.000      0   does not fit: node(s) were unschedulable
No node takes it: the scheduler's guard refuses all 2 nodes that fit.
What would make room: worker-1 without etl/io-0.
`
	if diff := cmp.Diff(waiting, stdout); code != 0 || stderr != "" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}
}

// guarding is the configuration of a scheduler whose guard has a mode.
func guarding(mode string) string {
	return strings.Replace(clitest.SchedulerYAML, "requests: [{resource: cpu, minimum: 200m}]", `guard: {mode: "`+mode+`"}`, 1)
}

// holding is the configuration of a scheduler that lets pods wait.
func holding(hold string) string {
	return strings.Replace(clitest.SchedulerYAML, "requests: [{resource: cpu, minimum: 200m}]", hold, 1)
}

func TestPodsThatWouldBeHeldWait(t *testing.T) {
	t.Parallel()
	cluster := clitest.WriteFile(t, "cluster.yaml", onlyFullNodes)
	held := clitest.WriteFile(t, "held.yaml", holding(`hold: {maxDilation: "1.1"}`))
	code, stdout, stderr := clitest.Run(t, sortJob, "explain", "--simulate", "-", "-f", cluster, "--scheduler", held)
	const want = `A pod of job/etl/sort would wait: all 2 nodes that fit are too busy for now.
It waits until it would run less than 1.10× slower on a node, 5m at most: then it takes worker-1.
Vector: WorkloadProfile etl/filecomp, as declared.
This is about the first of its 3 pods; those that follow find it there.

RANK   NODE        COST   WAITS   INFLICTS   PODS   REMARK
   -   worker-1   0.840   0.420      0.420      1   too busy for now: the pod would run 1.5× slower, and waits for less than 1.10×
   -   worker-2   2.611   0.605      2.006      2   too busy for now: the pod would run 1.7× slower, and waits for less than 1.10×
   -   worker-3   0.000   0.000      0.000      0   does not fit: node(s) were unschedulable
`
	if diff := cmp.Diff(want, stdout); code != 1 || stderr != "Error: no node takes the pod: all 2 nodes that fit are too busy for now\n" || diff != "" {
		t.Errorf("exit code %d, errors %q (-want +got):\n%s", code, stderr, diff)
	}

	// The guard goes first, and a dilation above the hold on one node may be below it on the other.
	for name, test := range map[string]struct{ cluster, scheduler, hold, want string }{
		"guard and hold": {
			onlyFullNodes + guardedNamespace, "loadline", `hold: {maxDilation: "1.1", maxWaitSeconds: 0}`,
			"would wait: the scheduler's guard refuses all 2 nodes that fit.\n",
		},
		"for as long as it takes": {
			onlyFullNodes, "loadline", `hold: {maxDilation: "1.1", maxWaitSeconds: 0}`, "It waits until it would run less than 1.10× slower on a node.\n",
		},
		"one of them": {
			onlyFullNodes, "loadline", `hold: {maxDilation: "1.6"}`,
			"would go to worker-1, the only node that fits. Too busy for now: worker-2 (--nodes says why).\n",
		},
		"by another scheduler": {
			onlyFullNodes, "other", `hold: {maxDilation: "1.1"}`, "would go to worker-1, the cheapest of 2 nodes that fit.\n",
		},
	} {
		job := strings.Replace(sortJob, "schedulerName: loadline", "schedulerName: "+test.scheduler, 1)
		_, stdout, _ := clitest.Run(t, job, "explain", "--simulate", "-", "-f", clitest.WriteFile(t, "cluster.yaml", test.cluster), "--scheduler", clitest.WriteFile(t, "scheduler.yaml", holding(test.hold)))
		if !strings.Contains(stdout, test.want) {
			t.Errorf("%s: %q is not in\n%s", name, test.want, stdout)
		}
	}

	// A pod that waits: the combined words of the guard and the hold.
	_, stdout, _ = clitest.Run(t, onlyFullNodes, "explain", "pod", "etl/filecomp-2", "-f", "-", "--scheduler", held)
	if want := "No node takes it: all 2 nodes that fit are too busy for now.\nIt waits until"; !strings.Contains(stdout, want) {
		t.Errorf("%q is not in\n%s", want, stdout)
	}
}

func TestWhatTheGuardWarnsOfIsAWarning(t *testing.T) {
	t.Parallel()
	scheduler := clitest.WriteFile(t, "scheduler.yaml", guarding("Warn"))
	code, stdout, stderr := clitest.Run(t, sortJob, "explain", "--simulate", "-", "-f", clitest.WriteFile(t, "cluster.yaml", onlyFullNodes), "--nodes", "--scheduler", scheduler)
	for _, want := range []string{
		"A pod of job/etl/sort would go to worker-1, the cheapest of 2 nodes that fit.\n",
		"\netl/io-0 would exceed its limit of 1.30×: 1.42× (now 1.00×), of which the scheduler's guard warns.\n",
		"   1   worker-1   0.840   0.420      0.420      1   warning: would slow etl/io-0 down 1.42×, more than its limit of 1.30×, because of disk\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if want := "Error: 1 limit of dilation would not hold: of etl/io-0\n"; code != 1 || stderr != want {
		t.Errorf("exit code %d, errors %q, want %q", code, stderr, want)
	}
}

// limited is etlCluster with a limit that the pod that waits there would have that of worker-1 exceed, in a namespace with a
// label.
func limited(label string) []client.Object {
	objects := clitest.EtlCluster()
	for _, o := range objects {
		switch o := o.(type) {
		case *v1alpha1.WorkloadProfile:
			o.Spec.SLA = &v1alpha1.SLA{MaxDilation: quantity("1.1")}
		case *corev1.Pod:
			o.Spec.SchedulerName = "loadline"
		}
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "etl"}}
	if label != "" {
		ns.Labels = map[string]string{v1alpha1.GuardLabel: label}
	}
	return append(objects, ns)
}

func TestExplainReadsTheModesOfTheGuardFromTheCluster(t *testing.T) {
	t.Parallel()
	const (
		noScheduler = "Warning: guard.mode is taken to be Off; the rules are the defaults, since the scheduler's are not known: listing Deployments: "
	)
	for name, test := range map[string]struct {
		label, mode, refuse string
		refused             bool
		warning             string
	}{
		"by the label":                     {"enforce", "Off", "", true, ""},
		"by the configuration":             {"", "Enforce", "", true, ""},
		"off by the label":                 {"off", "Enforce", "", false, ""},
		"namespaces that may not be read":  {"off", "Enforce", "/api/v1/namespaces", true, "labels loadline.dev/guard are not known, and guard.mode (Enforce) is taken to hold in all namespaces\n"},
		"a scheduler that may not be read": {"", "Enforce", "/apis/apps/*", false, noScheduler},
		"by the label alone":               {"enforce", "Enforce", "/apis/apps/*", true, noScheduler},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := append(clitest.Installed(), limited(test.label)...)
			for i, o := range objects {
				if m, is := o.(*corev1.ConfigMap); is && m.Namespace == "loadline-system" {
					objects[i] = clitest.SchedulerConfigMap(guarding(test.mode))
				}
			}
			server := clitest.NewServer(t, objects...)
			if test.refuse != "" {
				server.Refuse(test.refuse)
			}
			code, stdout, stderr := server.Ask(t, "explain", "pod", "sort-1", "-o", "json")
			var e explanation.Answer
			if err := json.Unmarshal([]byte(stdout), &e); code != 0 || err != nil {
				t.Fatalf("exit code %d: %s %v", code, stderr, err)
			}
			got := ""
			for _, n := range e.Nodes {
				if n.Node == "worker-1" {
					got = n.Refused
				}
			}
			if (got != "") != test.refused || (stderr != "") != (test.warning != "") || !strings.Contains(stderr, test.warning) {
				t.Errorf("refused: %q, errors %q", got, stderr)
			}
		})
	}
	// Where nodes are not ranked, namespaces are of no interest.
	server := clitest.NewServer(t, append(clitest.Installed(), limited("enforce")...)...).Refuse("/api/v1/namespaces")
	if code, _, stderr := server.Ask(t, "explain", "pod", "sort-0"); code != 0 || stderr != "" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestAPodWhoseOnlyOtherNodeIsRefusedStays(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := clitest.Run(t, onlyFullNodes+guardedNamespace, "explain", "pod", "etl/filecomp-1", "-f", "-", "--nodes")
	for _, want := range []string{
		"   1   worker-2   0.840   0.420      0.420      1   it is here\n   -   worker-1   0.840   0.420      0.420      1   refused: would slow etl/io-0 down 1.42×",
		"\nNo other node takes it: the scheduler's guard refuses the only one that fits.\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if code != 0 || stderr != "" || strings.Contains(stdout, "make room") {
		t.Errorf("exit code %d, errors %q:\n%s", code, stderr, stdout)
	}
}

// A pod that is promised to run as fast as alone on all processors of its node, and requests next to nothing.
const squatting = `---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: squat, namespace: mallory}
spec: {selector: {matchLabels: {app: squat}}, resources: [{name: cpu, loading: "1", threads: 64}], sla: {maxDilation: "1"}, importance: 100}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: mallory, labels: {loadline.dev/guard: enforce}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-1}, status: {allocatable: {cpu: "8", pods: "110"}}}
- {apiVersion: v1, kind: Pod, metadata: {name: squat-1, namespace: mallory, labels: {app: squat}}, spec: {nodeName: worker-1, containers: [{name: main, resources: {requests: {cpu: 1m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: squat-2, namespace: mallory, labels: {app: squat}}, spec: {schedulerName: loadline, containers: [{name: main, resources: {requests: {cpu: 1m}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: cart-1, namespace: shop}, spec: {schedulerName: loadline, containers: [{name: main, resources: {requests: {cpu: 500m}}}]}}
`

func TestAPromiseThatIsNotRequestedKeepsNoPodAway(t *testing.T) {
	t.Parallel()
	cluster := clitest.WriteFile(t, "cluster.yaml", squatting)
	code, stdout, stderr := clitest.Run(t, "", "explain", "pod", "shop/cart-1", "-f", cluster)
	if want := "worker-1 is the only node that fits.\n"; code != 0 || stderr != "" || !strings.Contains(stdout, want) {
		t.Errorf("exit code %d, errors %q, %q is not in\n%s", code, stderr, want, stdout)
	}
	code, stdout, stderr = clitest.Run(t, "", "explain", "pod", "mallory/squat-1", "-f", cluster, "--nodes")
	for _, want := range []string{
		"That is within its limit of 8.40× (the scheduler's lowest, 1.05×, in place of its profile's 1.00× on 1 of the 8 processors that it can use: its CPU request covers no more).\n",
		"Its profile has an importance of 100, of which the scheduler lets 10 count: costs count what it waits that many times.\n",
	} {
		if code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, errors %q, %q is not in\n%s", code, stderr, want, stdout)
		}
	}
}
