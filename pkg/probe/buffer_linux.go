//go:build amd64 || arm64

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// newBuffer returns a number of bytes outside of the Go heap, at an address that direct I/O
// takes, filled with what no disk and no memory can compress.
func newBuffer(size int) ([]byte, error) {
	buffer, err := mapMemory(size)
	if err == nil {
		fill(buffer)
	}
	return buffer, err
}

// newHugeBuffer is as newBuffer, in huge pages where the kernel has some: without them random access waits for the
// translation of addresses rather than for a cache.
func newHugeBuffer(size int) ([]byte, error) {
	buffer, err := mapMemory(size)
	if err != nil {
		return nil, err
	}
	if err := unix.Madvise(buffer, unix.MADV_HUGEPAGE); err != nil && !errors.Is(err, unix.EINVAL) { // a kernel without them
		return nil, errors.Join(fmt.Errorf("asking for huge pages: %w", err), freeBuffer(buffer))
	}
	fill(buffer)
	return buffer, nil
}

func mapMemory(size int) ([]byte, error) {
	buffer, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("getting %d bytes of memory: %w", size, err)
	}
	return buffer, nil
}

func fill(buffer []byte) {
	x := uint64(0x9e3779b97f4a7c15)
	for i := 0; i+8 <= len(buffer); i += 8 {
		x = scramble(x)
		binary.NativeEndian.PutUint64(buffer[i:], x)
	}
}

func freeBuffer(buffer []byte) error { return unix.Munmap(buffer) }
