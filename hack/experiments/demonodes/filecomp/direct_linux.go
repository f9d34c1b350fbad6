package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// newBuffer returns memory that the disk can write to directly.
func newBuffer(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

func freeBuffer(buffer []byte) error { return unix.Munmap(buffer) }

// readDirect fills a buffer with what a file begins with, past the page cache.
func readDirect(path string, buffer []byte) error {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return fmt.Errorf("%w (is it in memory?)", err)
	}
	_, err = io.ReadFull(file, buffer)
	return errors.Join(err, file.Close())
}
