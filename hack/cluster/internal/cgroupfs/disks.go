//go:build linux

package cgroupfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/opencontainers/cgroups"
	"golang.org/x/sys/unix"
)

// readLimit is the file of version 1 with how many bytes a second a cgroup may read from which disks, and unlimited is more than any can.
const (
	readLimit = "blkio.throttle.read_bps_device"
	unlimited = 1 << 50
)

// CountOperations has the kernel count what cgroups do at the disk that a folder is on, if it is on one: with version 1 Linux from 6.10 on
// begins once some cgroup has a limit there. This one's limits nothing.
func (c Cgroup) CountOperations(folder string) error {
	if cgroups.IsCgroup2UnifiedMode() {
		return nil
	}
	number, err := diskOf(folder)
	if number == "" || err != nil {
		return err
	}
	paths, err := c.paths()
	if err != nil {
		return err
	}
	file := filepath.Join(paths["blkio"], readLimit)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil // a kernel without limits counts anyhow, or never
	}
	return os.WriteFile(file, fmt.Appendf(nil, "%s %d", number, int64(unlimited)), 0)
}

// diskOf returns the number of the disk that a folder is on, such as "254:0", "" if it is on none.
func diskOf(folder string) (number string, err error) {
	var of unix.Stat_t
	if err := unix.Stat(folder, &of); err != nil {
		return "", fmt.Errorf("%s: %w", folder, err)
	}
	path, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(of.Dev), unix.Minor(of.Dev)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(path, "partition")); err == nil {
		path = filepath.Dir(path)
	}
	text, err := os.ReadFile(filepath.Join(path, "dev"))
	return strings.TrimSpace(string(text)), err
}
