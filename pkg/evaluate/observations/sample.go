package observations

import (
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// MaxStolen is the largest part of the time that processors had work for which the hypervisor may run something else,
	// in an interval that counts.
	MaxStolen = 0.05
	// MaxThrottled is the largest part of its active time for which its own limit may hold a pod back, in an interval that
	// counts.
	MaxThrottled = 0.1
)

// Sample is what was observed of a pod over some intervals.
type Sample struct {
	// Pod is the UID of the pod's control groups.
	Pod string
	// Seconds is for how long it was observed, above 0.
	Seconds float64
	// CPULoading is the fraction of its time alone that a thread ran, from 0 to 1, as [observed.Alone] has it, and Threads how many were
	// active at once, at least 1: means over the time.
	CPULoading, Threads float64
	// DiskLoading is the fraction of its time alone for which disks served a thread, from 0 to 1, as [observed.Alone] has it: a mean over
	// the time of which that is known, DiskSeconds. These are 0 where it is not, and at most Seconds.
	DiskLoading, DiskSeconds float64
	// Burst is for how many seconds a thread computed at a time, a mean over the time that threads ran of which that is known: Run
	// seconds, 0 if none is.
	Burst, Run float64
}

// Samples returns what the intervals of a gauge, which must be valid, say about each pod, by the UIDs of the pods' control
// groups. A pod of which all intervals are left out has no sample.
func Samples(intervals []usage.Interval) map[string]*Sample {
	samples := map[string]*Sample{}
	for i := range intervals {
		v := &intervals[i]
		if v.StolenSeconds > MaxStolen*(v.BusySeconds+v.StolenSeconds) {
			continue
		}
		alone := observed.AloneIn(v)
		for k := range v.Pods {
			p, a := &v.Pods[k], &alone[k]
			if active := p.Run + p.Wait + p.Throttled + p.Blocked; p.Seconds <= 0 || p.Throttled > MaxThrottled*active {
				continue
			}
			s := samples[p.UID]
			if s == nil {
				s = &Sample{Pod: p.UID}
				samples[p.UID] = s
			}
			s.Seconds += p.Seconds
			s.CPULoading += a.CPU * p.Seconds // until the end
			s.Threads += p.Threads * p.Seconds
			if a.DiskKnown {
				s.DiskLoading += a.Disk * p.Seconds // until the end
				s.DiskSeconds += p.Seconds
			}
			if p.BurstSeconds > 0 {
				s.Burst += min(p.BurstSeconds, v.Seconds) * p.Run // until the end
				s.Run += p.Run
			}
		}
	}
	for _, s := range samples {
		s.CPULoading /= s.Seconds
		s.Threads /= s.Seconds
		if s.DiskSeconds > 0 {
			s.DiskLoading /= s.DiskSeconds
		}
		if s.Run > 0 {
			s.Burst /= s.Run
		}
	}
	return samples
}
