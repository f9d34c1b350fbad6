package statuses_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/pkg/controllers/statuses"
)

// delays is a queue that records the added items with their delays. It takes nothing without a
// delay.
type delays struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	asked []delayed
}

type delayed struct {
	Namespace string
	Delay     time.Duration
}

func (d *delays) AddAfter(request reconcile.Request, delay time.Duration) {
	d.asked = append(d.asked, delayed{request.Namespace, delay})
}

func TestEveryKindOfChangeIsEnqueuedAfterTheDelay(t *testing.T) {
	t.Parallel()
	handler := statuses.Delayed(time.Minute, func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace()}}}
	})
	pod := func(namespace string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
	}
	queue := &delays{}
	handler.Create(t.Context(), event.CreateEvent{Object: pod("created")}, queue)
	handler.Update(t.Context(), event.UpdateEvent{ObjectOld: pod("old"), ObjectNew: pod("updated")}, queue)
	handler.Delete(t.Context(), event.DeleteEvent{Object: pod("deleted")}, queue)

	want := []delayed{{"created", time.Minute}, {"old", time.Minute}, {"updated", time.Minute}, {"deleted", time.Minute}}
	if diff := cmp.Diff(want, queue.asked); diff != "" {
		t.Errorf("unexpected requests (-want +got):\n%s", diff)
	}
}
