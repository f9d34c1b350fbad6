package measurement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/config"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/profile"
)

// freshness is how the input of a plan is read.
type freshness int

const (
	// pastCaches reads the inputs of a step from the API server.
	pastCaches freshness = iota
	// fromCaches reads watched objects from caches, and others at most every [recently]: fresh
	// enough to keep waiting.
	fromCaches
)

// gather reads the inputs of the plan for a profile.
func (r *Reconciler) gather(ctx context.Context, p *v1alpha1.WorkloadProfile, how freshness) (*input, error) {
	in := newInput(p, r.Probes, metav1.NewTime(r.Clock.Now()))
	in.home = r.Probes.Namespace
	var err error
	if in.jobs, err = r.cluster().JobsOf(ctx, p, p.Namespace); err != nil {
		return nil, err
	}
	if p.Spec.Measurement == nil {
		return in, nil
	}
	if in.settings, err = newSettings(p.Spec.Measurement, r.Probes.MaxTime); err != nil {
		return nil, err
	}
	if err := r.gatherTemplate(ctx, in, how); err != nil {
		return nil, err
	}
	snapshot, err := r.gatherNodes(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := in.setQuestions(); err != nil {
		return nil, err
	}
	r.gatherTaken(in)
	in.memory = recall(&r.memories, in)
	if err := r.gatherSurroundings(ctx, in, snapshot, how); err != nil {
		return nil, err
	}
	return in, r.gatherStep(ctx, in)
}

// gatherNodes reads the nodes that the spec chooses, and their profiles. They belong to the cache
// and must not be changed.
func (r *Reconciler) gatherNodes(ctx context.Context, in *input) (*profile.Snapshot, error) {
	args, err := config.LoadDilationArgs(nil) // the rules for pods without a profile
	if err != nil {
		return nil, err
	}
	index := profile.NewIndex(args.Requests, logr.Discard()) // other controllers report the faults of a profile
	var classes v1alpha1.NodeProfileList
	if err := r.Client.List(ctx, &classes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing node profiles: %w", err)
	}
	known := sets.New(v1alpha1.NoNodeProfile)
	for i := range classes.Items {
		known.Insert(classes.Items[i].Name)
		index.OnAdd(&classes.Items[i], true)
	}
	in.measurements = slices.DeleteFunc(slices.Clone(in.profile.Status.Measurements), func(m v1alpha1.MeasuredVector) bool { return !known.Has(m.NodeProfile) })
	var workloads v1alpha1.WorkloadProfileList
	switch {
	case in.settings.correct: // neighbours may be of any namespace
		err = r.Client.List(ctx, &workloads, client.UnsafeDisableDeepCopy)
	case in.settings.target == nil:
		err = r.Client.List(ctx, &workloads, client.InNamespace(in.profile.Namespace), client.UnsafeDisableDeepCopy)
	}
	if err != nil {
		return nil, fmt.Errorf("listing workload profiles: %w", err)
	}
	for i := range workloads.Items {
		index.OnAdd(&workloads.Items[i], true)
	}
	snapshot := index.Snapshot()

	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.MatchingLabelsSelector{Selector: in.settings.nodes}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing nodes: %w", err)
	}
	for i := range nodes.Items {
		in.nodes = append(in.nodes, newNode(&nodes.Items[i], in.settings.resources, snapshot))
	}
	slices.SortFunc(in.nodes, func(a, b *node) int { return strings.Compare(a.name(), b.name()) })
	return snapshot, nil
}

// gatherTaken reads on which nodes others measure.
func (r *Reconciler) gatherTaken(in *input) {
	for _, n := range in.nodes {
		if !r.Slots.Free(in.profile.UID, n.name()) {
			in.taken.Insert(n.name())
		}
	}
	in.yields = r.Slots.Yields(in.profile.UID)
}

// newNode returns a node whose pods have not been listed yet.
func newNode(object *corev1.Node, resources []probed, snapshot *profile.Snapshot) *node {
	class := snapshot.NodeClass(object)
	n := &node{
		object: object, class: class.Class(), servers: map[string]int{}, declared: map[string]int{},
		resources: snapshot.Resources().Names(), capacity: snapshot.Servers(object),
	}
	for _, r := range resources {
		n.servers[r.Name] = 1
		if i := slices.Index(n.resources, r.Name); i >= 0 {
			n.servers[r.Name] = n.capacity[i]
		}
		if class == nil {
			continue
		}
		if servers, ok := class.Servers[r.Name]; ok {
			n.declared[r.Name] = servers
		}
	}
	return n
}

