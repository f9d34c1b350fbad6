//go:build e2e

package install

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/test/live"
)

// comesAndGoes installs the chart in all the ways there are, and sees that what it
// leaves is what it says it keeps.
func comesAndGoes(t *testing.T) {
	clearAway(t)
	namespace := cluster.NewNamespace(t)
	before := awaitSettled(t, namespace)

	installPrevious(t)
	kept := oneOfEach(t, namespace)
	install(t)
	kept.check(t, "after the upgrade")
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

// oneOfEach makes an object of each kind.
func oneOfEach(t *testing.T, namespace string) keepsakes {
	t.Helper()
	profile, replay, change := &v1alpha1.WorkloadProfile{}, &v1alpha1.TraceReplay{}, &v1alpha1.Remediation{}
	cluster.CreateFrom(t, "testdata/kept-namespaced.yaml", namespace, profile, replay, change)
	nodes, plan, tree, policy := &v1alpha1.NodeProfile{}, &v1alpha1.PoolPlan{}, &v1alpha1.ShareTree{}, &v1alpha1.RemediationPolicy{}
	cluster.CreateFrom(t, "testdata/kept.yaml", "", nodes, plan, tree, policy)
	kept := keepsakes{}
	for kind, object := range map[string]client.Object{
		"workloadprofiles": profile, "tracereplays": replay, "nodeprofiles": nodes, "poolplans": plan, "sharetrees": tree,
		"remediationpolicies": policy, "remediations": change,
	} {
		name := fmt.Sprintf("%s.%s %s/%s", kind, v1alpha1.GroupVersion.Group, object.GetNamespace(), object.GetName())
		kept[name] = keepsake{object, object.GetUID(), object.GetGeneration()}
	}
	return kept
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
