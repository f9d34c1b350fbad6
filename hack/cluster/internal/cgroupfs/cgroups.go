//go:build linux

// Package cgroupfs makes cgroups, gives them processors and weights, and removes them: those of version 2, or those of version 1
// in each of its hierarchies.
package cgroupfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/cgroups"
	fs1 "github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/cpuset"

	"loadline.dev/loadline/hack/cluster/internal/cores"
)

const (
	// maxWeight is the largest weight, in cpu.shares: beside that, what other processes of the machine want hardly counts.
	maxWeight = 262144
	// LowWeight is the weight, in cpu.shares, of what shall disturb its siblings little where they have to share a processor.
	LowWeight = 128
	// NormalWeight is the weight, in cpu.shares, that a cgroup has by itself.
	NormalWeight = 1024
	// emptyDeadline is how long a cgroup whose processes were killed may take to become empty.
	emptyDeadline = 20 * time.Second
)

// Cgroup is the name of a cgroup, a path below the root of the hierarchy of version 2, or of all hierarchies of version 1; one of
// version 2 beside those of version 1 counts as one of these.
type Cgroup string

// manager returns what makes the cgroup with some resources.
func (c Cgroup) manager(resources *cgroups.Resources) (cgroups.Manager, error) {
	config := &cgroups.Cgroup{Path: "/" + string(c), Resources: resources}
	if cgroups.IsCgroup2UnifiedMode() {
		return fs2.NewManager(config, filepath.Join(fs2.UnifiedMountpoint, string(c)))
	}
	return fs1.NewManager(config, nil)
}

// paths returns the cgroup's folders by their controllers, "" for a hierarchy of version 2. None of them need be there.
func (c Cgroup) paths() (map[string]string, error) {
	manager, err := c.manager(&cgroups.Resources{})
	if err != nil {
		return nil, err
	}
	return manager.GetPaths(), nil
}

// Within returns a cgroup within this one.
func (c Cgroup) Within(name string) Cgroup { return c + "/" + Cgroup(name) }

// Missing returns which controllers that a kubelet needs the machine lacks.
func Missing() ([]string, error) {
	there, err := cgroups.GetAllSubsystems()
	if err != nil {
		return nil, err
	}
	needed := []string{"cpu", "cpuset", "memory", "pids"}
	if !cgroups.IsCgroup2UnifiedMode() {
		needed = append(needed, "cpuacct", "devices", "freezer")
		mounted, err := Cgroup("").paths()
		if err != nil {
			return nil, err
		}
		there = slices.Collect(maps.Keys(mounted))
	}
	return slices.DeleteFunc(needed, func(controller string) bool { return slices.Contains(there, controller) }), nil
}

// Writable returns what keeps the cgroup from being made.
func (c Cgroup) Writable() error {
	return errors.Join((c+"-trial").makeFor(cpuset.New(), NormalWeight), (c + "-trial").Remove())
}

// Make makes the cgroup, which has all processors, and before all others that want them too, and one within it for some of these
// processors, with a weight in cpu.shares, from 2 to 262144.
func (c Cgroup) Make(name string, those cpuset.CPUSet, weight uint64) error {
	all, err := cores.Online()
	if err != nil {
		return err
	}
	if err := c.makeFor(all, maxWeight); err != nil {
		return err
	}
	return c.Within(name).makeFor(those, weight)
}

// makeFor makes the cgroup for some processors.
func (c Cgroup) makeFor(those cpuset.CPUSet, weight uint64) error {
	resources := &cgroups.Resources{CpusetCpus: those.String()}
	if cgroups.IsCgroup2UnifiedMode() {
		resources.CpuWeight = min(max(1, weight*100/NormalWeight), 10000)
	} else {
		resources.CpuShares = weight
	}
	manager, err := c.manager(resources)
	if err != nil {
		return err
	}
	const noProcess = -1
	if err := manager.Apply(noProcess); err != nil {
		return err
	}
	if err = manager.Set(resources); errors.Is(err, fs.ErrNotExist) { // of version 2, a cgroup with processes delegates no controllers
		err = fmt.Errorf("%w (are there processes in the cgroup above, as in a container whose first process has not made way?)", err)
	}
	return err
}

// Enter moves this process, and so all that it will start, into the cgroup, and returns how to move it back.
func (c Cgroup) Enter() (back func() error, err error) {
	paths, err := c.paths()
	if err != nil {
		return nil, err
	}
	before, err := cgroups.ParseCgroupFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	back = func() (err error) {
		for controller, path := range paths {
			root := strings.TrimSuffix(path, "/"+string(c))
			err = errors.Join(err, cgroups.WriteCgroupProc(filepath.Join(root, before[controller]), os.Getpid()))
		}
		return err
	}
	for _, path := range paths {
		if err := cgroups.WriteCgroupProc(path, os.Getpid()); err != nil {
			return nil, errors.Join(err, back())
		}
	}
	return back, nil
}

// Kill ends all processes in the cgroup and within it, but for this one, and returns when they are gone.
func (c Cgroup) Kill() error {
	return c.untilDone("end the processes in cgroup", func(path string) error {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		processes, err := cgroups.GetAllPids(path)
		for _, pid := range processes {
			if pid == os.Getpid() {
				continue
			}
			if killErr := unix.Kill(pid, unix.SIGKILL); !errors.Is(killErr, unix.ESRCH) {
				err = errors.Join(err, fmt.Errorf("process %d is in it", pid), killErr)
			}
		}
		return err
	})
}

// Remove removes the cgroup and all within it, in every hierarchy. It waits for processes that are ending.
func (c Cgroup) Remove() error { return c.untilDone("remove cgroup", cgroups.RemovePath) }

// untilDone does something to each of the cgroup's folders, again and again until it succeeds with all.
func (c Cgroup) untilDone(what string, do func(path string) error) error {
	paths, err := c.paths()
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, emptyDeadline, true, func(context.Context) (bool, error) {
		last = nil
		for _, path := range paths {
			last = errors.Join(last, do(path))
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, c, last)
	}
	return nil
}
