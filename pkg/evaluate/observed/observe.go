package observed

import (
	"math"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Observation sums the intervals of a pod.
type Observation struct {
	Seconds   float64
	intervals int
	// The means over the window, and the dilation of each of its intervals. CPU and Disk are as of [usage.Pod]: parts of the time without waiting
	// for a processor, in which waiting at disks is. [Observation.Alone] has those of the time alone.
	Dilation, CPU, Disk, Threads float64
	// alone is the sum of where a thread of the pod spent its time alone, in seconds, over the intervals of which it is known for disks, and
	// aloneSeconds how long these are.
	alone        Alone
	aloneSeconds float64
	// AtDisks is the part of the dilation that is waiting at disks, as far as it is known for what, and waits are what it consists of.
	AtDisks float64
	waits   []wait
	// Burst is for how many seconds a thread computes at a time, 0 where that is unknown, and bursting for how long the threads ran of
	// which it is known.
	Burst, bursting float64
	dilations       []float64
	loadings        []float64 // of the CPU, of each interval
	// What happened in it, in seconds.
	Times    usage.Times
	stolen   float64
	Pressure *float64
	// BlockedUnknown reports whether it is not known for how long the pod was blocked.
	BlockedUnknown bool
	// held are the containers that limits held back, by their IDs.
	held map[string]held
	// Since is for how long the dilation has been above a half of what makes a finding, and all reports whether that is as long as
	// the pod was observed.
	Since   time.Duration
	AtLeast bool
}

// observe returns what was seen of each pod in the latest of some intervals, those of a window, by its UID, with waiting at disks or without.
func observe(intervals []usage.Interval, above float64, window time.Duration, withDisks bool) map[string]*Observation {
	seen := map[string]*Observation{}
	if len(intervals) == 0 {
		return seen
	}
	over := map[string]bool{}       // pods that were not slowed down in a later interval
	last := map[string]*usage.Pod{} // in the last interval, by UIDs
	first := latest(intervals, window)
	back := 0.0 // how far the start of an interval is from the end of the last one
	for i := len(intervals) - 1; i >= 0; i-- {
		v := &intervals[i]
		inWindow := i >= first
		back += v.Seconds
		var at *disks
		if withDisks {
			at = disksOf(v)
		}
		reported := withDisks && reportsDisks(v)
		here := make(map[string]bool, len(v.Pods))
		for k := range v.Pods {
			p := &v.Pods[k]
			here[p.UID] = true
			o := seen[p.UID]
			if o == nil {
				if !inWindow {
					continue // it has ended
				}
				o = &Observation{}
				seen[p.UID] = o
			}
			if i == len(intervals)-1 {
				last[p.UID] = p
			}
			did := at.of(k)
			dilation := o.add(v, p, inWindow, &did, reported)
			if dilation < Broken(above) {
				over[p.UID] = true
			}
			if !over[p.UID] {
				o.Since = time.Duration(back * float64(time.Second))
			}
		}
		for uid := range seen {
			over[uid] = over[uid] || !here[uid]
		}
	}
	for uid, o := range seen {
		o.AtLeast = !over[uid]
		if p := last[uid]; p != nil && Broken(above) <= usage.Slowed && p.SlowedSeconds > o.Since.Seconds() {
			o.Since, o.AtLeast = time.Duration(p.SlowedSeconds*float64(time.Second)), p.SlowedBefore // the gauge remembers more
		}
		o.finish()
	}
	return seen
}

// latest returns the index of the first interval of an observation: it goes as far back as the window does, and as takes the
// fewest intervals that are evidence.
func latest(intervals []usage.Interval, window time.Duration) int {
	seconds := 0.0
	for i, v := range slices.Backward(intervals) {
		if seconds >= window.Seconds() && len(intervals)-1-i >= evidenceIntervals {
			return i + 1
		}
		seconds += v.Seconds
	}
	return 0
}

// add adds an interval, if it is in the window, with what the pod did at disks, of which the gauge reports or does not. It returns the pod's
// dilation in it, with what the hypervisor took and what it waited at disks.
//
// While the hypervisor runs something else, a task seems to sleep: kernels take stolen time from what a task runs. So its
// time without waiting is shorter by what was stolen while it ran, which is its part of all that ran.
func (o *Observation) add(v *usage.Interval, p *usage.Pod, inWindow bool, did *atDisks, reported bool) float64 {
	stolen := 0.0 // per second that a task runs
	if v.BusySeconds >= usage.Instant {
		stolen = v.StolenSeconds / v.BusySeconds
	}
	const maxLost = 0.9
	lost := min(p.CPULoading*stolen, maxLost)
	dilation := p.Dilation / (1 - lost)
	cpu, disk := min(1, p.CPULoading/(1-lost)), min(1, p.DiskLoading/(1-lost))
	longer := 1 / (1 - min(disk, 1-cpu)*partOf(did.waits))
	if !inWindow || p.Seconds < usage.Instant {
		return dilation * longer
	}
	neutral := p.Seconds / dilation
	o.Seconds += p.Seconds
	o.intervals++
	o.Dilation += neutral                                      // until finish
	o.AtDisks += o.waitAt(did.waits, min(disk, 1-cpu)*neutral) // until finish
	if alone := did.alone(p, reported); alone.DiskKnown {
		runs := min(1, alone.CPU/(1-lost))
		o.alone.CPU += runs * p.Seconds
		o.alone.Disk += min(alone.Disk/(1-lost), 1-runs) * p.Seconds
		o.aloneSeconds += p.Seconds
	}
	o.CPU += cpu * neutral
	o.Disk += disk * neutral
	o.Threads += p.Threads * p.Seconds
	if p.BurstSeconds > 0 {
		o.Burst += p.BurstSeconds * p.Run // until finish
		o.bursting += p.Run
	}
	o.dilations = append(o.dilations, dilation*longer)
	o.loadings = append(o.loadings, cpu)
	o.Times.Run += p.Run
	o.Times.Unseen += p.Unseen
	o.Times.Wait += p.Wait
	o.Times.Throttled += p.Throttled
	o.Times.Blocked += p.Blocked
	o.BlockedUnknown = o.BlockedUnknown || v.BlockedUnknown || p.BlockedBy == usage.ByNothing
	o.stolen += p.Run * stolen
	for i := range p.Containers {
		o.hold(&p.Containers[i], p.Seconds)
	}
	if p.PressureSeconds != nil {
		if o.Pressure == nil {
			o.Pressure = new(float64)
		}
		*o.Pressure += *p.PressureSeconds
	}
	return dilation * longer
}

// finish divides the sums, so that they are means.
func (o *Observation) finish() {
	if o.Seconds == 0 {
		o.Dilation, o.Threads = 1, 1
		return
	}
	neutral := o.Dilation
	alone := neutral - o.AtDisks
	o.Dilation = o.Seconds / alone
	o.AtDisks /= alone
	o.CPU /= neutral
	o.Disk = min(o.Disk/neutral, 1-o.CPU)
	o.Threads /= o.Seconds
	if o.bursting > 0 {
		o.Burst /= o.bursting
	}
	if o.Pressure != nil {
		*o.Pressure /= o.Seconds
	}
}

// Alone returns the parts of the time alone in which a thread of the pod runs and is blocked by disks that serve it.
func (o *Observation) Alone() (cpu, disk float64) {
	return min(1, o.CPU*o.Longer()), min(1, max(0, o.Disk*o.Longer()-o.AtDisks))
}

// Profiled returns what a profile says of the pod: where a thread spends its time alone, a mean over the intervals of which it is known for disks.
// It is not known where
// these are less than the half.
func (o *Observation) Profiled() (alone Alone, known bool) {
	if o.aloneSeconds <= 0 || o.aloneSeconds < o.Seconds/2 {
		return Alone{}, false
	}
	return Alone{CPU: o.alone.CPU / o.aloneSeconds, Disk: o.alone.Disk / o.aloneSeconds, DiskKnown: true}, true
}

// Short reports whether the observation is too short to judge by it.
func (o *Observation) Short() bool {
	return o.Seconds < Evidence.Seconds() || o.intervals < evidenceIntervals
}

// Margin returns the half width of the 95 % confidence interval of the dilation, by how much its intervals differ, as if
// they were independent.
func (o *Observation) Margin() float64 {
	const normal = 1.96
	return normal * deviationOfMean(o.dilations)
}

// Variation returns the standard deviation of how much the pod will use the CPU of the node for as long again, as a part of what it was
// observed to use, by how much its intervals differ: the mean over the past ones varies, and so does that over the next.
func (o *Observation) Variation() float64 {
	if o.CPU <= 0 {
		return 0
	}
	return math.Sqrt2 * deviationOfMean(o.loadings) / o.CPU
}

// deviationOfMean returns the standard deviation of the mean of some independent values, 0 for one.
func deviationOfMean(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return 0
	}
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / (n - 1) / n)
}

// Broken returns the dilation below which a pod is not slowed down, given the smallest dilation of a finding: half as far from 1.
func Broken(above float64) float64 { return 1 + (above-1)/2 }
