// Package experiment estimates the loading vector of a workload on a node from the
// samples of a measurement there.
//
// A measurement consists of rounds, a round of steps, and each [Step] gives a [Sample]: the time of
// the target, alone or beside others, and the rate of the probe of a resource. An [Experiment]
// names the subject and the method of the measurement. After each round
//
//   - [Experiment.Correct] replaces its samples by those of one pod on a node without
//     neighbours: what the neighbours did to the probe and the target is predicted from
//     their loading vectors, and taken out
//   - [Experiment.Estimate] combines the rounds so far into a [Result], with 95 %
//     confidence intervals
//
// What package probing does for one probe is put together here for all resources of a
// measurement: the probe of a disk computes between its requests, so that it meets the
// target at the CPU as well; processors change their speed from run to run; and loadings
// add up to at most 1.
//
// The package starts nothing, reads no clock and decides nothing: samples come in, and
// samples and results come out.
package experiment
