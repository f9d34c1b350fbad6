package live

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/gauge/access"
)

const (
	// lifetime is for how long the answer about a right holds.
	lifetime = time.Minute
	// maxUsers is of how many users answers are kept, and maxPlaces how many of each.
	maxUsers, maxPlaces = 256, 2000
	// askedAtOnce is how many questions are asked at once, and reviewPatience how long all those of a request may take.
	askedAtOnce    = 8
	reviewPatience = 10 * time.Second
)

// Reviewer asks the API server whose tokens are, and what users may. *access.APIServer is one.
type Reviewer interface {
	// Recognize is an access.Recognize.
	Recognize(ctx context.Context, r access.Request) (access.Decision, *access.User, error)
	// MayList reports whether a user may list the objects of a resource in a namespace, or, where that is empty, in all.
	MayList(ctx context.Context, user *access.User, of access.Resource, namespace string) (bool, error)
}

// reviews are the answers to what users may list. All methods may be called at once.
type reviews struct {
	reviewer Reviewer
	clock    clock.PassiveClock
	slots    chan struct{} // for questions of all users

	mutex  sync.Mutex
	byUser *lru.Cache // of *userReviews by userKey
}

func newReviews(reviewer Reviewer, now clock.PassiveClock) *reviews {
	return &reviews{reviewer: reviewer, clock: now, slots: make(chan struct{}, askedAtOnce), byUser: lru.New(maxUsers)}
}

// userKey identifies what the API server decides by: the name of a user, the groups and all else.
type userKey [sha256.Size]byte

// of returns the answers about a user.
func (r *reviews) of(user *access.User) (*userReviews, error) {
	text, err := json.Marshal(user)
	if err != nil {
		return nil, err
	}
	key := userKey(sha256.Sum256(text))
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if kept, is := r.byUser.Get(key); is {
		if kept, is := kept.(*userReviews); is {
			return kept, nil
		}
	}
	fresh := &userReviews{reviews: r, user: user, turn: make(chan struct{}, 1), answers: map[place]review{}}
	r.byUser.Add(key, fresh)
	return fresh, nil
}

// review is an answer and when it was given.
type review struct {
	may bool
	at  time.Time
}

// userReviews are the answers about a user. Requests of the user take turns in asking.
type userReviews struct {
	*reviews

	user    *access.User
	turn    chan struct{}
	answers map[place]review // whose turn it is has it
}

// errReview is for a request about which the API server says nothing. It has no detail: the log has.
var errReview = failed(http.StatusServiceUnavailable, "the API server does not say what you may see: try again")

// everywhere returns the rights that hold in all namespaces: the pods of all, and nodes.
func (u *userReviews) everywhere(ctx context.Context) (findings.Rights, error) {
	pods, nodes := place{of: podObjects}, place{of: nodeObjects}
	answers, err := u.ask(ctx, []place{pods, nodes})
	switch {
	case err != nil:
		return nil, err
	case answers[pods] && answers[nodes]:
		return everything{}, nil
	}
	return &some{reviews: u, allPods: answers[pods], nodes: answers[nodes]}, nil
}

// ask returns what the user may list in some places, by answers that hold or anew. It asks about a bounded number of places.
func (u *userReviews) ask(ctx context.Context, about []place) (map[place]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewPatience)
	defer cancel()
	select {
	case u.turn <- struct{}{}:
		defer func() { <-u.turn }()
	case <-ctx.Done():
		return nil, errReview
	}
	now, may := u.clock.Now(), map[place]bool{}
	var unknown []place
	for _, p := range about[:min(len(about), maxPlaces)] {
		if a, is := u.answers[p]; is && now.Sub(a.at) < lifetime {
			may[p] = a.may
		} else {
			unknown = append(unknown, p)
		}
	}
	given, err := u.review(ctx, unknown)
	if err != nil {
		return nil, errReview
	}
	if len(u.answers)+len(unknown) > maxPlaces { // those of namespaces that are gone
		clear(u.answers)
	}
	for i, p := range unknown {
		u.answers[p] = review{given[i], now}
		may[p] = given[i]
	}
	return may, nil
}

// review asks the API server, until there is an error.
func (u *userReviews) review(ctx context.Context, about []place) ([]bool, error) {
	given := make([]bool, len(about))
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(askedAtOnce)
	for i, p := range about {
		all.Go(func() (err error) {
			select {
			case u.slots <- struct{}{}:
				defer func() { <-u.slots }()
			case <-ctx.Done():
				return ctx.Err()
			}
			given[i], err = u.reviewer.MayList(ctx, u.user, p.of, p.namespace)
			return err
		})
	}
	return given, all.Wait()
}

// some are the rights of a user who may not list all pods and nodes. What was not asked about is not allowed.
type some struct {
	reviews *userReviews
	allPods bool
	nodes   bool
	places  map[place]bool
}

// Pods reports whether the pods of a namespace may be listed.
func (s *some) Pods(namespace string) bool {
	return s.allPods || s.places[place{podObjects, namespace}]
}

// Nodes reports whether nodes may be listed.
func (s *some) Nodes() bool { return s.nodes }

func (s *some) lists(p place) bool { return s.Pods(p.namespace) && (p.of == podObjects || s.places[p]) }

// prepare asks about places: about other objects only where the user may list pods.
func (s *some) prepare(ctx context.Context, where []place) (err error) {
	pods := slices.DeleteFunc(slices.Clone(where), func(p place) bool { return p.of != podObjects || s.allPods })
	if s.places, err = s.reviews.ask(ctx, pods); err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(where), func(p place) bool { return p.of == podObjects || !s.Pods(p.namespace) })
	answers, err := s.reviews.ask(ctx, others)
	maps.Copy(s.places, answers)
	return err
}
