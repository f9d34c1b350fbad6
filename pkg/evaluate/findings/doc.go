// Package findings finds the pods that are slowed down now, why they are, and what would help: from what the gauges of
// the nodes observed (package observed), and the pods and nodes of the cluster.
//
// What would help is one plan for the whole cluster, of package plan: the remedy of a finding is the step of it that helps the pod most,
// and the dilation that it promises is that after all steps.
//
// The package has no access to a cluster or a clock.
package findings
