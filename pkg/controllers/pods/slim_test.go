package pods

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/pkg/controllers/interned"
)

// shared returns what is kept of a pod where nothing plans.
func shared(p *corev1.Pod, values *interned.Values) *slimPod { return (&Cache{}).slimmed(p, values) }

func TestWhatIsKeptOfPodsIsEnough(t *testing.T) {
	t.Parallel()
	full := pod("cart-1", "cart")
	full.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash", "large": "text"}
	full.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "cart-5d4f", Controller: new(true)}}
	full.Spec.Containers[0] = corev1.Container{
		Name: "main", Image: "image", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
	}
	full.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "image"}}
	full.Status.PodIP = "10.1.2.3"
	want := pod("cart-1", "cart")
	want.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
	want.OwnerReferences, want.Status.PodIP = full.OwnerReferences, full.Status.PodIP
	want.Spec.Containers[0] = corev1.Container{Name: "main", Resources: full.Spec.Containers[0].Resources}
	if diff := cmp.Diff(*want, shared(full, &interned.Values{}).pod()); diff != "" {
		t.Errorf("unexpected pod (-want +got):\n%s", diff)
	}
}

func TestPodsOfATemplateShareWhatTheyHaveInCommon(t *testing.T) {
	t.Parallel()
	var values interned.Values
	kept := func(name, app string) *slimPod { return shared(pod(name, app), &values) }
	one, two, other := kept("one", "cart"), kept("two", "cart"), kept("three", "sort")
	if one.common != two.common || one.common != other.common {
		t.Error("pods with the same containers do not share them")
	}
	if one.labels["app"] != "cart" || other.labels["app"] != "sort" {
		t.Errorf("the labels are %v and %v", one.labels, other.labels)
	}
}

// typical is a pod of a Deployment with two containers, as the API server has it.
const typical = `{"metadata":{"name":"cart-7d9f8b6c5d-%05[1]d","namespace":"shop","uid":"0e1f2a3b-0000-4000-8000-%012[1]d","resourceVersion":"%[1]d",
"labels":{"app.kubernetes.io/instance":"shop","app.kubernetes.io/name":"cart-%[2]d","pod-template-hash":"7d9f8b6c5d"},"annotations":{"a":"b"}},
"spec":{"nodeName":"ip-10-0-%[1]d-7.eu-central-1.compute.internal","containers":[
{"name":"main","image":"x","resources":{"requests":{"cpu":"100m","memory":"128Mi"},"limits":{"memory":"256Mi"}},"env":[{"name":"a","value":"b"}]},
{"name":"proxy","image":"x","resources":{"requests":{"cpu":"10m","memory":"64Mi"}}}]},
"status":{"phase":"Running","qosClass":"Burstable","containerStatuses":[
{"name":"main","resources":{"requests":{"cpu":"100m","memory":"128Mi"},"limits":{"memory":"256Mi"}}},
{"name":"proxy","resources":{"requests":{"cpu":"10m","memory":"64Mi"}}}]}}`

// BenchmarkSlim makes pods of Deployments with ten replicas slim, and says how much memory one of them takes.
func BenchmarkSlim(b *testing.B) {
	for name, c := range map[string]*Cache{"shares": {}, "plans": {Options: Options{ForPlans: true}}} {
		b.Run(name, func(b *testing.B) {
			var values interned.Values
			var kept []*slimPod
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				p := &corev1.Pod{}
				if err := json.Unmarshal(fmt.Appendf(nil, typical, len(kept), len(kept)/10), p); err != nil {
					b.Fatal(err)
				}
				kept = append(kept, c.slimmed(p, &values))
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(kept)), "B/pod")
			runtime.KeepAlive(kept)
		})
	}
}
