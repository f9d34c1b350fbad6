package history

import "loadline.dev/loadline/pkg/gauge/usage"

// spells remembers for how long pods have been slowed down, by their UIDs.
type spells map[string]spell

// spell is for how many seconds a pod has been slowed down, 0 if it is not; before reports whether it was when it was seen
// first.
type spell struct {
	seconds float64
	before  bool
}

// mark writes into an interval the time for which each of its pods has been slowed down, and returns the spells to keep
// until the next one. Pods that are not in the interval are forgotten.
func (s spells) mark(v *usage.Interval) spells {
	next := make(spells, len(v.Pods))
	for i := range v.Pods {
		p := &v.Pods[i]
		now, known := s[p.UID]
		if p.Dilation < usage.Slowed {
			next[p.UID] = spell{}
			continue
		}
		now.seconds += v.Seconds
		now.before = now.before || !known
		p.SlowedSeconds, p.SlowedBefore = now.seconds, now.before
		next[p.UID] = now
	}
	return next
}
