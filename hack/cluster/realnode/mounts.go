//go:build linux

package realnode

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"

	"loadline.dev/loadline/hack/cluster/node"
)

// hidden are the folders of the machine that a node has its own of: what it must find must not be there.
var hidden = []string{"/run", "/var/lib", "/var/log"}

// mountNode makes, in the mount namespace of the calling thread, a node's own view of the machine: everything is the
// machine's but what the kubelet and containerd write, which is in the folder dir, or in memory for what a reboot
// would forget.
func mountNode(dir string) error {
	settings := filepath.Join(dir, "sysctl")
	for _, mount := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE}, // what we mount is not seen outside
		{"tmpfs", "/run", "tmpfs", 0},
		{filepath.Join(dir, "lib"), "/var/lib", "", unix.MS_BIND},
		{filepath.Join(dir, "log"), "/var/log", "", unix.MS_BIND},
	} {
		if mount.flags == unix.MS_BIND {
			if err := os.MkdirAll(mount.source, 0o755); err != nil {
				return err
			}
		}
		if err := unix.Mount(mount.source, mount.target, mount.kind, mount.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", mount.target, err)
		}
	}
	// The processes in /proc are those that the mounting process sees, so a process of the node mounts it.
	if out, err := exec.Command("mount", "-t", "proc", "proc", "/proc").CombinedOutput(); err != nil {
		return fmt.Errorf("mount /proc: %w: %s", err, bytes.TrimSpace(out))
	}
	for name, value := range node.KernelSettings { // not ours to change, so a node has files in their places
		if err := standIn(filepath.Join(settings, name), "/proc/sys/"+name, value); err != nil {
			return err
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, ""); err != nil { // as systemd does: pods may ask for it
		return fmt.Errorf("share mounts: %w", err)
	}
	return nil
}

// standIn has a file stand in for a setting of the kernel, if the kernel has it.
func standIn(file, setting, value string) error {
	if _, err := os.Stat(setting); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(value+"\n"), 0o644)); err != nil {
		return err
	}
	if err := unix.Mount(file, setting, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount %s: %w", setting, err)
	}
	return nil
}
