package remediation

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/pods"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

// Reconciler carries out Remediations. SetupWithManager sets unset fields. What it needs to
// do is in config/remediation/remediator.yaml, and not among the manager's other rights.
type Reconciler struct {
	// Client writes, and reads policies, namespaces and Remediations from the manager's cache.
	Client client.Client
	// API reads past all caches. Defaults to the manager's.
	API      client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Namespace is the one that the manager runs in: its label stops everything.
	Namespace string
	// Judge says what changes have won. Without, that is never known.
	Judge Judge
	// Permission says which pods must be left as they are. Defaults to [DisruptionRules].
	Permission Permission
	// Resizable reports whether the API server lets pods be resized. Defaults to what the
	// API server of the manager says.
	Resizable func(context.Context) (bool, error)
	// Metrics count changes. Defaults to those of the manager.
	Metrics *Metrics
}

// SetupWithManager registers the controller, which watches the pods of the cache. One change is
// looked at after the other, so that those that are started hold the budgets together.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, cached *pods.Cache) error {
	r.API = mgr.GetAPIReader()
	if r.Metrics == nil {
		r.Metrics = NewMetrics(metrics.Registry)
	}
	if r.Permission == nil {
		r.Permission = &DisruptionRules{API: r.API, Clock: r.Clock}
	}
	if r.Resizable == nil {
		resizable, err := NewResizable(mgr.GetConfig(), mgr.GetHTTPClient(), r.Clock)
		if err != nil {
			return err
		}
		r.Resizable = resizable
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("remediation").
		For(&v1alpha1.Remediation{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.RemediationPolicy{}, handler.EnqueueRequestsFromMapFunc(r.ofPolicy), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.ofNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		WatchesRawSource(cached.Source(handler.EnqueueRequestsFromMapFunc(r.ofPod))).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(r)
}

// ofPolicy maps a policy to its changes that are not complete.
func (r *Reconciler) ofPolicy(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, func(of *v1alpha1.Remediation) bool { return of.Spec.Policy == o.GetName() })
}

// ofNamespace maps a namespace to the changes of its pods, that of the manager to all.
func (r *Reconciler) ofNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return r.those(ctx, func(of *v1alpha1.Remediation) bool { return o.GetName() == r.Namespace || of.Namespace == o.GetName() })
}

// ofPod maps a pod to the changes of it, and to those whose pod it may take the place of.
func (r *Reconciler) ofPod(ctx context.Context, o client.Object) []reconcile.Request {
	owner := metav1.GetControllerOf(o)
	return r.those(ctx, func(of *v1alpha1.Remediation) bool {
		return of.Namespace == o.GetNamespace() && (of.Spec.Pod.UID == string(o.GetUID()) || owner != nil && of.Status.Controller == string(owner.UID))
	}, client.InNamespace(o.GetNamespace()))
}

// those returns requests for changes that are not complete.
func (r *Reconciler) those(ctx context.Context, concern func(*v1alpha1.Remediation) bool, options ...client.ListOption) []reconcile.Request {
	var all v1alpha1.RemediationList
	if err := r.Client.List(ctx, &all, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list Remediations from the cache")
		return nil
	}
	var requests []reconcile.Request
	for i := range all.Items {
		if of := &all.Items[i]; !remediations.Complete(of) && concern(of) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(of)})
		}
	}
	return requests
}

// Reconcile takes one change a step further.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	// Read past the cache: what was done already must not be done again.
	change := &v1alpha1.Remediation{}
	if err := r.API.Get(ctx, request.NamespacedName, change); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !change.DeletionTimestamp.IsZero() || remediations.Complete(change) {
		return reconcile.Result{}, nil
	}
	p, err := r.advance(ctx, change)
	switch {
	case apierrors.IsConflict(err): // it was decided on by a person meanwhile
		return reconcile.Result{RequeueAfter: soon}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: p.again}, p.err
}

// advance decides on a change, writes what was decided, does it, and writes what came of it.
func (r *Reconciler) advance(ctx context.Context, change *v1alpha1.Remediation) (decision, error) {
	in, err := r.gather(ctx, r.Client, change)
	if err != nil {
		return decision{}, err
	}
	p := decide(in)
	if p.starts { // by what may be old: other changes may have been started since
		if in, err = r.gather(ctx, r.API, change); err != nil {
			return decision{}, err
		}
		p = decide(in)
	}
	if p.starts { // what takes most requests is asked last
		if err := r.permission(ctx, in); err != nil {
			return decision{}, err
		}
		p = decide(in)
	}
	if err := r.write(ctx, in.remediation, p); err != nil || p.do == nothing {
		return p, err
	}
	in.tried = r.try(ctx, in, p.do)
	after := decide(in)
	return after, r.write(ctx, in.remediation, after)
}

// try does something to the pod.
func (r *Reconciler) try(ctx context.Context, in *input, do action) *attempt {
	switch do {
	case doResize:
		pod, err := resize(ctx, r.Client, in.pod, in.container(), in.to())
		return &attempt{pod, err}
	case doUndo:
		pod, err := resize(ctx, r.Client, in.pod, in.container(), in.from())
		return &attempt{pod, err}
	case doEvict:
		return &attempt{err: evict(ctx, r.Client, in.pod)}
	case nothing:
	}
	panic(fmt.Sprintf("want something to do, got %d", do))
}

// write writes the status of a change, emits events about it, and counts what has ended. The
// change then has the status and the version that the API server has.
func (r *Reconciler) write(ctx context.Context, change *v1alpha1.Remediation, p decision) error {
	before, after := change.DeepCopy(), change.DeepCopy()
	after.Status = p.status
	written, err := statuses.WriteShared(ctx, r.Client, r.Recorder, before, after, news(before, after)...)
	if err != nil || !written {
		return err
	}
	r.Metrics.count(before, after)
	after.DeepCopyInto(change)
	return nil
}

// news returns the events of what happened to a change.
func news(before, after *v1alpha1.Remediation) []statuses.Event {
	var all []statuses.Event
	say := func(kind, reason, message string) {
		all = append(all, statuses.Event{Type: kind, Reason: reason, Message: message, Action: "Remediate"})
	}
	if !remediations.Started(before) && remediations.Started(after) {
		say(corev1.EventTypeNormal, "Started", after.Status.Change)
	}
	turnedTrue := func(kind string) *metav1.Condition {
		c := meta.FindStatusCondition(after.Status.Conditions, kind)
		if c == nil || c.Status != metav1.ConditionTrue || meta.IsStatusConditionTrue(before.Status.Conditions, kind) {
			return nil
		}
		return c
	}
	if c := turnedTrue(v1alpha1.ConditionApplied); c != nil {
		say(corev1.EventTypeNormal, c.Reason, c.Message)
	}
	if c := turnedTrue(v1alpha1.ConditionProven); c != nil {
		say(corev1.EventTypeNormal, c.Reason, c.Message)
	}
	if c := turnedTrue(v1alpha1.ConditionComplete); c != nil {
		switch c.Reason {
		case v1alpha1.ReasonFailed, v1alpha1.ReasonRolledBack:
			say(corev1.EventTypeWarning, c.Reason, c.Message)
		case v1alpha1.ReasonSucceeded:
			// Won says so, and with it what.
		default:
			say(corev1.EventTypeNormal, c.Reason, c.Message)
		}
	}
	return all
}
