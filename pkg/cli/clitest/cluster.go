package clitest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// PaperJobs are two jobs of the D-factor paper, section 5.
const PaperJobs = `# comments and empty documents are nothing
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: filecomp}
spec:
  selector: {matchLabels: {app: filecomp}}
  resources: [{name: cpu, loading: "0.58"}, {name: disk, loading: "0.42"}]
  neutralMillis: 78100
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: std-io}
spec:
  selector: {matchLabels: {app: std-io}}
  resources: [{name: disk, loading: "1"}]
  neutralMillis: 200000
`

// PaperJobsOfEtl are the jobs of the paper in a namespace, one with a limit.
const PaperJobsOfEtl = `apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: filecomp, namespace: etl}
spec:
  selector: {matchLabels: {app: filecomp}}
  resources: [{name: cpu, loading: "0.58"}, {name: disk, loading: "0.42"}]
  neutralMillis: 78100
  sla: {maxDilation: "1.5"}
---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: std-io, namespace: etl}
spec:
  selector: {matchLabels: {app: std-io}}
  resources: [{name: disk, loading: "1"}]
  sla: {maxDilation: "1.3"}
`

// FiveWorkers is a cluster as kubectl get -o yaml prints it: two jobs of the D-factor paper on
// worker-1, and nodes that are empty, cordoned, tainted, too small and elsewhere.
const FiveWorkers = PaperJobsOfEtl + `---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: worker-1, labels: {zone: a}}, status: {allocatable: {cpu: "1", pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-2, labels: {zone: a}}, status: {allocatable: {cpu: "1", pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-3, labels: {zone: a}}, spec: {unschedulable: true}, status: {allocatable: {cpu: "1"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-4, labels: {zone: a}}, status: {allocatable: {cpu: 250m}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-5, labels: {zone: b}}, status: {allocatable: {cpu: "1"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-6, labels: {zone: a}}, spec: {taints: [{key: gpu, effect: NoSchedule}]}, status: {allocatable: {cpu: "1"}}}
- {apiVersion: v1, kind: Node, metadata: {name: worker-7, labels: {zone: a}}, status: {allocatable: {cpu: "1", pods: "1"}}}
- apiVersion: v1
  kind: Pod
  metadata: {name: filecomp-7, namespace: etl, labels: {app: filecomp}}
  spec: {nodeName: worker-1, schedulerName: loadline, nodeSelector: {zone: a}, containers: [{name: main, resources: {requests: {cpu: 500m}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: io-0, namespace: etl, labels: {app: std-io}}
  spec: {nodeName: worker-1, containers: [{name: main}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: io-1, namespace: etl, labels: {app: std-io}}
  spec: {nodeName: worker-7, containers: [{name: main}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: done, namespace: etl, labels: {app: std-io}}
  spec: {nodeName: worker-2, containers: [{name: main}]}
  status: {phase: Succeeded}
- apiVersion: v1
  kind: Pod
  metadata: {name: waiting, namespace: shop, labels: {app: cart}}
  spec: {schedulerName: default-scheduler, containers: [{name: main, resources: {requests: {cpu: 100m}}}]}
  status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/5 nodes are available: 5 node(s) had a taint."}]}
`

// SortPod returns a pod of the namespace etl on the node worker-1.
func SortPod(name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "sort"}},
		Spec:       corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

// EtlCluster returns the objects of a small cluster in which a profile is measured.
func EtlCluster() []client.Object {
	measured := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: "etl", Name: "sort"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:      &metav1.LabelSelector{MatchLabels: map[string]string{"app": "sort"}},
			Resources:     []v1alpha1.ResourceDemand{{Name: "cpu", DemandMillis: new(int64(5000))}},
			NeutralMillis: new(int64(8000)),
			Measurement:   &v1alpha1.Measurement{},
		},
	}
	measured.Status.Measurements = []v1alpha1.MeasuredVector{{
		NodeProfile: v1alpha1.NoNodeProfile, Node: "worker-2", Time: new(metav1.NewTime(time.Now().Add(-3 * time.Hour))),
		Resources: []v1alpha1.MeasuredLoading{{
			Name: "cpu", Loading: new(resource.MustParse("0.5")), LoadingError: new(resource.MustParse("0.03")), Pressure: new(resource.MustParse("0.5")),
			Sensitivity: new(resource.MustParse("0.4")), Threads: new(int32(2)), Samples: new(int32(3)),
		}},
	}}
	objects := []client.Object{measured}
	for _, name := range []string{"worker-1", "worker-2"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("1")}
		objects = append(objects, node, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	placed := SortPod("sort-0", corev1.PodRunning)
	placed.Spec.SchedulerName = "loadline"
	placed.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour))}}
	pending := SortPod("sort-1", corev1.PodPending)
	pending.Spec.NodeName = ""
	other := SortPod("other", corev1.PodRunning)
	other.Namespace, other.Labels = "shop", nil
	return append(objects, placed, pending, other, SortPod("sort-2", corev1.PodSucceeded))
}

// ThreeJobs is a trace whose times can all be computed: two jobs at one core for all their time,
// and one long after.
const ThreeJobs = "#loadline-trace/v1\njob,arrival,demand.cpu\na,0,4\nb,1,4\nc,100,2\n"

// Observations are of three jobs at one CPU and one disk, pairs by the D-factor: 1 + p·p'.
const Observations = "run,job,dilation\n1,a,1.58\n1,cpu,1.58\n2,a,1.42\n2,disk,1.42\n3,cpu,1\n3,disk,1\n"

// ShopWorkloads are workloads as users have them.
const ShopWorkloads = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web, resources: {requests: {cpu: 500m}}}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: batch, namespace: shop}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        metadata: {labels: {app: batch}}
        spec: {restartPolicy: Never, containers: [{name: main, image: batch, resources: {requests: {cpu: 50m}}}]}
`
