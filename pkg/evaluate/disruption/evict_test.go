package disruption_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"loadline.dev/loadline/pkg/evaluate/disruption"
)

// Each case is a pod that is to be evicted, beside another ready one of its Deployment unless there are others.
func TestWhichPodsMayBeEvicted(t *testing.T) {
	t.Parallel()
	critical := func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-cluster-critical" }
	const allowed = ", and Deployment shop/web is not allowed by name"
	for name, test := range map[string]struct {
		pod     corev1.Pod
		others  []corev1.Pod
		budgets []policyv1.PodDisruptionBudget
		allowed string
		want    disruption.Verdict
	}{
		"one of two replicas": {pod: pod("web-1")},
		"one that has ended": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
			want: disruption.Verdict{Refused: "it has ended"},
		},
		"one that is being deleted": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.DeletionTimestamp = new(ago(0)) }),
			want: disruption.Verdict{Refused: "it is being deleted"},
		},
		"one that waits": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.Spec.NodeName = "" }),
			want: disruption.Verdict{Refused: "it is on no node"},
		},
		"a pod of a DaemonSet": {
			pod:  pod("web-1", of("DaemonSet", "agent")),
			want: disruption.Verdict{Refused: "DaemonSet agent has a pod for each of its nodes: this one is for n1"},
		},
		"a static pod": {
			pod:  pod("web-1", of("Node", "n1")),
			want: disruption.Verdict{Refused: "it is a static pod, which the kubelet of n1 runs: no scheduler places it"},
		},
		"a pod without a controller": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.OwnerReferences = nil }),
			want: disruption.Verdict{Refused: "no controller would make it anew"},
		},

		"the only ready replica": {
			pod: pod("web-1"), others: []corev1.Pod{pod("web-2", unready), pod("other", of("ReplicaSet", "other-1"))},
			want: disruption.Verdict{Refused: "Deployment shop/web has 1 ready replica: it needs two, or to be allowed by name"},
		},
		"the only replica of a StatefulSet": {
			pod:  pod("db-0", of("StatefulSet", "db")),
			want: disruption.Verdict{Refused: "StatefulSet shop/db has 1 ready replica: it needs two, or to be allowed by name"},
		},
		"the only ready replica, which is allowed": {pod: pod("web-1"), others: []corev1.Pod{}, allowed: "Deployment shop/web"},
		"the only ready replica, by an annotation": {pod: pod("web-1", annotated("descheduler.alpha.kubernetes.io/evict", "true")), others: []corev1.Pod{}},

		"a pod of kube-system": {
			pod: pod("web-1", in("kube-system")), others: []corev1.Pod{pod("web-2", in("kube-system"))},
			want: disruption.Verdict{Refused: "it is in namespace kube-system, and Deployment kube-system/web is not allowed by name"},
		},
		"a pod of kube-system that is allowed": {
			pod: pod("web-1", in("kube-system")), others: []corev1.Pod{pod("web-2", in("kube-system"))}, allowed: "Deployment kube-system/web",
		},
		"a pod of a critical class":                 {pod: pod("web-1", critical), want: disruption.Verdict{Refused: "its priority class is system-cluster-critical" + allowed}},
		"a pod of a critical class that is allowed": {pod: pod("web-1", critical), allowed: "Deployment shop/web"},
		"a pod of Loadline": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.Labels["app.kubernetes.io/part-of"] = "loadline" }),
			want: disruption.Verdict{Refused: "it is a part of Loadline" + allowed},
		},
		"a pod of a critical priority": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.Spec.Priority = new(int32(2_000_000_000)) }),
			want: disruption.Verdict{Refused: "its priority is 2,000,000,000, that of critical pods" + allowed},
		},
		"a pod of any other priority": {pod: pod("web-1", func(p *corev1.Pod) { p.Spec.Priority = new(int32(1_999_999_999)) })},

		"a pod that has just started": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.Status.StartTime = new(ago(4*time.Minute + 59*time.Second)) }),
			want: disruption.Verdict{Refused: "it started 4m59s ago: no pod is disrupted in its first 5m"},
		},
		"a pod that has just been made": {
			pod:  pod("web-1", func(p *corev1.Pod) { p.CreationTimestamp, p.Status.StartTime = ago(-time.Second), nil }),
			want: disruption.Verdict{Refused: "it started 0s ago: no pod is disrupted in its first 5m"},
		},
		"a pod of that age":                 {pod: pod("web-1", func(p *corev1.Pod) { p.Status.StartTime = new(ago(5 * time.Minute)) })},
		"a pod whose age is not known":      {pod: pod("web-1", func(p *corev1.Pod) { p.CreationTimestamp, p.Status.StartTime = metav1.Time{}, nil })},
		"not safe to evict":                 {pod: pod("web-1", annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "false")), want: disruption.Verdict{Refused: "its annotation cluster-autoscaler.kubernetes.io/safe-to-evict is false"}},
		"safe to evict":                     {pod: pod("web-1", annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "true"))},
		"not to be disrupted":               {pod: pod("web-1", annotated("karpenter.sh/do-not-disrupt", "true")), want: disruption.Verdict{Refused: "its annotation karpenter.sh/do-not-disrupt is true"}},
		"not to be disrupted for two hours": {pod: pod("web-1", annotated("karpenter.sh/do-not-disrupt", "2h")), want: disruption.Verdict{Refused: "its annotation karpenter.sh/do-not-disrupt protects it for 120m from its start"}},
		"not to be disrupted until now":     {pod: pod("web-1", annotated("karpenter.sh/do-not-disrupt", "1h"))},
		"to be disrupted":                   {pod: pod("web-1", annotated("karpenter.sh/do-not-disrupt", "false"))},
		"better not evicted":                {pod: pod("web-1", annotated("descheduler.alpha.kubernetes.io/prefer-no-eviction", "")), want: disruption.Verdict{Refused: "it has the annotation descheduler.alpha.kubernetes.io/prefer-no-eviction"}},
		"better not evicted, and yet": {pod: pod("web-1", annotated("descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"),
			annotated("descheduler.alpha.kubernetes.io/evict", ""))},
		"better not evicted, and no more than that": {
			pod: pod("web-1", annotated("descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"),
				annotated("descheduler.alpha.kubernetes.io/evict", "false")),
			want: disruption.Verdict{Refused: "it has the annotation descheduler.alpha.kubernetes.io/prefer-no-eviction"},
		},
		"being evicted": {
			pod:  pod("web-1", annotated("descheduler.alpha.kubernetes.io/eviction-in-progress", "true")),
			want: disruption.Verdict{Refused: "its eviction is in progress: it has the annotation descheduler.alpha.kubernetes.io/eviction-in-progress"},
		},

		"with local storage": {
			pod:  pod("web-1", stored),
			want: disruption.Verdict{Notes: []string{"it loses what is in emptyDir cache, work", "what is in hostPath logs stays on n1"}},
		},
		"with local storage of which a part is safe to lose": {
			pod:  pod("web-1", stored, annotated("cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes", "work,logs")),
			want: disruption.Verdict{Notes: []string{"it loses what is in emptyDir cache"}},
		},
		"with local storage that is safe to lose": {pod: pod("web-1", stored, annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "true"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if test.others == nil {
				test.others = []corev1.Pod{pod("web-2")}
			}
			r := rules(t, disruption.Input{
				Pods: append(test.others, test.pod), Budgets: test.budgets, Allowed: sets.New(test.allowed), MinAge: 5 * time.Minute,
			})
			if diff := cmp.Diff(test.want, r.Evict(&test.pod)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Without a least age, a pod whose clock is ahead is not too young either.
func TestWithoutALeastAgeNoPodIsTooYoung(t *testing.T) {
	t.Parallel()
	p := pod("web-1", func(p *corev1.Pod) { p.Status.StartTime = new(ago(-time.Second)) })
	if got := rules(t, disruption.Input{Pods: []corev1.Pod{p, pod("web-2")}}).Evict(&p); got.Refused != "" {
		t.Errorf("got %q", got.Refused)
	}
}

// stored has volumes on its node, and one in memory.
func stored(p *corev1.Pod) {
	for _, name := range []string{"cache", "work"} {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	p.Spec.Volumes = append(p.Spec.Volumes,
		corev1.Volume{Name: "logs", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log"}}},
		corev1.Volume{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
		corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
	)
}

// What belongs to something else than its controller, that is allowed by the name of the other.
func TestAWorkloadIsAllowedByTheNameOfAnyOfItsOwners(t *testing.T) {
	t.Parallel()
	p := pod("web-1", func(p *corev1.Pod) { p.Labels = nil })
	set := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: p.OwnerReferences[0].UID}}
	of("Rollout", "web")(set)
	for _, allowed := range []string{"ReplicaSet shop/web-5d4f", "Rollout shop/web"} {
		r := rules(t, disruption.Input{Pods: []corev1.Pod{p}, Owners: []metav1.Object{set}, Allowed: sets.New(allowed)})
		if got := r.Evict(&p); got.Refused != "" {
			t.Errorf("allowed as %s: %s", allowed, got.Refused)
		}
	}
	round := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: p.OwnerReferences[0].UID, OwnerReferences: p.OwnerReferences}}
	if got := rules(t, disruption.Input{Pods: []corev1.Pod{p}, Owners: []metav1.Object{round}}).Evict(&p); got.Refused == "" {
		t.Error("what owns itself is allowed")
	}
}

// Pods that were written by hand have no status, and may have no UIDs: they are taken to be ready.
func TestPodsWithoutAStatusAreReady(t *testing.T) {
	t.Parallel()
	bare := func(p *corev1.Pod) {
		p.Status, p.CreationTimestamp, p.OwnerReferences[0].UID = corev1.PodStatus{}, metav1.Time{}, ""
	}
	a, b, other := pod("web-1", bare), pod("web-2", bare), pod("web-1", in("bank"), bare)
	r := rules(t, disruption.Input{Pods: []corev1.Pod{a, b, other}, Budgets: []policyv1.PodDisruptionBudget{guard("web", unavailable("1"))}, MinAge: time.Hour})
	if got := r.Evict(&a); got.Refused != "" {
		t.Errorf("of two: %+v", got)
	}
	if got := r.Evict(&other); got.Refused == "" {
		t.Errorf("of one in another namespace: %+v", got)
	}
}
