// Package live has what tests need that run on a cluster with pods that run: any
// cluster with two worker nodes or more, and images of Loadline's programs on them.
// It knows nothing of the cluster but a kubeconfig, and less of how Loadline came to
// be there.
//
// All of it takes the test that it is for: what goes wrong ends the test, and what
// was made goes with it.
package live
