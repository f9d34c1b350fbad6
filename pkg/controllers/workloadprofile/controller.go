// Package workloadprofile is the controller that writes into the status of
// WorkloadProfiles how these are used: whether the scheduler uses a profile, with
// which vector, for how many pods, and whether another profile competes for them.
//
// It decides for a whole namespace at once, since the profiles of a namespace
// compete with each other only.
package workloadprofile

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/pods"
	"loadline.dev/loadline/pkg/controllers/sharetree"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/profiles"
)

const (
	// podDelay is for how long changes of pods are gathered before a namespace is
	// decided on again: a Deployment that scales up is one change, not hundreds.
	podDelay = time.Second
	// observedDelay is for how long changes of what is observed of profiles are
	// gathered: in a large cluster they come at any time.
	observedDelay = 10 * time.Second
)

// Reconciler keeps the status of WorkloadProfiles. A request names a namespace.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Writers bound how many statuses are written at once, here and by the other
	// controllers that share them. Nil writes one after another.
	Writers *statuses.Writers
	// Pods reads the labels of the pods of the cluster. Set by SetupWithManager.
	Pods pods.LabelReader
	// Trees answer whether the SLA of a profile in a ShareTree can be met. SetupWithManager needs
	// them; without them the condition is unchanged.
	Trees *sharetree.Answers
}

// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles;nodeprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller, which watches the pods of the cache.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, cached *pods.Cache) error {
	r.Pods = cached
	return ctrl.NewControllerManagedBy(mgr).
		Named("workloadprofile").
		Watches(&v1alpha1.WorkloadProfile{}, handler.EnqueueRequestsFromMapFunc(namespaceOf),
			builder.WithPredicates(predicate.Or(predicate.And(statuses.ProfileChanged(), predicate.Not(statuses.ObservedChanged())), r.overwritten()))).
		Watches(&v1alpha1.WorkloadProfile{}, statuses.Delayed(observedDelay, namespaceOf), builder.WithPredicates(statuses.ObservedChanged())).
		Watches(&v1alpha1.NodeProfile{}, handler.EnqueueRequestsFromMapFunc(r.allNamespaces),
			builder.WithPredicates(statuses.ProfileChanged())).
		WatchesRawSource(cached.Source(statuses.Delayed(podDelay, namespaceOf), predicate.LabelChangedPredicate{})).
		WatchesRawSource(source.Channel(r.Trees.Changed(), handler.EnqueueRequestsFromMapFunc(namespaceOf))).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Writers.Limit()}).
		Complete(r)
}

func namespaceOf(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace()}}}
}

// overwritten passes the updates after which a profile has another condition
// SLAAttainable than it should: another client must have written it.
func (r *Reconciler) overwritten() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		p, is := e.ObjectNew.(*v1alpha1.WorkloadProfile)
		if !is {
			return true
		}
		should := *p
		return r.Trees.Apply(&should, metav1.NewTime(r.Clock.Now())) && !equality.Semantic.DeepEqual(p.Status.Conditions, should.Status.Conditions)
	}}
}

// allNamespaces maps a NodeProfile, which may change the known resources, to
// every namespace that has profiles.
func (r *Reconciler) allNamespaces(ctx context.Context, _ client.Object) []reconcile.Request {
	var profiles v1alpha1.WorkloadProfileList
	if err := r.Client.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list WorkloadProfiles from the cache")
		return nil
	}
	seen := map[string]bool{}
	var requests []reconcile.Request
	for i := range profiles.Items {
		if ns := profiles.Items[i].Namespace; !seen[ns] {
			seen[ns] = true
			requests = append(requests, namespaceOf(ctx, &profiles.Items[i])...)
		}
	}
	return requests
}

// Reconcile decides on one namespace and writes what changed. What it lists is the
// cache's own, which it must not change.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var list v1alpha1.WorkloadProfileList
	if err := r.Client.List(ctx, &list, client.InNamespace(request.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing profiles: %w", err)
	}
	if len(list.Items) == 0 {
		return reconcile.Result{}, nil
	}
	var nodes v1alpha1.NodeProfileList
	if err := r.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing node profiles: %w", err)
	}
	pods, err := r.Pods.Labels(ctx, request.Namespace)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("listing pods: %w", err)
	}

	now := metav1.NewTime(r.Clock.Now())
	decided := profiles.WorkloadProfiles(list.Items, pods, nodes.Items, now)
	changes := make([]statuses.Change, 0, len(decided))
	for i := range decided {
		after := list.Items[i]
		after.Status = decided[i]
		if r.Trees.Apply(&after, now) { // else its tree is about to be computed: one write for all
			changes = append(changes, statuses.Change{Before: &list.Items[i], After: &after})
		}
	}
	return statuses.All(ctx, r.Writers, r.Client, r.Recorder, changes)
}
