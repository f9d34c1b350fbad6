// Package e2e tests Loadline on a cluster that runs pods: any cluster that has
// config/default applied or the chart installed, images of Loadline's programs on
// its nodes, and two worker nodes or more. It knows nothing of the cluster but a
// kubeconfig.
//
//	make e2e         # on nodes of this machine, started for it (root), with test/install
//	make e2e-kind    # on kind, likewise (Docker; NODE_IMAGE=local for nodes made here, with no registry)
//	go test -tags e2e ./test/e2e -kubeconfig ~/.kube/config
//
// Tests that crash nodes are skipped unless -node-command says how to do so there. Those that measure take it that pods
// of one worker do not slow down pods of another: on kind, whose nodes share a machine, each worker has a processor for its
// pods.
//
// Everything that a test makes is in a namespace of its own, which goes with the
// test, but for profiles of nodes. Tests run in parallel, and those that measure
// reserve the nodes that they measure on.
package e2e
