package probejob

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
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
func NewCache(mgr ctrl.Manager) (cache.Cache, error) { return made.Cache(mgr, MeasurementKey) }

// ToOwner maps Jobs and their pods to the owners of a kind. Owners are looked for
// in the namespace of the Job if they have one.
func ToOwner(kind string, namespaced bool) handler.MapFunc {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		of, name, ok := Owner(o)
		if !ok || of != kind {
			return nil
		}
		key := types.NamespacedName{Name: name}
		if namespaced {
			key.Namespace = o.GetNamespace()
		}
		return []reconcile.Request{{NamespacedName: key}}
	}
}

// Look reads from the cluster what [Inspect] needs of a Job: its pods from the
// cache of measurements, or past it where a pod of a moment ago would pass for a
// lost one, and the events while the Job is pending or where it took too long.
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
	if (o.State != Pending || o.Reason != "") && o.Reason != jobstatus.ReasonDeadline {
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
