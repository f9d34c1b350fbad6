package profile

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// Watch feeds the index from an API server until the context ends. It returns at once; the returned
// functions report whether all profiles of each kind have been read. While the server is
// unreachable, or the resource definitions are not installed yet, it goes on trying and the index
// keeps its content.
func (x *Index) Watch(ctx context.Context, config *rest.Config) ([]cache.InformerSynced, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &v1alpha1.GroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON // custom resources have no other
	config.AcceptContentTypes = runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for %v: %w", v1alpha1.GroupVersion, err)
	}
	var synced []cache.InformerSynced
	for _, kind := range []struct {
		resource  string
		object    runtime.Object
		transform cache.TransformFunc
	}{
		{"workloadprofiles", &v1alpha1.WorkloadProfile{}, keepRead},
		{"nodeprofiles", &v1alpha1.NodeProfile{}, nil}, // there are few
	} {
		informer := cache.NewSharedInformer(
			cache.NewListWatchFromClient(client, kind.resource, "", fields.Everything()), kind.object, 0)
		if err := informer.SetTransform(kind.transform); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.resource, err)
		}
		registration, err := informer.AddEventHandler(x)
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.resource, err)
		}
		if err := informer.SetWatchErrorHandlerWithContext(watchErrors(x.log, kind.resource)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.resource, err)
		}
		go informer.RunWithContext(ctx)
		synced = append(synced, registration.HasSynced)
	}
	return synced, nil
}

// keepRead has the cache keep only the parts of a WorkloadProfile that the index reads.
func keepRead(obj any) (any, error) {
	p, ok := obj.(*v1alpha1.WorkloadProfile)
	if !ok {
		return obj, nil // a missed deletion, of an object already reduced here
	}
	return read(p), nil
}

// watchErrors logs a remedy for an operator when a watch fails.
func watchErrors(log logr.Logger, resource string) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, r *cache.Reflector, err error) {
		log.Error(err, "Cannot watch profiles, will try again; the profiles last seen stay in use. Are Loadline's resource definitions installed, and may this service account list and watch them?", "resource", resource)
		cache.DefaultWatchErrorHandler(ctx, r, err)
	}
}
