package slots

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Lingering is for how long an owner's pods may be on a place that it has left.
const Lingering = 2 * time.Minute

// Owner is who has places.
type Owner struct {
	// Namespace is where its Jobs run, and the one whose turn it is to be given places.
	Namespace string
	UID       types.UID
}

// Slots let one owner at a time use a place, such as a node, and a limited number of places
// be used at once, by namespaces in turn. Controllers of one process share them. They are
// safe for concurrent use.
type Slots struct {
	mu    sync.Mutex
	clock clock.PassiveClock
	limit int
	ofOne int // the limit of one namespace, 0 for none
	held  map[types.UID]holding
	left  map[stay]time.Time // time, for recently held places
	turns turns

	restored bool
}

// holding holds the places of an owner.
type holding struct {
	namespace string
	places    []string
	since     time.Time
}

// stay is an owner on a place.
type stay struct {
	owner Owner
	place string
}

// New returns slots with none held. The limit is on places, at least 1; an owner that asks for more
// places than that gets them while no other holds any.
func New(limit int, clock clock.PassiveClock) *Slots {
	return &Slots{limit: limit, clock: clock, held: map[types.UID]holding{}, left: map[stay]time.Time{}}
}

// NewShared returns slots of which no namespace gets more than half, rounded up: for work that cannot be
// interrupted.
func NewShared(limit int, clock clock.PassiveClock) *Slots {
	s := New(limit, clock)
	s.ofOne = (limit + 1) / 2
	return s
}

// Restore gives owners, by what held calls, the places that they had before a restart. It
// does so once, or until held succeeds, and before others are let in.
func (s *Slots) Restore(held func(hold func(Owner, ...string)) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restored {
		return nil
	}
	err := held(func(owner Owner, places ...string) { s.give(owner, distinct(places...)) })
	s.restored = err == nil
	return err
}

// Acquire gives an owner some places in place of those that it holds, if no other holds one of them, the
// limit allows, and it is the turn of its namespace. Acquire reports whether it did. If not, the owner
// keeps its places, and its namespace waits for the new ones.
func (s *Slots) Acquire(owner Owner, places ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	places = distinct(places...)
	// Places that the owner holds already need no room.
	same := !slices.ContainsFunc(places, func(place string) bool { return !slices.Contains(s.held[owner.UID].places, place) })
	if !same && s.ofOne > 0 && s.placesOf(owner.Namespace, owner.UID)+len(places) > s.ofOne {
		return false // it would only keep others waiting
	}
	if !s.free(owner.UID, places) || !same && (!s.room(owner.UID, len(places)) || s.othersFirst(owner, places)) {
		s.turns.wait(owner.Namespace, places, s.clock.Now())
		return false
	}
	s.give(owner, places)
	if !same {
		s.turns.serve(owner.Namespace, s.clock.Now())
	}
	return true
}

// Await has the namespace of an owner wait for a place that another has.
func (s *Slots) Await(owner Owner, place string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns.wait(owner.Namespace, []string{place}, s.clock.Now())
}

// Yields reports whether an owner should give up its places as soon as it can do without:
// another namespace waits for them, and has that many places fewer, or fewer at all and the
// owner has had its own for an hour.
func (s *Slots) Yields(owner types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, holds := s.held[owner]
	if !holds {
		return false
	}
	had := s.placesOf(mine.namespace, "")
	long := s.clock.Now().Sub(mine.since) >= turn
	yields := false
	s.turns.each(s.clock.Now(), func(namespace string, places []string) {
		has := s.placesOf(namespace, "")
		unfair := has+len(places) <= had-len(mine.places) || long && has < had
		yields = yields || namespace != mine.namespace && unfair &&
			!s.available("", places) && s.available(owner, places) // as soon as the owner leaves
	})
	return yields
}

// Free reports whether an owner could use a place as far as other owners go.
func (s *Slots) Free(owner types.UID, place string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free(owner, []string{place})
}

// Has reports whether an owner has a place, or had it within [Lingering].
func (s *Slots) Has(owner Owner, place string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.held[owner.UID]; now.namespace == owner.Namespace && slices.Contains(now.places, place) {
		return true
	}
	when, had := s.left[stay{owner, place}]
	return had && s.clock.Now().Sub(when) <= Lingering
}

