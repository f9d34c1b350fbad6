package chart

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/live"
)

const ui = "loadline-ui"

func TestTheLivePageIsOffUnlessOneSaysOtherwise(t *testing.T) {
	t.Parallel()
	for _, o := range render(t, "") {
		if strings.Contains(o.GetName(), ui) || strings.Contains(o.GetName(), "loadline-viewer") {
			t.Errorf("there is a %s %s", o.GetKind(), o.GetName())
		}
	}
}

func TestTheLivePageChangesNothing(t *testing.T) {
	t.Parallel()
	all := render(t, "ui: {enabled: true}")
	reviews := []string{"tokenreviews", "subjectaccessreviews"}
	for _, rule := range as[rbacv1.ClusterRole](t, all, "ClusterRole", ui).Rules {
		if !slices.Equal(rule.Verbs, []string{"list"}) && !slices.Contains(reviews, rule.Resources[0]) {
			t.Errorf("it may %v", rule)
		}
	}
	for _, rule := range as[rbacv1.Role](t, all, "Role", ui).Rules {
		for _, verb := range rule.Verbs {
			if verb != "get" && verb != "list" {
				t.Errorf("it may %v", rule)
			}
		}
	}
	d := deployment(t, all, ui)
	same(t, "its account", d.Spec.Template.Spec.ServiceAccountName, ui)
	same(t, "how many there are", *d.Spec.Replicas, 1)
	same(t, "what it runs", container(t, all, ui).Image, "loadline/kubectl-loadline:0.2.0")
	same(t, "its port", container(t, all, ui).Ports, []corev1.ContainerPort{{Name: "https", ContainerPort: 8443}})
}

func TestWhoSignsInToTheLivePage(t *testing.T) {
	t.Parallel()
	all := render(t, "ui: {enabled: true}\nfullnameOverride: other\nserviceAccounts: {viewer: {name: spectator}}")
	page := []rbacv1.PolicyRule{{NonResourceURLs: []string{live.Path}, Verbs: []string{"get"}}}
	same(t, "what it takes to open it", as[rbacv1.ClusterRole](t, all, "ClusterRole", "other-ui-reader").Rules, page)
	same(t, "what the viewer may", as[rbacv1.ClusterRole](t, all, "ClusterRole", "other-viewer").Rules,
		append(page, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods", "nodes"}, Verbs: []string{"list"}}))
	same(t, "who the viewer is", as[rbacv1.ClusterRoleBinding](t, all, "ClusterRoleBinding", "other-viewer").Subjects,
		[]rbacv1.Subject{{Kind: "ServiceAccount", Name: "spectator", Namespace: "loadline-system"}})
	same(t, "what users may", as[rbacv1.ClusterRole](t, all, "ClusterRole", "other-ui-user").Rules, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, ResourceNames: []string{"spectator"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"services/proxy"}, ResourceNames: []string{"https:other-ui:https"}, Verbs: []string{"create", "get"}},
	})
	service := as[corev1.Service](t, all, "Service", "other-ui")
	same(t, "the Service's port", service.Spec.Ports[0].Name, "https")
	if account := as[corev1.ServiceAccount](t, all, "ServiceAccount", "spectator"); account.AutomountServiceAccountToken == nil || *account.AutomountServiceAccountToken {
		t.Error("pods get the viewer's token without asking for it")
	}
	same(t, "the audience that the notes name", usage.Audience, "loadline-gauge")
}

func TestTheLivePageIsReachedLikeTheGaugesAndReachesTheAPIServerOnly(t *testing.T) {
	t.Parallel()
	n := networkOf(t, render(t, "ui: {enabled: true}\nnetworkPolicy: {readersFrom: [{ipBlock: {cidr: 192.0.2.0/28}}]}"))
	same(t, "whether a stranger reaches it", n.in(stranger, "ui", "https"), false)
	same(t, "whether the API server reaches it", n.in(apiServer, "ui", "https"), true)
	same(t, "whether it reaches the API server", n.out("ui", apiServer, 6443, corev1.ProtocolTCP), true)
	same(t, "whether it reaches a gauge", n.out("ui", n.pods["gauge"], 8443, corev1.ProtocolTCP), false)
	same(t, "whether it reaches a stranger", n.out("ui", stranger, 80, corev1.ProtocolTCP), false)
}

func TestTheLivePageNeedsGauges(t *testing.T) {
	t.Parallel()
	if _, err := template(t, "loadline", "ui: {enabled: true}\ngauge: {enabled: false}"); err == nil || !strings.Contains(err.Error(), "ui.enabled: the live page shows what gauges observe") {
		t.Errorf("got %v", err)
	}
}
