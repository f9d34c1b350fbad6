package reading

import "time"

// Unknown is the value of a counter that the kernel does not keep.
const Unknown time.Duration = -1

// Uncounted is the number of what the kernel does not count.
const Uncounted int64 = -1

// Reading is the kernel's account of a node at a moment. All counters began at some time in the past.
type Reading struct {
	// At has a monotonic clock reading, unless it was made up.
	At time.Time
	// Uptime is the time since the boot.
	Uptime time.Duration
	// CPUs is how many processors were online, Busy how long they ran anything, Stolen how long the hypervisor kept them.
	CPUs         int
	Busy, Stolen time.Duration
	// Processors are those that are online.
	Processors []Processor
	// Version is that of the control groups, 1 or 2; 0 where it is not known.
	Version int
	// BlockedKnown reports whether the kernel accounts how long tasks wait for block I/O, and no account had more time than there was. Linux
	// before 5.14 does account it unless an option at boot turned it off, which shows nowhere.
	BlockedKnown bool
	// Disks are in the order of the kernel, partitions among them.
	Disks []Disk
	// Pods are in the order of their UIDs, each of them once.
	Pods []Pod
}

// Pod is a pod by its control group.
type Pod struct {
	UID string
	// Path is the directory of its control group, relative to the hierarchy.
	Path string
	// Usage is the running time of the pod's tasks, including tasks that ended, Throttled the time that the limit of the pod
	// itself throttled it, summed over processors, and Pressure the time that some task waited for a processor. Each can be
	// [Unknown].
	Usage, Throttled, Pressure time.Duration
	// DiskPressure and MemoryPressure are those of block I/O and of memory, nil where the kernel keeps none.
	DiskPressure, MemoryPressure *Pressure
	// Disks is what the pod did at disks since it came, in any order, and DiskLimits are its limits there and those of its containers,
	// the tightest: of a pod that did anything between two readings.
	Disks      []PodDisk
	DiskLimits []DiskLimit
	// Stall is nil where it was not polled: see [Stalls].
	Stall *Stall
	// Groups are the containers in the order of their IDs. The first may have no ID: it holds the tasks that belong to the
	// pod and to no container of it.
	Groups []Group
}

// Group is a container, or the rest of a pod, with all control groups within.
type Group struct {
	ID string
	// Path is the directory of a container's control group, relative to the hierarchy.
	Path string
	// Usage is the running time of its tasks, including tasks that ended, Throttled the time that limits of this group and of
	// those within throttled them, and Held the time that any limit did, also of a group around it; both are summed over
	// processors. Each can be [Unknown]: Linux before 6.6 does not account Held.
	Usage, Throttled, Held time.Duration
	// Periods is how many periods of its quota a container had something to run in, and ThrottledPeriods in how many of them
	// the quota was spent; both are 0 without a quota.
	Periods, ThrottledPeriods int64
	// QuotaBurst is how much processor time that earlier periods left over a container may use besides its quota; 0 without a
	// quota, or where the kernel has no such thing, which Linux has since 5.14.
	QuotaBurst time.Duration
	// Stall is nil where it was not polled: see [Stalls].
	Stall *Stall
	// Processors is the list of the processors that a container may run on, such as 0-3,8; empty where it is not known.
	Processors string
	Tasks      []Task
}

// Task is a thread.
type Task struct {
	ID int
	// Parent is the id of the process whose child the task's process is.
	Parent int
	// Start is its start, since the boot: with ID it identifies the task. It is a multiple of 10 ms.
	Start time.Duration
	// Seen is when it was read, since the reading began.
	Seen time.Duration
	// Run is how long it ran, Wait how long it could have but did not, Blocked how long it waited for block I/O.
	Run, Wait, Blocked time.Duration
	// Slices is how often it began to run, and Sleeps how often it stopped by itself, to wait for anything but a processor: its
	// voluntary context switches. Moves is how often it went from one processor to another. Sleeps and Moves are [Uncounted] where the
	// kernel does not count them.
	Slices, Sleeps, Moves int64
	// CPU is the number of the processor that it ran on last.
	CPU int
	// Pause reports whether its command is that of a sandbox, the container that holds a pod's namespaces.
	Pause bool
}
