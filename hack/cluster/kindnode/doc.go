// Package kindnode makes the image of a node of kind where no registry can be reached to pull one: of Debian's packages, of the
// files of kind's own images, which are in kind's Go module, and of Kubernetes' programs from the modules that package
// controlplane pins. Making it needs root, debootstrap, the go command, a mirror of Debian and the Go module proxy, and no
// Docker.
//
// Such a node is like one of kind's in everything that kind and kubeadm ask of it. It differs in these:
//   - containerd, runc and the network plugins are Debian's.
//   - The images of the control plane, which it brings along, hold a program each and what it links to.
//   - The pods' network is laid by the program podnet instead of kindnetd: routes between nodes, no network policies.
//   - CoreDNS has only those plugins that kubeadm configures, and there is no storage provisioner.
package kindnode
