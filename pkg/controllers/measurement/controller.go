package measurement

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/made"
	"loadline.dev/loadline/pkg/controllers/probejob"
	"loadline.dev/loadline/pkg/controllers/slots"
	"loadline.dev/loadline/pkg/controllers/statuses"
)

// fieldOwner is in whose name Jobs are applied.
const fieldOwner = "loadline-measurement"

// rightsValue is the value of the chart that says where the manager may run the Jobs of measurements, by the ClusterRole rightsRole.
const (
	rightsValue = "rbac.measurement"
	rightsRole  = "loadline-manager-measurer"
)

// Reconciler measures WorkloadProfiles. SetupWithManager sets what may be left unset.
type Reconciler struct {
	// Client writes, and reads profiles and nodes from the manager's cache.
	Client client.Client
	// API reads past all caches. Defaults to the manager's.
	API client.Reader
	// Made reads the Jobs of measurements and their pods: see probejob.NewCache.
	Made     client.Reader
	Recorder events.EventRecorder
	Clock    clock.PassiveClock
	// Probes are the settings of the probes' Jobs.
	Probes *probejob.Settings
	// Slots are shared with the other controllers that measure on nodes.
	Slots *slots.Slots
	// Writers are those of the controllers that write the rest of a profile's status. Why
	// a profile waits is written while they do not. Nil is no others.
	Writers *statuses.Writers
	// Metrics count measurements. Defaults to those of the manager.
	Metrics *Metrics

	memories  probejob.Memory[memory]
	active    noted // the profiles that are being measured
	wanted    noted // those that are to be measured, now or again
	looks     looks // at nodes
	running   looks // at namespaces, for pods that run
	templates probejob.Memory[seenTemplate]
	pace      slots.Pace // of profiles that wait
}

// Reconcile takes the measurement of one profile a step further.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := probejob.Restore(ctx, r.Client, r.Slots, r.Probes.Namespace); err != nil {
		return reconcile.Result{}, err
	}
	cached := &v1alpha1.WorkloadProfile{}
	if err := r.Client.Get(ctx, request.NamespacedName, cached); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	r.wanted.set(request, cached.Spec.Measurement != nil)
	unmeasured, err := r.unmeasured(ctx, request, cached)
	if unmeasured || err != nil {
		return reconcile.Result{}, err
	}
	again, waits, err := r.wait(ctx, request, cached)
	if waits || err != nil { // those that are measured go first
		return reconcile.Result{RequeueAfter: again, Priority: new(handler.LowPriority)}, err
	}
	// Read past the cache: a step that is over must not be begun again.
	p := &v1alpha1.WorkloadProfile{}
	err = r.API.Get(ctx, request.NamespacedName, p)
	if apierrors.IsNotFound(err) || err == nil && !p.DeletionTimestamp.IsZero() {
		r.forget(request)
		r.Slots.Release(cached.UID) // Jobs go with their profile
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	in, err := r.gather(ctx, p, pastCaches)
	if err != nil {
		return reconcile.Result{}, err
	}
	next := r.reserve(in)
	err = r.act(ctx, in, next)
	if apierrors.IsConflict(err) { // another client wrote the status meanwhile
		return reconcile.Result{RequeueAfter: atOnce}, nil
	}
	if why := made.Denied(err, p.Namespace, rightsValue, rightsRole); why != "" && next.status.Measuring != nil {
		r.memories.Keep(in.profile, next.memory.lacking(why))
		return reconcile.Result{RequeueAfter: atOnce}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	r.Metrics.active.Set(float64(r.active.set(request, next.status.Measuring != nil)))
	return reconcile.Result{RequeueAfter: next.again, Priority: new(0)}, nil
}

// cluster returns the client that reads and writes the Jobs of measurements.
func (r *Reconciler) cluster() probejob.Cluster {
	return probejob.Cluster{Client: r.Client, API: r.API, Made: r.Made, FieldOwner: fieldOwner}
}

// ownerOf returns the profile as one that has nodes.
func ownerOf(p *v1alpha1.WorkloadProfile) slots.Owner {
	return slots.Owner{Namespace: p.Namespace, UID: p.UID}
}

// forget drops the memory of a profile that is not measured.
func (r *Reconciler) forget(request reconcile.Request) {
	r.memories.Forget(request.NamespacedName)
	r.templates.Forget(request.NamespacedName)
	r.pace.Forget(request.NamespacedName)
	r.Metrics.active.Set(float64(r.active.set(request, false)))
}

// unmeasured reports whether a profile neither asks for a measurement nor has anything
// left of one, according to the caches alone: most profiles of a cluster may be like
// that. What the caches do not show yet is an event to come.
func (r *Reconciler) unmeasured(ctx context.Context, request reconcile.Request, p *v1alpha1.WorkloadProfile) (bool, error) {
	if p.UID == "" { // not there, or no longer
		return false, nil
	}
	if p.Spec.Measurement != nil || p.Status.Measuring != nil || len(p.Status.Measurements) > 0 ||
		meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionMeasured) != nil {
		return false, nil
	}
	jobs, err := r.cluster().JobsOf(ctx, p, p.Namespace)
	if err != nil || len(jobs) > 0 {
		return false, err
	}
	r.forget(request)
	r.Slots.Release(p.UID)
	return true, nil
}

// reserve decides on a plan and reserves its nodes, which other measurements do not use then.
func (r *Reconciler) reserve(in *input) plan {
	for {
		p := decide(in)
		m := p.status.Measuring
		if m == nil || p.yields || r.Slots.Acquire(ownerOf(in.profile), m.Node, m.BaselineNode) {
			return p
		}
		if in.full || in.taken.HasAny(m.Node, m.BaselineNode) { // the plan is to wait
			return p
		}
		known := in.taken.Len()
		r.gatherTaken(in)
		in.full = in.taken.Len() == known
	}
}

// act carries out a plan. What it does twice has the effect of once.
func (r *Reconciler) act(ctx context.Context, in *input, p plan) error {
	if err := r.write(ctx, in, p); err != nil {
		return err
	}
	r.memories.Keep(in.profile, p.memory)
	if p.status.Measuring == nil || p.yields {
		r.Slots.Release(in.profile.UID)
	}
	for _, node := range p.awaits {
		r.Slots.Await(ownerOf(in.profile), node)
	}
	changes := probejob.Changes{Remove: p.remove, Apply: p.apply}
	for i := range in.jobs {
		if job := &in.jobs[i]; !slices.Contains(p.remove, job) {
			changes.Attend = append(changes.Attend, probejob.Attended{Job: job, Began: in.outcomes[job.Name].Started})
		}
	}
	return r.cluster().Change(ctx, in.now.Time, changes)
}

// write writes the status with its events, if it changes, and counts the steps and measurements
// that the plan ends.
func (r *Reconciler) write(ctx context.Context, in *input, p plan) error {
	after := in.profile.DeepCopy()
	p.status.DeepCopyInto(&after.Status)
	written, err := statuses.WriteShared(ctx, r.Client, r.Recorder, in.profile, after, p.events...)
	if written {
		r.Metrics.count(p)
	}
	return err
}
