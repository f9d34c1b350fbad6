// Package install tests the chart as its users meet it: the real helm installs it on
// a cluster that runs pods, upgrades it while it works, and takes it away again. What
// it needs of the cluster is what package live says, nothing of Loadline in it, and
// real nodes for nothing else to run on.
//
//	make e2e         # on nodes of this machine, started for it (root), with test/e2e
//	make e2e-kind    # on kind, likewise
//	go test -tags e2e ./test/install -kubeconfig ~/.kube/config
//
// TestInstallation leaves Loadline installed. TestRights, which comes last of all,
// judges what Loadline's service accounts have asked of the API server until then,
// by its audit log: everything that Loadline can do should have happened.
package install
