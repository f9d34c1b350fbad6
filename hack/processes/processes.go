// Package processes reads what the processes of this machine use, from /proc.
package processes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticksPerSecond is in what the kernel counts processor time for user space, on every architecture that Go runs on.
const ticksPerSecond = 100

// Processor returns how much processor time a process has used.
func Processor(id int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
	if err != nil {
		return 0, err
	}
	return parseProcessor(stat)
}

// parseProcessor returns the processor time, of users and of the system, that /proc/PID/stat says.
func parseProcessor(stat []byte) (time.Duration, error) {
	const user, system = 11, 12 // after the name, which may have spaces and parentheses
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= system {
		return 0, fmt.Errorf("%q is no /proc/PID/stat: it has %d fields after the name", stat, len(fields))
	}
	var ticks int64
	for _, field := range fields[user : system+1] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// Resident is how much memory a process has, in KiB.
type Resident struct {
	// All is that of now, Peak was the most, and Own is the part of All that is no file's: the kernel drops the rest where memory is short.
	All, Peak, Own int
}

// Memory returns how much memory a process has.
func Memory(id int) (m Resident, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
	if err != nil {
		return m, err
	}
	values := map[string]*int{"VmRSS:": &m.All, "VmHWM:": &m.Peak, "RssAnon:": &m.Own}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if to := values[fields[0]]; to != nil && len(fields) > 1 {
			if *to, err = strconv.Atoi(fields[1]); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// peakInterval is how often the memory of a running process is read. The kernel keeps the peak, so that only one in the last interval is missed.
const peakInterval = 20 * time.Millisecond

// AwaitPeak waits for a program that was started, and returns how much memory it has had at most, in KiB. [os.ProcessState] does not say:
// on Linux the maximum resident set size of a child begins with that of its parent.
func AwaitPeak(program *exec.Cmd) (peak int, err error) {
	return peakUntil(program.Process.Pid, program.Wait)
}

// peakUntil returns how much memory a process has had at most, in KiB, once it has ended, for which wait waits.
func peakUntil(id int, wait func() error) (peak int, err error) {
	look := func() error {
		m, err := Memory(id)
		peak = max(peak, m.Peak)
		return err
	}
	if err := look(); err != nil {
		return 0, errors.Join(err, wait())
	}
	ended := make(chan error, 1)
	go func() { ended <- wait() }()
	again := time.NewTicker(peakInterval)
	defer again.Stop()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-again.C:
			if err := look(); err != nil { // it has ended
				return peak, <-ended
			}
		}
	}
}

// Files returns how many files a process has open.
func Files(id int) (int, error) {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", id))
	return len(entries), err
}

// Program returns the name of the program that a process runs.
func Program(id int) (string, error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id))
	if err != nil {
		return "", err
	}
	path, _, _ := strings.Cut(string(line), "\x00")
	return filepath.Base(path), nil
}

// InCgroups returns the processes whose cgroups have a part in their paths, in the order of their IDs, for each of the parts that one has.
func InCgroups(parts []string) (map[string][]int, error) { return inCgroups("/proc", parts) }

func inCgroups(proc string, parts []string) (map[string][]int, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, err
	}
	found := map[string][]int{}
	for _, entry := range entries {
		id, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // is no process
		}
		cgroups, err := os.ReadFile(filepath.Join(proc, entry.Name(), "cgroup"))
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // has ended
		}
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			if strings.Contains(string(cgroups), part) {
				found[part] = append(found[part], id)
			}
		}
	}
	for _, ids := range found {
		slices.Sort(ids)
	}
	return found, nil
}

// Cores returns how many processors this machine has that are online, whether or not this process may run on them.
func Cores() (int, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	n := 0
	for line := range bytes.Lines(stat) {
		if bytes.HasPrefix(line, []byte("cpu")) && !bytes.HasPrefix(line, []byte("cpu ")) {
			n++
		}
	}
	return n, nil
}
