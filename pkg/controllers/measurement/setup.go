package measurement

import (
	"context"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/pods"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// The time for which changes are gathered before they are looked at: of our own
// pods, and of all pods and nodes of the cluster.
const (
	ownDelay   = 200 * time.Millisecond
	otherDelay = time.Second
)

// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles,verbs=get;list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=nodeprofiles,verbs=list;watch
// +kubebuilder:rbac:groups=loadline.dev,resources=workloadprofiles/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods;nodes,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=list
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// SetupWithManager registers the controller. The first cache is that of the Jobs of
// measurements, see probejob.NewCache, the other one that of all pods; the manager runs both.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, made cache.Cache, cached *pods.Cache) error {
	r.API, r.Made = mgr.GetAPIReader(), made
	r.Metrics = NewMetrics(metrics.Registry)
	return ctrl.NewControllerManagedBy(mgr).
		Named("measurement").
		For(&v1alpha1.WorkloadProfile{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&v1alpha1.WorkloadProfile{}, r.Slots.WhenGone()).
		Watches(&v1alpha1.NodeProfile{}, statuses.Delayed(otherDelay, r.wanted.all), builder.WithPredicates(statuses.ProfileChanged())).
		Watches(&corev1.Node{}, statuses.Delayed(otherDelay, r.wanted.all), builder.WithPredicates(otherNode())).
		WatchesRawSource(cached.Source(statuses.Delayed(otherDelay, r.active.all), comesOrGoes())).
		WatchesMetadata(&batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(r.ofTarget(v1alpha1.TargetJob)),
			builder.WithPredicates(predicate.GenerationChangedPredicate{}, foreign())).
		WatchesMetadata(&batchv1.CronJob{}, handler.EnqueueRequestsFromMapFunc(r.ofTarget(v1alpha1.TargetCronJob)),
			builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Kind[client.Object](made, &batchv1.Job{}, handler.EnqueueRequestsFromMapFunc(probejob.ToWorkloadProfile))).
		WatchesRawSource(source.Kind[client.Object](made, &corev1.Pod{}, statuses.Delayed(ownDelay, probejob.ToWorkloadProfile))).
		Complete(r)
}

// otherNode passes changes of nodes by which one can or cannot be measured on.
func otherNode() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Node)
		after, alike := e.ObjectNew.(*corev1.Node)
		if !ok || !alike {
			return true
		}
		was, _ := probejob.Usable(before)
		is, _ := probejob.Usable(after)
		return was != is || !equality.Semantic.DeepEqual(before.Labels, after.Labels)
	}}
}

// comesOrGoes passes pods that are made or gone.
func comesOrGoes() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// foreign passes objects that do not belong to a measurement.
func foreign() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[probejob.MeasurementKey] == "" })
}

// ofTarget maps objects of a kind to the profiles whose target they are.
func (r *Reconciler) ofTarget(kind string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		return r.profiles(ctx, o.GetNamespace(), func(m *v1alpha1.Measurement) bool {
			return m.Target != nil && m.Target.Kind == kind && m.Target.Name == o.GetName()
		})
	}
}

// profiles returns those of a namespace whose measurement is as wanted.
func (r *Reconciler) profiles(ctx context.Context, namespace string, wanted func(*v1alpha1.Measurement) bool) []reconcile.Request {
	var all v1alpha1.WorkloadProfileList
	if err := r.Client.List(ctx, &all, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Cannot list WorkloadProfiles from the cache")
		return nil
	}
	var requests []reconcile.Request
	for i := range all.Items {
		if p := &all.Items[i]; p.Spec.Measurement != nil && wanted(p.Spec.Measurement) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(p)})
		}
	}
	return requests
}

// noted are some of the profiles. The zero value is none.
type noted struct {
	mu  sync.Mutex
	now sets.Set[reconcile.Request]
}

// set notes whether a profile is one of them, and returns how many are.
func (n *noted) set(request reconcile.Request, is bool) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case !is:
		n.now.Delete(request)
	case n.now == nil:
		n.now = sets.New(request)
	default:
		n.now.Insert(request)
	}
	return n.now.Len()
}

// has reports whether a profile is one of them.
func (n *noted) has(request reconcile.Request) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now.Has(request)
}

// all maps anything to all of them. It looks at no other profile: a large cluster has thousands, and as many nodes that come.
func (n *noted) all(context.Context, client.Object) []reconcile.Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.now.UnsortedList()
}
