package realnode

import "io"

// SystemNode is the name of the node for the operators of the cluster.
const SystemNode = "system"

// Options say how many nodes there shall be, and where.
type Options struct {
	// Dir is the folder for the nodes' files. What is in it is removed, first and last. Nodes must be able to see it: it
	// cannot be below /run, /var/lib or /var/log.
	Dir string
	// Workers is how many nodes with a core of their own there shall be, besides node system, at least 1.
	Workers int
	// Kubernetes is the minor version of the kubelets, as the control plane has it.
	Kubernetes string
	// Log receives one line per step, for a person to read. nil: none.
	Log io.Writer
}
