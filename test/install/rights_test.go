//go:build e2e

package install

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/test/install/audit"
)

// gauge is what the DaemonSet of the gauges is called, and the namespace that it is in.
const gauge = "loadline-gauge"

// scalerRole may be bound wherever PoolPlans shall scale something.
const scalerRole = manager + "-scaler"

// TestRights judges what Loadline has asked of the API server in all tests before: it
// must have had every right that it needed, and needed every right that it has.
func TestRights(t *testing.T) { //nolint:paralleltest // it is the last
	if *auditLog == "" {
		t.Skip("there is no -audit-log; make e2e gives it")
	}
	var accounts []string
	began := map[string]time.Time{} // by account
	var grants []audit.Grant
	roles := readRoles(t)
	for _, name := range []string{manager, scheduler, gauge} {
		subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: operator, Name: accountOf(t, name)}
		if name == gauge {
			subject.Namespace = gauge
		}
		account := fmt.Sprintf("system:serviceaccount:%s:%s", subject.Namespace, subject.Name)
		accounts = append(accounts, account)
		began[account] = createdAt(t, subject)
		grants = append(grants, roles.grants(t, subject, account)...)
		if name == manager {
			scaling, err := audit.Grants(account, "ClusterRole "+scalerRole, roles.cluster[scalerRole])
			must(t, err)
			grants = append(grants, scaling...)
		}
	}

	log, err := os.Open(*auditLog)
	must(t, err)
	defer log.Close()
	requests, err := audit.Read(log, accounts...)
	must(t, err)
	// Earlier releases had accounts of the same name, and lost their rights when they went.
	requests = slices.DeleteFunc(requests, func(r audit.Request) bool { return r.Time.Before(began[r.Account]) })
	t.Logf("%d requests, %d rights", len(requests), len(grants))
	if len(requests) == 0 || len(grants) == 0 {
		t.Error("there is nothing to judge")
	}
	findings := audit.Check(requests, grants)
	for i := range findings.Forbidden {
		t.Errorf("forbidden: %s", &findings.Forbidden[i])
	}
	for i := range findings.Unused {
		t.Errorf("never used: %s", &findings.Unused[i])
	}
}

// accountOf returns the name of the service account of the pods of a program.
func accountOf(t *testing.T, name string) string {
	t.Helper()
	if name == gauge {
		set := &appsv1.DaemonSet{}
		must(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: gauge, Name: name}, set))
		return set.Spec.Template.Spec.ServiceAccountName
	}
	deployment := &appsv1.Deployment{}
	must(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: operator, Name: name}, deployment))
	return deployment.Spec.Template.Spec.ServiceAccountName
}

// createdAt returns when a service account was created.
func createdAt(t *testing.T, subject rbacv1.Subject) time.Time {
	t.Helper()
	var account corev1.ServiceAccount
	must(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: subject.Namespace, Name: subject.Name}, &account))
	return account.CreationTimestamp.Time
}

// roles are those of the cluster and who has them, but for Kubernetes' own, which
// every scheduler has, needed or not.
type roles struct {
	cluster         map[string][]rbacv1.PolicyRule
	namespaced      map[client.ObjectKey][]rbacv1.PolicyRule
	clusterBindings []rbacv1.ClusterRoleBinding
	bindings        []rbacv1.RoleBinding
}

func readRoles(t *testing.T) *roles {
	t.Helper()
	r := &roles{cluster: map[string][]rbacv1.PolicyRule{}, namespaced: map[client.ObjectKey][]rbacv1.PolicyRule{}}
	var clusterRoles rbacv1.ClusterRoleList
	must(t, cluster.List(t.Context(), &clusterRoles))
	for _, role := range clusterRoles.Items {
		if !kubernetesOwn(&role) {
			r.cluster[role.Name] = role.Rules
		}
	}
	var namespaced rbacv1.RoleList
	must(t, cluster.List(t.Context(), &namespaced))
	for _, role := range namespaced.Items {
		if !kubernetesOwn(&role) {
			r.namespaced[client.ObjectKeyFromObject(&role)] = role.Rules
		}
	}
	var clusterBindings rbacv1.ClusterRoleBindingList
	must(t, cluster.List(t.Context(), &clusterBindings))
	r.clusterBindings = clusterBindings.Items
	var bindings rbacv1.RoleBindingList
	must(t, cluster.List(t.Context(), &bindings))
	r.bindings = bindings.Items
	return r
}

func kubernetesOwn(role client.Object) bool {
	return role.GetLabels()["kubernetes.io/bootstrapping"] == "rbac-defaults"
}

// ofGauges reports whether a rule is about what gauges show: they are asked for that, and the API server only whether
// the account has the right.
func ofGauges(rule rbacv1.PolicyRule) bool {
	return slices.Equal(rule.NonResourceURLs, []string{"/v1/usage"})
}

// grants returns the rights of an account.
func (r *roles) grants(t *testing.T, subject rbacv1.Subject, account string) []audit.Grant {
	t.Helper()
	var grants []audit.Grant
	add := func(role string, rules []rbacv1.PolicyRule, namespaces ...string) {
		rules = slices.DeleteFunc(slices.Clone(rules), ofGauges)
		more, err := audit.Grants(account, role, rules, namespaces...)
		must(t, err)
		grants = append(grants, more...)
	}
	for _, b := range r.clusterBindings {
		if slices.Contains(b.Subjects, subject) {
			add("ClusterRole "+b.RoleRef.Name, r.cluster[b.RoleRef.Name])
		}
	}
	for _, b := range r.bindings {
		switch {
		case !slices.Contains(b.Subjects, subject):
		case b.RoleRef.Kind == "ClusterRole":
			add("ClusterRole "+b.RoleRef.Name, r.cluster[b.RoleRef.Name], b.Namespace)
		default:
			add("Role "+b.RoleRef.Name, r.namespaced[client.ObjectKey{Namespace: b.Namespace, Name: b.RoleRef.Name}], b.Namespace)
		}
	}
	return grants
}
