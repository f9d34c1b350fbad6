package pods

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/interned"
	"loadline.dev/loadline/pkg/scheduling"
)

var forPlans = Options{ForPlans: true}

// full returns a running pod in which every field is set that plans or the cache look at. It was started some minutes ago.
func full(name string, minutes int) *corev1.Pod {
	began := metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).Add(-time.Duration(minutes) * time.Minute))
	p := pod(name, "cart")
	p.CreationTimestamp, p.ResourceVersion, p.Annotations = began, name, map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "cart-5d4f", UID: "rs", Controller: new(true)}}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	cpu := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}
	p.Spec = corev1.PodSpec{
		NodeName: nodeName, Hostname: name, RestartPolicy: corev1.RestartPolicyAlways, SchedulerName: "loadline", Priority: new(int32(7)),
		Containers:     []corev1.Container{{Name: "main", Image: "cart", Resources: cpu, Ports: []corev1.ContainerPort{{HostPort: 80}}, Env: []corev1.EnvVar{{Name: "a"}}}},
		InitContainers: []corev1.Container{{Name: "before", Resources: cpu}},
		NodeSelector:   map[string]string{"zone": "a"}, Tolerations: []corev1.Toleration{{Key: "busy", Operator: corev1.TolerationOpExists}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cart"}}, TopologyKey: corev1.LabelHostname,
		}}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}},
		Volumes: []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "kube-api-access-" + name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}},
		},
	}
	status := func(container string) corev1.ContainerStatus {
		return corev1.ContainerStatus{
			Name: container, ContainerID: "containerd://" + container + "-of-" + name, Ready: true, RestartCount: int32(minutes), Resources: &cpu,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: began}}, Image: "cart", ImageID: "sha256:0",
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: began}},
		}
	}
	p.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, StartTime: &began,
		HostIP: "10.0.0.1", HostIPs: []corev1.HostIP{{IP: "10.0.0.1"}}, PodIP: "10.1.2." + name, PodIPs: []corev1.PodIP{{IP: "10.1.2." + name}},
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: began},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: began},
			{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: "Deferred", Message: "no room", LastTransitionTime: began},
		},
		ContainerStatuses: []corev1.ContainerStatus{status("main")}, InitContainerStatuses: []corev1.ContainerStatus{status("before")},
	}
	return p
}

// looked returns what plans look at of a pod.
func looked(of *corev1.Pod) *corev1.Pod {
	p := of.DeepCopy()
	scheduling.Trim(p)
	p.Spec.Hostname, p.Status.HostIP, p.Status.HostIPs, p.Status.PodIPs = "", "", nil, nil
	for i := range p.Status.Conditions {
		p.Status.Conditions[i].LastTransitionTime = metav1.Time{}
	}
	for _, list := range [][]corev1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			list[i].RestartCount, list[i].LastTerminationState = 0, corev1.ContainerState{}
			if p.Spec.RestartPolicy == corev1.RestartPolicyAlways {
				list[i].State.Running = &corev1.ContainerStateRunning{}
			}
		}
	}
	return p
}

// All that plans look at is kept of each pod, in the order of names, whichever pods share it: of one that runs to completion also since when its
// containers run, which is lost if it is evicted.
func TestWhatPlansLookAtIsKept(t *testing.T) {
	t.Parallel()
	bare, ending, batch := pod("bare", "sort"), full("ending", 4), full("batch", 5)
	ending.DeletionTimestamp, ending.Spec.NodeName = new(metav1.NewTime(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))), "worker-2"
	batch.Spec.RestartPolicy = corev1.RestartPolicyNever
	var want []corev1.Pod
	for _, p := range []*corev1.Pod{bare, batch, ending, full("one", 1), full("two", 2)} {
		want = append(want, *looked(p))
	}
	c := newClusterWith(t, forPlans, full("two", 2), full("one", 1), bare, ending, batch)
	got, err := c.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected pods (-want +got):\n%s", diff)
	}
	if n, err := c.Count(t.Context()); err != nil || n != len(want) {
		t.Errorf("%d pods (%v), want %d", n, err, len(want))
	}
	again, err := c.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	running, err := c.RunningOnNode(t.Context(), nodeName, nil)
	if got := names(t, running, err); got != "bare batch one two" {
		t.Errorf("on the node run %s", got)
	}
}

// Pods of one template share what is large, though each has its own IDs and times.
func TestPodsOfATemplateShareWhatPlansLookAt(t *testing.T) {
	t.Parallel()
	var values interned.Values
	c := &Cache{Options: forPlans}
	one, two := c.slimmed(full("one", 1), &values), c.slimmed(full("two", 2), &values)
	if one.common != two.common || one.planned.affinity != two.planned.affinity {
		t.Errorf("they do not share what they have in common (-one +two):\n%s", cmp.Diff(one.common, two.common))
	}
	other := full("three", 3)
	other.Spec.NodeSelector = nil
	if three := c.slimmed(other, &values); three.common == one.common || three.planned.affinity != one.planned.affinity {
		t.Error("one of another template shares what it has not, or not what it has")
	}
}

func TestACacheThatKeepsTooLittleForPlansSaysSo(t *testing.T) {
	t.Parallel()
	if _, err := (&Cache{}).All(t.Context()); !errors.Is(err, errNotForPlans) {
		t.Errorf("got %v", err)
	}
}
