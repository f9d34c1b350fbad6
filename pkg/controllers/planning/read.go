package planning

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cgroup"
	"loadline.dev/loadline/pkg/evaluate/plan"
	"loadline.dev/loadline/pkg/evaluate/remediations"
	"loadline.dev/loadline/pkg/node"
)

// page is how many objects are read at a time.
const page = 500

// readPods returns the pods that have not ended, as far as is looked at.
func readPods(ctx context.Context, from client.Reader, options ...client.ListOption) ([]corev1.Pod, error) {
	var all []corev1.Pod
	for next := ""; ; {
		var list corev1.PodList
		if err := from.List(ctx, &list, append(options, client.Limit(page), client.Continue(next))...); err != nil {
			return nil, fmt.Errorf("listing pods: %w", err)
		}
		for i := range list.Items {
			if p := &list.Items[i]; !cgroup.Ended(p) {
				trim(p)
				all = append(all, *p)
			}
		}
		if next = list.Continue; next == "" {
			return all, nil
		}
	}
}

// trim takes from a pod what is large and not looked at.
func trim(p *corev1.Pod) {
	p.ManagedFields = nil
	for _, list := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			c := &list[i]
			c.Command, c.Args, c.Env, c.EnvFrom, c.VolumeMounts, c.Lifecycle = nil, nil, nil, nil, nil, nil
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.SecurityContext = nil, nil, nil, nil
		}
	}
}

// readNodes returns the nodes.
func readNodes(ctx context.Context, from client.Reader) ([]corev1.Node, error) {
	var all []corev1.Node
	for next := ""; ; {
		var list corev1.NodeList
		if err := from.List(ctx, &list, client.Limit(page), client.Continue(next)); err != nil {
			return nil, fmt.Errorf("listing nodes: %w", err)
		}
		for i := range list.Items {
			list.Items[i].ManagedFields, list.Items[i].Status.Images = nil, nil
		}
		all = append(all, list.Items...)
		if next = list.Continue; next == "" {
			return all, nil
		}
	}
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
