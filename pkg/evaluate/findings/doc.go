// Package findings finds the pods that are slowed down now, why they are, and what would help: from what the gauges of
// the nodes observed, and the pods and nodes of the cluster.
//
// What a pod waits has causes that the kernel tells apart: its own limit (throttled), the hypervisor (stolen), and other
// tasks (the rest). Whose tasks these are the kernel does not say. The model of the node does, package contention with
// the vectors that were observed and the weights that the requests make; it is believed as far as it has the pod wait
// about as long as it was observed to. What it does not explain is called unclear, but for what can only have been one of them: a
// thread waits only while something else runs (see conservation.go).
//
// A remedy is a change of one thing: another request or limit, or a pod on another node that would take it. Each is
// predicted by the same model, for the pod and for all pods that it affects. A change that leaves another pod about as
// badly off is not a remedy; of the others, the one is proposed that wins most for all these pods together. Each is predicted as if
// nothing else changed; [Answer.Interplay] says where several concern one node.
//
// The package has no access to a cluster or a clock.
package findings