// gatherSurroundings reads the pods of the nodes that matter for the next step.
func (r *Reconciler) gatherSurroundings(ctx context.Context, in *input, snapshot *profile.Snapshot, how freshness) error {
	if in.settings.target == nil {
		if err := r.gatherFollowers(ctx, in, snapshot, how); err != nil {
			return err
		}
	}
	m := in.profile.Status.Measuring
	if m != nil {
		for _, name := range []string{m.Node, m.BaselineNode} {
			if n := in.node(name); n != nil {
				if err := r.look(ctx, in, n, snapshot); err != nil {
					return err
				}
			}
		}
	}
	for _, class := range in.wanted() {
		for _, n := range in.candidates(class) {
			if _, why := in.choose(class); why == nil {
				break
			}
			if err := r.glance(ctx, in, n, snapshot); err != nil {
				return err
			}
		}
	}
	return nil
}

// gatherFollowers reads which running pods follow the profile, and where.
func (r *Reconciler) gatherFollowers(ctx context.Context, in *input, snapshot *profile.Snapshot, how freshness) error {
	pods, err := r.runningPods(ctx, in, how)
	if err != nil {
		return err
	}
	for i := range pods {
		pod := &pods[i]
		w := snapshot.Workload(pod)
		if w == nil || w.Name != in.profile.Name || probejob.MeasuredProfile(pod, r.Slots) != "" || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		in.followers[pod.UID] = true
		if n := in.node(pod.Spec.NodeName); n != nil {
			n.followers++
			n.weight = requested(&pod.Spec)
		}
	}
	return nil
}

// runningPods returns the pods that run in the namespace of the profile.
func (r *Reconciler) runningPods(ctx context.Context, in *input, how freshness) ([]corev1.Pod, error) {
	namespace := in.profile.Namespace
	if pods, ok := r.running.recent(namespace, in.now.Time); ok && how == fromCaches {
		return pods, nil
	}
	var pods corev1.PodList
	if err := r.API.List(ctx, &pods, client.InNamespace(namespace), client.MatchingFields{"status.phase": string(corev1.PodRunning)}); err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	r.running.keep(namespace, pods.Items, in.now.Time)
	return pods.Items, nil
}

// look reads which pods are on a node.
func (r *Reconciler) look(ctx context.Context, in *input, n *node, snapshot *profile.Snapshot) error {
	pods, err := r.cluster().PodsOn(ctx, n.name())
	if err != nil {
		return err
	}
	r.looks.keep(n.name(), pods, in.now.Time)
	in.see(n, probejob.Divide(pods, in.profile.UID, r.Slots), snapshot)
	return nil
}

// glance is look, except that a recent reading of the node is good enough.
func (r *Reconciler) glance(ctx context.Context, in *input, n *node, snapshot *profile.Snapshot) error {
	if n.looked {
		return nil
	}
	if pods, ok := r.looks.recent(n.name(), in.now.Time); ok {
		in.see(n, probejob.Divide(pods, in.profile.UID, r.Slots), snapshot)
		return nil
	}
	return r.look(ctx, in, n, snapshot)
}

// gatherStep reads the current step, and the outcomes of its Jobs. It reads Jobs that the cache may
// not have yet from the API server.
func (r *Reconciler) gatherStep(ctx context.Context, in *input) error {
	m := in.profile.Status.Measuring
	if m == nil || in.noTemplate != "" {
		return nil
	}
	in.steps = in.settings.steps(*m.Round, m.Samples)
	in.at = find(in.steps, m.Step)
	if in.at < 0 {
		return nil
	}
	for k := 0; ; k++ {
		var err error
		if in.runs, err = in.stepRuns(); err != nil { // the outcome of one decides whether there is another
			return err
		}
		if k >= len(in.runs) {
			return nil
		}
		run := in.runs[k]
		job := in.job(run.job.Name)
		if job == nil {
			if job, err = r.cluster().Job(ctx, client.ObjectKeyFromObject(run.job)); err != nil {
				return err
			}
			if job == nil {
				continue
			}
			in.jobs = append(in.jobs, *job)
		}
		if in.outcomes[job.Name], err = r.cluster().Outcome(ctx, job, in.now.Time); err != nil {
			return err
		}
	}
}

// wanted returns the classes for which the plan may look for a site.
func (in *input) wanted() []string {
	if m := in.profile.Status.Measuring; m != nil {
		return []string{m.NodeProfile}
	}
	return slices.DeleteFunc(in.classes(), func(class string) bool {
		return in.noTemplate != "" || in.fresh(class) || in.memory.setbacks[class].Holds(in.questions[class], in.now.Time)
	})
}
