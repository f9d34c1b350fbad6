package scheduling

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
		pods.Continue = strconv.Itoa(to)
	}
	return nil
}

func TestPodsListsAllPageByPageAndKeepsWhatIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, atOnce, 2*atOnce + 1} {
		server, want := &paged{}, []corev1.Pod(nil)
		for i := range n {
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: strconv.Itoa(i)}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.test/cart"}}}}
			want = append(want, *pod.DeepCopy())
			pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
			pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: "secret"}}
			pod.Spec.Containers[0].Args = []string{"--password=secret"}
			server.pods = append(server.pods, pod)
		}
		got, err := Pods(t.Context(), server, client.InNamespace("shop"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %d pods (-want +got):\n%s", n, diff)
		}
		if pages := max(1, (n+atOnce-1)/atOnce); server.pages != pages {
			t.Errorf("of %d pods it asked for %d pages, want %d", n, server.pages, pages)
		}
	}
}
