package slaorder

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/apis/config"
)

// ended returns a pod that was created at noon, and whose containers ended the given
// numbers of seconds later.
func ended(name, app string, seconds ...float64) *corev1.Pod {
	p := pod(name, app, 0)
	p.CreationTimestamp = metav1.NewTime(noon)
	p.Spec.Containers = []corev1.Container{{Name: "main", Image: "example.test/none"}}
	p.Status.Phase = corev1.PodSucceeded
	for _, s := range seconds {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(at(s))}},
		})
	}
	return p
}

func TestPodsThatEndedCountFromTheirCreationToTheLastContainersEnd(t *testing.T) {
	t.Parallel()
	o := newTested(config.PDP, 60, 3600, promising("a", 30, 0.9), promising("b", 30, 0.9))
	o.clock.SetTime(at(100))
	client := fake.NewClientset(
		ended("in-time", "a", 29, 30), ended("late", "a", 5, 31), ended("of-no-class", "none", 5), ended("does-not-say", "a"),
		ended("in-the-future", "b", 5000), ended("long-ago", "b", -7200),
	)
	informer, counted, err := newEndedInformer(client, o.classes)
	if err != nil {
		t.Fatal(err)
	}
	go informer.RunWithContext(t.Context())
	if !cache.WaitForCacheSync(t.Context().Done(), counted) {
		t.Fatal("the informer does not sync")
	}
	if a, b := o.p("a"), o.p("b"); a != 0.9-0.5 || b != 0.9 {
		t.Errorf("P = %v and %v, want 0.4 and 0.9", a, b)
	}

	late := ended("late-too", "a", 50)
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), late, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return o.p("a") > 0.56 }, func() any { return o.p("a") }) // 0.9 − 1/3
}

// p returns P of a class.
func (o *tested) p(app string) float64 { return o.classOf(pod("x", app, 0)).urgency() }

// await waits until a condition holds.
func await(t *testing.T, holds func() bool, state func() any) {
	t.Helper()
	ticker, deadline := time.NewTicker(time.Millisecond), time.NewTimer(time.Minute)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("it is still %v", state())
		}
	}
}

func TestOfAPodThatEndedLittleIsKept(t *testing.T) {
	t.Parallel()
	p := ended("p", "a", 3, 7, 5)
	p.Annotations = map[string]string{"large": "yes"}
	kept, err := slim(p)
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p", Labels: map[string]string{"app": "a"}, CreationTimestamp: metav1.NewTime(noon)},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(at(7))}}},
		}},
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("unexpected pod (-want +got):\n%s", diff)
	}
	missed := cache.DeletedFinalStateUnknown{Key: "default/p"}
	if same, err := slim(missed); err != nil || same != any(missed) {
		t.Errorf("%v, %v", same, err)
	}
}
