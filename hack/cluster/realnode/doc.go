// Package realnode runs real Kubernetes nodes beside a local control plane: each with a kubelet, a kube-proxy and a
// containerd of its own, running real pods. It needs root, Linux, and some Debian packages: [Claim] says what is
// missing.
//
//	machine, err := realnode.Claim(ctx, realnode.Options{Dir: dir, Workers: 2, Log: os.Stderr})
//	if err != nil {
//		return err
//	}
//	defer machine.Release()
//	plane, err := controlplane.Start(ctx, controlplane.Options{Address: machine.Address(), WithScheduler: true})
//	if err != nil {
//		return err
//	}
//	defer plane.Stop()
//	err = machine.AddNodes(ctx, plane)
//
// # Nodes
//
// The workers are worker-1, worker-2 and so on. All pods of a worker share one core, its own: it is a machine with one
// CPU. One more node, system, is for the operators of the cluster: it has the taint of a control plane, and the cores
// that are no worker's. There too run, with little weight, all the programs that make up the cluster, so that they
// disturb the workers as little as can be; on a machine with no core to spare they share that of the last worker, and
// worker-1 alone is undisturbed.
//
// # How they are kept apart
//
// A node is a set of Linux namespaces (processes, mounts, network, host name), held by a process that does nothing
// else. In it everything is where it is on any machine (/var/lib/kubelet, /run/containerd), although all nodes run on
// one. When that process ends, for any reason, the kernel ends all others of the node and takes away its mounts,
// interfaces and rules; and the kernel ends that process when we end. So a crash leaves only empty cgroups, which the
// next Claim or [Clean] removes, and files in Options.Dir.
//
// The nodes are connected by a bridge that has a network namespace to itself. The machine's own network sees one
// interface, which vanishes with that namespace.
//
//	machine  198.18.0.1      the API server
//	node n   198.18.0.10+n   its pods 198.19.n.0/24; worker-n is node n, system is node 0
//
// These addresses are set apart for tests (RFC 2544), so no network uses them.
package realnode
