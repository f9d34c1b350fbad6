//go:build e2e

package install

import (
	"context"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/test/live"
)

// Verbs of roles.
var (
	reading = []string{"get", "list", "watch"}
	writing = []string{"create", "update", "patch", "delete"}
)

// The kinds that are of a namespace, and those that the cluster has once.
var (
	namespacedKinds = []string{"WorkloadProfile", "TraceReplay", "Remediation"}
	clusterKinds    = []string{"NodeProfile", "PoolPlan", "ShareTree", "RemediationPolicy"}
)

// usersHaveTheirRights sees what viewers and editors of each kind may do, and those
// who may look at everything, or edit it, as Kubernetes' own roles have it.
func usersHaveTheirRights(t *testing.T) {
	install(t)
	here, elsewhere := cluster.NewNamespace(t), cluster.NewNamespace(t)
	looking, editing := userWith(t, "", "view", "pods"), userWith(t, "", "edit", "pods")
	for _, kind := range slices.Concat(namespacedKinds, clusterKinds) {
		objects, role := resourceOf(t, kind).String(), release+"-"+strings.ToLower(kind)
		namespace := ""
		if slices.Contains(namespacedKinds, kind) {
			namespace = here
		}
		viewer := userWith(t, namespace, role+"-viewer", objects)
		may(t, viewer, namespace, objects, reading, true)
		may(t, viewer, namespace, objects, writing, false)
		editor := userWith(t, namespace, role+"-editor", objects)
		may(t, editor, namespace, objects, slices.Concat(reading, writtenBy(kind)), true)
		may(t, editor, namespace, objects+"/status", writing, false)
		if namespace != "" {
			may(t, editor, elsewhere, objects, slices.Concat(reading, writing), false)
		}
		may(t, looking, namespace, objects, reading, true)
		may(t, looking, namespace, objects, writing, false)
		may(t, editing, namespace, objects, reading, true)
		may(t, editing, namespace, objects, writtenBy(kind), namespace != "") // the cluster is its admins'
	}
}

// writtenBy returns what the editors of a kind may do with its objects: Remediations are made by Loadline.
func writtenBy(kind string) []string {
	if kind == "Remediation" {
		return slices.DeleteFunc(slices.Clone(writing), func(verb string) bool { return verb == "create" })
	}
	return writing
}

// userWith returns a user who has a ClusterRole in a namespace, or, where that is "",
// everywhere. It waits until the user may list some objects, as that role allows.
func userWith(t *testing.T, namespace, role, objects string) client.Client {
	t.Helper()
	name := "e2e-" + role
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}
	if namespace == "" {
		cluster.Make(t, &rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects})
	} else {
		cluster.Make(t, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects})
	}
	user, err := cluster.As(name)
	must(t, err)
	live.Until(t, "the role "+role+" counts", live.Patience, func(ctx context.Context) (bool, string, error) {
		allowed, err := allowed(ctx, user, namespace, objects, "list")
		return allowed, "it does not", err
	})
	return user
}

// may fails the test unless a user may, or may not, do things with objects.
func may(t *testing.T, user client.Client, namespace, objects string, verbs []string, want bool) {
	t.Helper()
	for _, verb := range verbs {
		is, err := allowed(t.Context(), user, namespace, objects, verb)
		must(t, err)
		if is != want {
			t.Errorf("%s %s in namespace %q is allowed: %v, want %v", verb, objects, namespace, is, want)
		}
	}
}

// allowed asks the API server, as the user, whether that user may do something with
// objects: RESOURCE.GROUP/SUBRESOURCE.
func allowed(ctx context.Context, user client.Client, namespace, objects, verb string) (bool, error) {
	objects, sub, _ := strings.Cut(objects, "/")
	resource, group, _ := strings.Cut(objects, ".")
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: group, Resource: resource, Subresource: sub, Verb: verb},
	}}
	err := user.Create(ctx, review)
	return review.Status.Allowed, err
}
