package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// busyTimes are processor times of this machine, in seconds.
type busyTimes struct{ running, stolen float64 }

// ticks is how many of the units of /proc/stat a second has, on all machines.
const ticks = 100

// parseStat reads the first line of /proc/stat.
func parseStat(text string) (b busyTimes, err error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	const steal = 8 // user nice system idle iowait irq softirq steal
	if len(fields) <= steal || fields[0] != "cpu" {
		return b, fmt.Errorf("/proc/stat: %q is not the line of all processors", line)
	}
	for i, field := range fields[1 : steal+1] {
		value, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return b, fmt.Errorf("/proc/stat: %w", err)
		}
		switch i + 1 {
		case 4, 5: // idle, waiting for disks
		case steal:
			b.stolen += value / ticks
		default:
			b.running += value / ticks
		}
	}
	return b, nil
}

func readStat() (busyTimes, error) {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return busyTimes{}, err
	}
	return parseStat(string(content))
}

// busyBetween waits, and returns for how long processors ran anything between two moments.
func busyBetween(ctx context.Context, from, to time.Time) (busyTimes, error) {
	before, err := at(ctx, from)
	if err != nil {
		return before, err
	}
	after, err := at(ctx, to)
	return busyTimes{after.running - before.running, after.stolen - before.stolen}, err
}

func at(ctx context.Context, moment time.Time) (busyTimes, error) {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return busyTimes{}, ctx.Err()
	case <-timer.C:
		return readStat()
	}
}

// describe says what machine this is.
func describe() (string, error) {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "", err
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "", err
	}
	processors, model := 0, ""
	for line := range strings.Lines(string(info)) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "processor":
			processors++
		case "model name":
			model = strings.TrimSpace(value)
		}
	}
	version := 1
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		version = 2
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return fmt.Sprintf("%d processors (%s), Linux %s, control groups v%d", processors, model, strings.TrimSpace(string(release)), version), nil
}
