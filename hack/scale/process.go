package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is in what the kernel counts processor time for user space, on every architecture that Go runs on.
const ticksPerSecond = 100

// processor returns how much processor time a process has used.
func processor(id int) (time.Duration, error) {
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

// memory returns how much memory a process has and had at most, in KiB.
func memory(id int) (resident, peak int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", id))
	if err != nil {
		return 0, 0, err
	}
	values := map[string]*int{"VmRSS:": &resident, "VmHWM:": &peak}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if to := values[fields[0]]; to != nil && len(fields) > 1 {
			if *to, err = strconv.Atoi(fields[1]); err != nil {
				return 0, 0, err
			}
		}
	}
	return resident, peak, nil
}

func mebibytes(kibibytes int) string { return fmt.Sprintf("%d MiB", kibibytes>>10) }
