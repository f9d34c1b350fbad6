// Package feature finds out what of Kubernetes a test can use. Tests run on other versions of Kubernetes than the one that
// Loadline is built with, and these have not all of it: a test asks here, and leaves out, and says so, what needs the rest.
//
// Everything is looked for in the API server, not concluded from its version. But the version that is built with has all of it:
// where something is not found there, the test fails.
package feature

import (
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/hack/cluster/controlplane"
)

// MutatingPolicies reports whether the API server has MutatingAdmissionPolicy v1, by which pods get the nodes of their pool.
func MutatingPolicies(t testing.TB, config *rest.Config) bool {
	t.Helper()
	const group = "admissionregistration.k8s.io/v1"
	served, err := discover(t, config).ServerResourcesForGroupVersion(group)
	if err != nil {
		t.Fatal(err)
	}
	has := slices.ContainsFunc(served.APIResources, func(r metav1.APIResource) bool { return r.Kind == "MutatingAdmissionPolicy" })
	return Found(t, config, has, "MutatingAdmissionPolicy of "+group)
}

// ValuesInMessages reports whether the API server, which has Loadline's resource definitions, says which value it refuses by a rule of
// a definition. The field and the rule it always says.
func ValuesInMessages(t testing.TB, config *rest.Config, c client.Client) bool {
	t.Helper()
	bad := &v1alpha1.NodeProfile{
		ObjectMeta: metav1.ObjectMeta{Name: "no-servers"},
		Spec: v1alpha1.NodeProfileSpec{
			Selector: &metav1.LabelSelector{}, Resources: []v1alpha1.ResourceServers{{Name: "Disk", Servers: new(int32(1))}},
		},
	}
	err := c.Create(t.Context(), bad, client.DryRunAll)
	if !apierrors.IsInvalid(err) {
		t.Fatalf("the API server says %v of a bad name of a resource", err)
	}
	return Found(t, config, strings.Contains(err.Error(), `Invalid value: "Disk"`), "messages with the value that is refused")
}

// podGroupGates are the feature gates that pod groups need in the API server and the scheduler.
var podGroupGates = []string{"GenericWorkload", "TopologyAwareWorkloadScheduling"}

// PodGroups returns the flags by which an API server has groups of pods, and the scheduler uses them, in the API version that Loadline
// is built with. It returns none where the version that [controlplane.Options] choose by themselves has no such groups.
func PodGroups(t testing.TB) (apiServer, scheduler []string) {
	t.Helper()
	if !gated(t, podGroupGates...) {
		return nil, nil
	}
	on := "--feature-gates=" + strings.Join(podGroupGates, "=true,") + "=true"
	return []string{on, "--runtime-config=scheduling.k8s.io/v1beta1=true"}, []string{on}
}

// Batching reports whether kube-scheduler of the version that [controlplane.Options] choose by themselves places pods by the scores of the
// pod before them, and so does one that emulates it.
func Batching(t testing.TB) bool {
	t.Helper()
	return gated(t, "OpportunisticBatching")
}

// gated reports whether the version of Kubernetes that [controlplane.Options] choose by themselves has some feature gates.
func gated(t testing.TB, names ...string) bool {
	t.Helper()
	version, err := controlplane.Chosen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gates, err := controlplane.FeatureGates(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	lacks := slices.ContainsFunc(names, func(gate string) bool { return !slices.Contains(gates, gate) })
	return found(t, !lacks, version, "the feature gates "+strings.Join(names, ", "))
}

// Found reports whether the Kubernetes of an API server has something that only one test looks for. It says so if it has not,
// and fails the test if it is the version that Loadline is built with.
func Found(t testing.TB, config *rest.Config, has bool, what string) bool {
	t.Helper()
	if has {
		return true
	}
	version, err := discover(t, config).ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	return found(t, false, version.Major+"."+strings.TrimSuffix(version.Minor, "+"), what)
}

// found reports what Found does of a minor version, such as 1.36.
func found(t testing.TB, has bool, version, what string) bool {
	t.Helper()
	if has {
		return true
	}
	versions, err := controlplane.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if version == versions[0] {
		t.Fatalf("Kubernetes %s, which Loadline is built with, lacks %s", version, what)
	}
	t.Logf("Kubernetes %s lacks %s", version, what)
	return false
}

func discover(t testing.TB, config *rest.Config) *discovery.DiscoveryClient {
	t.Helper()
	api, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return api
}
