package pods

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Source returns a source of the events of pods for one controller. The objects of the events are *[metav1.PartialObjectMetadata] with the
// names, UID, resource version, labels and owners of a pod; labels and owners must not be changed. A pod that terminates is deleted. The
// controller starts no workers before it has the events of all pods that existed before, and fails if that takes longer than its
// CacheSyncTimeout.
func (c *Cache) Source(events handler.EventHandler, predicates ...predicate.Predicate) source.SyncingSource {
	return &podSource{cache: c, events: events, predicates: predicates}
}

// podSource is what [Cache.Source] returns.
type podSource struct {
	cache      *Cache
	events     handler.EventHandler
	predicates []predicate.Predicate
	read       toolscache.DoneChecker // of the events of the pods that existed before; set by Start
}

// Start implements [source.Source].
func (s *podSource) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	informer := &metadataInformer{SharedIndexInformer: s.cache.informer}
	if err := (&source.Informer{Informer: informer, Handler: s.events, Predicates: s.predicates}).Start(ctx, queue); err != nil {
		return err
	}
	s.read = informer.handled
	s.cache.need()
	return nil
}

// WaitForSync implements [source.SyncingSource].
func (s *podSource) WaitForSync(ctx context.Context) error {
	err := await(ctx, s.read)
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil // the manager ends
	}
	return err
}

// String names the source in logs and errors.
func (*podSource) String() string { return "source of pods that have not terminated" }

// metadataInformer is the informer of a [Cache] whose handlers get metadata.
type metadataInformer struct {
	toolscache.SharedIndexInformer
	handled toolscache.DoneChecker // of the events of the pods that existed before the handler was added
}

// AddEventHandlerWithOptions implements [toolscache.SharedInformer].
func (i *metadataInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	registered, err := i.SharedIndexInformer.AddEventHandlerWithOptions(metadataHandler{h}, o)
	if err == nil {
		i.handled = registered.HasSyncedChecker()
	}
	return registered, err
}

// metadataHandler hands on the events of slim pods as those of their metadata.
type metadataHandler struct {
	to toolscache.ResourceEventHandler
}

// OnAdd implements [toolscache.ResourceEventHandler].
func (h metadataHandler) OnAdd(object any, initial bool) { h.to.OnAdd(metadata(object), initial) }

// OnUpdate implements [toolscache.ResourceEventHandler].
func (h metadataHandler) OnUpdate(before, after any) {
	h.to.OnUpdate(metadata(before), metadata(after))
}

// OnDelete implements [toolscache.ResourceEventHandler].
func (h metadataHandler) OnDelete(object any) {
	if missed, is := object.(toolscache.DeletedFinalStateUnknown); is {
		missed.Obj = metadata(missed.Obj)
		object = missed
	}
	h.to.OnDelete(metadata(object))
}

// metadata returns the metadata of a slim pod, and other objects as they are.
func metadata(object any) any {
	if slim, is := object.(*slimPod); is {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: slim.meta()}
	}
	return object
}
