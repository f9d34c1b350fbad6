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
// How long tasks waited for block I/O is known only where kernel.task_delayacct is 1, [Reading.BlockedKnown]; elsewhere it
// is 0, and the interval says so.
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
// one parent that run at the same time it counts too few, and it misses the time for which children were blocked. How long the chain
// computes at a time is by the sleeps of the parent, two for each child, and of the children that a reading met.
package reading
