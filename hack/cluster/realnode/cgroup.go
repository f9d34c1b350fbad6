//go:build linux

package realnode

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

	"loadline.dev/loadline/hack/cluster/internal/cgroupfs"
	"loadline.dev/loadline/hack/cluster/internal/cores"
)

const (
	// cgroupMount is where the machine's cgroups are.
	cgroupMount = "/sys/fs/cgroup"
	// ourCgroup is the cgroup that all of ours are in.
	ourCgroup = "loadline"
	// machinery is the cgroup, within ourCgroup, of the programs that make up the cluster.
	machinery = "machinery"
	// lowWeight is the weight, in cpu.shares, of the machinery and of the pods of node system beside a worker's 1024,
	// where they have to share a core.
	lowWeight = 128
	// highWeight is that of all of ours together beside each other process of the machine: the most there is, so that
	// pods have their cores to themselves also on a machine in use.
	highWeight = 262144
	// emptyDeadline is how long a cgroup whose processes were killed may take to become empty.
	emptyDeadline = 20 * time.Second
)

// cgroups is the hierarchy of cgroups, version 2, or the hierarchies of version 1.
type cgroups struct {
	unified bool     // version 2
	roots   []string // the roots of the hierarchies
}

// findCgroups finds the machine's cgroups. A hierarchy of version 2 beside those of version 1 counts as one of these.
func findCgroups() (cgroups, error) {
	var mounted unix.Statfs_t
	if err := unix.Statfs(cgroupMount, &mounted); err != nil {
		return cgroups{}, fmt.Errorf("%s: %w", cgroupMount, err)
	}
	if mounted.Type == unix.CGROUP2_SUPER_MAGIC {
		return cgroups{unified: true, roots: []string{cgroupMount}}, nil
	}
	var c cgroups
	entries, err := os.ReadDir(cgroupMount)
	if err != nil {
		return c, err
	}
	for _, entry := range entries {
		root := filepath.Join(cgroupMount, entry.Name())
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

// missing returns which controllers that a kubelet needs are not there.
func (c cgroups) missing() ([]string, error) {
	needed := []string{"cpu", "cpuset", "memory", "pids"}
	var missing []string
	if c.unified {
		text, err := os.ReadFile(filepath.Join(cgroupMount, "cgroup.controllers"))
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
		if _, err := os.Stat(filepath.Join(cgroupMount, controller, "cgroup.procs")); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, controller)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// make makes a cgroup within ours in every hierarchy. Its processes may use those cores.
func (c cgroups) make(name string, those cpuset.CPUSet) error {
	for _, root := range c.roots {
		parent := filepath.Join(root, ourCgroup)
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
func (c cgroups) memoryNodes() (string, error) {
	path := filepath.Join(cgroupMount, "cpuset", "cpuset.mems")
	if c.unified {
		path = filepath.Join(cgroupMount, "cpuset.mems.effective")
	}
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

// weigh says how much of a core that others want too a cgroup within ours, or ours with name "", shall have, in
// cpu.shares: 2 to 262144, 1024 is what others have.
func (c cgroups) weigh(name string, shares int) error {
	if c.unified {
		return c.write("cpu", name, "cpu.weight", strconv.Itoa(min(max(1, shares*100/1024), 10000)))
	}
	return c.write("cpu", name, "cpu.shares", strconv.Itoa(shares))
}

// write writes a setting of a cgroup within ours; of ours itself with name "".
func (c cgroups) write(controller, name, file, value string) error {
	root := cgroupMount
	if !c.unified {
		root = filepath.Join(cgroupMount, controller)
	}
	return os.WriteFile(filepath.Join(root, ourCgroup, name, file), []byte(value), 0o644)
}

// enter moves this process, and so all that it will start, into a cgroup within ours, and returns how to move it back.
func (c cgroups) enter(name string) (back func() error, err error) {
	before, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	var moves, returns []string
	for line := range strings.Lines(string(before)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		switch {
		case c.unified:
			moves, returns = append(moves, filepath.Join(cgroupMount, ourCgroup, name)), append(returns, filepath.Join(cgroupMount, fields[2]))
		case fields[1] == "cpu" || fields[1] == "cpuset" || fields[1] == "cpu,cpuacct":
			root := filepath.Join(cgroupMount, fields[1])
			moves, returns = append(moves, filepath.Join(root, ourCgroup, name)), append(returns, filepath.Join(root, fields[2]))
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

// remove removes a cgroup within ours, or ours with name "", and all within it, in every hierarchy. It waits for
// processes that are ending.
func (c cgroups) remove(name string) error {
	var last error
	err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, emptyDeadline, true, func(context.Context) (bool, error) {
		last = nil
		for _, root := range c.roots {
			last = errors.Join(last, cgroupfs.RemoveTree(filepath.Join(root, ourCgroup, name)))
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("remove cgroups: %w", last)
	}
	return nil
}

// writable reports whether cgroups may be made.
func (c cgroups) writable() error {
	for _, root := range c.roots {
		trial := filepath.Join(root, ourCgroup+"-trial")
		if err := errors.Join(os.Mkdir(trial, 0o755), os.Remove(trial)); err != nil {
			return err
		}
	}
	return nil
}
