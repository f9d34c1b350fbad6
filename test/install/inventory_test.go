//go:build e2e

package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"loadline.dev/loadline/test/live"
)

// inventory lists all objects of the cluster, as RESOURCE.GROUP NAMESPACE/NAME, but
// for those that come and go by themselves.
func inventory(ctx context.Context, t *testing.T) (sets.Set[string], error) {
	t.Helper()
	discover, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	must(t, err)
	objects, err := dynamic.NewForConfig(cluster.Config)
	must(t, err)
	lists, err := discover.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	all := sets.New[string]()
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		must(t, err)
		for _, resource := range list.APIResources {
			kind := version.WithResource(resource.Name).GroupResource()
			if !slices.Contains(resource.Verbs, "list") || passing(kind) {
				continue
			}
			found, err := objects.Resource(version.WithResource(resource.Name)).List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) { // the kind is going just now
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("list %s: %w", kind, err)
			}
			for i := range found.Items {
				o := &found.Items[i]
				if o.GetNamespace() != corev1.NamespaceNodeLease {
					all.Insert(fmt.Sprintf("%s %s/%s", kind, o.GetNamespace(), o.GetName()))
				}
			}
		}
	}
	return all, nil
}

// passing reports whether objects of a kind come and go by themselves, or are none.
func passing(kind schema.GroupResource) bool {
	return kind.Resource == "events" || kind.Resource == "componentstatuses"
}

// standard are the objects that every namespace has.
func standard(namespace string) sets.Set[string] {
	return sets.New("serviceaccounts "+namespace+"/default", "configmaps "+namespace+"/kube-root-ca.crt")
}

// awaitEmpty waits until a namespace has nothing but what every namespace has, if it
// is there.
func awaitEmpty(t *testing.T, namespace string) {
	t.Helper()
	live.Until(t, "nothing is left in namespace "+namespace, live.Patience, func(ctx context.Context) (bool, string, error) {
		now, err := inventory(ctx, t)
		if err != nil {
			return false, err.Error(), nil //nolint:nilerr // a kind that is going makes the discovery fail for a while
		}
		var left []string
		for _, object := range sets.List(now.Difference(standard(namespace))) {
			if strings.Contains(object, " "+namespace+"/") {
				left = append(left, object)
			}
		}
		return len(left) == 0, fmt.Sprintf("left behind: %q", left), nil
	})
}

// takeInventory returns the inventory.
func takeInventory(t *testing.T) sets.Set[string] {
	t.Helper()
	var all sets.Set[string]
	live.Until(t, "the inventory is taken", live.Patience, func(ctx context.Context) (bool, string, error) {
		var err error
		all, err = inventory(ctx, t)
		return err == nil, fmt.Sprint(err), nil
	})
	return all
}

// awaitInventory waits until the cluster has what it had before, and what shall have
// been added, and nothing else.
func awaitInventory(t *testing.T, before, added sets.Set[string]) {
	t.Helper()
	want := before.Union(added)
	live.Until(t, "nothing else is left", live.Patience, func(ctx context.Context) (bool, string, error) {
		now, err := inventory(ctx, t)
		if err != nil {
			return false, err.Error(), nil //nolint:nilerr // a kind that is going makes the discovery fail for a while
		}
		stand := fmt.Sprintf("left behind: %q; missing: %q", sets.List(now.Difference(want)), sets.List(want.Difference(now)))
		return now.Equal(want), stand, nil
	})
}
