package mixes

import (
	"fmt"
	"strings"
)

// What the guest program of the lab has room for, and the kernel takes.
const (
	MaxPods    = 64
	MaxThreads = 64
	MinLimit   = 10 // thousandths of a core: a quota of 1 ms per period of 100 ms
)

// validate returns an error unless the lab can run the pod.
func (r *Row) validate() error {
	fault := func(name string, value any, rule string) error { return fmt.Errorf("%s: %v %s", name, value, rule) }
	switch {
	case r.Mix == "" || strings.ContainsAny(r.Mix, " \t\r\n,/"):
		return fmt.Errorf("mix: %q is not a name without spaces, commas and slashes", r.Mix)
	case !(r.Seconds > 0):
		return fault("seconds", r.Seconds, "is not above 0")
	case r.Request < 0:
		return fault("request", r.Request, "is not at least 0")
	case r.Limit != 0 && r.Limit < MinLimit:
		return fault("limit", r.Limit, fmt.Sprintf("is neither 0, for none, nor at least %d", MinLimit))
	case r.Spare < 0 || r.Spare > r.Limit:
		return fault("spare", r.Spare, "is not between 0 and the limit")
	case !(r.Loading > 0 && r.Loading <= 1):
		return fault("loading", r.Loading, "is not above 0 and at most 1")
	case !(r.Burst > 0):
		return fault("burst_ms", r.Burst, "is not above 0")
	case r.Threads < 1 || r.Threads > MaxThreads:
		return fault("threads", r.Threads, fmt.Sprintf("is not between 1 and %d", MaxThreads))
	case r.Kind != Exponential && r.Kind != Constant:
		return fault("kind", r.Kind, "is neither exponential nor constant")
	default:
		return nil
	}
}

// validateMixes returns an error unless the rows of each mix are together, and its pods are numbered from 1 and observed for as long.
func validateMixes(rows []Row) error {
	seen := map[string]bool{}
	for _, mix := range ByMix(rows) {
		name := mix[0].Mix
		if seen[name] {
			return fmt.Errorf("mix %s: its rows do not follow each other", name)
		}
		seen[name] = true
		if len(mix) > MaxPods {
			return fmt.Errorf("mix %s: %d pods are more than %d", name, len(mix), MaxPods)
		}
		for i, r := range mix {
			if r.Pod != i+1 {
				return fmt.Errorf("mix %s: pod: %d is not %d, the next one", name, r.Pod, i+1)
			}
			if r.Seconds != mix[0].Seconds {
				return fmt.Errorf("mix %s: seconds: %v is not %v, as for its first pod", name, r.Seconds, mix[0].Seconds)
			}
		}
	}
	return nil
}
