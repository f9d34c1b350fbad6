package probe

import (
	"encoding/binary"
	"sync/atomic"

	"loadline.dev/loadline/pkg/probe/result"
)

const (
	// memoryUnit is how many bytes a unit of the memory jobs copies, reads or writes.
	memoryUnit = 1 << 20
	// memoryBlock is how many of them between two rests of a job of less than full pressure: some 5 µs.
	memoryBlock = 64 << 10
)

// memoryWorkers returns workers that together copy one half of a buffer to the other,
// or read or write all of it, from end to end and over again: a block is out of every cache
// by the time it is needed again, however many workers there are.
func memoryWorkers(j Job) (*workers, error) {
	size := j.Size
	if size == 0 {
		size = 512 << 20
	}
	span := size
	if j.Name == result.MemoryBandwidth {
		span /= 2 // one half to copy from, the other to copy to
	}
	blocks := uint64(span / memoryUnit)
	span = int64(blocks * memoryUnit)
	buffer, err := newBuffer(int(size / memoryUnit * memoryUnit))
	if err != nil {
		return nil, err
	}
	var next atomic.Uint64
	c := &workers{pressure: j.Pressure, closers: []func() error{func() error { return freeBuffer(buffer) }}}
	c.newUnit = func() (unit, error) {
		sink := new([8]uint64) // a cache line of its own
		var at uint64
		stream := pressing(&c.pressure, memoryUnit/memoryBlock, func(block int) {
			from := at + uint64(block)*memoryBlock
			part := buffer[from : from+memoryBlock]
			switch j.Name {
			case result.MemoryRead:
				sink[0] += readLines(part)
			case result.MemoryWrite:
				clear(part)
			default:
				copy(buffer[uint64(span)+from:], part)
			}
		})
		return func() error {
			at = (next.Add(1) % blocks) * memoryUnit
			return stream()
		}, nil
	}
	return c, nil
}

// cacheLine is how many bytes a line of a cache has on amd64 and most arm64.
const cacheLine = 64

// readLines reads one word of each cache line of a block whose size is a multiple of four lines.
func readLines(block []byte) uint64 {
	var a, b, c, d uint64
	for len(block) >= 4*cacheLine {
		a += binary.NativeEndian.Uint64(block)
		b += binary.NativeEndian.Uint64(block[cacheLine:])
		c += binary.NativeEndian.Uint64(block[2*cacheLine:])
		d += binary.NativeEndian.Uint64(block[3*cacheLine:])
		block = block[4*cacheLine:]
	}
	return a + b + c + d
}
