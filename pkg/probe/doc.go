// Package probe measures a node from within: with standard jobs of known behaviour,
// whose slowdown tells who else is on the node and what they do there.
//
//   - [Run] runs a standard job and notes how fast it was, moment by moment
//   - [Calibrate] finds how many requests a resource of the node serves at once
//   - [CalibratePressure] finds how much a standard job slows another down that shares a
//     cache, a memory or a core with it
//   - [Watch] observes the other containers of the pod: when they ran, for how long,
//     and how long they waited for a CPU
//   - [Synthesize] runs a job of a loading vector that the caller chooses, to test
//     measurements against
//   - [Sink] is the other end of the network job
//
// What they return is of pkg/probe/result. A standard job does units of fixed work by
// one or more workers at once, each a thread of its own, with no idle time. Every job is
// bounded: in time by its context and its options, in memory and on disk by [MaxSize].
// Its files have no name from the moment they are open, so that nothing is left of them
// however the process ends, and it refuses to fill a disk.
//
// So that the act of measuring disturbs little: a worker's loop allocates nothing, takes
// no lock, and reads the clock and its processor time once per unit; it notes its own
// progress, so that another thread has to wake five times a second only, to see what a
// hypervisor takes; and it makes its system calls without telling the Go runtime, whose
// monitor would otherwise wake every 20 microseconds to watch them. A process that runs
// one job should have the garbage collector off: debug.SetGCPercent(-1).
//
// Measuring needs Linux on amd64 or arm64; elsewhere the package builds, and everything
// in it returns [ErrPlatform].
package probe
