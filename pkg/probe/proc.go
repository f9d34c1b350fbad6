package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tick is the unit of times in /proc, in nanoseconds: USER_HZ is 100.
const tick = 10_000_000

// proc is the root of a proc file system. What its methods ask about may end at any
// time: then their error is gone.
type proc string

// process is what /proc says of a process.
type process struct {
	pid, parent int
	command     string
	started     int64 // nanoseconds since the boot, rounded down to a tick
	ended       bool  // a zombie
}

// gone reports whether an error means that the process or thread is no more.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// processes returns the ids of all processes.
func (p proc) processes() ([]int, error) { return numbers(string(p)) }

// threads returns the ids of all threads of a process.
func (p proc) threads(pid int) ([]int, error) {
	return numbers(filepath.Join(string(p), strconv.Itoa(pid), "task"))
}

// numbers returns the names in a directory that are numbers.
func numbers(dir string) (found []int, err error) {
	opened, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := opened.Readdirnames(-1)
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			found = append(found, n)
		}
	}
	return found, errors.Join(err, opened.Close())
}

// process reads what there is to know of a process.
func (p proc) process(pid int) (process, error) {
	path := filepath.Join(string(p), strconv.Itoa(pid), "stat")
	text, err := readSmall(path)
	if err != nil {
		return process{}, err
	}
	// The command may hold anything, even parentheses; nothing after it does.
	opening, closing := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	const state, parent, threads, started = 0, 1, 17, 19
	if opening < 0 || closing < opening {
		return process{}, fmt.Errorf("%s: has no command in parentheses", path)
	}
	fields := strings.Fields(string(text[closing+1:]))
	if len(fields) <= started {
		return process{}, fmt.Errorf("%s: has %d fields after the command, want more than %d", path, len(fields), started)
	}
	ppid, errParent := strconv.Atoi(fields[parent])
	ticks, errStarted := strconv.ParseInt(fields[started], 10, 64)
	if err := errors.Join(errParent, errStarted); err != nil {
		return process{}, fmt.Errorf("%s: %w", path, err)
	}
	return process{
		pid: pid, parent: ppid, command: string(text[opening+1 : closing]), started: ticks * tick,
		ended: (fields[state] == "Z" || fields[state] == "X") && fields[threads] <= "1",
	}, nil
}

// readSmall reads a file of /proc with as few system calls as there can be: os.ReadFile
// makes twice as many.
func readSmall(path string) (text []byte, err error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	text = make([]byte, 1024)
	n, err := syscall.Read(fd, text)
	if err != nil {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return text[:max(n, 0)], errors.Join(err, syscall.Close(fd))
}

// times returns how long a thread has run and has waited to run, in nanoseconds.
func (p proc) times(pid, thread int) (ran, waited int64, err error) {
	path := filepath.Join(string(p), strconv.Itoa(pid), "task", strconv.Itoa(thread), "schedstat")
	text, err := readSmall(path)
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("%s: %q is not how long a thread ran and waited", path, text)
	}
	ran, errRan := strconv.ParseInt(fields[0], 10, 64)
	waited, errWaited := strconv.ParseInt(fields[1], 10, 64)
	if err := errors.Join(errRan, errWaited); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	return ran, waited, nil
}

// newest returns the id that the newest thread got. Ids are given in ascending order,
// until there are no more and they start anew.
func (p proc) newest() (int, error) {
	path := filepath.Join(string(p), "loadavg")
	text, err := readSmall(path)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) != 5 {
		return 0, fmt.Errorf("%s: %q has not five fields", path, text)
	}
	id, err := strconv.Atoi(fields[4])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return id, nil
}
