// Package dockerd runs a command with a Docker daemon of its own, for kind on machines that have Docker's programs and run no
// daemon: a container, a small virtual machine. The daemon's images stay, in a folder of ours. When the command has ended,
// its containers, networks, cgroups and mounts and the daemon itself are gone, and settings of the kernel that a kubelet changes are as
// they were.
//
// The command and the containers have the machine's processors to themselves while they want them, and the containers before the
// command: what is measured in them is measured as on a quiet machine.
//
// The daemon sets no rules in the machine's firewall and has no default network: kind makes a network of its own. Containers
// get no capability that the machine itself lacks (see the program runc in this package's folder), so that --privileged works
// where the daemon is not all-powerful.
package dockerd
