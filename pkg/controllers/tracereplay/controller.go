package tracereplay

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/made"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// podDelay is for how long changes of a replay's pods are gathered.
const podDelay = 500 * time.Millisecond

// Reconciler carries out TraceReplays. SetupWithManager sets unset fields.
type Reconciler struct {
	// Client writes, and reads profiles from the manager's cache.
	Client client.Client
	// API reads past all caches. Defaults to the manager's.
	API client.Reader
	// Made reads Jobs and pods that the controller made. Defaults to a cache of these alone.
	Made     client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	Worker   Worker
	// Slots are for replays that go on.
	Slots *slots.Slots
	// Version is the manager's, for the foot of reports.
	Version string
	// Metrics count runs. Defaults to those of the manager.
	Metrics *Metrics

	pace slots.Pace // of replays that have not begun
}

// +kubebuilder:rbac:groups=loadline.dev,resources=tracereplays,verbs=get;list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=tracereplays/status,verbs=patch
// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles;nodeprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods;namespaces,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	cache, err := made.Cache(mgr, replayKey, runsKey)
	if err != nil {
		return err
	}
	r.API, r.Made = mgr.GetAPIReader(), cache
	r.Metrics = NewMetrics(metrics.Registry)
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.TraceReplay{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.TraceReplay{}, r.Slots.WhenGone()).
		Watches(&v1alpha1.WorkloadProfile{}, handler.EnqueueRequestsFromMapFunc(r.waiting),
			builder.WithPredicates(statuses.ProfileChanged())).
		Watches(&v1alpha1.NodeProfile{}, handler.EnqueueRequestsFromMapFunc(r.waiting),
			builder.WithPredicates(statuses.ProfileChanged())).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.inNamespace), builder.WithPredicates(predicate.NewPredicateFuncs(isGoing))).
		WatchesRawSource(source.Kind[client.Object](cache, &batchv1.Job{},
			handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.TraceReplay{}, handler.OnlyControllerOwner()))).
		WatchesRawSource(source.Kind[client.Object](cache, &corev1.Pod{}, statuses.Delayed(podDelay, replayOfPod))).
		Complete(r)
}

// waiting maps a profile to the replays that have not begun.
func (r *Reconciler) waiting(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, o.GetNamespace(), func(replay *v1alpha1.TraceReplay) bool { return replay.Status.StartTime == nil && !ended(replay) })
}

// inNamespace maps a namespace to its replays.
func (r *Reconciler) inNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, o.GetName(), func(*v1alpha1.TraceReplay) bool { return true })
}

// isGoing reports whether an object is being deleted.
func isGoing(o client.Object) bool { return !o.GetDeletionTimestamp().IsZero() }

// those returns requests for some replays of a namespace.
func (r *Reconciler) those(ctx context.Context, namespace string, some func(*v1alpha1.TraceReplay) bool) []reconcile.Request {
	var replays v1alpha1.TraceReplayList
	if err := r.Client.List(ctx, &replays, client.InNamespace(namespace)); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list TraceReplays from the cache")
		return nil
	}
	var requests []reconcile.Request
	for i := range replays.Items {
		if replay := &replays.Items[i]; some(replay) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(replay)})
		}
	}
	return requests
}

// replayOfPod maps a pod to its replay.
func replayOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	return made.Requests(pod.GetNamespace(), pod.GetAnnotations()[replayKey])
}

// Reconcile takes one replay a step further.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := r.restore(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if left, err := r.waits(ctx, request); left > 0 || err != nil {
		return reconcile.Result{RequeueAfter: left, Priority: new(handler.LowPriority)}, err
	}
	// Read past the cache: a replay that has just ended must not begin again.
	replay := &v1alpha1.TraceReplay{}
	err := r.API.Get(ctx, request.NamespacedName, replay)
	if err == nil && !replay.DeletionTimestamp.IsZero() || apierrors.IsNotFound(err) {
		r.pace.Forget(request.NamespacedName)
		return reconcile.Result{}, nil // the objects made for it are deleted with it
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	in, err := r.gather(ctx, replay)
	if err != nil {
		return reconcile.Result{}, err
	}
	p, err := r.reserve(in)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.act(ctx, in, p); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: r.again(in, p), Priority: new(0)}, nil
}

// rightsValue is the value of the chart that says where the manager may run replays, by the ClusterRole rightsRole.
const (
	rightsValue = "rbac.replay"
	rightsRole  = "loadline-manager-replayer"
)

// act carries out a plan. What it does twice has the effect of once.
func (r *Reconciler) act(ctx context.Context, in *input, p *plan) error {
	if err := r.start(ctx, p); err != nil {
		why := made.Denied(err, in.replay.Namespace, rightsValue, rightsRole)
		if why == "" {
			return err
		}
		p.deny(in, why)
		if !in.goingOn() {
			r.Slots.Release(in.replay.UID)
		}
	}
	if err := r.report(ctx, in.replay, p); err != nil {
		return err
	}
	var errs []error
	for _, o := range p.remove {
		err := r.Client.Delete(ctx, o, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("deleting %s: %w", o.GetName(), err))
		}
	}
	return errors.Join(errs...)
}

// start writes the ConfigMaps of a plan, and creates its Job.
func (r *Reconciler) start(ctx context.Context, p *plan) error {
	for _, w := range p.writes {
		if err := r.write(ctx, w); err != nil {
			return err
		}
	}
	if p.start == nil {
		return nil
	}
	if err := r.Client.Create(ctx, p.start); err != nil {
		return fmt.Errorf("creating Job %s: %w", p.start.Name, err)
	}
	return nil
}

func (r *Reconciler) write(ctx context.Context, w write) error {
	var err error
	if w.before == nil {
		err = r.Client.Create(ctx, w.after)
	} else {
		err = r.Client.Patch(ctx, w.after, client.MergeFrom(w.before))
	}
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s: %w", w.after.Name, err)
	}
	return nil
}

// report writes the status, and counts runs and emits events if it changed.
func (r *Reconciler) report(ctx context.Context, replay *v1alpha1.TraceReplay, p *plan) error {
	after := replay.DeepCopy()
	after.Status = p.status
	written, err := statuses.Write(ctx, r.Client, r.Recorder, replay, after, news(replay.Status.Conditions, p.status.Conditions)...)
	if written {
		r.Metrics.count(p.seconds, failed(&p.status)-failed(&replay.Status))
	}
	return err
}

// news returns an event when the reason of the condition changes.
func news(before, after []metav1.Condition) []statuses.Event {
	c := statuses.Turned(before, after, v1alpha1.ConditionComplete)
	if c == nil {
		return nil
	}
	kind := corev1.EventTypeNormal
	switch c.Reason {
	case v1alpha1.ReasonInvalid, v1alpha1.ReasonPending, v1alpha1.ReasonFailed, v1alpha1.ReasonPartlyFailed:
		kind = corev1.EventTypeWarning
	}
	return []statuses.Event{{Type: kind, Reason: c.Reason, Message: c.Message, Action: "Replay"}}
}

// failed returns how many runs have failed.
func failed(status *v1alpha1.TraceReplayStatus) int32 {
	return ptr.Deref(ptr.Deref(status.Runs, v1alpha1.ReplayRuns{}).Failed, 0)
}
