package probejob

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/pkg/controllers/jobstatus"
	"loadline.dev/loadline/pkg/controllers/made"
)

// NewCache returns a cache of all Jobs of measurements and their pods, which the
// manager runs. Controllers share one: the Jobs and pods of others are none of
// their business.
func NewCache(mgr ctrl.Manager) (cache.Cache, error) {
	return made.Cache(mgr, MeasurementKey, StepKey, OwnerKey, DeadlineKey)
}

// ToWorkloadProfile maps Jobs and their pods to the WorkloadProfiles that they measure, which
// are in their own namespace.
func ToWorkloadProfile(_ context.Context, o client.Object) []reconcile.Request {
	if kind, name, ok := Owner(o); ok && kind == "WorkloadProfile" {
		return made.Requests(o.GetNamespace(), name)
	}
	return nil
}

// ToNodeProfile maps the Jobs and pods of the namespace that calibrations run in to the
// NodeProfiles that they calibrate.
func ToNodeProfile(namespace string) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		if kind, name, ok := Owner(o); ok && kind == "NodeProfile" && o.GetNamespace() == namespace {
			return made.Requests("", name)
		}
		return nil
	}
}

// Look reads from the cluster the input of [Inspect] for a Job: its pods from the cache of
// measurements, or past it where a recently created pod would pass for a lost one, and the events
// where its pod has not begun and the status does not say why.
func Look(ctx context.Context, made, api client.Reader, job *batchv1.Job, now time.Time) (Outcome, error) {
	reader := made
	if jobstatus.Finished(job) {
		reader = api
	}
	var pods corev1.PodList
	if err := reader.List(ctx, &pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)}); err != nil {
		return Outcome{}, fmt.Errorf("listing the pods of Job %s: %w", client.ObjectKeyFromObject(job), err)
	}
	o := Inspect(job, pods.Items, nil, now)
	if (o.State != Pending || o.Reason != "") && o.Reason != jobstatus.ReasonNotBegun {
		return o, nil
	}
	about := job.UID
	if pod := podOf(job, pods.Items); pod != nil {
		about = pod.UID
	}
	var events corev1.EventList
	if err := api.List(ctx, &events, client.InNamespace(job.Namespace), client.MatchingFields{"involvedObject.uid": string(about)}); err != nil {
		return Outcome{}, fmt.Errorf("listing the events about Job %s: %w", client.ObjectKeyFromObject(job), err)
	}
	return Inspect(job, pods.Items, events.Items, now), nil
}
