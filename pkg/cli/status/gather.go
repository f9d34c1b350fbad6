package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/access"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/cli/gauges"
	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/evaluate/savings"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// gatherer finds out the facts. Nothing that it may not see keeps it from
// looking at the rest.
type gatherer struct {
	client    client.Client
	config    *rest.Config
	namespace string // that Loadline runs in, empty if that is to be found out
	own       string // of the user who asks

	scheduler *deployed.SchedulerConfig // once it has been gathered, nil if it is not known
}

func (g *gatherer) gather(ctx context.Context) *installation.Facts {
	f := &installation.Facts{}
	f.Kinds, f.KindsErr = g.kinds(ctx)
	f.Components, f.ComponentsErr = deployed.FindComponents(ctx, g.client, g.namespace, g.own)
	if f.ComponentsErr == nil {
		if g.scheduler, _, f.SchedulerErr = deployed.FindSchedulerConfig(ctx, g.client, f.Components); g.scheduler != nil {
			f.Scheduler = &installation.SchedulerFacts{Names: g.scheduler.Names, Elects: g.scheduler.Elects}
		}
		f.Leases, f.LeasesErr = g.leases(ctx, f.Components)
	}
	f.Gauges, f.GaugesErr = deployed.FindGauges(ctx, g.client)
	if slices.ContainsFunc(f.Gauges, func(of installation.Gauges) bool { return of.ReadyNodes > 0 }) {
		f.Observed, f.ObservedErr = g.observed(ctx)
	}
	f.Policies, f.NoMutating, f.PoliciesErr = g.policies(ctx)
	workloads, nodes := &v1alpha1.WorkloadProfileList{}, &v1alpha1.NodeProfileList{}
	f.WorkloadsErr = g.client.List(ctx, workloads)
	f.NodesErr = g.client.List(ctx, nodes)
	f.Workloads, f.Nodes = workloads.Items, nodes.Items
	return f
}

