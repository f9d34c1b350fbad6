// Package comparison lets several schedulers place the same pods on the same
// nodes, and judges what comes of it: by a simulation of the nodes, which shares no
// code with Loadline, and beside it by the most accurate model that Loadline has,
// the one that kubectl loadline explain asks.
//
// [Run] takes a scenario through its steps with a [Placer]: a real scheduler on a
// control plane ([Cluster]), or a policy of a replay ([Offline]). [Simulation] and
// [Model] say how much pods are dilated where they are, [Observed] what gauges would
// have seen of them, [Search] looks for a better placement, and [Summarize] adds up
// the runs of several seeds.
package comparison
