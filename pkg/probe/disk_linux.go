//go:build amd64 || arm64

package probe

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// scratch is a file with no name that goes past the page cache.
type scratch struct {
	file *os.File
	fd   uintptr // of the file
}

// openScratch makes a file of a number of bytes in a directory, all of them written. It
// refuses to make the disk too full.
func openScratch(dir string, size int64) (*scratch, error) {
	file, err := openNameless(dir)
	if err != nil {
		return nil, err
	}
	s := &scratch{file, file.Fd()}
	if err := s.fill(dir, size); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// openNameless opens a new file that has no name. Where the file system has no such
// thing it has a name for a moment.
func openNameless(dir string) (*os.File, error) {
	file, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE|unix.O_DIRECT, 0o600)
	if err == nil {
		return file, nil
	}
	if errors.Is(err, syscall.EINVAL) {
		return nil, noDirectIO(dir)
	}
	if !errors.Is(err, syscall.EOPNOTSUPP) && !errors.Is(err, syscall.EISDIR) {
		return nil, err
	}
	named, err := os.CreateTemp(dir, ".loadline-probe-*")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.Remove(named.Name()), setDirect(named)); err != nil {
		return nil, errors.Join(err, named.Close())
	}
	return named, nil
}

func setDirect(file *os.File) error {
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETFL, unix.O_DIRECT); err != nil {
		return fmt.Errorf("%w (%w)", noDirectIO(file.Name()), err)
	}
	return nil
}

func noDirectIO(dir string) error {
	return fmt.Errorf("%s: its file system has no direct I/O, so nothing there measures a disk: choose another directory", dir)
}

// fill writes the whole file, so that reads find data on the disk and writes change no
// metadata.
func (s *scratch) fill(dir string, size int64) error {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(s.fd), &fs); err != nil {
		return fmt.Errorf("%s: finding how full its file system is: %w", dir, err)
	}
	if fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC {
		return fmt.Errorf("%s: is in memory, not on a disk: choose another directory", dir)
	}
	if err := (space{total: int64(fs.Blocks) * fs.Bsize, free: int64(fs.Bavail) * fs.Bsize}).admits(size); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	buffer, err := newBuffer(diskUnit)
	if err != nil {
		return err
	}
	for at := int64(0); at < size && err == nil; at += diskUnit {
		err = s.write(buffer, at)
	}
	if err == nil {
		err = s.file.Sync()
	}
	return errors.Join(err, freeBuffer(buffer))
}

// read fills a buffer from the disk.
func (s *scratch) read(buffer []byte, at int64) error {
	return s.transfer(unix.SYS_PREAD64, "reading", buffer, at)
}

// write writes a buffer to the disk.
func (s *scratch) write(buffer []byte, at int64) error {
	return s.transfer(unix.SYS_PWRITE64, "writing", buffer, at)
}

func (s *scratch) transfer(call uintptr, what string, buffer []byte, at int64) error {
	for {
		n, _, errno := unix.RawSyscall6(call, s.fd, uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer)), uintptr(at), 0, 0) //nolint:gosec // a system call takes an address
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return fmt.Errorf("%s %d bytes at %d: %w", what, len(buffer), at, errno)
		case int(n) != len(buffer):
			return fmt.Errorf("%s %d bytes at %d: it were %d", what, len(buffer), at, n)
		default:
			return nil
		}
	}
}

// store waits until what was written is stored for good.
func (s *scratch) store() error {
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_FDATASYNC, s.fd, 0, 0)
		switch errno {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return fmt.Errorf("fdatasync: %w", errno)
		}
	}
}

func (s *scratch) close() error { return s.file.Close() }
