package observations_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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

func TestARecommendationHasADiskOnceOneIsObserved(t *testing.T) {
	t.Parallel()
	cpu := summary(0.3, 0.1, 10)
	long := atDisk(cpu, 0.6)
	long.Disk.Number = 90
	brief := atDisk(cpu, 0.6)
	brief.Disk.Minutes = observations.MinMinutes - 1
	none := observations.Recommended{CPULoading: 0.3, Threads: 1}
	both := func(cpu, disk float64) observations.Recommended {
		return observations.Recommended{CPULoading: cpu, DiskLoading: disk, HasDisk: true, Threads: 1}
	}
	for name, c := range map[string]struct {
		before observations.Recommended
		seen   observations.Summary
		want   observations.Recommended
	}{
		"none before":                {none, long, both(0.3, 0.1)},
		"none is known":              {none, cpu, none},
		"hardly anything is known":   {none, brief, none},
		"never at the disk":          {none, atDisk(cpu, 0), both(0.3, 0)},
		"no longer known":            {both(0.3, 0.4), cpu, both(0.3, 0.4)},
		"a step up":                  {both(0.3, 0.2), long, both(0.3, 0.3)},
		"not for what chance may be": {both(0.3, 0.59), long, both(0.3, 0.59)},
		"as much as the cpu leaves":  {both(0.8, 0.2), atDisk(summary(0.9, 0.1, 90), 0.2), both(0.89, 0.11)},
	} {
		if diff := cmp.Diff(c.want, observations.Recommend(c.before, &c.seen), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
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
		fraction := rapid.Float64Range(0, 1)
		s := summary(fraction.Draw(t, "loading"), 0.1, rapid.Float64Range(5, 1000).Draw(t, "samples"))
		s.Disk = observed((1-s.CPU.Mean)*fraction.Draw(t, "at the disk"), 0.1, rapid.Float64Range(5, 1000).Draw(t, "samples at the disk"))
		s.Threads = rapid.SampledFrom([]float64{1, 1.3, 2, 7.7, 300, 1e6}).Draw(t, "threads")
		now := observations.Recommended{CPULoading: fraction.Draw(t, "before"), Threads: rapid.IntRange(1, profile.MaxThreads).Draw(t, "threads before")}
		now.HasDisk, now.DiskLoading = true, (1-now.CPULoading)*fraction.Draw(t, "at the disk before")
		for range 100 {
			next := observations.Recommend(now, &s)
			for _, step := range [][2]float64{{now.CPULoading, next.CPULoading}, {now.DiskLoading, next.DiskLoading}} {
				if !(math.Abs(step[1]-step[0]) <= observations.MaxLoadingStep+1e-12) || !(step[1] >= 0) {
					t.Fatalf("a loading goes from %v to %v", step[0], step[1])
				}
			}
			if !(next.CPULoading+next.DiskLoading <= 1+1e-12) {
				t.Fatalf("the loadings are more than the whole: %+v", next)
			}
			if next.Threads < 1 || next.Threads > profile.MaxThreads || next.Threads > 2*now.Threads || 2*next.Threads < now.Threads-1 {
				t.Fatalf("the threads go from %d to %d", now.Threads, next.Threads)
			}
			now = next
		}
		// What is left is less than the smallest step: 0.02 of a loading and 0.6 of a thread at a trust of a third or more. That at the disk may be
		// less by what is left at the cpu.
		if math.Abs(now.CPULoading-s.CPU.Mean) > 0.06 || math.Abs(now.DiskLoading-s.Disk.Mean) > 0.12 ||
			math.Abs(float64(now.Threads)-min(s.Threads, profile.MaxThreads)) > 1.9 {
			t.Fatalf("after 100 steps it is %+v, and %+v was observed", now, s)
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
