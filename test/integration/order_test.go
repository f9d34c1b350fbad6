package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
)

// sortedBy returns a scheduler profile whose queue is sorted by SLAOrder with a
// discipline.
func sortedBy(discipline string) string {
	return fmt.Sprintf(`profiles:
- schedulerName: loadline
  plugins:
    queueSort:
      disabled: [{name: PrioritySort}]
      enabled: [{name: SLAOrder}]
  pluginConfig:
  - name: SLAOrder
    args: {discipline: %s}
`, discipline)
}

// promising returns a profile that promises that the pods of an app, which take a second
// alone, end within some milliseconds with a probability.
func (p *place) promising(app string, millis int64, probability string) *v1alpha1.WorkloadProfile {
	w := p.profile(app, map[string]string{"cpu": "1"})
	w.Spec.NeutralMillis = new(int64(1000))
	w.Spec.SLA = &v1alpha1.SLA{ResponseTimeMillis: &millis, Probability: new(resource.MustParse(probability))}
	return w
}

// requesting returns a pod that requests processors, of which nodes have 16.
func (p *place) requesting(name, app, cpu string) *corev1.Pod {
	pod := p.pod(name, app)
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return pod
}

// succeed has a pod that runs end, so long after its creation.
func (p *place) succeed(ctx context.Context, pod *corev1.Pod, after time.Duration) error {
	if err := p.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
		return err
	}
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", FinishedAt: metav1.NewTime(pod.CreationTimestamp.Add(after)),
		}},
	}}
	return p.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// ended has pods of an app run and end, some time after their creation.
func (p *place) ended(t *testing.T, app string, n int, after time.Duration) {
	t.Helper()
	for range n {
		pod := p.pod("", app)
		pod.GenerateName, pod.Spec.NodeName = "ended-"+app+"-", p.nodes[0]
		must(t, p.Create(t.Context(), pod))
		_, err := local.AwaitPods(t.Context(), p, p.namespace, func(pods map[string]*corev1.Pod) bool {
			return pods[pod.Name] != nil && pods[pod.Name].Status.Phase == corev1.PodRunning
		})
		must(t, err)
		must(t, p.succeed(t.Context(), pod, after))
	}
}

// placesFirst checks which of the pods that wait a new scheduler places, where there is
// room for one. A scheduler has all pods in its queue before it places any. The pod is
// deleted, and what the scheduler's metrics are by then is returned.
func (p *place) placesFirst(t *testing.T, discipline, want string) (metrics string) {
	t.Helper()
	process := p.startScheduler(t, sortedBy(discipline))
	var placed *corev1.Pod
	_, err := local.AwaitPods(t.Context(), p, p.namespace, func(pods map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			if pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded {
				placed = pod
			}
		}
		return placed != nil
	})
	must(t, err)
	metrics, err = process.Get(t.Context(), "/metrics")
	must(t, err)
	must(t, process.Kill())
	if placed.Name != want {
		t.Errorf("%s is placed first, want %s", placed.Name, want)
	}
	must(t, p.Delete(t.Context(), placed, client.GracePeriodSeconds(0)))
	return metrics
}

func TestHOLPlacesPodsOfTheMoreDemandingSLAFirst(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	must(t, p.Create(t.Context(), p.promising("loose", 5000, "0.8")))
	must(t, p.Create(t.Context(), p.promising("strict", 3000, "0.94")))
	for _, name := range []string{"1-none", "2-loose", "3-strict"} { // that they are read in by name does not matter
		must(t, p.Create(t.Context(), p.requesting(name, name[2:], "16")))
	}
	for _, want := range []string{"3-strict", "2-loose", "1-none"} {
		p.placesFirst(t, "HOL", want)
	}
}

func TestPDPPlacesPodsOfTheClassFurthestBehindFirst(t *testing.T) {
	t.Parallel()
	p := shared.newPlace(t, 1)
	for _, app := range []string{"a", "b"} {
		must(t, p.Create(t.Context(), p.promising(app, 10_000, "0.5")))
	}
	p.ended(t, "a", 1, time.Second)
	p.ended(t, "b", 1, time.Minute)
	for _, name := range []string{"1-a", "2-b"} {
		must(t, p.Create(t.Context(), p.requesting(name, name[2:], "16")))
	}
	metrics := p.placesFirst(t, "PDP", "2-b")
	for _, series := range []string{`attained_ratio{profile="a",profile_namespace=%q} 1`, `attained_ratio{profile="b",profile_namespace=%q} 0`, `target_ratio{profile="a",profile_namespace=%q} 0.5`} {
		line := fmt.Sprintf("loadline_slaorder_class_"+series, p.namespace)
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics have no %s", line)
		}
	}

	p.ended(t, "a", 2, time.Minute) // 1 of 3 in time
	p.ended(t, "b", 2, time.Second) // 2 of 3
	must(t, p.Create(t.Context(), p.requesting("0-b", "b", "16")))
	p.placesFirst(t, "PDP", "1-a")
	p.placesFirst(t, "PDP", "0-b")
}
