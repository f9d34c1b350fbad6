package tracereplay

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/controllers/slots"
)

// queued says why a replay waits that could begin.
const queued = "waiting for other replays to end: as many go on as --max-replays of loadline-manager allows, or half as many of this namespace, or another is next"

// ownerOf returns a replay as one that has a slot, which is a place of its own.
func ownerOf(replay *v1alpha1.TraceReplay) slots.Owner {
	return slots.Owner{Namespace: replay.Namespace, UID: replay.UID}
}

// goesOn reports whether a replay has begun, and not ended.
func goesOn(status *v1alpha1.TraceReplayStatus) bool {
	return status.StartTime != nil && status.CompletionTime == nil
}

// restore gives, once, slots to the replays that go on.
func (r *Reconciler) restore(ctx context.Context) error {
	return r.Slots.Restore(func(hold func(slots.Owner, ...string)) error {
		var all v1alpha1.TraceReplayList
		if err := r.Client.List(ctx, &all); err != nil {
			return fmt.Errorf("listing trace replays: %w", err)
		}
		for i := range all.Items {
			if replay := &all.Items[i]; goesOn(&replay.Status) {
				hold(ownerOf(replay), string(replay.UID))
			}
		}
		return nil
	})
}

// reserve decides on a plan. One that begins a replay needs a slot.
func (r *Reconciler) reserve(in *input) (*plan, error) {
	p, err := decide(in)
	if err == nil && p.start != nil && !r.Slots.Acquire(ownerOf(in.replay), string(in.replay.UID)) {
		in.obstacle = queued
		p, err = decide(in)
	}
	if err == nil && p.start == nil && (!in.goingOn() || p.status.CompletionTime != nil) {
		r.Slots.Release(in.replay.UID)
	}
	return p, err
}

// waits returns how much time is left until the next look at a replay that has not begun,
// according to the cache.
func (r *Reconciler) waits(ctx context.Context, request reconcile.Request) (time.Duration, error) {
	replay := &v1alpha1.TraceReplay{}
	if err := r.Client.Get(ctx, request.NamespacedName, replay); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if goesOn(&replay.Status) || ended(replay) {
		return 0, nil
	}
	return r.pace.Left(request.NamespacedName, replay.Generation, r.Clock.Now()), nil
}

// again returns when to look again at a replay according to a plan: those that have not
// begun share the looks of their namespace.
func (r *Reconciler) again(in *input, p *plan) time.Duration {
	of := client.ObjectKeyFromObject(in.replay)
	if p.again == 0 || goesOn(&p.status) {
		r.pace.Forget(of)
		return p.again
	}
	return r.pace.Looked(of, in.replay.Generation, in.now.Time)
}
