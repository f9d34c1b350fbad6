// Package observed is a cluster as the gauges of its nodes saw it: how each pod fared, the model of each node with the vectors that were
// observed, and why a pod is slowed down.
//
// What a pod waits has causes that the kernel tells apart: its own limit (throttled), the hypervisor (stolen), and other
// tasks (the rest). Whose tasks these are the kernel does not say. The model of the node does, package contention with
// the vectors that were observed and the weights that the requests make; it is believed as far as it has the pod wait
// about as long as it was observed to. What it does not explain is called unclear, but for what can only have been one of them: a
// thread waits only while something else runs (see conservation.go).
//
// The package has no access to a cluster or a clock.
package observed
