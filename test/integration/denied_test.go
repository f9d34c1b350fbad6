package integration

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// As with rbac.measurement and rbac.replay of the chart, the manager may run Jobs in namespaces that are named only.
func TestTheManagerSaysWhereItMayNotRunJobs(t *testing.T) {
	t.Parallel()
	p := ownEnvironment(t).newPlace(t, 1)
	p.startManagerWithRoles(t, []string{managerRole})

	measured := p.measured(t)
	p.awaitMeasured(t, measured, v1alpha1.ReasonForbidden,
		"loadline-manager may not run Jobs in namespace "+p.namespace+": add it to rbac.measurement.namespaces of the chart, or bind the ClusterRole "+measurerRole)
	replay, profile := p.generated()
	must(t, p.Create(t.Context(), profile))
	must(t, p.Create(t.Context(), replay))
	p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonPending,
		"loadline-manager may not run Jobs in namespace "+p.namespace+": add it to rbac.replay.namespaces of the chart, or bind the ClusterRole "+replayerRole)

	must(t, p.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: replayerRole}, RoleRef: clusterRole(replayerRole),
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: managerRole}},
	}))
	p.awaitComplete(t, replay, metav1.ConditionFalse, v1alpha1.ReasonRunning, "")
}
