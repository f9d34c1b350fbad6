package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/deployed"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
	"loadline.dev/loadline/pkg/scheduling"
	"loadline.dev/loadline/pkg/text"
)

// gatherer finds out about the place of a pod.
type gatherer struct {
	explain         *explain
	namespace, name string // of the pod; the namespace may be empty
}

// fromCluster asks the cluster.
func (g *gatherer) fromCluster(ctx context.Context) (*explanation.Input, error) {
	c, own, err := g.explain.cluster.Connect(g.explain.streams.Err)
	if err != nil {
		return nil, err
	}
	if g.namespace == "" {
		g.namespace = own
	}
	in := &explanation.Input{Pod: &corev1.Pod{}}
	err = c.Get(ctx, client.ObjectKey{Namespace: g.namespace, Name: g.name}, in.Pod)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no pod %q in namespace %q; -n names another", g.name, g.namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("reading pod %s/%s: %w", g.namespace, g.name, err)
	}
	readNodes := readNode
	if in.Ranked = g.explain.nodes || in.Pod.Spec.NodeName == ""; in.Ranked {
		readNodes = readAllNodes
	}
	if err := readNodes(ctx, c, in); err != nil {
		return nil, err
	}
	if in.Ranked {
		if err := g.explain.readFeasibility(ctx, c, in); err != nil {
			return nil, err
		}
	}
	return in, g.explain.readSettings(ctx, c, own, in, nil)
}

// readFeasibility reads where the pod may go.
func (x *explain) readFeasibility(ctx context.Context, c client.Client, in *explanation.Input) (err error) {
	lister := &scheduling.Lister{Reader: c, Unlisted: x.streams.Err.Unlisted}
	in.Feasibility, err = lister.Filter(ctx, in.Nodes, in.Pods, slices.Values([]*corev1.Pod{in.Pod}))
	return err
}

// readAllNodes reads all nodes and pods.
func readAllNodes(ctx context.Context, c client.Client, in *explanation.Input) (err error) {
	if in.Nodes, err = scheduling.Nodes(ctx, c); err != nil {
		return err
	}
	in.Pods, err = scheduling.Pods(ctx, c)
	return err
}

// readNode reads the node of the pod, and the pods there.
func readNode(ctx context.Context, c client.Client, in *explanation.Input) error {
	var pods corev1.PodList
	name := in.Pod.Spec.NodeName
	var node corev1.Node
	err := c.Get(ctx, client.ObjectKey{Name: name}, &node)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("pod %s is on node %q, which is not there any more", text.QualifiedName(in.Pod), name)
	}
	if err != nil {
		return fmt.Errorf("reading node %s: %w", name, err)
	}
	if err := c.List(ctx, &pods, client.MatchingFields{"spec.nodeName": name}); err != nil {
		return fmt.Errorf("listing the pods of node %s: %w", name, err)
	}
	in.Nodes, in.Pods = []corev1.Node{node}, pods.Items
	return nil
}

// readSettings reads the profiles and the rules of the scheduler; and where nodes are judged and there are limits of
// dilation, including those of new profiles, the namespaces' settings for these limits.
func (x *explain) readSettings(ctx context.Context, c client.Client, own string, in *explanation.Input, come []v1alpha1.WorkloadProfile) error {
	if err := x.readProfiles(ctx, c, in); err != nil {
		return err
	}
	if err := x.readRules(ctx, c, own, in); err != nil {
		return err
	}
	limited := func(p v1alpha1.WorkloadProfile) bool { return p.Spec.SLA != nil && p.Spec.SLA.MaxDilation != nil }
	if !x.simulate && !in.Ranked || !slices.ContainsFunc(slices.Concat(in.Workloads, come), limited) {
		return nil
	}
	if in.Schedulers == nil {
		if err := x.streams.Err.Warn("guard.mode is taken to be %s; the rules are %s", in.GuardMode, in.Rules); err != nil {
			return err
		}
	}
	return x.readNamespaces(ctx, c, in)
}

