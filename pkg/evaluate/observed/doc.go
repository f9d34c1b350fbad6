// Package observed is a cluster as the gauges of its nodes saw it: how each pod fared, the model of each node with the vectors that were
// observed, and why a pod is slowed down.
//
// What a pod waits has causes that the kernel tells apart: its own limit (throttled), the hypervisor (stolen), and other
// tasks (the rest). Whose tasks these are the kernel does not say. The model of the node does, package contention with
// the vectors that were observed and the weights that the requests make; it is believed as far as it has the pod wait
// about as long as it was observed to. What it does not explain is called unclear, but for what can only have been one of them: a
// thread waits only while something else runs (see conservation.go).
//
// Time for which a pod was blocked is a part of its time alone, as far as its operations at disks take that long on a quiet disk; the gauge
// learns how long that is. What they waited for those of others is a part of the dilation, and each neighbour's by what it had queued: see
// package station. A pod that spends a limit of its own at a disk waits for that. The model of the node is of processors only, and takes
// waiting at disks for a part of the time alone; what it says is converted.
//
// The package has no access to a cluster or a clock.
package observed
