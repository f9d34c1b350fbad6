//go:build e2e

package install

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

// grace is how much longer than a lease lasts it may take until another replica
// leads: it looks at the lease every two seconds or so, twice, on a machine in use.
const grace = 10 * time.Second

func managerDies(t *testing.T) {
	namespace := cluster.NewNamespace(t)
	leaderDies(t, manager)
	profile := &v1alpha1.WorkloadProfile{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: v1alpha1.WorkloadProfileSpec{
			Selector:  &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Resources: []v1alpha1.ResourceDemand{{Name: "cpu", Loading: new(resource.MustParse("0.5"))}},
		},
	}
	must(t, cluster.Create(t.Context(), profile))
	cluster.AwaitCondition(t, profile, &profile.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue)
}

func schedulerDies(t *testing.T) {
	namespace := cluster.NewNamespace(t)
	pod := cluster.ProbePod(namespace, "waiting", cluster.Workers[0].Name, "run", "--job", "cpu", "--duration", "1s")
	pod.Spec.SchedulerName = "loadline"
	leaderDies(t, scheduler, func() { must(t, cluster.Create(t.Context(), pod)) })
	cluster.AwaitEnd(t, pod)
}

// leaderDies kills the replica of a Deployment that leads, does what is to be done
// while none does, and returns when another one leads, which must be in time.
func leaderDies(t *testing.T, deployment string, meanwhile ...func()) {
	t.Helper()
	awaitReplicas(t, deployment, 2)
	lease, pod := leaderOf(t, deployment)
	dead := *lease.Spec.HolderIdentity
	lasts := time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	died := time.Now()
	crash(t, pod, deployment)
	for _, f := range meanwhile {
		f()
	}
	cluster.Await(t, "another replica leads", lease, func() (bool, string) {
		holder := ptr.Deref(lease.Spec.HolderIdentity, "")
		return holder != "" && holder != dead, fmt.Sprintf("%q leads", holder)
	})
	took := time.Since(died)
	t.Logf("%s leads in the place of %s after %.1fs; a lease lasts %v", *lease.Spec.HolderIdentity, dead, took.Seconds(), lasts)
	if took > lasts+grace {
		t.Errorf("it took %v, want %v + %v at most", took, lasts, grace)
	}
	awaitReplicas(t, deployment, 2)
}

// awaitReplicas waits until a Deployment has that number of replicas, all of them
// available, and no others.
func awaitReplicas(t *testing.T, name string, replicas int32) {
	t.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operator, Name: name}}
	cluster.Await(t, fmt.Sprintf("%s has %d replicas", name, replicas), deployment, func() (bool, string) {
		s := deployment.Status
		return s.AvailableReplicas == replicas && s.Replicas == replicas, fmt.Sprintf("%d of %d are available", s.AvailableReplicas, s.Replicas)
	})
}

// leaderOf returns the lease of a Deployment's replicas, wherever it is, and the one
// that holds it.
func leaderOf(t *testing.T, deployment string) (*coordinationv1.Lease, *corev1.Pod) {
	t.Helper()
	var lease *coordinationv1.Lease
	var leader *corev1.Pod
	live.Until(t, "a replica of "+deployment+" leads", live.Patience, func(ctx context.Context) (bool, string, error) {
		pods, err := cluster.PodsOf(ctx, operator, deployment)
		if err != nil {
			return false, "", err
		}
		var leases coordinationv1.LeaseList
		if err := cluster.List(ctx, &leases); err != nil {
			return false, "", err
		}
		for i := range leases.Items {
			for k := range pods {
				if holder := leases.Items[i].Spec.HolderIdentity; holder != nil && strings.HasPrefix(*holder, pods[k].Name+"_") {
					lease, leader = &leases.Items[i], &pods[k]
					return true, "", nil
				}
			}
		}
		return false, fmt.Sprintf("none of %d does", len(pods)), nil
	})
	return lease, leader
}
