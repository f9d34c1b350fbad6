//go:build linux

// Package mounts unmounts what programs that were stopped have left mounted.
package mounts

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// DetachBelow unmounts everything that is mounted at any of the folders, which are absolute paths, or below.
func DetachBelow(folders ...string) error {
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for _, point := range pointsBelow(string(mountinfo), folders...) {
		if err := unix.Unmount(point, unix.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return errors.Join(errs...)
}

// pointsBelow returns the mount points at or below any of the folders, in the form of /proc/PID/mountinfo, the deepest first.
func pointsBelow(mountinfo string, folders ...string) []string {
	const pointField = 4
	var points []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) <= pointField {
			continue
		}
		point := fields[pointField]
		if slices.ContainsFunc(folders, func(folder string) bool { return point == folder || strings.HasPrefix(point, folder+"/") }) {
			points = append(points, point)
		}
	}
	slices.SortStableFunc(points, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return points
}
