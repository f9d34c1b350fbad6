// Package inflations says how much slower the pods of a WorkloadProfile serve a unit of work, from readings of their work counters and from
// what gauges observed of them and of the pods beside them.
//
// A [History] takes readings of counters, each with its time, and spans: what a gauge observed of a pod in the half minute or so since it was
// asked last. How many units a pod did in a span follows from the readings around it, linear between two. That is exact while the rate is
// steady between two readings; where it jumps, what is counted too late or too early at an end of a span is at most a quarter of the units of
// one reading's time, and the same is missing or added in the next span. Readings half a minute apart so leave nothing that matters over
// [work.Recent] minutes. A counter that became smaller was reset: the spans that touch the reset are left out, as are those in which the
// hypervisor took much of the node's time, which the kernel counts as CPU time, and those of pods that were not seen for all of it.
//
// The spans of a pod are added up by minutes, and kept by profile and class of nodes for [Keep]. [History.Estimate] has package model/work
// analyze those of the latest version of the pods: another version does other work. Neighbours are workloads; those that use next to nothing
// are left out.
//
// [Observation] makes a status of an estimate, and [Differs] reports whether it is worth writing. [ByPod] reads statuses again.
//
// The package has no access to a cluster or a clock, and its memory is bounded.
package inflations
