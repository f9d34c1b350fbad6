package workloads_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"loadline.dev/loadline/pkg/evaluate/workloads"
)

// pod returns a pod of namespace shop that an object controls.
func pod(kind, controller string, set map[string]string) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: controller + "-x", Labels: set,
		OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: controller, Controller: new(true)}},
	}}
}

// of returns a pod of a Deployment of namespace shop.
func of(deployment string, set map[string]string) corev1.Pod {
	all := map[string]string{"pod-template-hash": "5d4f"}
	maps.Copy(all, set)
	return pod("ReplicaSet", deployment+"-5d4f", all)
}

func TestWhatAPodBelongsTo(t *testing.T) {
	t.Parallel()
	static := pod("Node", "worker-1", nil)
	static.Name = "proxy"
	alone := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}
	var got []string
	for _, p := range []corev1.Pod{
		of("cart", nil), pod("ReplicaSet", "cart-5d4f", nil), alone, static, pod("Job", "cart-29388000", nil), pod("Job", "cart-2", nil),
	} {
		got = append(got, workloads.Of(&p))
	}
	want := []string{"Deployment shop/cart", "ReplicaSet shop/cart-5d4f", "Pod shop/cart", "Pod shop/proxy", "CronJob shop/cart", "Job shop/cart-2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unexpected workloads (-want +got):\n%s", diff)
	}
}

func TestASelectorIsWhatPodsHaveInCommonAndOthersDoNot(t *testing.T) {
	t.Parallel()
	cart := []corev1.Pod{
		of("cart", map[string]string{"app": "cart", "track": "stable"}),
		of("cart", map[string]string{"app": "cart", "track": "canary"}),
	}
	elsewhere := of("other", map[string]string{"app": "cart"})
	elsewhere.Namespace = "bank"
	for name, c := range map[string]struct {
		of, others []corev1.Pod
		want       labels.Set
		err        string
	}{
		"what all pods have":      {of: cart, want: labels.Set{"app": "cart"}},
		"other namespaces":        {of: cart, others: []corev1.Pod{elsewhere}, want: labels.Set{"app": "cart"}},
		"others with more labels": {of: cart, others: []corev1.Pod{of("web", map[string]string{"app": "web", "track": "stable"})}, want: labels.Set{"app": "cart"}},
		"no labels":               {of: []corev1.Pod{of("cart", nil)}, err: "its pods have no label in common that distinguishes them from others"},
		"the labels of others": {
			of: cart, others: []corev1.Pod{of("web", map[string]string{"app": "cart"}), of("api", map[string]string{"app": "cart"})},
			err: "the labels of its pods, app=cart, select pods of Deployment shop/api, too",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pods []*corev1.Pod
			for i := range c.of {
				pods = append(pods, &c.of[i])
			}
			got, err := workloads.Selector(pods, append(c.others, c.of...))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("unexpected selector (-want +got):\n%s", diff)
			}
			if (err != nil || c.err != "") && (err == nil || err.Error() != c.err) {
				t.Errorf("got the error %v, want %q", err, c.err)
			}
		})
	}
}
