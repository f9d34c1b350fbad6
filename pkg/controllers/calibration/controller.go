package calibration

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

const (
	// fieldOwner is by what name the controller applies Jobs.
	fieldOwner = "loadline-calibration"
	// podDelay is for how long changes of pods are gathered.
	podDelay = 500 * time.Millisecond
	// conflictDelay is how long the controller waits that found a status changed by
	// another.
	conflictDelay = 200 * time.Millisecond
)

// Reconciler calibrates NodeProfiles.
type Reconciler struct {
	// Client writes, and reads profiles from the manager's cache.
	Client client.Client
	// API reads past all caches. SetupWithManager sets it.
	API client.Reader
	// Made reads the Jobs and pods of measurements. SetupWithManager sets it.
	Made     client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	Settings *probejob.Settings
	// Slots are shared with all controllers that measure.
	Slots *slots.Slots
	// Metrics count calibrations. SetupWithManager sets them.
	Metrics *Metrics

	failures probejob.Memory[map[string]probejob.Failure] // by resource
}

// +kubebuilder:rbac:groups=loadline.dev,resources=nodeprofiles,verbs=get;list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=nodeprofiles/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller. The cache is that of
// [probejob.NewCache].
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, made cache.Cache) error {
	r.API, r.Made = mgr.GetAPIReader(), made
	r.Metrics = NewMetrics(metrics.Registry)
	toProfile := probejob.ToNodeProfile(r.Settings.Namespace)
	return ctrl.NewControllerManagedBy(mgr).
		Named("calibration").
		For(&v1alpha1.NodeProfile{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.NodeProfile{}, r.Slots.WhenGone()).
		WatchesRawSource(source.Kind[client.Object](made, &batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(toProfile))).
		WatchesRawSource(source.Kind[client.Object](made, &corev1.Pod{}, statuses.Delayed(podDelay, toProfile))).
		Complete(r)
}

// Reconcile takes the calibration of one profile a step further.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := probejob.Restore(ctx, r.Client, r.Slots, r.Settings.Namespace); err != nil {
		return reconcile.Result{}, err
	}
	// Read past the cache: a calibration that has just ended must not begin again.
	profile := &v1alpha1.NodeProfile{}
	if err := r.API.Get(ctx, request.NamespacedName, profile); err != nil {
		if apierrors.IsNotFound(err) {
			r.failures.Forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !profile.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // the objects made for it are deleted with it
	}
	in, err := r.gather(ctx, profile)
	if err != nil {
		return reconcile.Result{}, err
	}
	p := decide(in)
	err = r.act(ctx, in, p)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	}
	return reconcile.Result{RequeueAfter: p.again}, err
}

// cluster returns the client that reads and writes the Jobs of calibrations.
func (r *Reconciler) cluster() probejob.Cluster {
	return probejob.Cluster{Client: r.Client, API: r.API, Made: r.Made, FieldOwner: fieldOwner}
}

// ownerOf returns a profile as one that has nodes.
func (r *Reconciler) ownerOf(profile *v1alpha1.NodeProfile) slots.Owner {
	return slots.Owner{Namespace: r.Settings.Namespace, UID: profile.UID}
}

// act carries out a plan. What it does twice has the effect of once.
func (r *Reconciler) act(ctx context.Context, in *input, p plan) error {
	if err := r.report(ctx, in, p); err != nil {
		return err
	}
	changes := probejob.Changes{Remove: p.remove}
	if p.start != nil {
		changes.Apply = []*batchv1.Job{p.start}
	}
	if job := in.job(); job != nil && len(p.remove) == 0 {
		changes.Attend = []probejob.Attended{{Job: job, Began: in.outcome.Started}}
	}
	err := r.cluster().Change(ctx, in.now.Time, changes)
	if !p.hold && len(p.remove) == 0 {
		r.Slots.Release(in.profile.UID)
	}
	return err
}

// report writes the status with its events, and counts calibrations that ended.
func (r *Reconciler) report(ctx context.Context, in *input, p plan) error {
	before, after := in.profile, in.profile.DeepCopy()
	p.status.DeepCopyInto(&after.Status)
	emit := append(statuses.Warnings(before, after), turned(before.Status.Conditions, after.Status.Conditions)...)
	if _, err := statuses.WriteShared(ctx, r.Client, r.Recorder, before, after, emit...); err != nil {
		return err
	}
	if p.ended != nil {
		r.failures.Keep(in.profile, in.withFailure(p.ended))
		r.Metrics.count(p.ended)
	}
	return nil
}

// turned returns an event when the reason of the condition changes, except for those of
// [statuses.Warnings].
func turned(before, after []metav1.Condition) []statuses.Event {
	c := statuses.Turned(before, after, v1alpha1.ConditionCalibrated)
	if c == nil {
		return nil
	}
	kind := corev1.EventTypeNormal
	switch {
	case c.Status == metav1.ConditionTrue && (c.Reason == v1alpha1.ReasonProbeFailed || c.Reason == v1alpha1.ReasonInterrupted):
		kind = corev1.EventTypeWarning // the old results stay in use
	case c.Status == metav1.ConditionTrue, c.Reason == v1alpha1.ReasonCalibrating, c.Reason == v1alpha1.ReasonQueued:
	default:
		return nil
	}
	return []statuses.Event{{Type: kind, Reason: c.Reason, Message: c.Message, Action: "Calibrate"}}
}
