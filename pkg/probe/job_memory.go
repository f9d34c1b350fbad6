package probe

import "sync/atomic"

// memoryUnit is how many bytes a unit of the memory-bandwidth job copies.
const memoryUnit = 1 << 20

// memoryCrew returns a crew whose workers together copy one half of a buffer to the other,
// from end to end and over again: a block is out of every cache by the time it is needed
// again, however many workers there are.
func memoryCrew(j Job) (*crew, error) {
	size := j.Size
	if size == 0 {
		size = 512 << 20
	}
	blocks := uint64(size / 2 / memoryUnit)
	half := blocks * memoryUnit
	buffer, err := newBuffer(int(2 * half))
	if err != nil {
		return nil, err
	}
	from, to := buffer[:half], buffer[half:]
	var next atomic.Uint64
	return &crew{
		unmake: []func() error{func() error { return freeBuffer(buffer) }},
		hire: func() (unit, error) {
			return func() error {
				at := (next.Add(1) % blocks) * memoryUnit
				copy(to[at:at+memoryUnit], from[at:at+memoryUnit])
				return nil
			}, nil
		},
	}, nil
}