// readNamespaces reads the namespaces, none if the user may not.
func (x *explain) readNamespaces(ctx context.Context, c client.Client, in *explanation.Input) error {
	namespaces := &corev1.NamespaceList{}
	err := c.List(ctx, namespaces)
	if apierrors.IsForbidden(err) {
		return x.streams.Err.Warn("%s: labels %s are not known, and guard.mode (%s) is taken to hold in all namespaces", verb.OneLine(err), v1alpha1.GuardLabel, in.GuardMode)
	}
	if err != nil {
		return fmt.Errorf("listing namespaces: %w", err)
	}
	in.Namespaces = namespaces.Items
	return nil
}

// readProfiles reads the profiles, none if the cluster lacks their kind.
func (x *explain) readProfiles(ctx context.Context, c client.Client, in *explanation.Input) error {
	workloads, classes := &v1alpha1.WorkloadProfileList{}, &v1alpha1.NodeProfileList{}
	err := errors.Join(c.List(ctx, workloads), c.List(ctx, classes))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return x.streams.Err.Warn("%v: pods count by their requests", deployed.ErrNoProfileKind)
	}
	if err != nil {
		return fmt.Errorf("listing profiles: %w", err)
	}
	in.Workloads, in.Classes = workloads.Items, classes.Items
	return nil
}

// readRules reads the rules for pods without a profile, and the guard's settings: those of --scheduler, else those of
// the scheduler in the cluster, else the defaults.
func (x *explain) readRules(ctx context.Context, c client.Client, own string, in *explanation.Input) error {
	rules, err := deployed.ReadRules(x.scheduler)
	if x.scheduler == "" && c != nil {
		rules, err = deployed.FindRules(ctx, c, "", own)
	}
	if err != nil {
		return err
	}
	return rules.Judge(in)
}

// fromFiles reads files.
func (g *gatherer) fromFiles(ctx context.Context) (*explanation.Input, error) {
	if g.namespace == "" {
		g.namespace = g.explain.cluster.Namespace()
	}
	in, err := g.explain.readFiles()
	if err != nil {
		return nil, err
	}
	if in.Pod, err = g.find(in.Pods); err != nil {
		return nil, err
	}
	in.Ranked = g.explain.nodes || in.Pod.Spec.NodeName == ""
	return in, g.explain.readRules(ctx, nil, "", in)
}

// readFiles reads a cluster's objects from the files.
func (x *explain) readFiles() (*explanation.Input, error) {
	found, err := x.files.Read(x.streams, input.Snapshot()...)
	if err != nil {
		return nil, err
	}
	filter, err := found.Feasibility()
	if err != nil {
		return nil, err
	}
	return &explanation.Input{
		Nodes: found.Nodes, Pods: found.Pods, Feasibility: filter, Namespaces: found.Namespaces, Workloads: found.WorkloadProfiles, Classes: found.NodeProfiles,
	}, nil
}

// find returns the pod that is meant.
func (g *gatherer) find(pods []corev1.Pod) (*corev1.Pod, error) {
	var found []*corev1.Pod
	var names []string
	for i := range pods {
		p := &pods[i]
		if p.Name == g.name && (g.namespace == "" || p.Namespace == g.namespace) {
			found = append(found, p)
		}
		names = append(names, text.QualifiedName(p))
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("there are several pods %q in the files, such as %s: say which", g.name, text.QualifiedName(found[0]))
	case len(pods) == 0:
		return nil, errors.New("there are no pods in the files: kubectl get pods,nodes,namespaces,workloadprofiles,nodeprofiles -A -o yaml prints them")
	default:
		return nil, fmt.Errorf("there is no pod %q in the files (there are %s)", strings.TrimPrefix(g.namespace+"/"+g.name, "/"), text.Names(names))
	}
}
