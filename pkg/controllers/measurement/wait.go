package measurement

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// yieldFor is after what time a profile is looked at again whose status was not written
// because others were: whether thousands of profiles are used is written before why they
// wait, and not at the same time, which would conflict.
const yieldFor = 2 * time.Second

// wait carries out the plan for a profile that can only wait, by the caches alone: up to fifty such profiles
// in a namespace are read every ten seconds. It reports false where there is more to do, which must not be
// decided on stale data: where a measurement continues or can begin, where Jobs are left, and where state
// that is not watched was not read now and will not be read again. A profile that has changed since is not
// written to, and counts as having more to do.
func (r *Reconciler) wait(ctx context.Context, request reconcile.Request, p *v1alpha1.WorkloadProfile) (again time.Duration, waits bool, err error) {
	if p.Spec.Measurement == nil || p.Status.Measuring != nil || !p.DeletionTimestamp.IsZero() || r.active.has(request) {
		return 0, false, nil
	}
	if left := r.pace.Left(request.NamespacedName, p.Generation, r.Clock.Now()); left > 0 {
		return left, true, nil
	}
	in, err := r.gather(ctx, p, fromCaches)
	if err != nil || len(in.jobs) > 0 {
		return 0, false, err
	}
	next := r.reserve(in)
	again = r.again(request, in, next)
	if next.status.Measuring != nil || in.settings.target == nil && next.again == 0 {
		return 0, false, nil
	}
	if r.Writers.Busy() && !equality.Semantic.DeepEqual(p.Status, next.status) {
		return yieldFor, true, nil
	}
	err = r.act(ctx, in, next)
	if apierrors.IsConflict(err) {
		return 0, false, nil
	}
	return again, err == nil, err
}

// again returns when to look again at a profile according to a plan: those that look again
// soon share the looks of their namespace.
func (r *Reconciler) again(request reconcile.Request, in *input, p plan) time.Duration {
	if p.again != recheckAfter || p.status.Measuring != nil {
		r.pace.Forget(request.NamespacedName)
		return p.again
	}
	return r.pace.Looked(request.NamespacedName, in.profile.Generation, in.now.Time)
}
