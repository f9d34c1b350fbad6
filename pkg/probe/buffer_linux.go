//go:build amd64 || arm64

package probe

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// newBuffer returns a number of bytes outside of the Go heap, at an address that direct I/O
// takes, filled with what no disk and no memory can compress.
func newBuffer(size int) ([]byte, error) {
	buffer, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("getting %d bytes of memory: %w", size, err)
	}
	x := uint64(0x9e3779b97f4a7c15)
	for i := 0; i+8 <= size; i += 8 {
		x = scramble(x)
		binary.NativeEndian.PutUint64(buffer[i:], x)
	}
	return buffer, nil
}

func freeBuffer(buffer []byte) error { return unix.Munmap(buffer) }
