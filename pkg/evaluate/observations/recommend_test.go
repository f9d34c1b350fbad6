package observations_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/profile"
)

func TestARecommendationFollowsWhatIsObservedTheFasterTheMoreItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before  observations.Recommended
		seen    observations.Summary
		loading float64
		threads int
	}{
		"half of the way after five minutes of a pod": {observations.Recommended{CPULoading: 0.5, Threads: 1}, summary(0.6, 0.1, 10), 0.55, 1},
		"most of it after fifteen minutes of three":   {observations.Recommended{CPULoading: 0.5, Threads: 1}, summary(0.6, 0.1, 90), 0.59, 1},
		"no further than a step up":                   {observations.Recommended{CPULoading: 0.1, Threads: 1}, summary(0.9, 0.1, 90), 0.2, 1},
		"no further than a step down":                 {observations.Recommended{CPULoading: 0.9, Threads: 1}, summary(0.1, 0.1, 90), 0.8, 1},
		"not for what chance may be":                  {observations.Recommended{CPULoading: 0.5, Threads: 1}, summary(0.51, 0.1, 90), 0.5, 1},
		"twice the threads at most":                   {observations.Recommended{CPULoading: 0.5, Threads: 3}, threaded(40, 90), 0.5, 6},
		"half of the threads at least":                {observations.Recommended{CPULoading: 0.5, Threads: 40}, threaded(3, 90), 0.5, 20},
		"never less than a thread":                    {observations.Recommended{CPULoading: 0.5, Threads: 2}, threaded(1, 90), 0.5, 1},
		"not for half a thread":                       {observations.Recommended{CPULoading: 0.5, Threads: 1}, threaded(1.5, 90), 0.5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := observations.Recommend(c.before, &c.seen)
			if math.Abs(got.CPULoading-c.loading) > 1e-12 || got.Threads != c.threads {
				t.Errorf("got %+v, want a loading of %v and %d threads", got, c.loading, c.threads)
			}
		})
	}
}

// threaded is of that many samples of pods with that many threads.
func threaded(threads, number float64) observations.Summary {
	s := summary(0.5, 0.1, number)
	s.Threads = threads
	return s
}

// Whatever gauges say: a recommendation is a demand that a profile can have, moves by bounded steps, and arrives.
func TestARecommendationMovesInBoundedStepsAndArrives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := summary(rapid.Float64Range(0, 1).Draw(t, "loading"), 0.1, rapid.Float64Range(5, 1000).Draw(t, "samples"))
		s.Threads = rapid.SampledFrom([]float64{1, 1.3, 2, 7.7, 300, 1e6}).Draw(t, "threads")
		now := observations.Recommended{CPULoading: rapid.Float64Range(0, 1).Draw(t, "before"), Threads: rapid.IntRange(1, profile.MaxThreads).Draw(t, "threads before")}
		for range 100 {
			next := observations.Recommend(now, &s)
			if !(math.Abs(next.CPULoading-now.CPULoading) <= observations.MaxLoadingStep+1e-12) || !(next.CPULoading >= 0 && next.CPULoading <= 1) {
				t.Fatalf("the loading goes from %v to %v", now.CPULoading, next.CPULoading)
			}
			if next.Threads < 1 || next.Threads > profile.MaxThreads || next.Threads > 2*now.Threads || 2*next.Threads < now.Threads-1 {
				t.Fatalf("the threads go from %d to %d", now.Threads, next.Threads)
			}
			now = next
		}
		// What is left is less than the smallest step: 0.02 of a loading and 0.6 of a thread at a trust of a third or more.
		if math.Abs(now.CPULoading-s.CPULoading) > 0.06 || math.Abs(float64(now.Threads)-min(s.Threads, profile.MaxThreads)) > 1.9 {
			t.Fatalf("after 100 steps it is %+v, and %v with %v threads was observed", now, s.CPULoading, s.Threads)
		}
	})
}

func TestABurstMovesInBoundedStepsAndArrives(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, observed, want float64 }{
		"the first one":              {0, 5, 5},
		"none":                       {0, 0, 0},
		"none is observed any more":  {5, 0, 5},
		"less than a quarter longer": {5, 6.2, 5},
		"less than a quarter off":    {5, 4.1, 5},
		"longer":                     {5, 8, 8},
		"no more than twice":         {5, 800, 10},
		"no less than half":          {5, 0.1, 2.5},
	} {
		if got := observations.Burst(c.before, c.observed); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		burst, observed := rapid.Float64Range(1e-3, 1e6).Draw(t, "before"), rapid.Float64Range(1e-3, 1e6).Draw(t, "observed")
		for range 31 { // 2³⁰ is the ratio of the extremes
			burst = observations.Burst(burst, observed)
		}
		if max(burst, observed) >= observations.LeastBurstStep*min(burst, observed) {
			t.Errorf("it is %v, and %v was observed", burst, observed)
		}
	})
}
