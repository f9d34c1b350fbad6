// Package usage defines a gauge's report of its node: for each interval between two readings of the kernel's accounting, how long
// the tasks of each pod ran, waited for a processor, were throttled and were blocked, and the derived values of the pod alone; and
// the request for the report. It holds only types, their rules and their decoder, so that the gauge, which must stay small, and the
// readers of its reports share nothing else.
//
// A node may lie. Read the answer of a gauge with a [Decoder], which takes no more memory than its [Limits] say, and returns only
// values within the rules.
package usage

import "time"

// Interval is what happened on a node between two readings.
type Interval struct {
	Node string `json:"node"`
	// Start and End are by the clock of the node; Seconds is the time between them by a clock that is never set.
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Seconds float64   `json:"seconds"`
	// CPUs is how many processors containers of pods might run on, BusySeconds how long these ran anything, and StolenSeconds how
	// long the hypervisor ran something else while they had work; both are sums over the processors.
	CPUs          int     `json:"cpus"`
	BusySeconds   float64 `json:"busySeconds"`
	StolenSeconds float64 `json:"stolenSeconds"`
	// CgroupVersion is 1 or 2: the version of control groups by which processors are shared; 0 if the gauge cannot tell.
	CgroupVersion int `json:"cgroupVersion,omitempty"`
	// ExclusiveCPUs reports whether a container had processors that no container of another pod might use, as the static
	// policy of the kubelet's CPU manager gives them to Guaranteed pods.
	ExclusiveCPUs bool `json:"exclusiveCPUs,omitempty"`
	// BlockedUnknown reports whether the kernel accounts of no pod how long it waits for block I/O, so that Blocked and DiskLoading of
	// all pods are 0, whatever these did. Gauges of version 0.3 do not say that.
	BlockedUnknown bool `json:"blockedUnknown,omitempty"`
	// Pods are those that had a task during the interval, in the order of their UIDs.
	Pods []Pod `json:"pods"`
	// LeftOut is how many further pods had one: a gauge reports a bounded number.
	LeftOut int `json:"leftOut,omitempty"`
	// Disks are the block devices with an operation that ended in the interval, in the order of their names, and DisksLeftOut how many
	// further ones had one: the busiest are reported. Both are absent from gauges before version 0.5.
	Disks        []Disk `json:"disks,omitempty"`
	DisksLeftOut int    `json:"disksLeftOut,omitempty"`
}

// Pod is the activity of a pod's tasks during an interval.
type Pod struct {
	// UID is that of the pod's control groups. Static pods have another one in the API.
	UID string `json:"uid"`
	// Namespace and Name are empty while the gauge does not have them.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Seconds is for how much of the interval the pod was observed.
	Seconds float64 `json:"seconds"`
	Times
	// Tasks is how many tasks were seen, and Threads how many of them, at least 1, were active alike: (Σa)²/Σa², where
	// a is the time that a task ran or was blocked.
	Tasks   int     `json:"tasks"`
	Threads float64 `json:"threads"`
	// Dilation is how many times longer a task took than it would have without waiting for a processor and without
	// being throttled, at least 1. CPULoading and DiskLoading are the fractions of the time without waiting that it
	// ran and was blocked, from 0 to 1 in all. All three are means over the tasks, weighted by a.
	Dilation    float64 `json:"dilation"`
	CPULoading  float64 `json:"cpuLoading"`
	DiskLoading float64 `json:"diskLoading"`
	// BurstSeconds is for how long a task ran at a time before it waited for anything but a processor: the mean over the tasks,
	// weighted by how long they ran. One that never did counts with all that it ran in the interval. Absent where none ran or the
	// kernel does not count that, and from gauges before version 0.4.
	BurstSeconds float64 `json:"burstSeconds,omitempty"`
	// SlowedSeconds is for how long, up to the end of the interval, every interval had a dilation of at least [Slowed], also
	// those that the gauge no longer keeps; 0 if this one has not. SlowedBefore reports whether the pod was like that when
	// the gauge saw it first, so that it may be longer.
	SlowedSeconds float64 `json:"slowedSeconds,omitempty"`
	SlowedBefore  bool    `json:"slowedBefore,omitempty"`
	// PressureSeconds is how long some task of the pod waited for a processor by the kernel's pressure stall
	// information, absent where there is none: a second opinion.
	PressureSeconds *float64 `json:"pressureSeconds,omitempty"`
	// DiskPressure is the same for disks, and MemoryPressureSeconds for how long some task waited for memory: to be reclaimed, or read
	// back from swap or from a file that was just dropped. What waits for a disk because memory is short is in both.
	DiskPressure          *DiskPressure `json:"diskPressure,omitempty"`
	MemoryPressureSeconds *float64      `json:"memoryPressureSeconds,omitempty"`
	// BlockedBy says what Blocked and DiskLoading are by: [ByTasks], [ByPressure], or [ByNothing], and then both are 0. Where the
	// interval has BlockedUnknown, it is ByNothing of gauges from version 0.5 on, and absent before.
	BlockedBy string `json:"blockedBy,omitempty"`
	// Disks are those of the interval at which the pod did something, in the order of their names: the busiest of them, if many.
	Disks []PodDisk `json:"disks,omitempty"`
	// Containers are in the order of their IDs.
	Containers []Container `json:"containers,omitempty"`
}

// Container is the activity of a container's tasks during an interval.
type Container struct {
	// ID is that of the container runtime, without the scheme of the API.
	ID string `json:"id"`
	Times
	// Threads, Dilation, CPULoading and BurstSeconds are as of a [Pod], of a container that a limit held back: absent of others, where
	// the tasks came and went, and from gauges before version 0.4.
	Threads      float64 `json:"threads,omitempty"`
	Dilation     float64 `json:"dilation,omitempty"`
	CPULoading   float64 `json:"cpuLoading,omitempty"`
	BurstSeconds float64 `json:"burstSeconds,omitempty"`
	// Periods is for how many periods of its CPU quota the container had something to run, and ThrottledPeriods in how many of
	// them the quota was spent. Both are absent without a limit, and from gauges before version 0.4.
	Periods          int64 `json:"periods,omitempty"`
	ThrottledPeriods int64 `json:"throttledPeriods,omitempty"`
	// QuotaBurstSeconds is how much processor time that earlier periods left over the container may use besides its quota, by
	// cpu.max.burst or cpu.cfs_burst_us: absent where there is none.
	QuotaBurstSeconds float64 `json:"quotaBurstSeconds,omitempty"`
}

// Times are sums over tasks, in seconds.
type Times struct {
	// Run is the running time of tasks, and Unseen that of tasks of which only the control group kept an account: those that came
	// or went between two readings. Unseen is part of Run.
	Run    float64 `json:"runSeconds"`
	Unseen float64 `json:"unseenSeconds,omitempty"`
	// Wait is how long tasks that could run waited for a processor for any reason but their own limit.
	Wait float64 `json:"waitSeconds"`
	// Throttled is how long tasks that could run were held back by the limit of their pod or container.
	Throttled float64 `json:"throttledSeconds"`
	// Blocked is how long tasks waited for block I/O.
	Blocked float64 `json:"blockedSeconds"`
}

// Slowed is the dilation from which on a gauge counts for how long a pod is slowed down.
const Slowed = 1.1
