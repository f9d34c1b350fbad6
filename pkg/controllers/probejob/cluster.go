package probejob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cluster reads and writes the Jobs of one controller.
type Cluster struct {
	Client client.Client
	// API reads past all caches, and Made the cache of [NewCache].
	API, Made client.Reader
	// FieldOwner is in whose name Jobs are applied.
	FieldOwner string
}

// JobsOf returns the Jobs of a profile in a namespace, by name, from the cache.
func (c Cluster) JobsOf(ctx context.Context, profile metav1.Object, namespace string) ([]batchv1.Job, error) {
	var jobs batchv1.JobList
	if err := c.Made.List(ctx, &jobs, client.InNamespace(namespace), client.MatchingLabels{MeasurementKey: string(profile.GetUID())}); err != nil {
		return nil, fmt.Errorf("listing Jobs: %w", err)
	}
	own := slices.DeleteFunc(jobs.Items, func(j batchv1.Job) bool { return !metav1.IsControlledBy(&j, profile) })
	slices.SortFunc(own, func(a, b batchv1.Job) int { return strings.Compare(a.Name, b.Name) })
	return own, nil
}

// Job reads a Job past the cache, which may not have it yet; nil if there is none.
func (c Cluster) Job(ctx context.Context, key client.ObjectKey) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	err := c.API.Get(ctx, key, job)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, fmt.Errorf("reading Job %s: %w", key.Name, err)
	}
	return job, nil
}

// PodsOn lists the pods on a node, past the cache, which holds those of measurements only.
func (c Cluster) PodsOn(ctx context.Context, node string) ([]corev1.Pod, error) {
	var pods corev1.PodList
	if err := c.API.List(ctx, &pods, client.MatchingFields{"spec.nodeName": node}); err != nil {
		return nil, fmt.Errorf("listing the pods of node %s: %w", node, err)
	}
	return pods.Items, nil
}

// Outcome reads the outcome of a Job: see [Look].
func (c Cluster) Outcome(ctx context.Context, job *batchv1.Job, now time.Time) (Outcome, error) {
	return Look(ctx, c.Made, c.API, job, now)
}

// Attended is a Job that goes on, and when its pod began: the zero time where it has not.
type Attended struct {
	Job   *batchv1.Job
	Began time.Time
}

// Changes are the changes of Jobs, in this order.
type Changes struct {
	Remove, Apply []*batchv1.Job
	Attend        []Attended
}

// Change carries out changes. Doing so twice has the effect of once, and what cannot be done does not keep the rest from
// being done.
func (c Cluster) Change(ctx context.Context, now time.Time, changes Changes) error {
	var errs []error
	for _, job := range changes.Remove {
		err := c.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &job.UID})
		if client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("deleting Job %s: %w", job.Name, err))
		}
	}
	for _, job := range changes.Apply {
		errs = append(errs, Apply(ctx, c.Client, job, c.FieldOwner))
	}
	for _, attended := range changes.Attend {
		errs = append(errs, Attend(ctx, c.Client, attended.Job, attended.Began, now, c.FieldOwner))
	}
	return errors.Join(errs...)
}
