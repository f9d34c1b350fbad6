package tracereplay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/text"
)

// gather reads the inputs of the plan for a replay.
func (r *Reconciler) gather(ctx context.Context, replay *v1alpha1.TraceReplay) (*input, error) {
	in := &input{replay: replay, worker: &r.Worker, version: r.Version, now: metav1.NewTime(r.Clock.Now())}
	if err := r.gatherJobs(ctx, in); err != nil {
		return nil, err
	}
	if ended(replay) && len(in.jobs) == 0 {
		return in, nil
	}
	var err error
	if in.namespaceGoes, err = r.namespaceGoes(ctx, replay.Namespace); err != nil || in.namespaceGoes {
		return in, err
	}
	if !ended(replay) {
		if err := r.gatherNextJob(ctx, in); err != nil {
			return nil, err
		}
	}
	if err := r.gatherConfigMaps(ctx, in); err != nil {
		return nil, err
	}
	if ended(replay) || in.question != nil {
		return in, nil
	}

	var workloads v1alpha1.WorkloadProfileList
	if err := r.Client.List(ctx, &workloads, client.InNamespace(replay.Namespace)); err != nil {
		return nil, fmt.Errorf("listing workload profiles: %w", err)
	}
	var nodes v1alpha1.NodeProfileList
	if err := r.Client.List(ctx, &nodes); err != nil {
		return nil, fmt.Errorf("listing node profiles: %w", err)
	}
	in.workloads, in.nodes = workloads.Items, nodes.Items
	if in.obstacle != "" {
		return in, nil
	}
	in.obstacle, err = r.missing(ctx, replay)
	return in, err
}

// namespaceGoes reports whether a namespace is being deleted, according to the cache.
func (r *Reconciler) namespaceGoes(ctx context.Context, name string) (bool, error) {
	var namespace corev1.Namespace
	if err := r.Client.Get(ctx, types.NamespacedName{Name: name}, &namespace); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading namespace %s: %w", name, err)
	}
	return isGoing(&namespace), nil
}

// gatherJobs reads the Jobs of a replay and their pods.
func (r *Reconciler) gatherJobs(ctx context.Context, in *input) error {
	ours := client.MatchingLabels{replayKey: stem(in.replay.Name)}
	var jobs batchv1.JobList
	if err := r.Made.List(ctx, &jobs, client.InNamespace(in.replay.Namespace), ours); err != nil {
		return fmt.Errorf("listing Jobs: %w", err)
	}
	in.jobs = slices.DeleteFunc(jobs.Items, func(j batchv1.Job) bool {
		return !metav1.IsControlledBy(&j, in.replay) || !isRound(in.replay.Name, j.Name)
	})
	slices.SortFunc(in.jobs, func(a, b batchv1.Job) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	if len(in.jobs) == 0 {
		return nil
	}
	// A run without a result is done again once its Job has finished, so then it
	// matters that the pods are not those of a moment ago.
	reader := r.Made
	if !in.goingOn() {
		reader = r.API
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(in.replay.Namespace), ours); err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	in.pods = pods.Items
	return nil
}

// gatherNextJob checks whether the next Job exists already: the cache may not have it yet, or it
// belongs to another object.
func (r *Reconciler) gatherNextJob(ctx context.Context, in *input) error {
	if in.goingOn() || len(in.jobs) >= maxRounds {
		return nil
	}
	name := jobName(in.replay.Name, in.freeRound())
	var job batchv1.Job
	err := r.API.Get(ctx, types.NamespacedName{Namespace: in.replay.Namespace, Name: name}, &job)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("reading Job %s: %w", name, err)
	case metav1.IsControlledBy(&job, in.replay):
		in.jobs = append(in.jobs, job)
	default:
		in.obstacle = inTheWay("Job", name)
	}
	return nil
}

// inTheWay says that a name is taken.
func inTheWay(kind, name string) string {
	return fmt.Sprintf("%s %q is in the way: it is not this TraceReplay's, but has the name of one that the replay needs; delete or rename it", kind, name)
}

// tampered says that an object is not as the controller made it.
func tampered(kind, name string, why error) string {
	return fmt.Sprintf("%s %q is not as it was made for this TraceReplay: %v; delete it", kind, name, why)
}

// gatherConfigMaps reads the ConfigMaps of a replay.
func (r *Reconciler) gatherConfigMaps(ctx context.Context, in *input) error {
	name := in.replay.Name
	get := func(name string) (*corev1.ConfigMap, error) {
		c := &corev1.ConfigMap{}
		err := r.API.Get(ctx, types.NamespacedName{Namespace: in.replay.Namespace, Name: name}, c)
		switch {
		case apierrors.IsNotFound(err):
			return nil, nil //nolint:nilnil // there is none
		case err != nil:
			return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
		case !metav1.IsControlledBy(c, in.replay):
			in.obstacle = inTheWay("ConfigMap", name)
			return nil, nil //nolint:nilnil // none of ours
		}
		return c, nil
	}
	var err error
	if in.question, err = get(questionName(name)); err != nil {
		return err
	}
	if in.report, err = get(reportName(name)); err != nil {
		return err
	}
	for shard := range shards {
		c, err := get(resultsName(name, shard))
		if err != nil {
			return err
		}
		if c != nil {
			in.results = append(in.results, c)
		}
	}
	return nil
}

// missing says which object is not there that the runs need, "" when all are.
func (r *Reconciler) missing(ctx context.Context, replay *v1alpha1.TraceReplay) (string, error) {
	var claims []string
	if trace := replay.Spec.Trace; trace != nil {
		if c := trace.ConfigMap; c != nil {
			if why, err := r.missingKey(ctx, replay.Namespace, c); why != "" || err != nil {
				return why, err
			}
		}
		if c := trace.PersistentVolumeClaim; c != nil {
			claims = append(claims, c.ClaimName)
		}
	}
	if output := replay.Spec.Output; output != nil {
		claims = append(claims, output.PersistentVolumeClaim.ClaimName)
	}
	for _, name := range claims {
		claim := &metav1.PartialObjectMetadata{}
		claim.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
		err := r.API.Get(ctx, types.NamespacedName{Namespace: replay.Namespace, Name: name}, claim)
		if apierrors.IsNotFound(err) {
			return fmt.Sprintf("waiting for PersistentVolumeClaim %q, which does not exist", name), nil
		}
		if err != nil {
			return "", fmt.Errorf("reading PersistentVolumeClaim %s: %w", name, err)
		}
	}
	return "", nil
}

func (r *Reconciler) missingKey(ctx context.Context, namespace string, want *v1alpha1.ConfigMapKey) (string, error) {
	var c corev1.ConfigMap
	err := r.API.Get(ctx, types.NamespacedName{Namespace: namespace, Name: want.Name}, &c)
	if apierrors.IsNotFound(err) {
		return fmt.Sprintf("waiting for ConfigMap %q, which does not exist", want.Name), nil
	}
	if err != nil {
		return "", fmt.Errorf("reading ConfigMap %s: %w", want.Name, err)
	}
	_, plain := c.Data[want.Key]
	_, binary := c.BinaryData[want.Key]
	if plain || binary {
		return "", nil
	}
	// Which ones these are is for those only who may read the ConfigMap.
	keys := text.Counted(len(c.Data)+len(c.BinaryData), "other key")
	return fmt.Sprintf("waiting for the key %q of ConfigMap %q, which has %s", want.Key, want.Name, keys), nil
}
