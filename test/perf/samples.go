package perf

import (
	"errors"
	"math"
	"strings"

	"github.com/google/pprof/profile"
)

// SampleRate is how many samples of each processor a profile of a run has per second: as many as the kernel takes at its usual
// resolution of four milliseconds.
const SampleRate = 250

// Split is how the processor time of a run divides, by the samples of a profile. The shares add up to 1.
type Split struct {
	// Loadline is the share of samples with a function of Loadline on the stack, its profiles' informers included; Scheduler that of
	// others with one of the scheduler: scheduling and binding cycles, the queue, and handlers of events.
	Loadline, Scheduler float64
	// Collection is the share of garbage collection, for whatever code allocated.
	Collection float64
	// Rest is the API server, clients, the benchmark itself, and the runtime where it does nothing for one goroutine.
	Rest float64
	// Samples is how many samples the shares are of.
	Samples int
}

// SplitSamples divides the samples of a profile of processor time.
func SplitSamples(p *profile.Profile) (Split, error) {
	var counts [parts]int64
	for _, sample := range p.Sample {
		counts[partOf(sample)] += sample.Value[0] // how many samples have this stack
	}
	var total int64
	for _, count := range counts {
		total += count
	}
	if total == 0 {
		return Split{}, errors.New("the profile of the run has no samples")
	}
	share := func(part int) float64 { return float64(counts[part]) / float64(total) }
	return Split{
		Loadline: share(ofLoadline), Scheduler: share(ofScheduler), Collection: share(ofCollection), Rest: share(ofRest), Samples: int(total),
	}, nil
}

// What a sample can be a part of.
const (
	ofRest = iota
	ofLoadline
	ofScheduler
	ofCollection
	parts
)

// partOf returns what a sample is a part of.
func partOf(sample *profile.Sample) int {
	part := ofRest
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if line.Function == nil {
				continue
			}
			switch name := line.Function.Name; {
			case collects(name):
				return ofCollection
			case strings.HasPrefix(name, "loadline.dev/loadline/pkg/"):
				part = ofLoadline
			case part == ofRest && (strings.HasPrefix(name, "k8s.io/kubernetes/pkg/scheduler.") || strings.HasPrefix(name, "k8s.io/kubernetes/pkg/scheduler/")):
				part = ofScheduler
			}
		}
	}
	return part
}

// collects reports whether a function of the runtime, or what it calls, collects garbage.
func collects(function string) bool {
	for _, collector := range []string{
		"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.gcStart", "runtime.gcMarkTermination", "runtime.GC", "runtime.wbBufFlush",
		"runtime.deductSweepCredit", "runtime.bgsweep", "runtime.bgscavenge",
	} {
		if name, is := strings.CutPrefix(function, collector); is && (name == "" || name[0] == '.' || name[0] == '1') {
			return true
		}
	}
	return false
}

// RelativeError returns the standard error of a share that was estimated by a number of samples, as a fraction of the share: that of
// a binomial distribution. It is 1 for a share of 0.
func RelativeError(share float64, samples int) float64 {
	if share == 0 {
		return 1
	}
	return math.Sqrt((1 - share) / (share * float64(samples)))
}
