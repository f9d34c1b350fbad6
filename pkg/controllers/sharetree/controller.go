// Package sharetree is the controller of ShareTrees: it writes into their status
// which mean response times the shares give, and keeps them as [Answers], from which
// the controller of WorkloadProfiles sets the condition SLAAttainable: whether the SLA
// of a profile can be met.
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
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/shares"
)

const (
	// profileDelay is for how long changes of profiles are gathered before a tree is
	// computed again: it depends on all of them.
	profileDelay = 500 * time.Millisecond
	// steadyAfter is after what time without a change of its profiles a tree is computed
	// again, and its numbers are written to all of them.
	steadyAfter = 2 * time.Second
)

// Reconciler keeps the status of ShareTrees. A request names a tree.
type Reconciler struct {
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Answers take the results.
	Answers *Answers
}

// +kubebuilder:rbac:groups=loadline.dev,resources=sharetrees;workloadprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=sharetrees/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("sharetree").
		Watches(&v1alpha1.ShareTree{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.WorkloadProfile{}, statuses.Delayed(profileDelay, treeOf), builder.WithPredicates(statuses.ProfileChanged())).
		Complete(r)
}

// treeOf maps a profile to its tree. Of one that has changed the handler asks for
// both states, and so for a tree that it left, too.
func treeOf(_ context.Context, o client.Object) []reconcile.Request {
	if p, is := o.(*v1alpha1.WorkloadProfile); is && p.Spec.FairShare != nil {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: p.Spec.FairShare.Tree}}}
	}
	return nil
}

// Reconcile computes a tree, writes its status if that changed, and has the answer
// written to its profiles. What it lists is the cache's own, which it must not change.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var profiles v1alpha1.WorkloadProfileList
	if err := r.Client.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing profiles: %w", err)
	}
	members := slices.DeleteFunc(profiles.Items, func(p v1alpha1.WorkloadProfile) bool {
		return p.Spec.FairShare == nil || p.Spec.FairShare.Tree != request.Name
	})
	tree, answer, why, err := r.compute(ctx, request.Name, members)
	if err != nil {
		return reconcile.Result{}, err
	}
	steady := r.Answers.keep(request.Name, answer, why, members, r.Clock.Now())
	if err := r.write(ctx, tree, answer, why, steady); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.Answers.announce(ctx, members); err != nil || steady {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: steadyAfter}, nil
}

// compute reads a tree and computes it. Where there is no tree, there is no answer and no
// reason why.
func (r *Reconciler) compute(ctx context.Context, name string, profiles []v1alpha1.WorkloadProfile) (tree *v1alpha1.ShareTree, answer *shares.TreeAnswer, why, err error) {
	tree = &v1alpha1.ShareTree{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: name}, tree); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil, nil, nil
		}
		return nil, nil, nil, fmt.Errorf("reading tree %s: %w", name, err)
	}
	answer, why = shares.OfTree(ctx, shares.TreeInput{Tree: tree, Profiles: profiles})
	return tree, answer, why, ctx.Err()
}

// write writes the status of a tree, if there is one. It names hundreds of profiles, which the API
// server takes longer to check than many profiles: while profiles join the tree, a status with the
// same content as before is not written.
func (r *Reconciler) write(ctx context.Context, tree *v1alpha1.ShareTree, answer *shares.TreeAnswer, why error, steady bool) error {
	if tree == nil {
		return nil
	}
	before := tree.DeepCopy()
	tree.Status = shares.Status(tree, answer, why, metav1.NewTime(r.Clock.Now()))
	if !steady && sameVerdict(readiness(before), readiness(tree)) {
		return nil
	}
	_, err := statuses.Write(ctx, r.Client, r.Recorder, before, tree, statuses.Warnings(before, tree)...)
	return err
}

func readiness(tree *v1alpha1.ShareTree) *metav1.Condition {
	return meta.FindStatusCondition(tree.Status.Conditions, v1alpha1.ConditionReady)
}
