//go:build linux

package dockerd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// removeRemains unmounts what a daemon with its images in dir has mounted, and removes what it has below [runDir].
func removeRemains(dir string) error {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for _, point := range pointsBelow(string(mounts), runDir, dir) {
		if err := unix.Unmount(point, unix.MNT_DETACH); err != nil {
			errs = append(errs, fmt.Errorf("unmount %s: %w", point, err))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(runDir))...)
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
