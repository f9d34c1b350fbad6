//go:build e2e

package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/test/live"
)

// comesAndGoes installs the chart in all the ways there are, and sees that what it
// leaves is what it says it keeps.
func comesAndGoes(t *testing.T) {
	clearAway(t)
	letReadNamespaces(t)
	namespace := cluster.NewNamespace(t)
	before := awaitSettled(t, namespace)

	installPrevious(t)
	kept := oneOfEach(t, namespace)
	install(t)
	kept.check(t, "after the upgrade")
	maps.Copy(kept, oneOfEach(t, namespace)) // of the kinds that the previous version did not have
	if len(kept) != len(kinds) {
		t.Fatalf("there are objects of %d kinds, want one of each of %d", len(kept), len(kinds))
	}
	helm(t, "rollback", release, "--wait", "--timeout", "5m")
	kept.check(t, "after the upgrade was taken back")
	awaitNoNamespace(t, gauge) // the previous version has no gauges, and Helm does not wait for what it removes
	install(t)
	helm(t, "test", release, "--timeout", "5m")

	uninstall(t)
	added := kept.names()
	for _, kind := range kinds {
		added.Insert("customresourcedefinitions.apiextensions.k8s.io /" + kind)
	}
	added.Insert("apiservices.apiregistration.k8s.io /v1alpha1.loadline.dev")
	awaitInventory(t, before, added)

	install(t)
	kept.check(t, "after it was installed again")
	install(t, "--set", "crds.keep=false")
	kept.check(t, "while it is installed")
	uninstall(t)
	awaitInventory(t, before, nil)
}

// kinds are the names of the resource definitions.
var kinds = []string{
	"nodeprofiles.loadline.dev", "poolplans.loadline.dev", "remediationpolicies.loadline.dev", "remediations.loadline.dev", "sharetrees.loadline.dev", "tracereplays.loadline.dev", "workloadprofiles.loadline.dev",
}

// awaitSettled returns the inventory once a new namespace has all that every
// namespace has.
func awaitSettled(t *testing.T, namespace string) sets.Set[string] {
	t.Helper()
	var all sets.Set[string]
	live.Until(t, "the namespace is complete", live.Patience, func(context.Context) (bool, string, error) {
		all = takeInventory(t)
		return all.IsSuperset(standard(namespace)), "it is not", nil
	})
	return all
}

// keepsakes are objects of ours, by their names in the inventory, with what must not
// change of them.
type keepsakes map[string]keepsake

type keepsake struct {
	object     client.Object
	uid        types.UID
	generation int64
}

// oneOfEach makes an object of each kind that the cluster has and that has none yet.
func oneOfEach(t *testing.T, namespace string) keepsakes {
	t.Helper()
	kept := keepsakes{}
	for path, in := range map[string]string{"testdata/kept-namespaced.yaml": namespace, "testdata/kept.yaml": ""} {
		manifest, err := os.Open(path)
		must(t, err)
		objects, err := local.Decode(manifest)
		must(t, errors.Join(err, manifest.Close()))
		for _, object := range objects {
			object.SetNamespace(in)
			err := cluster.Create(t.Context(), object)
			// A kind that the cluster has had is known to the client, and not found.
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
				continue
			}
			must(t, err)
			name := fmt.Sprintf("%s %s/%s", resourceOf(t, object.GetKind()), object.GetNamespace(), object.GetName())
			kept[name] = keepsake{object, object.GetUID(), object.GetGeneration()}
		}
	}
	return kept
}

// resourceOf returns the resource of a kind of Loadline's, which the cluster has.
func resourceOf(t *testing.T, kind string) schema.GroupResource {
	t.Helper()
	mapping, err := cluster.RESTMapper().RESTMapping(v1alpha1.GroupVersion.WithKind(kind).GroupKind(), v1alpha1.GroupVersion.Version)
	must(t, err)
	return mapping.Resource.GroupResource()
}

func (k keepsakes) names() sets.Set[string] { return sets.KeySet(k) }

// check fails the test unless the objects are unchanged.
func (k keepsakes) check(t *testing.T, when string) {
	t.Helper()
	for name, kept := range k {
		must(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(kept.object), kept.object))
		if kept.object.GetUID() != kept.uid || kept.object.GetGeneration() != kept.generation {
			t.Errorf("%s: %s is another object, or has another spec", when, name)
		}
	}
}
