package collect

import (
	"cmp"
	"errors"
	"math"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// firstIntervals is for how many intervals a gauge is asked that was never asked before, or not with success.
	firstIntervals = 6
	// shortestPeriod is the shortest time between two intervals that the number to ask for is computed with.
	shortestPeriod = time.Second
)

// wanted returns how many intervals to ask a gauge for: those since the last one, and one more, since it may end meanwhile.
func (s *state) wanted(now time.Time) int {
	most := cmp.Or(s.most, MaxIntervals)
	switch {
	case s.until.IsZero() && s.recall:
		return cmp.Or(s.most, MaxRecalled)
	case s.until.IsZero():
		return min(firstIntervals, most)
	}
	since := now.Sub(s.until)
	n := math.Ceil(float64(since)/float64(max(s.period, shortestPeriod))) + 1
	return int(min(max(1, n), float64(most)))
}

// failed takes note of a failure, after asking for some number of intervals: the next try comes after a period, then after twice as long each time.
func (s *state) failed(now time.Time, asked int, err error) {
	wait := MaxBackOff
	if doublings := s.failures; doublings < 8 {
		wait = min(MaxBackOff, Period<<doublings)
	}
	s.failures++
	// Rounds are a period apart, give or take the duration of the last one.
	s.notBefore = now.Add(wait - Period/2)
	s.refused = ""
	if refused := (*usage.RefusedError)(nil); errors.As(err, &refused) {
		s.refused = usage.Excerpt(refused.Error())
	}
	if errors.Is(err, usage.ErrTooLarge) {
		s.most = max(1, asked/2)
	}
}

// fresh returns the intervals of a report that were not handed on before, and when the last of them ended. An interval is
// fresh if its middle is, as ages are rounded, and take time to arrive; and if it is not the very last one of before.
func (s *state) fresh(report *usage.Report, now time.Time) ([]usage.Interval, time.Time) {
	all := report.Intervals
	if len(all) == 0 {
		return nil, time.Time{}
	}
	ended := now.Add(-seconds(report.AgeSeconds))
	start := ended
	i := len(all)
	for ; i > 0; i-- {
		length := seconds(all[i-1].Seconds)
		middle, seen := start.Add(-length/2), !s.until.IsZero()
		if seen && (!middle.After(s.until) || !s.last.IsZero() && all[i-1].End.Equal(s.last)) {
			break
		}
		start = start.Add(-length)
	}
	if i == len(all) {
		return nil, time.Time{}
	}
	newest := &all[len(all)-1]
	s.until, s.last, s.period = ended, newest.End, seconds(newest.Seconds)
	return all[i:], ended
}

// seconds returns a duration; one of centuries is cut.
func seconds(s float64) time.Duration {
	const longest = float64(1 << 62)
	return time.Duration(min(s*float64(time.Second), longest))
}
