// Package nodeprofile is the controller that writes into the status of NodeProfiles
// how these are used: whether the scheduler uses a profile, for how many nodes,
// and whether another profile competes for them. It decides for the whole
// cluster at once.
package nodeprofile

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/profiles"
)

// nodeDelay is for how long changes of nodes are gathered.
const nodeDelay = time.Second

// Reconciler keeps the status of NodeProfiles. Its only request is the empty
// one.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Writers bound how many statuses are written at once, here and by the other
	// controllers that share them. Nil writes one after another.
	Writers *statuses.Writers
}

// +kubebuilder:rbac:groups=loadline.dev,resources=nodeprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=nodeprofiles/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodeprofile").
		Watches(&v1alpha1.NodeProfile{}, handler.EnqueueRequestsFromMapFunc(everything),
			builder.WithPredicates(statuses.ProfileChanged())).
		WatchesMetadata(&corev1.Node{}, statuses.Delayed(nodeDelay, everything),
			builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Complete(r)
}

func everything(context.Context, client.Object) []reconcile.Request {
	return []reconcile.Request{{}}
}

// Reconcile decides on all profiles and writes what changed. What it lists is the
// cache's own, which it must not change.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	var list v1alpha1.NodeProfileList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing profiles: %w", err)
	}
	if len(list.Items) == 0 {
		return reconcile.Result{}, nil
	}
	nodes, err := statuses.Labels(ctx, r.Client, corev1.SchemeGroupVersion.WithKind("Node"))
	if err != nil {
		return reconcile.Result{}, err
	}

	decided := profiles.NodeProfiles(list.Items, nodes, metav1.NewTime(r.Clock.Now()))
	changes := make([]statuses.Change, len(decided))
	for i := range decided {
		after := list.Items[i]
		after.Status = decided[i]
		changes[i] = statuses.Change{Before: &list.Items[i], After: &after}
	}
	return statuses.All(ctx, r.Writers, r.Client, r.Recorder, changes)
}
