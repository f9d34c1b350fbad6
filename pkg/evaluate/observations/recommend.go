package observations

import (
	"math"

	"loadline.dev/loadline/pkg/profile"
)

const (
	// MaxLoadingStep is by how much a recommended loading changes at once.
	MaxLoadingStep = 0.1
	// MaxThreadsStep is by which factor a recommended number of threads changes at once.
	MaxThreadsStep = 2.0
	// MaxBurstStep is by which factor a burst changes at once at most.
	MaxBurstStep = 2.0
	// LeastBurstStep is by which factor it changes at least.
	LeastBurstStep = 1.25

	// priorSamples is how many samples count as much as what was recommended before them.
	priorSamples = 10
	// leastLoadingStep and leastThreadsStep are the smallest changes: without them, chance would change what is recommended again
	// and again, and each time the scheduler prices all nodes anew.
	leastLoadingStep = 0.02
	leastThreadsStep = 0.6
	// maxThreads is the largest number that a profile can have.
	maxThreads = profile.MaxThreads
)

// Recommended is a vector that follows what is observed.
type Recommended struct {
	// CPULoading is from 0 to 1.
	CPULoading float64
	// DiskLoading is from 0 to 1, and with CPULoading at most 1. It is 0 without a demand at the disk: unless HasDisk.
	DiskLoading float64
	HasDisk     bool
	// Threads is at least 1.
	Threads int
}

// Recommend returns what to use of a pod now, after what was recommended or in use before. It goes a part of the way to what
// was observed: n/(n+10) of it after n samples of half a minute, so a half after five minutes of one pod, and 9/10 after
// fifteen minutes of three; and not further than [MaxLoadingStep] and [MaxThreadsStep] allow. A demand at the disk begins with the first
// loading there that was observed for long enough, and stays as it is while none is.
func Recommend(before Recommended, s *Summary) Recommended {
	after := before
	after.CPULoading = follow(before.CPULoading, &s.CPU)
	if s.Disk.Enough() {
		after.DiskLoading, after.HasDisk = follow(before.DiskLoading, &s.Disk), true
	}
	after.DiskLoading = min(after.DiskLoading, 1-after.CPULoading)
	then := float64(before.Threads)
	if step := trust(&s.CPU) * (s.Threads - then); math.Abs(step) >= leastThreadsStep {
		after.Threads = int(math.Round(min(max(1, then/MaxThreadsStep, then+step), then*MaxThreadsStep, maxThreads)))
	}
	return after
}

// trust is which part of the way to what was observed is gone.
func trust(l *Loading) float64 { return l.Number / (l.Number + priorSamples) }

// follow returns the loading to use after another one.
func follow(before float64, l *Loading) float64 {
	step := trust(l) * (l.Mean - before)
	if math.Abs(step) < leastLoadingStep {
		return before
	}
	return min(max(0, before+min(max(-MaxLoadingStep, step), MaxLoadingStep)), 1)
}

// Burst returns the burst to use after another one, given the observed one, in one unit; 0 stands for one that is not known.
func Burst(before, observed float64) float64 {
	switch {
	case before <= 0:
		return observed
	case observed <= 0, max(before, observed) < LeastBurstStep*min(before, observed):
		return before
	default:
		return min(max(before/MaxBurstStep, observed), before*MaxBurstStep)
	}
}
