package main

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/hack/chaos/invariant"
)

// follower sees every change of the objects of a kind, in order, also across restarts of the API server: it goes on with the version
// that it saw last, and lists anew only where the API server has forgotten that.
type follower struct {
	client client.WithWatch
	list   client.ObjectList
	see    func(invariant.Event)

	listed  bool // since when it goes on with version
	version string
	known   map[types.UID]client.Object
}

// retryAfter is how long after a failure a follower tries again.
const retryAfter = 200 * time.Millisecond

// run follows until ctx ends. synced is closed when the first list was seen.
func (f *follower) run(ctx context.Context, synced chan<- struct{}) {
	f.known = map[types.UID]client.Object{}
	for ctx.Err() == nil {
		if err := f.follow(ctx); err == nil && synced != nil {
			close(synced)
			synced = nil
			continue
		}
		timer := time.NewTimer(retryAfter)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// follow lists, if need be, or else watches until the watch ends.
func (f *follower) follow(ctx context.Context) error {
	if !f.listed {
		return f.relist(ctx)
	}
	w, err := f.client.Watch(ctx, f.list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: f.version, AllowWatchBookmarks: true}})
	if err != nil {
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			f.listed = false
		}
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			f.listed = false
			return fmt.Errorf("watching %T: %v", f.list, e.Object)
		}
		o, is := e.Object.(client.Object)
		if !is {
			return fmt.Errorf("watching %T: got %T", f.list, e.Object)
		}
		f.version = o.GetResourceVersion()
		if e.Type != watch.Bookmark {
			f.tell(o, e.Type == watch.Deleted)
		}
	}
	return fmt.Errorf("watching %T: the watch has ended", f.list)
}

// relist lists all objects, and tells what is new, and what is gone.
func (f *follower) relist(ctx context.Context) error {
	list, is := reflect.TypeAssert[client.ObjectList](reflect.New(reflect.TypeOf(f.list).Elem()))
	if !is {
		return fmt.Errorf("%T is no list", f.list)
	}
	if err := f.client.List(ctx, list); err != nil {
		return err
	}
	there := map[types.UID]bool{}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		o, is := item.(client.Object)
		if !is {
			return fmt.Errorf("listing %T: got %T", f.list, item)
		}
		there[o.GetUID()] = true
		f.tell(o, false)
		return nil
	})
	for uid, o := range f.known {
		if !there[uid] {
			f.tell(o, true)
		}
	}
	f.listed, f.version = err == nil, list.GetResourceVersion()
	return err
}

func (f *follower) tell(o client.Object, deleted bool) {
	if deleted {
		delete(f.known, o.GetUID())
	} else {
		f.known[o.GetUID()] = o
	}
	f.see(invariant.Event{At: time.Now(), Object: o, Deleted: deleted})
}
