package job

import (
	"math"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// Elapsed is how long a job took, in seconds.
func Elapsed(l result.Load) float64 { return float64(l.End-l.Begin) / 1e9 }

// Vector returns the loading vector of a job by its own account of a run alone: the
// fractions of its time in which it computed, and in which the device served it. Where
// the service time of the device is not known, that is when it was there but did not
// compute.
func Vector(l result.Load, service time.Duration) [2]float64 {
	var computing, atDevice, served int64
	for _, d := range l.Demands {
		if d.Job == result.CPU {
			computing += d.Nanos
		} else {
			atDevice += d.Nanos
			served += int64(d.Units) * service.Nanoseconds()
		}
	}
	if service == 0 { // what it computed beyond that was part of the calls to the device
		served = atDevice - min(max(0, l.CPUNanos-computing), atDevice)
	}
	all := float64(max(1, l.End-l.Begin))
	return [2]float64{float64(l.CPUNanos) / all, float64(served) / all}
}

// workOf returns how much work a job did, in seconds alone, which differs a little
// from seed to seed; 0 where it does not say.
func workOf(l result.Load) float64 {
	sum := float64(l.IdleNanos) / 1e9
	for _, d := range l.Demands {
		if d.UnitsPerSecond > 0 {
			sum += float64(d.Units) / d.UnitsPerSecond
		}
	}
	return sum
}

// Neutral returns how long a job would have taken alone, in seconds, by a run alone
// of the same kind.
func Neutral(l, alone result.Load) float64 {
	if work := workOf(alone); work > 0 {
		return Elapsed(alone) * workOf(l) / work
	}
	return Elapsed(alone)
}

// Computing returns how long a job would have computed alone, in seconds, by a run
// alone of the same kind. All rounds have as much work in the mean.
func Computing(l, alone result.Load) float64 {
	return float64(alone.CPUNanos) / 1e9 * float64(l.Rounds) / float64(max(1, alone.Rounds))
}

// SlowerProcessors returns how much longer a job computed than in runs alone before and
// after, for the same work, in seconds: as much slower the processors were.
func SlowerProcessors(l, before, after result.Load) float64 {
	return float64(l.CPUNanos)/1e9 - math.Sqrt(Computing(l, before)*Computing(l, after))
}

// Median returns the middle value, of an even number the mean of the middle two; 0 of
// none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
