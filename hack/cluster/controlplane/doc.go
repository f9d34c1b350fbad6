// Package controlplane runs a real Kubernetes control plane on this machine, for tests and demonstrations: etcd,
// kube-apiserver, kube-controller-manager, and kwok, which plays the nodes. Nothing needs to be installed but Go:
// [Binaries] builds the programs from Go modules the first time (some minutes) and finds them again afterwards.
//
//	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr})
//	if err != nil {
//		return err
//	}
//	defer plane.Stop()
//	err = plane.AddNodes(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}})
//	client, err := kubernetes.NewForConfig(plane.RESTConfig())
//
// There is no scheduler unless [Options].WithScheduler asks for one: that is what its users bring. Pods bound to a node are run by kwok, that is, they become
// Ready at once.
//
// A control plane is for one use. It listens on 127.0.0.1 only unless [Options].Address says otherwise, starts with an empty etcd that does not care about
// power cuts, and ends with the process that started it, even when that process is killed (on Linux; elsewhere, when
// it is killed so that it cannot call Stop, the parts outlive it). All that a killed process leaves is its folder.
package controlplane
