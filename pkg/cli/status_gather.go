package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// statusFacts are what the status is judged by. An error stands for what could not be
// found out.
type statusFacts struct {
	host, kubernetes string
	without          []string

	kinds    []string // of our API that are served
	kindsErr error

	components    []component
	componentsErr error

	scheduler    *schedulerConfig
	schedulerErr error

	leases    []coordinationv1.Lease
	leasesErr error

	policies    []policy
	policiesErr error

	workloads    []v1alpha1.WorkloadProfile
	workloadsErr error
	nodes        []v1alpha1.NodeProfile
	nodesErr     error
}

// policy is an admission policy of Loadline.
type policy struct {
	name  string
	bound bool // it does nothing else
}

// statusGatherer finds out the facts. Nothing that it may not see keeps it from
// looking at the rest.
type statusGatherer struct {
	client    client.Client
	config    *rest.Config
	namespace string // that Loadline runs in, empty if that is to be found out
	own       string // of whoever asks
}

func (g *statusGatherer) gather(ctx context.Context) *statusFacts {
	f := &statusFacts{}
	f.kinds, f.kindsErr = g.kinds(ctx)
	f.components, f.componentsErr = findComponents(ctx, g.client, g.namespace, g.own)
	if f.componentsErr == nil {
		f.scheduler, _, f.schedulerErr = schedulerConfigOf(ctx, g.client, f.components)
		f.leases, f.leasesErr = g.leases(ctx, f.components, f.scheduler)
	}
	f.policies, f.policiesErr = g.policies(ctx)
	workloads, nodes := &v1alpha1.WorkloadProfileList{}, &v1alpha1.NodeProfileList{}
	f.workloadsErr = g.client.List(ctx, workloads)
	f.nodesErr = g.client.List(ctx, nodes)
	f.workloads, f.nodes = workloads.Items, nodes.Items
	return f
}

// kinds returns the kinds of our API that are served.
func (g *statusGatherer) kinds(ctx context.Context) ([]string, error) {
	text, err := getPath(ctx, g.config, "/apis/"+v1alpha1.GroupVersion.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var served metav1.APIResourceList
	if err := json.Unmarshal(text, &served); err != nil {
		return nil, err
	}
	var kinds []string
	for _, r := range served.APIResources {
		if !strings.Contains(r.Name, "/") {
			kinds = append(kinds, r.Kind)
		}
	}
	slices.Sort(kinds)
	return kinds, nil
}

// leases returns the Leases of the namespaces where leaders are elected.
func (g *statusGatherer) leases(ctx context.Context, components []component, scheduler *schedulerConfig) ([]coordinationv1.Lease, error) {
	var namespaces []string
	for i := range components {
		switch {
		case components[i].Name == managerComponent:
			namespaces = append(namespaces, components[i].Namespace)
		case scheduler == nil:
			namespaces = append(namespaces, electionNamespace)
		case scheduler.elects:
			namespaces = append(namespaces, scheduler.electionNamespace)
		}
	}
	slices.Sort(namespaces)
	var leases []coordinationv1.Lease
	for _, namespace := range slices.Compact(namespaces) {
		list := &coordinationv1.LeaseList{}
		if err := g.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("listing Leases in %s: %w", namespace, err)
		}
		leases = append(leases, list.Items...)
	}
	return leases, nil
}

// policies returns Loadline's admission policies.
func (g *statusGatherer) policies(ctx context.Context) ([]policy, error) {
	validating, validatingBindings := &admissionv1.ValidatingAdmissionPolicyList{}, &admissionv1.ValidatingAdmissionPolicyBindingList{}
	mutating, mutatingBindings := &admissionv1.MutatingAdmissionPolicyList{}, &admissionv1.MutatingAdmissionPolicyBindingList{}
	for _, list := range []client.ObjectList{validating, validatingBindings, mutating, mutatingBindings} {
		if err := g.client.List(ctx, list); err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("listing admission policies: %w", err)
		}
	}
	bound := map[string]bool{}
	for i := range validatingBindings.Items {
		bound["validating "+validatingBindings.Items[i].Spec.PolicyName] = true
	}
	for i := range mutatingBindings.Items {
		bound["mutating "+mutatingBindings.Items[i].Spec.PolicyName] = true
	}
	var found []policy
	add := func(kind string, p client.Object) {
		if p.GetLabels()[partOfLabel] == partOf || strings.HasSuffix(p.GetName(), "."+v1alpha1.GroupVersion.Group) {
			found = append(found, policy{p.GetName(), bound[kind+" "+p.GetName()]})
		}
	}
	for i := range validating.Items {
		add("validating", &validating.Items[i])
	}
	for i := range mutating.Items {
		add("mutating", &mutating.Items[i])
	}
	return found, nil
}