// kinds returns the kinds of our API that are served.
func (g *gatherer) kinds(ctx context.Context) ([]string, error) {
	text, err := access.Get(ctx, g.config, "/apis/"+v1alpha1.GroupVersion.String())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var served metav1.APIResourceList
	if err := json.Unmarshal(text, &served); err != nil { //nolint:forbidigo // an API server wrote it
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
func (g *gatherer) leases(ctx context.Context, components []installation.Component) ([]coordinationv1.Lease, error) {
	var namespaces []string
	for i := range components {
		switch {
		case components[i].Name == installation.Manager:
			namespaces = append(namespaces, components[i].Namespace)
		case g.scheduler == nil:
			namespaces = append(namespaces, deployed.ElectionNamespace)
		case g.scheduler.Elects:
			namespaces = append(namespaces, g.scheduler.ElectionNamespace)
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

// observed asks for the last interval of every gauge. It returns nil if there is none. The error says that the user may not ask.
func (g *gatherer) observed(ctx context.Context) (*installation.ObservedFacts, error) {
	o := &installation.ObservedFacts{}
	asker := gauges.Asker{Config: g.config, Client: g.client, Own: g.own, Note: func(why string) { o.Note = why }}
	answers, err := asker.Ask(ctx, nil, func(int) int { return 1 }, func(int, int) {})
	if errors.Is(err, gauges.ErrNone) { // those that were ready are gone
		return nil, nil
	}
	o.Gauges = len(answers)
	errs := []error{err}
	refused := map[string]string{} // the reasons, by the nodes
	for _, r := range asker.Refused {
		refused[r.Node] = r.Reason
	}
	for i := range answers {
		answer := &answers[i]
		if why := (*usage.RefusedError)(nil); errors.As(answer.Err, &why) {
			refused[answer.Node] = usage.Excerpt(why.Error())
			continue
		}
		if answer.Err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", answer.Node, answer.Err))
			continue
		}
		o.Answered++
		if answer.FromManager {
			o.ByManager++
		}
	}
	for _, node := range slices.Sorted(maps.Keys(refused)) {
		o.Refused = append(o.Refused, usage.Refusal{Node: node, Reason: refused[node]})
	}
	o.RefusedBesides = max(0, len(asker.Refused)+asker.RefusedBesides-len(refused))
	for _, err := range errs {
		switch {
		case gauges.Refused(err):
			return nil, err
		case err != nil && o.Problem == "":
			o.Problem = err.Error()
		}
	}
	return o, nil
}

// contention finds out how much pods slow each other down, where there are profiles that say what they use.
func (g *gatherer) contention(ctx context.Context, f *installation.Facts) {
	if len(f.Workloads) == 0 {
		return
	}
	nodes := &corev1.NodeList{}
	if err := g.client.List(ctx, nodes); err != nil {
		f.ContentionErr = fmt.Errorf("listing nodes: %w", err)
		return
	}
	c := savings.Cluster{Workloads: f.Workloads, Classes: f.Nodes}
	c.Nodes, c.AllNodes = savings.Sample(nodes.Items)
	if f.Scheduler != nil {
		c.Schedulers = f.Scheduler.Names
	}
	args, err := g.scheduler.Args("")
	if err == nil {
		c.Requests = args.Requests
		c.Pods, err = g.podsOn(ctx, c.Nodes)
	}
	if err != nil {
		f.ContentionErr = err
		return
	}
	f.Contention = c.Contention()
}

// podsOn returns the pods of some nodes, few of which are asked for at once.
func (g *gatherer) podsOn(ctx context.Context, nodes []corev1.Node) ([]corev1.Pod, error) {
	const atOnce = 8
	config := rest.CopyConfig(g.config)
	config.QPS = -1 // bounded by these
	c, err := access.NewClient(config)
	if err != nil {
		return nil, err
	}
	found := make([]corev1.PodList, len(nodes))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range nodes {
		group.Go(func() error { return c.List(ctx, &found[i], client.MatchingFields{"spec.nodeName": nodes[i].Name}) })
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("listing the pods of nodes: %w", err)
	}
	var pods []corev1.Pod
	for i := range found {
		pods = append(pods, found[i].Items...)
	}
	return pods, nil
}

// policies returns Loadline's admission policies, and whether the API server lacks the kind of those that change objects.
func (g *gatherer) policies(ctx context.Context) (found []installation.Policy, noMutating bool, err error) {
	validating, validatingBindings := &admissionv1.ValidatingAdmissionPolicyList{}, &admissionv1.ValidatingAdmissionPolicyBindingList{}
	mutating, mutatingBindings := &admissionv1.MutatingAdmissionPolicyList{}, &admissionv1.MutatingAdmissionPolicyBindingList{}
	for _, list := range []client.ObjectList{validating, validatingBindings, mutating, mutatingBindings} {
		err := g.client.List(ctx, list)
		if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			return nil, false, fmt.Errorf("listing admission policies: %w", err)
		}
		noMutating = noMutating || err != nil && list == client.ObjectList(mutating)
	}
	bound := map[string]bool{}
	for i := range validatingBindings.Items {
		bound["validating "+validatingBindings.Items[i].Spec.PolicyName] = true
	}
	for i := range mutatingBindings.Items {
		bound["mutating "+mutatingBindings.Items[i].Spec.PolicyName] = true
	}
	add := func(kind string, p client.Object) {
		if p.GetLabels()[installation.PartOfLabel] == installation.PartOf || strings.HasSuffix(p.GetName(), "."+v1alpha1.GroupVersion.Group) {
			found = append(found, installation.Policy{Name: p.GetName(), Bound: bound[kind+" "+p.GetName()]})
		}
	}
	for i := range validating.Items {
		add("validating", &validating.Items[i])
	}
	for i := range mutating.Items {
		add("mutating", &mutating.Items[i])
	}
	return found, noMutating, nil
}
