// Package history keeps the last intervals of a gauge, encoded, for any number of readers while new ones are added, and follows a
// sampler that makes them. It adds to each interval the time for which its pods have been slowed down, and what operations take on its
// disks when these are quiet, both of which go back beyond the kept intervals; then it never changes the interval, and never takes an
// old one for a new one: it states the age of the newest.
package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// MaxBytes is how long all intervals are together that are kept, as JSON, but for the newest: 60 of 250 pods of two containers take less.
const MaxBytes = 16 << 20

// History keeps intervals. All of its methods may be called at once.
type History struct {
	clock          clock.PassiveClock
	keep, maxBytes int

	mu     sync.RWMutex
	kept   [][]byte // the oldest first
	bytes  int      // of all that are kept
	newest time.Time
	spells spells
	served services
}

// New returns a history of the last intervals, at least one.
func New(keep int, now clock.PassiveClock) (*History, error) {
	if keep < 1 {
		return nil, fmt.Errorf("keep: %d is not at least 1", keep)
	}
	return &History{clock: now, keep: keep, maxBytes: MaxBytes, served: services{}}, nil
}

// Keep returns how many intervals are kept at most.
func (h *History) Keep() int { return h.keep }

// Add adds an interval as the newest, in the place of the oldest ones where there is no room, after it has written into it for how
// long its pods have been slowed down, and what its disks take. An interval that breaks the rules of usage is an error, and is not added.
func (h *History) Add(v *usage.Interval) error {
	if v == nil {
		return errors.New("interval: there is none")
	}
	if err := v.Validate(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	spells := h.spells.mark(v)
	h.served.learn(v)
	encoded, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h.spells = spells
	h.kept = append(h.kept, encoded)
	h.bytes += len(encoded)
	first := 0
	for len(h.kept)-first > h.keep || h.bytes > h.maxBytes && first < len(h.kept)-1 {
		h.bytes -= len(h.kept[first])
		first++
	}
	h.kept = slices.Delete(h.kept, 0, first)
	h.newest = h.clock.Now()
	return nil
}

// Last returns the last n intervals as JSON, or all if there are fewer, the oldest first. They must not be changed.
func (h *History) Last(n int) [][]byte {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n = min(max(n, 0), len(h.kept))
	return append([][]byte(nil), h.kept[len(h.kept)-n:]...)
}

// Age returns how long ago the newest interval was added, and whether there is one.
func (h *History) Age() (time.Duration, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if len(h.kept) == 0 {
		return 0, false
	}
	return h.clock.Now().Sub(h.newest), true
}
