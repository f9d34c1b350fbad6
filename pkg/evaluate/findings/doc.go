// Package findings finds the pods that are slowed down now, why they are, and what would help: from what the gauges of
// the nodes observed, and the pods and nodes of the cluster.
//
// What a pod waits has causes that the kernel tells apart: its own limit (throttled), the hypervisor (stolen), and other
// tasks (the rest). Whose tasks these are the kernel does not say. The model of the node does, package contention with
// the vectors that were observed and the weights that the requests make; it is believed as far as it has the pod wait
// about as long as it was observed to. What it does not explain is called unclear, but for what can only have been one of them: a
// thread waits only while something else runs (see conservation.go).
//
// What would help is one plan for the whole cluster, of package plan: the remedy of a finding is the step of it that helps the pod most,
// and the dilation that it promises is that after all steps.
//
// The package has no access to a cluster or a clock.
package findings
