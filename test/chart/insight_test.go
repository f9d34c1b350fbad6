package chart

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// allowed reports whether the API server lets a service account do something: "VERB /URL", or "VERB GROUP RESOURCE" with
// "core" for the group without a name.
func (s *server) allowed(ctx context.Context, namespace, account, what string) (bool, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + namespace + ":" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}}
	switch words := strings.Fields(what); len(words) {
	case 2:
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: words[0], Path: words[1]}
	default:
		resource, sub, _ := strings.Cut(words[2], "/")
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: "shop", Verb: words[0], Group: strings.TrimPrefix(words[1], "core"), Resource: resource, Subresource: sub,
		}
	}
	err := s.Create(ctx, review)
	return review.Status.Allowed, err
}

func TestInsightAloneBringsNoRightToMeasureOrToPlacePods(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.addNamespace(t, "loadline-system")
	before, err := s.everything(t.Context())
	must(t, err)
	s.helm(t, "install", "loadline", chartDir(), "--values", filepath.Join(chartDir(), "values-insight-only.yaml"))

	after, err := s.everything(t.Context())
	must(t, err)
	var running []string
	for _, object := range after {
		kind, _, _ := strings.Cut(object, " ")
		passive := []string{"Namespace", "ServiceAccount", "ClusterRole", "Service", "Secret", "ConfigMap", "Endpoints", "EndpointSlice", "ControllerRevision"}
		if !slices.Contains(before, object) && !slices.Contains(passive, kind) {
			running = append(running, object)
		}
	}
	same(t, "what runs or gives rights", running, []string{
		"ClusterRoleBinding  " + gauge, "ClusterRoleBinding  " + gauge + "-reader", "DaemonSet " + gauge + " " + gauge, "NetworkPolicy " + gauge + " " + gauge, "PriorityClass  loadline",
	})

	rights := map[string][]string{
		gauge:             {"create authentication.k8s.io tokenreviews", "create authorization.k8s.io subjectaccessreviews"},
		"loadline-reader": {"get /v1/usage"},
	}
	others := []string{
		"get /metrics", "list core pods", "create core pods", "create core pods/binding", "get core pods/proxy", "patch core nodes", "get core secrets", "create core configmaps",
		"create core serviceaccounts/token", "create batch jobs", "patch apps deployments", "update apps deployments/scale", "list loadline.dev workloadprofiles", "create coordination.k8s.io leases",
	}
	for account, its := range rights {
		for _, what := range its {
			must(t, wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
				return s.allowed(ctx, gauge, account, what)
			}))
		}
	}
	for account, its := range rights {
		for _, what := range slices.Concat(others, rights[gauge], rights["loadline-reader"]) {
			is, err := s.allowed(t.Context(), gauge, account, what)
			must(t, err)
			same(t, "whether "+account+" may "+what, is, slices.Contains(its, what))
		}
	}
	s.helm(t, "uninstall", "loadline")
	s.awaitEverything(t, before)
}
