// Package observations keeps what gauges observed of the pods that follow WorkloadProfiles, and judges by it whether a
// profile is still true.
//
// A [History] takes [Sample] values, which [Samples] makes of the intervals of one gauge, and keeps for each profile and class of
// nodes (a [Key]) the sums of the last [Window]; it answers with a [Summary]: the mean loadings at the CPU and at disks, by how much they
// differ between pods and from one moment to the next, and of how many pods and seconds that is. [Judge] compares a summary with
// the vector in use and returns a [Verdict], and [Drifted] makes a condition of those of all classes. [Predictions] compares
// the dilations that the model predicts with those that were observed.
//
// What distorts a loading is left out: intervals in which the hypervisor took more than [MaxStolen] of the time that the
// processors of the node had work, and those in which its own limit held a pod back for more than [MaxThrottled] of its
// active time. A pod that is always held back by its limit is therefore not judged. How much of the time disks served a pod is known of some
// intervals only, see [observed.AloneIn]: of others nothing is taken for its disk loading, rather than none.
//
// Observed loadings are only shown and compared: they never take the place of a vector. The package has no access to a
// cluster or a clock.
package observations
