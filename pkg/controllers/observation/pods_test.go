package observation

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"

	"loadline.dev/loadline/pkg/controllers/interned"
)

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
	if diff := cmp.Diff(*want, slimmed(full, &interned.Values{}).pod()); diff != "" {
		t.Errorf("unexpected pod (-want +got):\n%s", diff)
	}
}

func TestWhatIsKeptOfGaugesIsEnough(t *testing.T) {
	t.Parallel()
	full := gauge(t, "10.1.2.3", "8443")
	full.Annotations = map[string]string{"large": "text"}
	want := gauge(t, "10.1.2.3", "8443")
	want.Spec = corev1.PodSpec{NodeName: full.Spec.NodeName, Containers: []corev1.Container{{Ports: full.Spec.Containers[0].Ports}}}
	for _, test := range []struct{ give, want any }{{full, want}, {node(), node()}} {
		got, err := slimGauge(test.give)
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
	var values interned.Values
	kept := func(name, app string) *slimPod { return slimmed(pod(name, app), &values) }
	one, two, other := kept("one", "cart"), kept("two", "cart"), kept("three", "sort")
	if one.common != two.common || one.common != other.common {
		t.Error("pods with the same containers do not share them")
	}
	if one.labels["app"] != "cart" || other.labels["app"] != "sort" {
		t.Errorf("the labels are %v and %v", one.labels, other.labels)
	}
}

// Pods are found by their nodes and namespaces once they are asked for, and follow the cluster.
func TestRunningPodsFollowTheCluster(t *testing.T) {
	t.Parallel()
	api := kubernetesfake.NewClientset(pod("cart-1", "cart"), pod("cart-2", "cart"))
	pods, err := newRunningPods(api)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- pods.Start(ctx) }()
	names := func(some []corev1.Pod, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for i := range some {
			all = append(all, some[i].Name)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	if got := names(pods.OnNode(ctx, nodeName)); got != "cart-1 cart-2" {
		t.Errorf("on the node are %q", got)
	}
	namespace := pod("cart-1", "cart").Namespace
	if got := names(pods.InNamespace(ctx, namespace)); got != "cart-1 cart-2" {
		t.Errorf("in the namespace are %q", got)
	}
	if got := names(pods.OnNode(ctx, "other")) + names(pods.InNamespace(ctx, "other")); got != "" {
		t.Errorf("elsewhere is %q", got)
	}
	if err := api.CoreV1().Pods(namespace).Delete(ctx, "cart-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	changed := pod("cart-3", "cart")
	if _, err := api.CoreV1().Pods(namespace).Create(ctx, changed, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(ctx, time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return names(pods.OnNode(ctx, nodeName)) == "cart-2 cart-3", nil
	})
	if err != nil {
		t.Errorf("after one went and one came there are %q", names(pods.OnNode(ctx, nodeName)))
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A manager that ends before its pods are read says so, and one that never asks for them ends, too.
func TestPodsThatAreNotReadAreAnError(t *testing.T) {
	t.Parallel()
	pods, err := newRunningPods(kubernetesfake.NewClientset())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := pods.Start(ctx); err != nil {
		t.Error(err)
	}
	if _, err := pods.OnNode(ctx, nodeName); err == nil || !strings.HasPrefix(err.Error(), "reading the pods that run: ") {
		t.Errorf("got %v", err)
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
		kept = append(kept, slimmed(p, &values))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(kept)), "B/pod")
	runtime.KeepAlive(kept)
}
