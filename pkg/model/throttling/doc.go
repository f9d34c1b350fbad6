// Package throttling computes by how much a CPU quota holds back threads that compute in bursts.
//
// A limit of a container is a quota of processor time for each period, 100 ms as the kubelet sets it. A thread that
// computes for longer at a time than the quota lasts is stopped until the next period, even if it uses much less than
// the limit on average. [Load.Stretch] says how much longer that makes what the threads do, and [Load.Fitted] finds from a
// stretch that was observed how long they compute at a time. [Observed] finds from all that is observed under a limit in what
// [Pattern] they compute, and [Pattern.LimitFor] which limit ends the throttling.
//
// # The model
//
// Each thread computes for exponentially distributed bursts, of mean B, and sleeps for exponentially distributed times
// in between, so that alone it computes for the fraction p of its time. Nothing else keeps it from a processor.
//
// For one thread the result is exact. It has spent the quota Q by the time t of a period if the sleep between the bursts
// that add up to Q was no longer than t − Q. How many bursts and how many sleeps end in times of given lengths are Poisson
// variables, so that this compares two of them. What the thread uses in a period is an integral of that, given whether it
// computes when the period begins, which follows from what it sleeps in a period being what it wakes from.
//
// Several threads are exact where bursts are short beside the quota, of which only the average is left, and where they are
// so long that the quota is a lower speed of the processors: a closed network of one station, which serves k threads by
// min(k, limit) processors. In between they are as near to the latter as one thread with its part of the limit is. Tests
// compare that with a simulation.
//
// # The limit that ends the throttling
//
// A limit that stops threads for less than a hundredth of what they run is a matter of how bursts vary, of how many threads meet,
// and of what earlier periods left over (cpu.max.burst): for bursts that are all alike it can be half of that for exponentially
// distributed ones of the same mean. So [Pattern.Under] simulates the threads, at a bounded cost.
//
// What the threads do is known from counters. Their number, what they compute and how long at a time says the kernel's account of each. How much
// bursts and sleeps vary follows from how much their means and numbers do from interval to interval, by the theory of renewal
// processes; few intervals say little, and then the bursts are taken to vary more. For how long the quota stopped the threads is the check:
// where that is longer than the pattern explains, they compute together, as the time that they were stopped in each throttled period says,
// or for longer at a time than the account of each thread shows, as where one thread hands its work to the next.
package throttling
