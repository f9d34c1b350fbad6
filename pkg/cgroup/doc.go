// Package cgroup derives from the pods of a node the tree of CPU shares that its
// kubelet and container runtime make:
//
//	kubepods
//	├─ pods of QoS class Guaranteed, each with the shares of its requests
//	├─ burstable    the shares of its pods' requests together
//	│  └─ pods      each with the shares of its requests
//	│     └─ containers, sidecars too
//	└─ besteffort   the least there is, 2
//	   └─ pods      2 each
//
// Shares come from CPU requests, 1024 for one CPU. On cgroup v1 the kernel weighs
// siblings by them (cpu.shares), on cgroup v2 by weights (cpu.weight) that are made
// of them: by the kubelet linearly, for pods and classes; for containers by the
// runtime, linearly too or logarithmically ([Conversion]). [Build] makes the tree and
// [Group.Members] gives it to package fairshare. [NewPool] makes of it what package
// contention takes: a job for each pod, with the weight and the limit of its control
// group, whatever containers it has: its loading vector knows how many threads they run.
//
// Requests and limits are those in effect: a resize that waits changes nothing yet.
//
// Not in it: what the node runs besides pods, the sandbox of a pod, which sleeps,
// and init containers, which are over while a pod runs.
//
// The package reads no cluster and no cgroup: pods in, tree out.
package cgroup
