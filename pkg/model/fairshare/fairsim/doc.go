// Package fairsim simulates the standard model of fair share, event by event: jobs
// arrive, are put in line by the priority of their workload, preempt each other, and
// leave. It shares nothing with package fairshare, which computes what it measures, so
// that either can tell that the other is wrong.
//
// The order of priorities changes at the only moments when that leaves no trace: when a
// job finds the system idle. A busy period lasts as long and brings as many jobs whatever
// the order, with one processor or with exponential service times, so the mean response
// time over many of them is the mean over orders, weighted by their probabilities.
package fairsim
