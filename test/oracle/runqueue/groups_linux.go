package runqueue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Hierarchy returns where the control groups of the cpu controller are, of version 1 or 2.
func Hierarchy() string {
	const mount = "/sys/fs/cgroup"
	if v1 := filepath.Join(mount, "cpu"); isDirectory(v1) {
		return v1
	}
	return mount
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// GroupsOfPod returns the groups of a pod and of its containers, by the pod's UID, as the kubelet names them with either driver, on
// whichever node of this machine. The error says that there are none.
func GroupsOfPod(uid string) ([]Group, error) {
	cgroupfs, systemd := "pod"+uid, "pod"+strings.ReplaceAll(uid, "-", "_")+".slice"
	var groups []Group
	err := filepath.WalkDir(Hierarchy(), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it has gone meanwhile
		case err != nil || !entry.IsDir():
			return err
		case entry.Name() != cgroupfs && !strings.HasSuffix(entry.Name(), systemd):
			return nil
		}
		below, err := GroupsBelow(path)
		if err != nil {
			return err
		}
		groups = append(groups, below...)
		return fs.SkipDir
	})
	if err != nil {
		return nil, fmt.Errorf("find the control groups of pod %s: %w", uid, err)
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("there is no control group of pod %s below %s", uid, Hierarchy())
	}
	return groups, nil
}

// GroupsBelow returns the group of a directory in the hierarchy, and those below it.
func GroupsBelow(directory string) ([]Group, error) {
	var all []Group
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		status, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return fmt.Errorf("%s: the file system has no inode numbers", path)
		}
		all = append(all, Group(status.Ino))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find control groups: %w", err)
	}
	return all, nil
}
