// Package probejob is what the controllers share that measure on real nodes: the
// Jobs that they run, where and when these may run, and how they fared.
//
//   - [Settings] makes the pods: [Settings.Probe] runs a standard job,
//     [Settings.Calibrate] finds the servers of a resource, [Settings.Observe] adds
//     an observer to the pods of a workload
//
//   - [New] makes the Job that runs such a pod once, on one node; [Apply] creates it
//
//   - [Usable], [Alive] and [Quiet] report on which nodes one can measure
//
//   - [MeasuredProfile] says of which measurement a pod is, whatever its labels say; [Divide] of all
//     pods of a node. The nodes that measurements use are those of [slots.Slots]
//
//   - [Inspect] returns the outcome of a Job, in words for users; [Look] reads what
//     that takes from the cluster
//
//   - [Cluster] reads and writes the Jobs of one controller; [Memory] keeps what it remembers of
//     profiles, such as a [Failure] after which a question is asked again later only
//
// It decides nothing about what to measure.
package probejob
