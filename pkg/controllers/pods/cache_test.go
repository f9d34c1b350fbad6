package pods

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

const (
	nodeName  = "worker-1"
	namespace = "shop"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// pod returns a running pod of an app.
func pod(name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-of-" + name), Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// cluster is a cluster with a cache of its pods.
type cluster struct {
	*Cache
	api     *kubernetesfake.Clientset
	watched chan struct{} // closed once pods are watched
}

// newCluster returns a cluster of some pods. The cache runs until the test ends.
func newCluster(t *testing.T, pods ...runtime.Object) *cluster {
	t.Helper()
	return newClusterWith(t, Options{}, pods...)
}

func newClusterWith(t *testing.T, o Options, pods ...runtime.Object) *cluster {
	t.Helper()
	c := &cluster{api: kubernetesfake.NewClientset(pods...), watched: make(chan struct{})}
	first := sync.OnceFunc(func() { close(c.watched) })
	c.api.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		w, err := c.api.Tracker().Watch(podResource, metav1.NamespaceAll)
		first()
		return true, w, err
	})
	var err error
	if c.Cache, err = newCache(c.api, o); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

// change changes the pods of the cluster once they are watched: of what happened before, the fake API server sends no events.
func (c *cluster) change(t *testing.T, change func(clienttesting.ObjectTracker) error) {
	t.Helper()
	<-c.watched
	if err := change(c.api.Tracker()); err != nil {
		t.Fatal(err)
	}
}

// names returns the names of pods in their order.
func names(t *testing.T, pods []corev1.Pod, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range pods {
		all = append(all, pods[i].Name)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// apps returns the apps of the pods of a namespace by their labels, in their order.
func apps(t *testing.T, c *Cache, of string) string {
	t.Helper()
	sets, err := c.Labels(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, set := range sets {
		all = append(all, set["app"])
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Pods are found by their nodes and namespaces once they are asked for, and follow the cluster.
func TestPodsFollowTheCluster(t *testing.T) {
	t.Parallel()
	c := newCluster(t, pod("cart-1", "cart"), pod("cart-2", "cart"))
	onNode := func(name string) string {
		pods, err := c.RunningOnNode(t.Context(), name, nil)
		return names(t, pods, err)
	}
	inNamespace := func(name string) string {
		pods, err := c.RunningInNamespace(t.Context(), name)
		return names(t, pods, err)
	}
	if got := onNode(nodeName); got != "cart-1 cart-2" {
		t.Errorf("on the node are %q", got)
	}
	if got := inNamespace(namespace); got != "cart-1 cart-2" {
		t.Errorf("in the namespace are %q", got)
	}
	if got := onNode("other") + inNamespace("other") + apps(t, c.Cache, "other"); got != "" {
		t.Errorf("elsewhere is %q", got)
	}
	c.change(t, func(all clienttesting.ObjectTracker) error { return all.Delete(podResource, namespace, "cart-1") })
	c.change(t, func(all clienttesting.ObjectTracker) error { return all.Add(pod("cart-3", "cart")) })
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return onNode(nodeName) == "cart-2 cart-3", nil
	})
	if err != nil {
		t.Errorf("after one went and one came there are %q", onNode(nodeName))
	}
}

// A pod that is pending does not run, neither before nor after it is bound, and selectors select it nevertheless.
func TestAPendingPodHasLabelsAndDoesNotRun(t *testing.T) {
	t.Parallel()
	bound, unbound := pod("bound", "sort"), pod("unbound", "sort")
	bound.Status.Phase, unbound.Status.Phase, unbound.Spec.NodeName = corev1.PodPending, corev1.PodPending, ""
	c := newCluster(t, pod("cart-1", "cart"), bound, unbound)
	if got := apps(t, c.Cache, namespace); got != "cart sort sort" {
		t.Errorf("the labels are those of %q", got)
	}
	onNode, err := c.RunningOnNode(t.Context(), nodeName, nil)
	if got := names(t, onNode, err); got != "cart-1" {
		t.Errorf("on the node run %q", got)
	}
	inNamespace, err := c.RunningInNamespace(t.Context(), namespace)
	if got := names(t, inNamespace, err); got != "cart-1" {
		t.Errorf("in the namespace run %q", got)
	}
}

func TestPodsThatHaveTerminatedAreNotAskedFor(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	if _, err := c.Labels(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	<-c.watched
	asked := c.api.Actions()
	if len(asked) < 2 {
		t.Fatalf("asked for %v, want pods to be listed and watched", asked)
	}
	for _, action := range asked {
		var selector fields.Selector
		switch action := action.(type) {
		case clienttesting.ListAction:
			selector = action.GetListRestrictions().Fields
		case clienttesting.WatchAction:
			selector = action.GetWatchRestrictions().Fields
		default:
			t.Fatalf("asked for %v", action)
		}
		for phase, want := range map[corev1.PodPhase]bool{
			corev1.PodPending: true, corev1.PodRunning: true, corev1.PodUnknown: true, corev1.PodSucceeded: false, corev1.PodFailed: false,
		} {
			if got := selector.Matches(fields.Set{"status.phase": string(phase)}); got != want {
				t.Errorf("%s of %s pods: %v, want %v", action.GetVerb(), phase, got, want)
			}
		}
	}
}

// A replica that waits to lead runs no controller: it reads no pods.
func TestNothingIsReadBeforePodsAreNeeded(t *testing.T) {
	t.Parallel()
	api := kubernetesfake.NewClientset(pod("cart-1", "cart"))
	c, err := newCache(api, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Source(nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := c.Start(ctx); err != nil {
		t.Error(err)
	}
	if asked := api.Actions(); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
}

// A manager that ends before its pods are read says so.
func TestPodsThatAreNotReadAreAnError(t *testing.T) {
	t.Parallel()
	c, err := newCache(kubernetesfake.NewClientset(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	const want = "the pods that have not terminated are not read yet: context canceled"
	if _, err := c.RunningOnNode(ctx, nodeName, nil); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := c.Labels(ctx, namespace); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := c.Count(ctx); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	c.ForPlans = true
	if _, err := c.All(ctx); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
