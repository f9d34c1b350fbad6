//go:build linux

package cgroupfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/cpuset"

	"loadline.dev/loadline/hack/cluster/internal/cores"
)

const (
	// Mount is where the machine's cgroups are.
	Mount = "/sys/fs/cgroup"
	// MaxWeight is the largest weight, in cpu.shares: beside that, what other processes of the machine want hardly counts.
	MaxWeight = 262144
	// LowWeight is the weight of what shall disturb its siblings little, whose weight is 1024, where they have to share a processor.
	LowWeight = 128
	// emptyDeadline is how long a cgroup whose processes were killed may take to become empty.
	emptyDeadline = 20 * time.Second
)

// Cgroup is a cgroup in the hierarchy of version 2, or in all hierarchies of version 1, and what is within it.
type Cgroup struct {
	name    string   // the cgroup's, below the roots
	unified bool     // version 2
	roots   []string // the roots of the hierarchies
}

// Find returns the cgroup of that name, a path below the roots, which need not be there yet. A hierarchy of version 2 beside
// those of version 1 counts as one of these.
func Find(name string) (Cgroup, error) {
	var mounted unix.Statfs_t
	if err := unix.Statfs(Mount, &mounted); err != nil {
		return Cgroup{}, fmt.Errorf("%s: %w", Mount, err)
	}
	if mounted.Type == unix.CGROUP2_SUPER_MAGIC {
		return Cgroup{name: name, unified: true, roots: []string{Mount}}, nil
	}
	c := Cgroup{name: name}
	entries, err := os.ReadDir(Mount)
	if err != nil {
		return c, err
	}
	for _, entry := range entries {
		root := filepath.Join(Mount, entry.Name())
		var mounted unix.Statfs_t
		if !entry.IsDir() { // a symbolic link, such as cpu to cpu,cpuacct
			continue
		}
		if err := unix.Statfs(root, &mounted); err != nil {
			return c, fmt.Errorf("%s: %w", root, err)
		}
		if mounted.Type == unix.CGROUP_SUPER_MAGIC || mounted.Type == unix.CGROUP2_SUPER_MAGIC {
			c.roots = append(c.roots, root)
		}
	}
	return c, nil
}

