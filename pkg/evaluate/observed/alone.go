package observed

import (
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Alone is where a thread of a pod spent its time in an interval, without all waiting that neighbours may be the reason of.
//
// The whole of which the loadings are parts is the time alone: without waiting for a processor and without being held back by a CPU limit,
// as for [usage.Pod], and without waiting at disks for operations of others or of the pod's other threads, which a model has it wait for again.
// Sleeping is in it, and so is time blocked at disks that their service does not explain, such as for a limit of the pod there: alone it
// waits for that as well, and is at no disk meanwhile.
type Alone struct {
	// CPU and Disk are the fractions of that time for which it ran, and for which its operations at disks were served, from 0 to 1 in all.
	CPU, Disk float64
	// DiskKnown reports whether it is known how much it was served. If it is not, Disk is 0, and all time blocked at disks is in the time alone.
	DiskKnown bool
}

// MaxMemory is the largest part of the time of a pod for which some task of it may have waited for memory, so that what it did at disks counts:
// what was read back because memory is short is not told apart from what it reads alone.
const MaxMemory = 0.05

// AloneIn returns where each pod of an interval, which must be valid, spent its time, in the order of the pods.
func AloneIn(v *usage.Interval) []Alone {
	all, reported := disksOf(v), reportsDisks(v)
	list := make([]Alone, len(v.Pods))
	for i := range v.Pods {
		at := all.of(i)
		list[i] = at.alone(&v.Pods[i], reported)
	}
	return list
}

// alone returns where a pod spent its time that did this at disks, of which its gauge reports or does not.
func (at *atDisks) alone(p *usage.Pod, reported bool) Alone {
	a := Alone{CPU: min(1, p.CPULoading)}
	blocked := min(p.DiskLoading, 1-a.CPU)
	if a.DiskKnown = reported && at.explains(p, blocked); !a.DiskKnown {
		return a
	}
	waited := at.own
	for _, w := range at.waits {
		if !w.limit {
			waited += w.seconds
		}
	}
	alone := 1 - blocked*min(waited, mostWaiting)
	a.CPU = min(1, a.CPU/alone)
	a.Disk = min(blocked*at.service/alone, 1-a.CPU)
	return a
}

// reportsDisks reports whether the gauge of an interval reports what happens at disks: those before version 0.4 do not.
func reportsDisks(v *usage.Interval) bool {
	return !v.BlockedUnknown && (len(v.Disks) > 0 || v.DisksLeftOut > 0 ||
		slices.ContainsFunc(v.Pods, func(p usage.Pod) bool { return p.DiskPressure != nil }))
}

// explains reports whether what a pod did at disks says for how much of its time it was served there, given the part of its time for which it was
// blocked. Where it did nothing that is learned, or not only, what is not explained may be service, and where the service has only a bound, all may be.
func (at *atDisks) explains(p *usage.Pod, blocked float64) bool {
	if p.BlockedBy == usage.ByNothing || p.MemoryPressureSeconds != nil && *p.MemoryPressureSeconds > MaxMemory*p.Seconds {
		return false
	}
	unclear := blocked
	if !at.bounded {
		unclear *= 1 - at.service - at.own - partOf(at.waits)
	}
	return unclear < WorthAtLeast || len(at.waits) > 0 && !at.unlearned && !at.bounded
}
