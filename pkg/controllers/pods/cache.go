// Package pods keeps the pods of the cluster that have not terminated in memory, once for all controllers of the manager.
//
// A [Cache] reads all of them from the API server and follows their changes. Controllers get the events of pods from a [Cache.Source], read
// the labels that selectors select, and read running pods with what determines their share of a node. Where changes of pods are planned, all
// that plans look at is kept as well. Other fields of pods are not kept, and pods that terminated are not either: they are read from the API
// server. Nothing here writes.
package pods

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/pkg/controllers/interned"
)

// nodeIndex is the index of pods by the name of their node.
const nodeIndex = "node"

// LabelReader reads the labels of pods that have not terminated. A [Cache] is one.
type LabelReader interface {
	// Labels returns the labels of each pod of a namespace. They must not be changed.
	Labels(ctx context.Context, namespace string) ([]labels.Set, error)
}

// Cache holds the pods of a cluster that have not terminated: of each some 400 bytes, 300 more where changes of pods are planned, and what
// those of its template have in common. It begins to read them when a controller that watches them starts, or asks for them: a manager that
// does not lead has none in memory.
type Cache struct {
	Options

	informer toolscache.SharedIndexInformer
	begin    sync.Once
	begun    chan struct{} // closed by begin
}

// Options say what a cache keeps.
type Options struct {
	// ForPlans has it keep what plans look at.
	ForPlans bool
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch

// New returns a cache of the pods of the manager's cluster. The manager runs it while it leads.
func New(mgr ctrl.Manager, o Options) (*Cache, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c, err := newCache(api, o)
	if err != nil {
		return nil, err
	}
	return c, mgr.Add(c)
}

func newCache(api kubernetes.Interface, o Options) (*Cache, error) {
	notTerminated := fields.AndSelectors(
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	).String()
	c := &Cache{Options: o, begun: make(chan struct{}), informer: coreinformers.NewFilteredPodInformer(api, metav1.NamespaceAll, 0, toolscache.Indexers{
		nodeIndex:                 indexedBy(func(p *slimPod) string { return p.node }),
		toolscache.NamespaceIndex: indexedBy(func(p *slimPod) string { return p.namespace }),
	}, func(o *metav1.ListOptions) { o.FieldSelector = notTerminated })}
	var values interned.Values
	return c, c.informer.SetTransform(func(object any) (any, error) {
		if pod, is := object.(*corev1.Pod); is {
			return c.slimmed(pod, &values), nil
		}
		return object, nil // slim, or a deletion
	})
}

// slimmed returns what is kept of a pod, which is changed, with values that pods share.
func (c *Cache) slimmed(pod *corev1.Pod, values *interned.Values) *slimPod {
	if c.ForPlans {
		return identified(pod, values).withPlanned(pod, values)
	}
	return identified(pod, values).withShare(pod, values)
}

// indexedBy returns an index of slim pods by a property, without those that have none.
func indexedBy(property func(*slimPod) string) toolscache.IndexFunc {
	return func(object any) ([]string, error) {
		if pod, is := object.(*slimPod); is && property(pod) != "" {
			return []string{property(pod)}, nil
		}
		return nil, nil
	}
}

// Start follows the pods, from when they are needed first until the context is done.
func (c *Cache) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-c.begun:
		c.informer.RunWithContext(ctx)
	}
	return nil
}

// need has the pods read, unless they are already.
func (c *Cache) need() { c.begin.Do(func() { close(c.begun) }) }

// RunningOnNode returns the pods that run on a node, which must not be changed, in the memory of a list if that is large enough. It waits until all
// pods have been read, as the other methods do.
func (c *Cache) RunningOnNode(ctx context.Context, name string, into []corev1.Pod) ([]corev1.Pod, error) {
	return c.running(ctx, nodeIndex, name, into)
}

// RunningInNamespace returns the pods of a namespace that run, which must not be changed.
func (c *Cache) RunningInNamespace(ctx context.Context, name string) ([]corev1.Pod, error) {
	return c.running(ctx, toolscache.NamespaceIndex, name, nil)
}

// errNotForPlans is returned by a cache that keeps too little for plans.
var errNotForPlans = errors.New("what plans look at of pods is not kept")

// All returns all pods, which must not be changed, as far as plans look at them, in the order of their namespaces and names. It fails unless what
// plans look at is kept. It takes O(n log n) time for n pods, and 1.5 KB for each.
func (c *Cache) All(ctx context.Context) ([]corev1.Pod, error) {
	if !c.ForPlans {
		return nil, errNotForPlans
	}
	c.need()
	if err := await(ctx, c.informer.HasSyncedChecker()); err != nil {
		return nil, err
	}
	all := slims(c.informer.GetStore().List())
	slices.SortFunc(all, func(a, b *slimPod) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	pods := make([]corev1.Pod, len(all))
	for i, slim := range all {
		pods[i] = slim.whole()
	}
	return pods, nil
}

// Count returns how many pods there are.
func (c *Cache) Count(ctx context.Context) (int, error) {
	c.need()
	if err := await(ctx, c.informer.HasSyncedChecker()); err != nil {
		return 0, err
	}
	return len(c.informer.GetStore().ListKeys()), nil
}

func (c *Cache) running(ctx context.Context, index, value string, into []corev1.Pod) ([]corev1.Pod, error) {
	all, err := c.by(ctx, index, value)
	if err != nil {
		return nil, err
	}
	pods := slices.Grow(into[:0], len(all))
	for _, slim := range all {
		if slim.common.Status.Phase == corev1.PodRunning {
			pods = append(pods, slim.pod())
		}
	}
	return pods, nil
}

// Labels implements [LabelReader].
func (c *Cache) Labels(ctx context.Context, namespace string) ([]labels.Set, error) {
	all, err := c.by(ctx, toolscache.NamespaceIndex, namespace)
	if err != nil {
		return nil, err
	}
	sets := make([]labels.Set, len(all))
	for i, slim := range all {
		sets[i] = slim.labels
	}
	return sets, nil
}

// by returns the pods that have a value in an index.
func (c *Cache) by(ctx context.Context, index, value string) ([]*slimPod, error) {
	c.need()
	if err := await(ctx, c.informer.HasSyncedChecker()); err != nil {
		return nil, err
	}
	found, err := c.informer.GetIndexer().ByIndex(index, value)
	if err != nil {
		return nil, err
	}
	return slims(found), nil
}

// slims returns the slim pods among objects.
func slims(objects []any) []*slimPod {
	pods := make([]*slimPod, 0, len(objects))
	for _, object := range objects {
		if slim, is := object.(*slimPod); is {
			pods = append(pods, slim)
		}
	}
	return pods
}

// await returns once the pods have been read, or an error once the context is done.
func await(ctx context.Context, read toolscache.DoneChecker) error {
	select {
	case <-read.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the pods that have not terminated are not read yet: %w", context.Cause(ctx))
	}
}