// Missing returns which controllers that a kubelet needs are not there.
func (c Cgroup) Missing() ([]string, error) {
	needed := []string{"cpu", "cpuset", "memory", "pids"}
	var missing []string
	if c.unified {
		text, err := os.ReadFile(filepath.Join(Mount, "cgroup.controllers"))
		if err != nil {
			return nil, err
		}
		there := strings.Fields(string(text))
		for _, controller := range needed {
			if !slices.Contains(there, controller) {
				missing = append(missing, controller)
			}
		}
		return missing, nil
	}
	for _, controller := range append(needed, "cpuacct", "devices", "freezer") {
		if _, err := os.Stat(filepath.Join(Mount, controller, "cgroup.procs")); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, controller)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// Make makes a cgroup within it in every hierarchy. Its processes may use those cores.
func (c Cgroup) Make(name string, those cpuset.CPUSet) error {
	for _, root := range c.roots {
		parent := filepath.Join(root, c.name)
		for _, folder := range []string{parent, filepath.Join(parent, name)} {
			if c.unified {
				if err := delegate(filepath.Dir(folder)); err != nil {
					return err
				}
			}
			if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	memory, err := c.memoryNodes()
	if err != nil {
		return err
	}
	all, err := cores.Online()
	if err != nil {
		return err
	}
	for _, setting := range []struct{ cgroup, file, value string }{
		{"", "cpuset.cpus", all.String()}, // a child has no more than its parent, and with version 1 a parent has nothing by itself
		{"", "cpuset.mems", memory},
		{name, "cpuset.cpus", those.String()},
		{name, "cpuset.mems", memory},
	} {
		if err := c.write("cpuset", setting.cgroup, setting.file, setting.value); err != nil {
			return err
		}
	}
	return nil
}

// delegate lets the children of a cgroup of version 2 have all controllers that it has.
func delegate(folder string) error {
	controllers, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return err
	}
	var all []string
	for controller := range strings.FieldsSeq(string(controllers)) {
		all = append(all, "+"+controller)
	}
	if err := os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte(strings.Join(all, " ")), 0o644); err != nil {
		return fmt.Errorf("%w (busy: there are processes in the cgroup itself, as in a container whose first process has not made way)", err)
	}
	return nil
}

// memoryNodes returns the memory nodes that the machine has, in the form of cpuset.mems.
func (c Cgroup) memoryNodes() (string, error) {
	path := filepath.Join(Mount, "cpuset", "cpuset.mems")
	if c.unified {
		path = filepath.Join(Mount, "cpuset.mems.effective")
	}
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

// Weigh says how much of a core that others want too a cgroup within it, or itself with name "", shall have, in
// cpu.shares: 2 to 262144, 1024 is what others have.
func (c Cgroup) Weigh(name string, shares int) error {
	if c.unified {
		return c.write("cpu", name, "cpu.weight", strconv.Itoa(min(max(1, shares*100/1024), 10000)))
	}
	return c.write("cpu", name, "cpu.shares", strconv.Itoa(shares))
}

// write writes a setting of a cgroup within it, or of itself with name "".
func (c Cgroup) write(controller, name, file, value string) error {
	root := Mount
	if !c.unified {
		root = filepath.Join(Mount, controller)
	}
	return os.WriteFile(filepath.Join(root, c.name, name, file), []byte(value), 0o644)
}

// Enter moves this process, and so all that it will start, into a cgroup within it, and returns how to move it back.
func (c Cgroup) Enter(name string) (back func() error, err error) {
	before, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	var moves, returns []string
	for line := range strings.Lines(string(before)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		switch {
		case c.unified:
			moves, returns = append(moves, filepath.Join(Mount, c.name, name)), append(returns, filepath.Join(Mount, fields[2]))
		case fields[1] == "cpu" || fields[1] == "cpuset" || fields[1] == "cpu,cpuacct":
			root := filepath.Join(Mount, fields[1])
			moves, returns = append(moves, filepath.Join(root, c.name, name)), append(returns, filepath.Join(root, fields[2]))
		}
	}
	back = func() error { return moveSelf(returns) }
	if err := moveSelf(moves); err != nil {
		return nil, errors.Join(err, back())
	}
	return back, nil
}

// moveSelf moves this process into cgroups of different hierarchies.
func moveSelf(folders []string) error {
	for _, folder := range folders {
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends all processes in the cgroup and within it, but for this one, and returns when they are gone.
func (c Cgroup) Kill() error {
	var last error
	err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, emptyDeadline, true, func(context.Context) (bool, error) {
		living := false
		last = nil
		for _, root := range c.roots {
			processes, err := processesIn(filepath.Join(root, c.name))
			last = errors.Join(last, err)
			for _, pid := range processes {
				if pid == os.Getpid() {
					continue
				}
				if err := unix.Kill(pid, unix.SIGKILL); !errors.Is(err, unix.ESRCH) {
					living, last = true, errors.Join(last, err)
				}
			}
		}
		return !living && last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("end the processes in cgroup %s: %w", c.name, errors.Join(err, last))
	}
	return nil
}

// processesIn returns the processes in a cgroup, a folder, and in those within it, none if it is not there.
func processesIn(folder string) ([]int, error) {
	var all []int
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // it has just been removed
			return nil
		}
		if err != nil || d.Name() != "cgroup.procs" {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
			return nil
		}
		for field := range strings.FieldsSeq(string(text)) {
			pid, notNumber := strconv.Atoi(field)
			err = errors.Join(err, notNumber)
			all = append(all, pid)
		}
		return err
	})
	return all, err
}

// Remove removes a cgroup within it, or itself with name "", and all within it, in every hierarchy. It waits for
// processes that are ending.
func (c Cgroup) Remove(name string) error {
	var last error
	err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, emptyDeadline, true, func(context.Context) (bool, error) {
		last = nil
		for _, root := range c.roots {
			last = errors.Join(last, RemoveTree(filepath.Join(root, c.name, name)))
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("remove cgroups: %w", last)
	}
	return nil
}

// Writable reports whether cgroups may be made.
func (c Cgroup) Writable() error {
	for _, root := range c.roots {
		trial := filepath.Join(root, c.name+"-trial")
		if err := errors.Join(os.Mkdir(trial, 0o755), os.Remove(trial)); err != nil {
			return err
		}
	}
	return nil
}
