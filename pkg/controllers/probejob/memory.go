package probejob

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Memory is a controller's state of profiles between plans besides their status. A controller that restarts has none of
// it. The zero value is empty. It is safe for concurrent use.
type Memory[T any] struct {
	mu        sync.Mutex
	byProfile map[types.NamespacedName]kept[T]
}

// kept is the state of a profile.
type kept[T any] struct {
	uid  types.UID // of the profile
	what T
}

// Keep replaces the state of a profile.
func (m *Memory[T]) Keep(profile client.Object, what T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byProfile == nil {
		m.byProfile = map[types.NamespacedName]kept[T]{}
	}
	m.byProfile[client.ObjectKeyFromObject(profile)] = kept[T]{profile.GetUID(), what}
}

// Recall returns the state of a profile, and reports whether there is one. The state of another profile of the same name
// does not count.
func (m *Memory[T]) Recall(profile client.Object) (what T, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.byProfile[client.ObjectKeyFromObject(profile)]
	if !ok || found.uid != profile.GetUID() {
		return what, false
	}
	return found.what, true
}

// Forget drops the state of a profile.
func (m *Memory[T]) Forget(profile types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byProfile, profile)
}

// Failure is a question that could not be answered. It is asked again after a while.
type Failure struct {
	Question string
	// Reason and Message are those of the condition.
	Reason, Message string
	// InARow is how many times the question failed, one after the other.
	InARow int
	// Until is when it is asked again.
	Until time.Time
}

// Holds reports whether a question is not to be asked again yet.
func (f Failure) Holds(question string, now time.Time) bool {
	return f.Question == question && now.Before(f.Until)
}

// InTurn returns things in an order that begins with others each time: some look at the first n of them only, every so
// often, and all get looked at in time.
func InTurn[T any](things []T, n int, now time.Time, every time.Duration) []T {
	if len(things) == 0 {
		return nil
	}
	turn := int(now.Unix()/int64(every.Seconds())) * n % len(things)
	return append(append(make([]T, 0, len(things)), things[turn:]...), things[:turn]...)
}
