package poolplan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
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
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// parallelPlans is how many plans are worked on at once: one may wait for a slow
// Prometheus or a long simulation.
const parallelPlans = 4

// Reconciler answers and applies PoolPlans. SetupWithManager sets unset fields.
type Reconciler struct {
	// Client writes, and reads profiles and autoscalers from the manager's cache.
	Client client.Client
	// API reads past all caches. Defaults to the manager's.
	API      client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// HTTP asks Prometheus. Defaults to [http.DefaultClient].
	HTTP *http.Client
	// Metrics show pools. Defaults to those of the manager.
	Metrics *Metrics
}

// What may be scaled is the choice of the cluster's admin: config/rbac/scaler.yaml
// is a role to bind.
//
// +kubebuilder:rbac:groups=loadline.dev,resources=poolplans,verbs=get;list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=poolplans/status,verbs=patch
// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=list;watch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.API, r.HTTP = mgr.GetAPIReader(), http.DefaultClient
	r.Metrics = NewMetrics(metrics.Registry)
	return ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.PoolPlan{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.WorkloadProfile{}, handler.EnqueueRequestsFromMapFunc(r.plansOfProfile),
			builder.WithPredicates(statuses.ProfileChanged())).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.plansOfNamespace),
			builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&autoscalingv2.HorizontalPodAutoscaler{}, handler.EnqueueRequestsFromMapFunc(r.plansOfAutoscaler),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: parallelPlans}).
		Complete(r)
}

// plansOfProfile maps a profile to the plans that name it.
func (r *Reconciler) plansOfProfile(ctx context.Context, o client.Object) []reconcile.Request {
	return r.plansThat(ctx, func(spec *v1alpha1.PoolPlanSpec) bool {
		for i := range spec.Classes {
			if p := spec.Classes[i].Profile; p != nil && p.Namespace == o.GetNamespace() && p.Name == o.GetName() {
				return true
			}
		}
		return false
	})
}

// plansOfNamespace maps a namespace to the plans that name a profile in it.
func (r *Reconciler) plansOfNamespace(ctx context.Context, o client.Object) []reconcile.Request {
	return r.plansThat(ctx, func(spec *v1alpha1.PoolPlanSpec) bool {
		for i := range spec.Classes {
			if p := spec.Classes[i].Profile; p != nil && p.Namespace == o.GetName() {
				return true
			}
		}
		return false
	})
}

// plansOfAutoscaler maps a HorizontalPodAutoscaler to the plans that scale
// something in its namespace.
func (r *Reconciler) plansOfAutoscaler(ctx context.Context, o client.Object) []reconcile.Request {
	return r.plansThat(ctx, func(spec *v1alpha1.PoolPlanSpec) bool {
		for i := range spec.Pools {
			if t := spec.Pools[i].ScaleTarget; t != nil && t.Namespace == o.GetNamespace() {
				return true
			}
		}
		return false
	})
}

func (r *Reconciler) plansThat(ctx context.Context, concern func(*v1alpha1.PoolPlanSpec) bool) []reconcile.Request {
	var plans v1alpha1.PoolPlanList
	if err := r.Client.List(ctx, &plans); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list PoolPlans from the cache")
		return nil
	}
	var requests []reconcile.Request
	for i := range plans.Items {
		if concern(&plans.Items[i].Spec) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&plans.Items[i])})
		}
	}
	return requests
}

// Reconcile answers one plan and applies the answer.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	// Read past the cache: the status holds the last actions.
	plan := &v1alpha1.PoolPlan{}
	if err := r.API.Get(ctx, request.NamespacedName, plan); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.Metrics.forget(request.Name)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !plan.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	in, err := r.gather(ctx, plan)
	if err != nil {
		return reconcile.Result{}, err
	}
	d, err := decide(ctx, in)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.act(ctx, in, d); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: d.again}, nil
}

// act scales, and says what became of it. The status is written last: a
// controller that is killed in between finds the pools as they should be.
func (r *Reconciler) act(ctx context.Context, in *input, d *decision) error {
	done, err := r.carryOut(ctx, in, d.moves)
	after := in.plan.DeepCopy()
	after.Status = d.settled(in, done)
	events := news(in.plan.Status.Conditions, after.Status.Conditions, anyScales(done))
	if _, failed := statuses.Write(ctx, r.Client, r.Recorder, in.plan, after, events...); failed != nil {
		return errors.Join(err, failed)
	}
	r.Metrics.show(after)
	return err
}

// carryOut makes moves, and returns those that were made and why others were not. An error
// is one that another attempt may not meet.
func (r *Reconciler) carryOut(ctx context.Context, in *input, moves []move) ([]move, error) {
	done := slices.Clone(moves)
	var errs []error
	for i := range done {
		m := &done[i]
		if !m.scales() {
			continue
		}
		t := in.targets[m.pool]
		if err := r.scale(ctx, t, m.to); err != nil {
			p := problemOf(err, t.object)
			m.fail(p)
			if p.reason == v1alpha1.ReasonTargetUnavailable { // trying again may help
				errs = append(errs, fmt.Errorf("scaling pool %s: %w", m.pool, err))
			}
			continue
		}
		r.Metrics.scaled(in.plan.Name, m)
	}
	return done, errors.Join(errs...)
}

// news returns an event for each condition that is worth it: those that are new, that
// turned bad or good, and Applied whenever a pool was scaled. Rates that go up and
// down must not flood the cluster.
func news(before, after []metav1.Condition, scaled bool) []statuses.Event {
	var all []statuses.Event
	for _, c := range after {
		was := meta.FindStatusCondition(before, c.Type)
		turned := was == nil || was.Reason != c.Reason && (eventType(*was) == corev1.EventTypeWarning || eventType(c) == corev1.EventTypeWarning)
		if turned || c.Type == v1alpha1.ConditionApplied && scaled {
			all = append(all, statuses.Event{Type: eventType(c), Reason: c.Reason, Message: c.Message, Action: "Plan"})
		}
	}
	return all
}

// eventType is Warning for conditions that need attention.
func eventType(c metav1.Condition) string {
	switch c.Reason {
	case v1alpha1.ReasonBeyondCluster, v1alpha1.ReasonInvalid, v1alpha1.ReasonInfeasible, v1alpha1.ReasonUnstable, v1alpha1.ReasonMissingData, v1alpha1.ReasonStaleData,
		v1alpha1.ReasonTooCostly, v1alpha1.ReasonProfileNotAllowed,
		v1alpha1.ReasonLimited, v1alpha1.ReasonHPAConflict, v1alpha1.ReasonTargetNotFound, v1alpha1.ReasonTargetForbidden, v1alpha1.ReasonTargetUnavailable:
		return corev1.EventTypeWarning
	default:
		return corev1.EventTypeNormal
	}
}
