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

// Recommended is a demand at the cpu that follows what is observed.
type Recommended struct {
	// CPULoading is from 0 to 1.
	CPULoading float64
	// Threads is at least 1.
	Threads int
}

// Recommend returns what to use of a pod now, after what was recommended or in use before. It goes a part of the way to what
// was observed: n/(n+10) of it after n samples of half a minute, so a half after five minutes of one pod, and 9/10 after
// fifteen minutes of three; and not further than [MaxLoadingStep] and [MaxThreadsStep] allow.
func Recommend(before Recommended, s *Summary) Recommended {
	trust := s.Number / (s.Number + priorSamples)
	after := before
	if step := trust * (s.CPULoading - before.CPULoading); math.Abs(step) >= leastLoadingStep {
		after.CPULoading = min(max(0, before.CPULoading+min(max(-MaxLoadingStep, step), MaxLoadingStep)), 1)
	}
	then := float64(before.Threads)
	if step := trust * (s.Threads - then); math.Abs(step) >= leastThreadsStep {
		after.Threads = int(math.Round(min(max(1, then/MaxThreadsStep, then+step), then*MaxThreadsStep, maxThreads)))
	}
	return after
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
