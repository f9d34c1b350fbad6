package collected

import (
	"cmp"
	"slices"
	"unsafe"

	"loadline.dev/loadline/pkg/gauge/fair"
)

const (
	// MaxBytes is how much memory is kept of all nodes together: an hour of 30,000 pods, or three minutes of 150,000, at an interval
	// in ten seconds. A busy pod takes up to 32 bytes of an interval or a minute, each container of one that a limit has held back about 65
	// more, and its identity about 180 bytes. In the latest minutes a pod that uses a disk takes about 20 bytes more of an interval, and a
	// disk about 100.
	MaxBytes = 100 << 20
	// MaxNodeBytes bounds the memory of one node: twice the memory of an hour of the 1,000 pods that an interval has at most. A
	// node whose pods are others in each interval loses its own past by that.
	MaxNodeBytes = 4 << 20
)

// What things take besides their texts, by which memory is accounted.
const (
	// textBytes is the memory of a text beyond its length: allocations are rounded up.
	textBytes = 8
	// identityBytes is the memory of an identity; a quarter as many more of them may have room.
	identityBytes = int(unsafe.Sizeof(identity{}))*5/4 + 3*textBytes
	// sparePods is for how many more identities there may be room besides.
	sparePods = 8
	// spanBytes is the memory of a span.
	spanBytes = int(unsafe.Sizeof(span{})) + textBytes
	// spareSpans is for how many more spans the list of a node may have room: those of the next round.
	spareSpans = 4
	// nodeBytes is the memory of a node.
	nodeBytes = 512 + spareSpans*spanBytes + sparePods*identityBytes
)

func (s *span) size() int { return spanBytes + len(s.packed) + len(s.disks) }

func (i *identity) size() int { return identityBytes + len(i.uid) + len(i.namespace) + len(i.name) }

// sizes returns the size of each span of a node, with the identities of the pods that no later one has.
func (n *node) sizes() []int {
	sizes := make([]int, len(n.spans))
	for i := range n.spans {
		sizes[i] = n.spans[i].size()
	}
	for k := range n.pods {
		pod := &n.pods[k]
		i, _ := slices.BinarySearchFunc(n.spans, pod.last, func(s span, last uint64) int { return cmp.Compare(s.last, last) })
		sizes[i] += pod.size()
	}
	return sizes
}

// share returns the bound on each node, so that all together stay within the memory.
func (h *History) share() int {
	wants := make([]int, 0, len(h.nodes))
	for _, n := range h.nodes {
		wants = append(wants, n.size)
	}
	return fair.Level(h.maxBytes, wants)
}
