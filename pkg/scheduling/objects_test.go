package scheduling

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// paged is a client of an API server with some pods, which lists them page by page.
type paged struct {
	client.Client

	pods  []corev1.Pod
	pages int
}

func (p *paged) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	o := (&client.ListOptions{}).ApplyOptions(options)
	if o.Namespace != "shop" || o.Limit != atOnce {
		return fmt.Errorf("asked for %d of %q", o.Limit, o.Namespace)
	}
	from := 0
	if o.Continue != "" {
		var err error
		if from, err = strconv.Atoi(o.Continue); err != nil {
			return err
		}
	}
	p.pages++
	pods, is := list.(*corev1.PodList)
	if !is {
		return fmt.Errorf("asked for %T", list)
	}
	to := min(from+int(o.Limit), len(p.pods))
	pods.Items = p.pods[from:to]
	if to < len(p.pods) {
		pods.Continue, pods.RemainingItemCount = strconv.Itoa(to), new(int64(len(p.pods)-to))
	}
	return nil
}

func TestPodsListsAllPageByPageAndKeepsWhatIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, atOnce, 2*atOnce + 1} {
		server, want := &paged{}, []corev1.Pod(nil)
		for i := range n {
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: strconv.Itoa(i)}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/cart"}}}}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main"}}
			for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.PodScheduled, corev1.PodResizePending, corev1.PodResizeInProgress} {
				pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue})
			}
			want = append(want, *pod.DeepCopy())
			pod.Status.Conditions = slices.Insert(pod.Status.Conditions, 1, corev1.PodCondition{Type: corev1.PodInitialized}, corev1.PodCondition{Type: corev1.ContainersReady})
			pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: "secret"}}
			pod.Spec.Containers[0].Args = []string{"--password=secret"}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "example.test/cart", ImageID: "sha256:0"}}
			server.pods = append(server.pods, pod)
		}
		got, err := Pods(t.Context(), server, client.InNamespace("shop"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %d pods (-want +got):\n%s", n, diff)
		}
		if spare := cap(got) - n; spare > 8 { // the size that is allocated is rounded
			t.Errorf("of %d pods there is room for %d", n, cap(got))
		}
		if pages := max(1, (n+atOnce-1)/atOnce); server.pages != pages {
			t.Errorf("of %d pods it asked for %d pages, want %d", n, server.pages, pages)
		}
	}
}

// listed is a client of an API server with some pods, all in one page.
type listed struct {
	client.Client

	pods []corev1.Pod
}

func (l *listed) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	pods, is := list.(*corev1.PodList)
	if !is {
		return fmt.Errorf("asked for %T", list)
	}
	for i := range l.pods {
		pods.Items = append(pods.Items, *l.pods[i].DeepCopy())
	}
	return nil
}

// What pods share does not change what any of them is: those of a controller that are equal, one that was resized, one of another
// controller, and one that changed since the list before.
func TestPodsThatShareAreAsTheyWereListed(t *testing.T) {
	t.Parallel()
	server := &listed{}
	for i, cpu := range []string{"1", "1", "2", "1", "1"} {
		server.pods = append(server.pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: strconv.Itoa(i), UID: types.UID(strconv.Itoa(i)), ResourceVersion: "1", Labels: map[string]string{"app": "cart"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "cart", UID: types.UID(strconv.Itoa(i / 4)), Controller: new(true)}},
			},
			Spec: corev1.PodSpec{
				Containers:  []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}}},
				Tolerations: []corev1.Toleration{{Key: "node", Operator: corev1.TolerationOpExists}},
				Volumes:     []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
				Name: "main", ContainerID: "containerd://" + strconv.Itoa(i), AllocatedResources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
				Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
			}}},
		})
	}
	first, err := Pods(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(server.pods, first); diff != "" {
		t.Errorf("the first list (-want +got):\n%s", diff)
	}
	resources := func(p corev1.Pod) *corev1.ResourceRequirements { return p.Status.ContainerStatuses[0].Resources }
	if &first[0].Spec.Tolerations[0] != &first[1].Spec.Tolerations[0] || &first[0].Spec.Containers[0] == &first[2].Spec.Containers[0] ||
		resources(first[0]) != resources(first[1]) || resources(first[0]) == resources(first[2]) {
		t.Error("equal parts are not shared, or others are")
	}
	server.pods = slices.Delete(server.pods, 1, 2)
	server.pods[0].Labels["app"], server.pods[0].ResourceVersion = "shop", "2"
	again, err := PodsAgain(t.Context(), server, first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(server.pods, again); diff != "" {
		t.Errorf("the second list (-want +got):\n%s", diff)
	}
	if &again[1].Spec.Containers[0] != &first[2].Spec.Containers[0] {
		t.Error("a pod that has not changed is there twice")
	}
	if first[0].Labels["app"] != "cart" {
		t.Errorf("the first list has become %v", first[0].Labels)
	}
}
