package statuses

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Writers bounds the number of statuses written at once by the controllers that share it: the API
// server answers a write in milliseconds, and a controller that writes one status after another
// spends most of them waiting. A nil *Writers writes one after another. It is safe for concurrent
// use.
type Writers struct{ slots chan struct{} }

// NewWriters returns writers of up to limit statuses at once, at least 1.
func NewWriters(limit int) *Writers { return &Writers{make(chan struct{}, limit)} }

// Limit returns how many statuses are written at once, at most.
func (w *Writers) Limit() int {
	if w == nil {
		return 1
	}
	return cap(w.slots)
}

// Busy reports whether statuses are being written. What is less urgent can wait.
func (w *Writers) Busy() bool { return w != nil && len(w.slots) > 0 }

// write calls a function as soon as the limit allows.
func (w *Writers) write(ctx context.Context, f func() error) error {
	if w == nil {
		return f()
	}
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
		return f()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Change is an object as read, and with the status to write. Both may share memory with a cache:
// they are only read.
type Change struct{ Before, After client.Object }

// maxErrors is how many errors [All] returns: behind a server that is down, thousands
// are alike.
const maxErrors = 5

// settle is after what time it is decided again where another client wrote a status
// meanwhile: measurements and calibrations write to those of profiles, too.
const settle = time.Second

// All writes the statuses that changed as [WriteShared] does, with the [Warnings] as
// events. One that cannot be written does not keep the others from being written; the
// first errors are returned, in the order of the changes. Where objects have changed since
// they were read, which is no error, the caller is to decide on them again after a while.
func All(
	ctx context.Context, w *Writers, c client.StatusClient, recorder events.EventRecorder, changes []Change,
) (reconcile.Result, error) {
	changes = slices.DeleteFunc(changes, func(c Change) bool { return equality.Semantic.DeepEqual(c.Before, c.After) })
	errs := make([]error, len(changes))
	var group errgroup.Group
	group.SetLimit(w.Limit())
	for i, change := range changes {
		group.Go(func() error {
			after := change.After.DeepCopyObject().(client.Object) //nolint:errcheck // a copy is of the same type
			errs[i] = w.write(ctx, func() error {
				_, err := WriteShared(ctx, c, recorder, change.Before, after, Warnings(change.Before, after)...)
				return err
			})
			return nil // the others are tried all the same
		})
	}
	if err := group.Wait(); err != nil {
		return reconcile.Result{}, err
	}
	outdated := false
	errs = slices.DeleteFunc(errs, func(err error) bool {
		outdated = outdated || apierrors.IsConflict(err)
		return err == nil || apierrors.IsConflict(err)
	})
	if more := len(errs) - maxErrors; more > 0 {
		errs = append(errs[:maxErrors], fmt.Errorf("and %d more", more))
	}
	if outdated && len(errs) == 0 {
		return reconcile.Result{RequeueAfter: settle}, nil
	}
	return reconcile.Result{}, errors.Join(errs...)
}
