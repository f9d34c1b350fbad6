package observation

import (
	"encoding/json"
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhatIsKeptOfPodsAndNodesIsEnough(t *testing.T) {
	t.Parallel()
	full := pod("cart-1", "cart")
	full.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash", "large": "text"}
	full.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "cart-5d4f", Controller: new(true)}}
	full.Spec.Containers[0] = corev1.Container{
		Name: "main", Image: "image", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
	}
	full.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "image"}}
	want := pod("cart-1", "cart")
	want.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "hash"}
	want.OwnerReferences = full.OwnerReferences
	want.Spec.Containers[0] = corev1.Container{Name: "main", Resources: full.Spec.Containers[0].Resources}
	for _, test := range []struct{ give, want any }{{full, want}, {node(), node()}, {declared("1"), declared("1")}} {
		got, err := (&trimmer{}).trim(test.give)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("unexpected object (-want +got):\n%s", diff)
		}
	}
}

func TestPodsOfATemplateShareWhatTheyHaveInCommon(t *testing.T) {
	t.Parallel()
	all := &trimmer{}
	kept := func(name, app string) *corev1.Pod {
		got, err := all.trim(pod(name, app))
		if err != nil {
			t.Fatal(err)
		}
		return got.(*corev1.Pod) //nolint:errcheck // what is trimmed is of the same type
	}
	one, two, other := kept("one", "cart"), kept("two", "cart"), kept("three", "sort")
	if &one.Spec.Containers[0] != &two.Spec.Containers[0] || &one.Spec.Containers[0] != &other.Spec.Containers[0] {
		t.Error("pods with the same containers do not share them")
	}
	if one.Labels["app"] != "cart" || other.Labels["app"] != "sort" {
		t.Errorf("the labels are %v and %v", one.Labels, other.Labels)
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

// BenchmarkTrim trims pods of Deployments with ten replicas, and says how much memory one of them takes.
func BenchmarkTrim(b *testing.B) {
	all := &trimmer{}
	var kept []any
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		p := &corev1.Pod{}
		if err := json.Unmarshal(fmt.Appendf(nil, typical, len(kept), len(kept)/10), p); err != nil {
			b.Fatal(err)
		}
		got, err := all.trim(p)
		if err != nil {
			b.Fatal(err)
		}
		kept = append(kept, got)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(kept)), "B/pod")
	runtime.KeepAlive(kept)
}
