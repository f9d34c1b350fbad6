// Package node says what a node of a local cluster is made of, whether it runs in namespaces of this machine (package realnode) or
// in a container (packages kindnode and kindcluster): Debian's packages, how its kubelet and its pods' network are configured, and
// what it does to the kernel. Which programs of Kubernetes it runs, in which versions, says package controlplane.
package node

import (
	"bytes"
	_ "embed"
	"text/template"
)

// Packages are the Debian packages of the container runtime and of the pods' network.
var Packages = []string{"containerd", "runc", "containernetworking-plugins", "iptables", "iproute2"}

// SearchPath is where a node's programs look for others.
const SearchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// KernelSettings are the settings of the kernel, by their paths below /proc/sys, that a kubelet changes, with the values that it
// gives them. They are those of the whole machine.
var KernelSettings = map[string]string{
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/keys/root_maxbytes": "25000000",
}

// KubeletSettings are the fields of a KubeletConfiguration by which pods have a node's processors, but for those that it reserves,
// to themselves, on machines with either version of cgroups.
const KubeletSettings = `failCgroupV1: false
cpuManagerPolicy: static
cpuManagerPolicyOptions: {strict-cpu-reservation: "true"}
`

// Network is the network of a node's pods.
type Network struct {
	// Pods is the range of the pods' addresses, such as 10.244.1.0/24.
	Pods string
	// Inside is set where pods' addresses mean nothing outside of the cluster: what leaves a node has the node's address then,
	// and pods may ask for ports of the node.
	Inside bool
}

//go:embed network.conflist
var plugins string

var pluginsTemplate = template.Must(template.New("network.conflist").Parse(plugins))

// Config returns how the network plugins (CNI) lay the network.
func (n Network) Config() ([]byte, error) {
	var text bytes.Buffer
	err := pluginsTemplate.Execute(&text, n)
	return text.Bytes(), err
}
