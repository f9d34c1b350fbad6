package history

import (
	"context"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Differences returns a sampler of the differences between two readings; it makes the first one at once. After a reading
// that failed, the next interval begins where the last one ended: it is longer, and nothing is lost.
func Differences[R any](read func() (R, error), between func(before, after R) *usage.Interval) (Sampler, error) {
	before, err := read()
	if err != nil {
		return nil, err
	}
	return func(context.Context) (*usage.Interval, error) {
		after, err := read()
		if err != nil {
			return nil, err
		}
		v := between(before, after)
		before = after
		return v, nil
	}, nil
}
