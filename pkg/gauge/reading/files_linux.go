package reading

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// readWhole returns the content of a file, in the buffer or in a larger one, cut at the limit in bytes.
func readWhole(path string, buffer []byte, limit int) ([]byte, error) {
	return read(path, buffer, limit)
}

// readRecord is readWhole for a file that the kernel gives in one piece: it saves the call that finds the end.
func readRecord(path string, buffer []byte) ([]byte, error) {
	return read(path, buffer, 0)
}

// read reads a file to its end, or until the limit in bytes is reached and the buffer is not full.
func read(path string, buffer []byte, limit int) ([]byte, error) {
	fd, err := open(path, syscall.O_RDONLY|syscall.O_CLOEXEC)
	if err != nil {
		return buffer[:0], &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	buffer = buffer[:0]
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
		n, err := syscall.Read(fd, buffer[len(buffer):cap(buffer)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return buffer[:0], &fs.PathError{Op: "read", Path: path, Err: err}
		}
		buffer = buffer[:len(buffer)+n]
		if n == 0 || len(buffer) >= limit && len(buffer) < cap(buffer) {
			return buffer, nil
		}
	}
}

func open(path string, flags int) (fd int, err error) {
	for {
		fd, err = syscall.Open(path, flags, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// directories appends the names of the directories in a directory, maxNames at most. Those of control groups hold dozens of
// files each, and mostly no directory: their link counts say so, which saves listing them.
func directories(path string, buffer []byte, names []string) ([]string, error) {
	var about syscall.Stat_t
	if err := syscall.Stat(path, &about); err != nil {
		return names, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if about.Nlink == 2 {
		return names, nil
	}
	fd, err := open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_DIRECTORY)
	if err != nil {
		return names, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }()
	for {
		n, err := syscall.ReadDirent(fd, buffer[:cap(buffer)])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return names, &fs.PathError{Op: "readdirent", Path: path, Err: err}
		}
		if n <= 0 {
			return names, nil
		}
		if names = entries(path, buffer[:n], names); len(names) > maxNames {
			return names[:maxNames], nil
		}
	}
}

// entries appends the names of the directories among entries as getdents64(2) gives them.
func entries(path string, text []byte, names []string) []string {
	const length, sort, name = 16, 18, 19 // where an entry has them
	for len(text) > name {
		size := int(binary.NativeEndian.Uint16(text[length:]))
		if size <= name || size > len(text) {
			return names
		}
		entry := text[:size]
		text = text[size:]
		end := bytes.IndexByte(entry[name:], 0)
		if end < 0 {
			end = size - name
		}
		called := entry[name : name+end]
		if string(called) == "." || string(called) == ".." {
			continue
		}
		switch entry[sort] {
		case syscall.DT_DIR:
			names = append(names, string(called))
		case syscall.DT_UNKNOWN:
			var about syscall.Stat_t
			if syscall.Lstat(filepath.Join(path, string(called)), &about) == nil && about.Mode&syscall.S_IFMT == syscall.S_IFDIR {
				names = append(names, string(called))
			}
		}
	}
	return names
}

// deviceNumber returns the number of the device that a file is on, if it may be seen.
func deviceNumber(path string) (Number, bool) {
	var about syscall.Stat_t
	if err := syscall.Stat(path, &about); err != nil {
		return Number{}, false
	}
	return Number{unix.Major(about.Dev), unix.Minor(about.Dev)}, true
}

// gone reports whether an error means that the task or the control group is no more.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.ENODEV)
}
