// Package nodesim says how much pods slow each other down on a node by an event
// simulation of the Linux scheduler, of disks and of links: package
// test/oracle/linuxsched, which shares no code with the models of Loadline. What
// schedulers make of a cluster is judged by it.
//
// A thread of a pod computes, visits the disks and links that it uses, and sleeps,
// in rounds whose parts are exponential. [Pod.Vector] says how long each part is.
//
// All random numbers follow from what a pod is and from how many equal ones stand
// before it: the same pods have the same bursts on whichever node they are, and the
// same node has the same answer, which [Judge] remembers.
package nodesim