// Release takes from an owner its places.
func (s *Slots) Release(owner types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(owner, nil)
	delete(s.held, owner)
}

// WhenGone returns a handler of the events of owners that releases the places of deleted ones. It
// enqueues nothing.
func (s *Slots) WhenGone() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ queue) { s.Release(e.Object.GetUID()) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ queue) {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() { // deleted, and made anew since
				s.Release(e.ObjectOld.GetUID())
			}
		},
	}
}

// give makes places an owner's, and the others that it had no longer so.
func (s *Slots) give(owner Owner, places []string) {
	s.leave(owner.UID, places)
	since := s.clock.Now()
	if before, held := s.held[owner.UID]; held {
		since = before.since
	}
	s.held[owner.UID] = holding{owner.Namespace, places, since}
}

// leave remembers the places that an owner has and will not keep.
func (s *Slots) leave(owner types.UID, kept []string) {
	now := s.clock.Now()
	for key, when := range s.left {
		if now.Sub(when) > Lingering {
			delete(s.left, key)
		}
	}
	before := s.held[owner]
	for _, place := range before.places {
		if !slices.Contains(kept, place) {
			s.left[stay{Owner{before.namespace, owner}, place}] = now
		}
	}
}

// free reports whether no other owner holds one of some places.
func (s *Slots) free(owner types.UID, places []string) bool {
	for other, theirs := range s.held {
		if other != owner && slices.ContainsFunc(places, func(place string) bool { return slices.Contains(theirs.places, place) }) {
			return false
		}
	}
	return true
}

// room reports whether the limit lets an owner have n places beside those of the others.
func (s *Slots) room(owner types.UID, n int) bool {
	others := s.others(owner)
	return others == 0 || others+n <= s.limit
}

// others returns how many places owners hold other than one.
func (s *Slots) others(owner types.UID) int {
	n := 0
	for other, theirs := range s.held {
		if other != owner {
			n += len(theirs.places)
		}
	}
	return n
}

// placesOf returns how many places the owners of a namespace hold other than one.
func (s *Slots) placesOf(namespace string, but types.UID) int {
	n := 0
	for other, theirs := range s.held {
		if other != but && theirs.namespace == namespace {
			n += len(theirs.places)
		}
	}
	return n
}

// available reports whether some places could be given to an owner that holds nothing, if
// another had none.
func (s *Slots) available(without types.UID, places []string) bool {
	return s.free(without, places) && s.room(without, len(places))
}

// othersFirst reports whether it is the turn of another namespace than the owner's, which could be given
// its places, but not as well. One that lets its turn pass waits no longer.
func (s *Slots) othersFirst(owner Owner, places []string) bool {
	mine := s.standing(owner.Namespace, owner.UID)
	for {
		var first *standing
		s.turns.each(s.clock.Now(), func(namespace string, theirs []string) {
			if namespace == owner.Namespace || !s.available(owner.UID, theirs) || !s.exclude(owner.UID, places, theirs) {
				return
			}
			if other := s.standing(namespace, owner.UID); other.before(mine) && (first == nil || other.before(*first)) {
				first = &other
			}
		})
		if first == nil {
			return false
		}
		if !s.turns.passed(first.namespace, s.clock.Now()) {
			return true
		}
	}
}

// standing returns the standing of a namespace, without the places of one of its owners.
func (s *Slots) standing(namespace string, but types.UID) standing {
	return standing{namespace, s.placesOf(namespace, but), s.turns.served[namespace]}
}

// exclude reports whether an owner cannot be given some places and another some of its own
// as well.
func (s *Slots) exclude(owner types.UID, places, theirs []string) bool {
	return slices.ContainsFunc(places, func(place string) bool { return slices.Contains(theirs, place) }) ||
		s.others(owner)+len(places)+len(theirs) > s.limit
}

// distinct returns places without repetition and without "".
func distinct(places ...string) []string {
	var all []string
	for _, place := range places {
		if place != "" && !slices.Contains(all, place) {
			all = append(all, place)
		}
	}
	return all
}
