// Package sharetree is the controller of ShareTrees: it writes into their status
// which mean response times the shares give, and tells the WorkloadProfiles in them,
// by the condition SLAAttainable, whether their SLA can be met.
//
// It computes nothing itself: package evaluate does, as for the command line.
package sharetree

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/report"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

// settle is for how long to wait for the cache when a profile has changed meanwhile.
const settle = 500 * time.Millisecond

// profileDelay is for how long changes of profiles are gathered before a tree is
// computed again: it depends on all of them, and the controller of WorkloadProfiles
// writes to the status of each that is new.
const profileDelay = time.Second

// Reconciler keeps the status of ShareTrees. A request names a tree; one without a
// name is for the profiles that are in no tree.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Writers bound how many statuses of profiles are written at once, here and by
	// the other controllers that share them. Nil writes one after another.
	Writers *report.Writers
}

// +kubebuilder:rbac:groups=loadline.dev,resources=sharetrees;workloadprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=sharetrees/status;workloadprofiles/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("sharetree").
		Watches(&v1alpha1.ShareTree{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.WorkloadProfile{}, report.Delayed(profileDelay, treeOf), builder.WithPredicates(changed())).
		Complete(r)
}

// treeOf maps a profile to its tree. Of one that has changed the handler asks for
// both states, and so for a tree that it left, too.
func treeOf(_ context.Context, o client.Object) []reconcile.Request {
	p, is := o.(*v1alpha1.WorkloadProfile)
	switch {
	case !is:
		return nil
	case p.Spec.FairShare != nil:
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: p.Spec.FairShare.Tree}}}
	case condition(p) != nil:
		return []reconcile.Request{{}}
	default:
		return nil
	}
}

// changed lets pass what may make a difference to a tree: other numbers, or another
// condition, which somebody else must have written.
func changed() predicate.Predicate {
	return predicate.Or(report.ProfileChanged(), predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isProfile := e.ObjectOld.(*v1alpha1.WorkloadProfile)
		after, areProfiles := e.ObjectNew.(*v1alpha1.WorkloadProfile)
		if !isProfile || !areProfiles {
			return true
		}
		a, b := condition(before), condition(after)
		return (a == nil) != (b == nil) || a != nil && *a != *b
	}})
}

func condition(p *v1alpha1.WorkloadProfile) *metav1.Condition {
	return meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionSLAAttainable)
}

// Reconcile computes a tree and writes what changed, to it and to its profiles. What
// it lists is the cache's own, which it must not change.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var profiles v1alpha1.WorkloadProfileList
	if err := r.Client.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing profiles: %w", err)
	}
	members := slices.DeleteFunc(profiles.Items, func(p v1alpha1.WorkloadProfile) bool { return treeName(&p) != request.Name })
	answer, why, err := r.tree(ctx, request.Name, members)
	if err != nil {
		return reconcile.Result{}, err
	}
	now := metav1.NewTime(r.Clock.Now())
	changes := make([]report.Change[*v1alpha1.WorkloadProfile], len(members))
	for i := range members {
		after := members[i]
		after.Status.Conditions = shares.SLAAttainable(&members[i], answer, why, now)
		changes[i] = report.Change[*v1alpha1.WorkloadProfile]{Before: &members[i], After: &after}
	}
	outdated, err := report.All(ctx, r.Writers, r.Client, r.Recorder, changes, func(p *v1alpha1.WorkloadProfile) []metav1.Condition { return p.Status.Conditions })
	if err != nil || !outdated {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: settle}, nil
}

// treeName returns the tree that a profile is in, "" for none.
func treeName(p *v1alpha1.WorkloadProfile) string {
	if p.Spec.FairShare == nil {
		return ""
	}
	return p.Spec.FairShare.Tree
}

// tree computes a tree and writes its status. Where there is no tree, there is no
// answer and no reason why.
func (r *Reconciler) tree(ctx context.Context, name string, profiles []v1alpha1.WorkloadProfile) (answer *shares.TreeAnswer, why, err error) {
	if name == "" {
		return nil, nil, nil
	}
	var tree v1alpha1.ShareTree
	if err := r.Client.Get(ctx, types.NamespacedName{Name: name}, &tree); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil, nil
		}
		return nil, nil, fmt.Errorf("reading tree %s: %w", name, err)
	}
	answer, why = shares.OfTree(ctx, shares.TreeInput{Tree: &tree, Profiles: profiles})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	before := tree.DeepCopy()
	tree.Status = shares.Status(&tree, answer, why, metav1.NewTime(r.Clock.Now()))
	err = report.Status(ctx, r.Client, r.Recorder, before, &tree, func(t *v1alpha1.ShareTree) []metav1.Condition { return t.Status.Conditions })
	return answer, why, err
}
