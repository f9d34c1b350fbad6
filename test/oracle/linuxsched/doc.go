// Package linuxsched is a discrete-event simulation of the Linux scheduler, with which tests judge predictions of how much pods
// slow each other down on 1 to 128 processors. It shares no code with the packages that it judges.
//
// # What is simulated
//
// Threads compute for a burst, themselves or in a process that they fork, sleep, and visit other stations (disks, links), in turns.
// They are in control groups of any depth with weights and quotas. Each processor has its run queues, one per group, and picks by
// CFS (Linux 6.1) or EEVDF (6.12 and later), with the rules and the constants of kernel/sched/fair.c:
//
//   - preemption at ticks and at wake-ups; eligibility, virtual deadlines, protected slices, lag that is kept over a sleep, and
//     delayed dequeue (EEVDF); sleeper credit, wake-up granularity and buddies (CFS);
//   - the weight of a group on a processor by its load there, from load averages with a half-life of 32 ms (PELT);
//   - quotas with periods, slices of 5 ms per processor, debts of up to a tick, bursts (cpu.max.burst);
//   - the processor of a woken thread: the previous one, the last but one, an idle one that shares the cache, as many as are
//     looked at for the utilization there (SIS_UTIL);
//   - newly-idle, idle and busy load balancing, in one or two levels of scheduling domains.
//
// Test data of real kernels and processors, and closed forms, say how near that is: see the tests.
//
// # What is not
//
// Hyper-threads that share a core, processors of unlike speed, NUMA distances, affinity, real-time classes, caches. A group is
// throttled as a whole at once, as before Linux 6.18, which stops each thread when it returns to user mode.
//
// # Running it
//
// [Machine.Run] simulates a window of time and returns for each pod where its threads' time went, and who kept them waiting.
// [Machine.Dilations] relates that to each pod alone on the machine. All random numbers are the caller's ([Program], Machine.Seed),
// so that the same input gives the same result.
package linuxsched
