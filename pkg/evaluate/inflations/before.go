package inflations

import (
	"time"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/inflation"
)

// known is what an observation says that another history made, such as that of a manager before this one.
type known struct {
	before   inflation.Before
	revision string
	until    time.Time
}

// Remember takes what an observation of a key says, if nothing of the key is kept or remembered, and if that is not older than what is kept. Of
// pods of another revision it says nothing.
func (h *History) Remember(key Key, o *v1alpha1.WorkObservation, now time.Time) {
	b, is := knownOf(o)
	if !is || now.Sub(b.until) > Keep || b.until.After(now.Add(maxGap)) {
		return
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	_, remembered := h.before[key]
	if h.keys[key] != nil || remembered || len(h.before) >= MaxKeys {
		return
	}
	if h.before == nil {
		h.before = map[Key]known{}
	}
	h.before[key] = b
}

// knownOf returns what an observation says, if it has all of that: those of version 0.3 have not.
func knownOf(o *v1alpha1.WorkObservation) (known, bool) {
	quiet := &o.Quiet
	if quiet.Value == nil || quiet.Low == nil || quiet.High == nil || o.UnitsPerSecond == nil || o.Overhead == nil || o.Minutes == nil || o.Time == nil {
		return known{}, false
	}
	value, rate, overhead := quiet.Value.AsApproximateFloat64(), o.UnitsPerSecond.AsApproximateFloat64(), o.Overhead.AsApproximateFloat64()
	if !(value > 0 && rate > 0 && overhead >= 0 && value*rate > overhead) {
		return known{}, false
	}
	margin := (quiet.High.AsApproximateFloat64() - quiet.Low.AsApproximateFloat64()) / 2
	return known{
		before: inflation.Before{
			Overhead: overhead, PerUnit: value - overhead/rate, Rate: rate, Error: max(0, margin/value), Slots: int(min(max(0, *o.Minutes), inflation.MaxIntervals)),
		},
		revision: o.Revision, until: o.Time.Time,
	}, true
}

// knownBefore returns what was known of a key before its intervals, of which there is an estimate: it counts for the minutes that would be kept yet.
func (h *History) knownBefore(key Key, e *Estimate) *inflation.Before {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	b, is := h.before[key]
	if !is || b.revision != e.Revision {
		return nil
	}
	left := int((Keep - e.Ended.Sub(b.until)) / slot)
	b.before.Slots = max(0, min(b.before.Slots, left))
	return &b.before
}
