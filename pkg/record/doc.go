// Package record turns what a cluster says about its pods into a job trace: what
// was asked of it, when, and what became of it.
//
// A [Recorder] is given pods, one at a time and in any order, each in its final
// state, and gives a [Recording], which writes itself as a trace. Every pod is a
// job, or is left out with a [Reason]:
//
//   - name: namespace/name
//   - type: the WorkloadProfile that the pod follows, as namespace/name, found as
//     the scheduler finds it; none if there is none
//   - arrival: its creation
//   - start: the first start of its containers, not counting init containers; of
//     a pod whose containers were restarted, when its node took it, since the
//     first start is not known any more
//   - end: the last finish of its containers; of a pod that was deleted while it
//     ran, when its deletion was due
//   - neutral time: nothing if its profile knows it, and the pod did all of its
//     work or still may. Else the time from start to end, the best that is known:
//     it includes what other pods on the node cost it
//   - demands: nothing if the pod follows a profile. Else they are derived from its
//     requests by the rule that the scheduler has for such pods, with its default
//     arguments: at the CPU with as many threads as it requests cores
//   - requests: what the scheduler sets aside for it, under names that are fit for
//     a trace: nvidia.com/gpu is gpu
//   - limit: how many cores its containers may use together, if each is limited or the
//     pod as a whole is
//   - node: where it ran
//
// Clocks of nodes and API server differ: what seems to be before the arrival is at
// the arrival. All these times are in whole seconds.
//
// The package reads and writes no cluster and has no clock.
package record
