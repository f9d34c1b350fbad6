package calibration

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/profile"
)

// gather reads the inputs of the plan for a profile.
func (r *Reconciler) gather(ctx context.Context, profile *v1alpha1.NodeProfile) (*input, error) {
	in := &input{profile: profile, settings: r.Settings, now: metav1.NewTime(r.Clock.Now())}
	in.failures, _ = r.failures.Recall(profile)
	if err := r.gatherJobs(ctx, in); err != nil {
		return nil, err
	}
	if job := in.job(); job != nil {
		return in, r.gatherRun(ctx, in, job)
	}
	if !in.canBegin() {
		return in, nil
	}
	var err error
	in.site, in.noSite, err = r.findSite(ctx, in)
	return in, err
}

// gatherJobs reads the Jobs of a profile, and whether pods of theirs still run.
func (r *Reconciler) gatherJobs(ctx context.Context, in *input) error {
	var err error
	if in.jobs, err = r.cluster().JobsOf(ctx, in.profile, r.Settings.Namespace); err != nil {
		return err
	}
	if in.job() != nil {
		return nil
	}
	var pods corev1.PodList
	if err := r.Made.List(ctx, &pods, client.InNamespace(r.Settings.Namespace), client.MatchingLabels{probejob.MeasurementKey: string(in.profile.UID)}); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	if in.lingering, err = r.linger(ctx, pods.Items); err != nil {
		return err
	}
	return r.gatherNewJob(ctx, in)
}

// linger reports whether some pods still run. One on a node that is lost may be there
// until the node is removed, and takes nothing away from others.
func (r *Reconciler) linger(ctx context.Context, pods []corev1.Pod) (bool, error) {
	for i := range pods {
		pod := &pods[i]
		if probejob.Ended(pod) {
			continue
		}
		if pod.Spec.NodeName == "" {
			return true, nil
		}
		node, err := r.node(ctx, pod.Spec.NodeName)
		if err != nil {
			return false, err
		}
		if alive, _ := probejob.Alive(node); alive {
			return true, nil
		}
	}
	return false, nil
}

// gatherNewJob reads the current Job past the cache, which may not have it yet.
func (r *Reconciler) gatherNewJob(ctx context.Context, in *input) error {
	q, attempt := in.current()
	if q == nil {
		return nil
	}
	job, err := r.cluster().Job(ctx, types.NamespacedName{Namespace: r.Settings.Namespace, Name: q.jobName(in.profile, attempt)})
	if job != nil && metav1.IsControlledBy(job, in.profile) && job.DeletionTimestamp.IsZero() {
		in.jobs = append(in.jobs, *job)
	}
	return err
}

// gatherRun reads the outcome of the current Job, and its node.
func (r *Reconciler) gatherRun(ctx context.Context, in *input, job *batchv1.Job) error {
	r.Slots.Acquire(r.ownerOf(in.profile), in.profile.Status.Calibrating.Node)
	var err error
	if in.outcome, err = r.cluster().Outcome(ctx, job, in.now.Time); err != nil {
		return err
	}
	in.node, err = r.node(ctx, in.profile.Status.Calibrating.Node)
	return err
}

// node reads a node, nil if there is none.
func (r *Reconciler) node(ctx context.Context, name string) (*corev1.Node, error) {
	node := &corev1.Node{}
	err := r.API.Get(ctx, types.NamespacedName{Name: name}, node)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, fmt.Errorf("reading node %s: %w", name, err)
	}
	return node, nil
}

// findSite looks for a node to begin on, and takes it. Nodes and pods are read past
// the cache, which holds little of them.
func (r *Reconciler) findSite(ctx context.Context, in *input) (node string, why problem, err error) {
	var profiles v1alpha1.NodeProfileList
	if err := r.Client.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
		return "", problem{}, fmt.Errorf("listing profiles: %w", err)
	}
	selector, errs := profile.Selector(in.profile.Spec.Selector, field.NewPath("spec", "selector"))
	if len(errs) > 0 {
		return "", problem{v1alpha1.ReasonNoNode, errs.ToAggregate().Error()}, nil
	}
	var nodes corev1.NodeList
	if err := r.API.List(ctx, &nodes, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return "", problem{}, fmt.Errorf("listing nodes: %w", err)
	}
	class := followers(in.profile.Name, profiles.Items, nodes.Items)
	names, none := in.candidates(class, func(node string) bool {
		free := r.Slots.Free(in.profile.UID, node)
		if !free {
			r.Slots.Await(r.ownerOf(in.profile), node)
		}
		return free
	})
	if none.reason != "" {
		return "", none, nil
	}
	var busy []string
	awaited := false
	for _, name := range names[:min(len(names), maxLooks)] {
		pods, err := r.cluster().PodsOn(ctx, name)
		if err != nil {
			return "", problem{}, err
		}
		here := probejob.Divide(pods, in.profile.UID, r.Slots)
		quiet, why := probejob.Quiet(name, here.Foreign, r.Settings.Namespace)
		if !quiet {
			busy = append(busy, fmt.Sprintf("node %s: %s", name, why))
			continue
		}
		if !probejob.AllEnded(here.Measured) {
			awaited = true
			continue
		}
		if !r.Slots.Acquire(r.ownerOf(in.profile), name) {
			return "", queued(), nil
		}
		return name, problem{}, nil
	}
	if awaited {
		return "", queued(), nil
	}
	slices.Sort(busy)
	return "", problem{v1alpha1.ReasonNoQuietNode, "other pods run on every node that was looked at: " + probejob.Some(busy, ", ")}, nil
}
