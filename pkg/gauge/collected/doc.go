// Package collected keeps the intervals that the manager collects from the gauges of a cluster, for longer than the gauges do, and
// serves them:
//
//	GET /v1/nodes/usage?last=N&node=NAME   the last N intervals of each node, of all nodes or of those named
//
// The answer is a usage.Collection, followed by a usage.Report of each node. Who may ask is decided by a guard that is handed in.
//
// The last one and a half minutes of a node are kept as its gauge reported them, older ones in intervals of a minute, for an hour.
// What is of disks is kept of the former only, but for the time for which pods were blocked.
// The activity of containers is kept of pods that a limit has held back, of at most 8 containers each. The memory is bounded, of each
// node and of all together, and accounted with the identities of pods: a node may lie, and have other pods in each interval. Where
// there is too much, the nodes that take the most lose their oldest intervals first, and those that take less than their part lose
// nothing. A node without a report for some minutes is forgotten; until then its report states its age. The answer begins with the
// refused gauges and the reasons.
//
// The package has no access to a cluster.
package collected
