package remediation

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	"loadline.dev/loadline/pkg/controllers/pods"
	"loadline.dev/loadline/pkg/controllers/statuses"
	"loadline.dev/loadline/pkg/evaluate/remediations"
)

const (
	// gatherFor is for how long changes of Remediations are gathered before the status of
	// their policy is made again.
	gatherFor = time.Second
	// overlapEvery is how often it is seen which pods policies choose.
	overlapEvery = 5 * time.Minute
)

// PolicyReconciler keeps the status of RemediationPolicies, and deletes their Remediations
// that need not be kept.
type PolicyReconciler struct {
	// Client writes, and reads from the manager's cache.
	Client   client.Client
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Pods reads the labels of the pods of the cluster.
	Pods pods.LabelReader
	// Namespace is the one that the manager runs in.
	Namespace string
	// Metrics are those of the [Reconciler].
	Metrics *Metrics
}

// SetupWithManager registers the controller.
func (r *PolicyReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("remediationpolicy").
		For(&v1alpha1.RemediationPolicy{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.RemediationPolicy{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.Remediation{}, statuses.Delayed(gatherFor, policyOf)).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Complete(r)
}

// policyOf maps a change to its policy.
func policyOf(_ context.Context, o client.Object) []reconcile.Request {
	if change, is := o.(*v1alpha1.Remediation); is {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: change.Spec.Policy}}}
	}
	return nil
}

// all maps anything to all policies: which pods one has depends on the others.
func (r *PolicyReconciler) all(ctx context.Context, _ client.Object) []reconcile.Request {
	var list v1alpha1.RemediationPolicyList
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list RemediationPolicies from the cache")
		return nil
	}
	requests := make([]reconcile.Request, len(list.Items))
	for i := range list.Items {
		requests[i].Name = list.Items[i].Name
	}
	return requests
}

// Reconcile writes the status of a policy, and deletes what need not be kept of it.
func (r *PolicyReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	policy := &v1alpha1.RemediationPolicy{}
	if err := r.Client.Get(ctx, request.NamespacedName, policy); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return r.abandon(ctx, request.Name)
		}
		return reconcile.Result{}, err
	}
	var all v1alpha1.RemediationList
	if err := r.Client.List(ctx, &all); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing Remediations: %w", err)
	}
	in := &remediations.Input{Policy: policy, Remediations: all.Items, Now: metav1.NewTime(r.Clock.Now())}
	if err := r.surroundings(ctx, in); err != nil {
		return reconcile.Result{}, err
	}
	after := policy.DeepCopy()
	after.Status = remediations.Status(in)
	if _, err := statuses.Write(ctx, r.Client, r.Recorder, policy, after, statuses.Warnings(policy, after)...); err != nil {
		return reconcile.Result{}, err
	}
	r.Metrics.show(after)
	return reconcile.Result{RequeueAfter: overlapEvery}, r.prune(ctx, policy, all.Items)
}

// surroundings finds the policies that choose the same pods, and the label that stops all.
func (r *PolicyReconciler) surroundings(ctx context.Context, in *remediations.Input) error {
	var policies v1alpha1.RemediationPolicyList
	if err := r.Client.List(ctx, &policies); err != nil {
		return fmt.Errorf("listing RemediationPolicies: %w", err)
	}
	var namespaces corev1.NamespaceList
	if err := r.Client.List(ctx, &namespaces, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing namespaces: %w", err)
	}
	var candidates []remediations.Pod
	for i := range namespaces.Items {
		n := &namespaces.Items[i]
		if n.Name == r.Namespace && remediations.Stopped(n.Labels) {
			in.Stopped = stoppedBy(n.Name)
		}
		labelled, err := r.Pods.Labels(ctx, n.Name)
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		for _, of := range labelled {
			candidates = append(candidates, remediations.Pod{Namespace: n.Name, NamespaceLabels: n.Labels, Labels: of})
		}
	}
	in.Conflict = remediations.Conflicts(remediations.CompileAll(policies.Items), candidates)[in.Policy.Name]
	return nil
}

// abandon forgets a policy that is gone, and deletes its Remediations once they do not count.
func (r *PolicyReconciler) abandon(ctx context.Context, policy string) (reconcile.Result, error) {
	r.Metrics.forget(policy)
	var all v1alpha1.RemediationList
	if err := r.Client.List(ctx, &all); err != nil {
		return reconcile.Result{}, fmt.Errorf("listing Remediations: %w", err)
	}
	old, others := remediations.Abandoned(policy, all.Items, r.Clock.Now())
	if err := r.remove(ctx, old); err != nil || !others {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: overlapEvery}, nil
}

// remove deletes Remediations.
func (r *PolicyReconciler) remove(ctx context.Context, old []*v1alpha1.Remediation) error {
	var failed []error
	for _, o := range old {
		failed = append(failed, client.IgnoreNotFound(r.Client.Delete(ctx, o)))
	}
	return errors.Join(failed...)
}

// prune deletes the Remediations of a policy that need not be kept.
func (r *PolicyReconciler) prune(ctx context.Context, policy *v1alpha1.RemediationPolicy, all []v1alpha1.Remediation) error {
	compiled, errs := remediations.Compile(policy)
	if len(errs) > 0 {
		return nil // the condition Ready says so
	}
	return r.remove(ctx, compiled.Outdated(all, r.Clock.Now()))
}
