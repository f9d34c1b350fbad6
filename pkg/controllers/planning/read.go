package planning

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/node"
	"loadline.dev/loadline/pkg/scheduling"
)

// readPods returns the pods that have not ended.
func readPods(ctx context.Context, from client.Reader, options ...client.ListOption) ([]corev1.Pod, error) {
	all, err := scheduling.Pods(ctx, from, options...)
	return slices.DeleteFunc(all, func(p corev1.Pod) bool { return cgroup.Ended(&p) }), err
}

// readPolicies returns the policies that can be used, in the order in which they go.
func readPolicies(ctx context.Context, from client.Reader) ([]*remediations.Policy, error) {
	var list v1alpha1.RemediationPolicyList
	if err := from.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("listing RemediationPolicies: %w", err)
	}
	return remediations.CompileAll(list.Items), nil
}

// readPromises returns the namespaces, and what pods are promised by their profiles.
func readPromises(ctx context.Context, from client.Reader) ([]corev1.Namespace, func(*corev1.Pod) node.Promise, error) {
	var namespaces corev1.NamespaceList
	if err := from.List(ctx, &namespaces); err != nil {
		return nil, nil, fmt.Errorf("listing namespaces: %w", err)
	}
	var profiles v1alpha1.WorkloadProfileList
	if err := from.List(ctx, &profiles); err != nil {
		return nil, nil, fmt.Errorf("listing WorkloadProfiles: %w", err)
	}
	rules, err := config.LoadDilationArgs(nil)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the default limits of profiles: %w", err)
	}
	return namespaces.Items, plan.Promises(profiles.Items, namespaces.Items, rules.Limits), nil
}
