package trace

import (
	"io"
	"iter"
)

// OpenbNode is one node of an openb trace (openb_node_list_*.csv).
type OpenbNode struct {
	// Name of the node, never empty and unique in its list.
	Name string
	// CPUMilli is the CPU capacity in thousandths of a core.
	CPUMilli int64
	// MemoryMiB is the memory capacity in MiB.
	MemoryMiB int64
	// GPUs is the number of GPUs.
	GPUs int
	// Model is the GPU model; empty on a node without GPUs.
	Model string
}

const (
	nodeName = iota
	nodeCPU
	nodeMemory
	nodeGPUs
	nodeModel
)

var openbNodeColumns = []string{
	nodeName: "sn", nodeCPU: "cpu_milli", nodeMemory: "memory_mib", nodeGPUs: "gpu", nodeModel: "model",
}

// OpenbNodes reads the nodes of an openb trace from in, in the order of the
// file; file is its name in errors. Node names must be unique: unlike the
// pods, the nodes of a cluster are kept in memory anyhow. The sequence can be
// ranged over once.
func OpenbNodes(file string, in io.Reader) iter.Seq2[OpenbNode, error] {
	names := nameLines{}
	open := func() (rowReader, error) { return openTable(file, in, openbNodeColumns) }
	return readRows(open, func(r *row) (OpenbNode, bool) {
		names.check(r, nodeName)
		return OpenbNode{
			Name:      r.name(nodeName),
			CPUMilli:  r.whole(nodeCPU, maxMilli),
			MemoryMiB: r.whole(nodeMemory, maxMiB),
			GPUs:      int(r.whole(nodeGPUs, maxGPUs)),
			Model:     r.word(nodeModel),
		}, true
	})
}
