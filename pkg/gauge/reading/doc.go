// Package reading reads the kernel's accounting of the pods of a node, and turns two such readings into a [usage.Interval].
//
//   - [Reader.Read] takes a reading from a proc file system and the control groups, of version 2 or 1, as the kubelet
//     makes them with the drivers cgroupfs and systemd
//   - [Between] compares two readings; it is a pure function
//
// It needs the process ids of the host, and no privileges but to read. It never writes, and measures nothing that the
// kernel does not account anyway.
//
// # What the kernel accounts
//
// Of a task, /proc/ID/schedstat holds how long it ran and how long it could have run but did not. The latter goes on while
// the task is throttled, whether the kernel takes the throttled queue away and leaves the tasks in it, as it did before 6.18,
// or stops the tasks themselves, as it does since: on 6.1 and on 6.18, run and wait of busy tasks under a limit are their
// whole time. The throttled time of a control group, on the other hand, is a sum over processors: a second counts once however
// many tasks it holds back in the queue of one processor. [Between] estimates how many those were; see throttle.go.
//
// A task's waiting is added when it ends, and its running at a tick, so that a time that spans a reading is in one interval or
// in the other: over several the sums are right, and in one the waiting of a task may be wrong by the length of one wait. That
// matters to the dilation of a task that almost never runs; longer intervals are the remedy.
//
// How long a task computes at a time is what it ran, over how often it then slept: its voluntary context switches, by /proc/ID/sched.
// The number in schedstat is no measure of it: it counts a task again after each time that another one preempted it. What never
// sleeps counts with all that it ran in the interval.
//
// How long each task waited for block I/O is known only where kernel.task_delayacct is 1, [Reading.BlockedKnown]. Elsewhere Blocked and
// DiskLoading are by the pressure stall information of the pod; see blocked.go. Where there is none they are 0, and the pod and
// the interval say so. Neither has the time for which a task waits for another one that waits for the disk, as an fsync waits for the
// journal of ext4: that is sleep.
//
// # Disks
//
// /proc/diskstats has what each block device did, partitions among them: those are told by /sys/block, which has only whole
// devices, or by their names where there is no sysfs. Devices in memory, ram and zram, are left out: nothing waits there for another. Times
// are in milliseconds, in numbers of 32 bits that begin anew. Discards and, since Linux 5.5, flushes are counted apart; what is
// beyond 18 numbers is ignored, and of kernels with 11 the rest is 0. Busy time is in ticks of the kernel's timer since 5.0: an upper
// bound where a device answers faster. Sysfs is asked only about devices that did something between two readings.
//
// What a pod did is in io.stat of control groups of version 2 with the controller io, and in blkio.throttle.io_serviced and
// io_service_bytes of version 1, where they are summed up over the containers if the kernel does not. Both count what is submitted, at each
// device of a stack: at dm-0, and again at the disk beneath. Reads and direct writes are the pod's. A buffered write comes later
// from the kernel's flusher: version 2 counts it to the pod on file systems that account it, as ext4, btrfs and xfs do, if the controller
// memory is on as well, and version 1 to the root group. In a hybrid layout, with version 2 mounted at unified without
// controllers, the operations are those of blkio and the pressure that of unified. A layout of version 1 alone has no pressure. On
// Linux 6.18 the files of blkio stayed 0 until a limit was set, whatever pods did: there 0 operations do not mean that there were none.
//
// The pressure of block I/O is also that of what waits for its own limit (io.max, blkio.throttle), for swap, and for files that were
// dropped for lack of memory; the last two are in the pressure of memory as well. Limits are read of pods that did something, and
// again after some readings.
//
// A loop device lies on that of its file, which is known to a reader that may see the root of the first process: it takes the right
// to trace it, which a gauge does not have by default.
//
// # What comes and goes
//
// A task that came or went between two readings leaves its running in the account of its control group: Unseen. Its waiting is
// in no account. Where unseen tasks are at least a tenth of a pod's running, as in a loop of a shell, Dilation, CPULoading and
// Threads take them, their parent and those of them that a reading met for one task that always existed, or for the least number
// that can have run that long. Their waiting is then the stall time of their container: see [Stalls], which polls that from the
// interval on after the one that showed such tasks.
//
// In that first interval, and in pods that run other tasks as well, it is the pressure stall time beyond the waiting of the
// other tasks, and at least the time that the limit held them back, which can be far off on several processors. Wait has none of
// that. Where the kernel keeps no such information it is taken as zero, and Dilation and CPULoading are too low. Of children of
// one parent that run at the same time it counts too few. Unseen tasks were blocked at disks for as long as the pressure of the pod says beyond
// the account of those that were seen. How long the chain computes at a time is by the sleeps of the parent, two for each child, and of the
// children that a reading met.
package reading
