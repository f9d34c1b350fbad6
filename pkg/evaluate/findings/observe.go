package findings

import (
	"math"
	"slices"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// observation sums the intervals of a pod.
type observation struct {
	seconds   float64
	intervals int
	// The means over the window, as of [Pod], and the dilation of each of its intervals.
	dilation, cpu, disk, threads float64
	// burst is for how many seconds a thread computes at a time, 0 where that is unknown, and bursting for how long the threads ran of
	// which it is known.
	burst, bursting float64
	dilations       []float64
	// What happened in it, in seconds.
	times    usage.Times
	stolen   float64
	pressure *float64
	// held are the containers that limits held back, by their IDs.
	held map[string]held
	// since is for how long the dilation has been above a half of what makes a finding, and all reports whether that is as long as
	// the pod was observed.
	since time.Duration
	all   bool
}

// observe returns what was seen of each pod in the latest of some intervals, by its UID.
func observe(intervals []usage.Interval, above float64) map[string]*observation {
	seen := map[string]*observation{}
	if len(intervals) == 0 {
		return seen
	}
	over := map[string]bool{}       // pods that were not slowed down in a later interval
	last := map[string]*usage.Pod{} // in the last interval, by UIDs
	first := latest(intervals)
	back := 0.0 // how far the start of an interval is from the end of the last one
	for i := len(intervals) - 1; i >= 0; i-- {
		v := &intervals[i]
		inWindow := i >= first
		back += v.Seconds
		here := make(map[string]bool, len(v.Pods))
		for k := range v.Pods {
			p := &v.Pods[k]
			here[p.UID] = true
			o := seen[p.UID]
			if o == nil {
				if !inWindow {
					continue // it has ended
				}
				o = &observation{}
				seen[p.UID] = o
			}
			if i == len(intervals)-1 {
				last[p.UID] = p
			}
			dilation := o.add(v, p, inWindow)
			if dilation < broken(above) {
				over[p.UID] = true
			}
			if !over[p.UID] {
				o.since = time.Duration(back * float64(time.Second))
			}
		}
		for uid := range seen {
			over[uid] = over[uid] || !here[uid]
		}
	}
	for uid, o := range seen {
		o.all = !over[uid]
		if p := last[uid]; p != nil && broken(above) <= usage.Slowed && p.SlowedSeconds > o.since.Seconds() {
			o.since, o.all = time.Duration(p.SlowedSeconds*float64(time.Second)), p.SlowedBefore // the gauge remembers more
		}
		o.finish()
	}
	return seen
}

// latest returns the index of the first interval of an observation: it goes as far back as the window does, and as takes the
// fewest intervals that are evidence.
func latest(intervals []usage.Interval) int {
	seconds := 0.0
	for i, v := range slices.Backward(intervals) {
		if seconds >= Window.Seconds() && len(intervals)-1-i >= evidenceIntervals {
			return i + 1
		}
		seconds += v.Seconds
	}
	return 0
}

// add adds an interval, if it is in the window, and returns the pod's dilation in it, with what the hypervisor took.
//
// While the hypervisor runs something else, a task seems to sleep: kernels take stolen time from what a task runs. So its
// time without waiting is shorter by what was stolen while it ran, which is its part of all that ran.
func (o *observation) add(v *usage.Interval, p *usage.Pod, inWindow bool) float64 {
	stolen := 0.0 // per second that a task runs
	if v.BusySeconds >= usage.Instant {
		stolen = v.StolenSeconds / v.BusySeconds
	}
	const maxLost = 0.9
	lost := min(p.CPULoading*stolen, maxLost)
	dilation := p.Dilation / (1 - lost)
	if !inWindow || p.Seconds < usage.Instant {
		return dilation
	}
	neutral := p.Seconds / dilation
	o.seconds += p.Seconds
	o.intervals++
	o.dilation += neutral // until finish
	o.cpu += min(1, p.CPULoading/(1-lost)) * neutral
	o.disk += min(1, p.DiskLoading/(1-lost)) * neutral
	o.threads += p.Threads * p.Seconds
	if p.BurstSeconds > 0 {
		o.burst += p.BurstSeconds * p.Run // until finish
		o.bursting += p.Run
	}
	o.dilations = append(o.dilations, dilation)
	o.times.Run += p.Run
	o.times.Unseen += p.Unseen
	o.times.Wait += p.Wait
	o.times.Throttled += p.Throttled
	o.times.Blocked += p.Blocked
	o.stolen += p.Run * stolen
	for i := range p.Containers {
		o.hold(&p.Containers[i], p.Seconds)
	}
	if p.PressureSeconds != nil {
		if o.pressure == nil {
			o.pressure = new(float64)
		}
		*o.pressure += *p.PressureSeconds
	}
	return dilation
}

// finish divides the sums, so that they are means.
func (o *observation) finish() {
	if o.seconds == 0 {
		o.dilation, o.threads = 1, 1
		return
	}
	neutral := o.dilation
	o.dilation = o.seconds / neutral
	o.cpu /= neutral
	o.disk = min(o.disk/neutral, 1-o.cpu)
	o.threads /= o.seconds
	if o.bursting > 0 {
		o.burst /= o.bursting
	}
	if o.pressure != nil {
		*o.pressure /= o.seconds
	}
}

// short reports whether the observation is too short to judge by it.
func (o *observation) short() bool {
	return o.seconds < Evidence.Seconds() || o.intervals < evidenceIntervals
}

// margin returns the half width of the 95 % confidence interval of the dilation, by how much its intervals differ, as if
// they were independent.
func (o *observation) margin() float64 {
	n := float64(len(o.dilations))
	if n < 2 {
		return 0
	}
	mean, squares := 0.0, 0.0
	for _, d := range o.dilations {
		mean += d / n
	}
	for _, d := range o.dilations {
		squares += (d - mean) * (d - mean)
	}
	const normal = 1.96
	return normal * math.Sqrt(squares/(n-1)/n)
}
