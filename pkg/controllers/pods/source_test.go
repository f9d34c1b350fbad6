package pods

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// happened is an event as a handler of a controller gets it.
type happened struct {
	what        string
	before, now client.Object
	missed      bool // when the pod was deleted
}

// recorded returns a handler of events, and what it hands on.
func recorded() (handler.EventHandler, <-chan happened) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	all := make(chan happened, 100)
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) { all <- happened{what: "added", now: e.Object} },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ queue) {
			all <- happened{what: "changed", before: e.ObjectOld, now: e.ObjectNew}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ queue) {
			all <- happened{what: "deleted", now: e.Object, missed: e.DeleteStateUnknown}
		},
	}, all
}

// watching returns the events of a source that a controller has started, and waits until it has those of the pods that were there before.
func watching(t *testing.T, c *Cache, predicates ...predicate.Predicate) <-chan happened {
	t.Helper()
	events, all := recorded()
	s := c.Source(events, predicates...)
	if err := s.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitForSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return all
}

// next returns the next event.
func next(t *testing.T, all <-chan happened) happened {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	select {
	case h := <-all:
		return h
	case <-ctx.Done():
		t.Fatal("no further event")
		return happened{}
	}
}

// metadataOf is what a controller gets of a pod.
func metadataOf(p *corev1.Pod) client.Object {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: p.ObjectMeta}
}

func expect(t *testing.T, got, want happened) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(happened{})); diff != "" {
		t.Errorf("unexpected event (-want +got):\n%s", diff)
	}
}

func TestAControllerGetsTheEventsOfPods(t *testing.T) {
	t.Parallel()
	one, two := pod("cart-1", "cart"), pod("cart-2", "cart")
	one.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "cart-5d4f", UID: "owner", Controller: new(true)}}
	c := newCluster(t, one)
	all := watching(t, c.Cache)
	if len(all) != 1 {
		t.Fatalf("after the pods were read there are %d events", len(all))
	}
	expect(t, next(t, all), happened{what: "added", now: metadataOf(one)})

	c.change(t, func(all clienttesting.ObjectTracker) error { return all.Add(two) })
	expect(t, next(t, all), happened{what: "added", now: metadataOf(two)})

	changed := two.DeepCopy()
	changed.Labels, changed.ResourceVersion = map[string]string{"app": "sort"}, "7"
	c.change(t, func(all clienttesting.ObjectTracker) error { return all.Update(podResource, changed, namespace) })
	expect(t, next(t, all), happened{what: "changed", before: metadataOf(two), now: metadataOf(changed)})

	c.change(t, func(all clienttesting.ObjectTracker) error { return all.Delete(podResource, namespace, "cart-1") })
	expect(t, next(t, all), happened{what: "deleted", now: metadataOf(one)})
}

// Each controller has its predicates, which see both states of a pod, and gets pods that were read before it started.
func TestPredicatesSeeWhatPodsWereBefore(t *testing.T) {
	t.Parallel()
	one := pod("cart-1", "cart")
	c := newCluster(t, one)
	everything := watching(t, c.Cache)
	relabelled := watching(t, c.Cache, predicate.LabelChangedPredicate{})
	for _, all := range []<-chan happened{everything, relabelled} {
		expect(t, next(t, all), happened{what: "added", now: metadataOf(one)})
	}
	moved := one.DeepCopy()
	moved.Status.PodIP, moved.ResourceVersion = "10.1.2.3", "7"
	sorts := moved.DeepCopy()
	sorts.Labels, sorts.ResourceVersion = map[string]string{"app": "sort"}, "8"
	for _, p := range []*corev1.Pod{moved, sorts} {
		c.change(t, func(all clienttesting.ObjectTracker) error { return all.Update(podResource, p, namespace) })
	}
	expect(t, next(t, everything), happened{what: "changed", before: metadataOf(one), now: metadataOf(moved)})
	expect(t, next(t, everything), happened{what: "changed", before: metadataOf(moved), now: metadataOf(sorts)})
	expect(t, next(t, relabelled), happened{what: "changed", before: metadataOf(moved), now: metadataOf(sorts)})
}

// A pod is deleted while the watch is interrupted: that it is gone is found when all are read again.
func TestADeletionThatTheWatchMissedIsAnEvent(t *testing.T) {
	t.Parallel()
	one := pod("cart-1", "cart")
	c := newCluster(t, one)
	first := watch.NewFake()
	watches := 0
	c.api.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		watches++
		return watches == 1, first, nil
	})
	all := watching(t, c.Cache)
	expect(t, next(t, all), happened{what: "added", now: metadataOf(one)})
	if err := c.api.Tracker().Delete(podResource, namespace, "cart-1"); err != nil {
		t.Fatal(err)
	}
	first.Error(&apierrors.NewResourceExpired("too old").ErrStatus)
	expect(t, next(t, all), happened{what: "deleted", now: metadataOf(one), missed: true})
}

// What a controller waits for longer than its CacheSyncTimeout is named in the error with which it ends. A manager that ends has no error.
func TestPodsThatAreReadTooSlowlyAreAnError(t *testing.T) {
	t.Parallel()
	c, err := newCache(kubernetesfake.NewClientset(), Options{}) // never started
	if err != nil {
		t.Fatal(err)
	}
	events, _ := recorded()
	s := c.Source(events)
	if err := s.Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	if err := s.WaitForSync(late); err == nil || err.Error() != "the pods that have not terminated are not read yet: context deadline exceeded" {
		t.Errorf("got %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.WaitForSync(ended); err != nil {
		t.Errorf("at the end of the manager: %v", err)
	}
	if named, is := s.(interface{ String() string }); !is || !strings.Contains(named.String(), "pods") {
		t.Errorf("the log calls it %v", s)
	}
}
