package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// hierarchy is where the cpu controller of cgroups is.
type hierarchy struct {
	path    string // of its root
	unified bool   // version 2
}

// findHierarchy looks through the mounts, in the format of /proc/self/mounts.
func findHierarchy(mounts string) (hierarchy, error) {
	for line := range strings.Lines(mounts) {
		const columns = 4 // device, path, type, options, …
		fields := strings.Fields(line)
		if len(fields) < columns {
			continue
		}
		switch path, kind, with := fields[1], fields[2], strings.Split(fields[3], ","); {
		case kind == "cgroup" && slices.Contains(with, "cpu"):
			return hierarchy{path: path}, nil
		case kind == "cgroup2" && hasCPU(path):
			return hierarchy{path: path, unified: true}, nil
		}
	}
	return hierarchy{}, errors.New("no cgroup hierarchy with the cpu controller is mounted: neither version 1 nor version 2")
}

// hasCPU reports whether a hierarchy of version 2 has the cpu controller, which may be
// in one of version 1 instead.
func hasCPU(path string) bool {
	controllers, err := os.ReadFile(filepath.Join(path, "cgroup.controllers"))
	return err == nil && slices.Contains(strings.Fields(string(controllers)), "cpu")
}

// weight returns the file that a share goes to and what to write into it.
func (h hierarchy) weight(share float64) (file, value string) {
	const (
		sharesOfOne = 1024 // the kernel's default in version 1
		weightOfOne = 100  // and in version 2
	)
	if h.unified {
		return "cpu.weight", strconv.Itoa(int(share * weightOfOne))
	}
	return "cpu.shares", strconv.Itoa(int(share * sharesOfOne))
}

// heaviest returns the file and value of the largest share there is.
func (h hierarchy) heaviest() (file, value string) {
	if h.unified {
		return "cpu.weight", "10000"
	}
	return "cpu.shares", "262144"
}

// cgroups are those of one tree.
type cgroups struct {
	made   []string // paths, each before those within it
	leaves []string // those of the workloads
}

// makeGroups makes cgroups for a tree of shares, in one of the largest share, which
// keeps what else runs on the core from mattering. Call remove, also after an error.
func makeGroups(h hierarchy, root *fairshare.Group) (*cgroups, error) {
	g := &cgroups{}
	if h.unified {
		if err := delegate(h.path); err != nil {
			return g, err
		}
	}
	outer := filepath.Join(h.path, fmt.Sprintf("loadline-fairshare-%d", os.Getpid()))
	file, value := h.heaviest()
	return g, g.make(h, outer, root, file, value)
}

func (g *cgroups) make(h hierarchy, path string, group *fairshare.Group, file, value string) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("making a cgroup: %w (run as root, with cgroups that can be written to)", err)
		}
		return fmt.Errorf("making a cgroup: %w", err)
	}
	g.made = append(g.made, path)
	if err := os.WriteFile(filepath.Join(path, file), []byte(value), 0o644); err != nil {
		return fmt.Errorf("setting a share: %w", err)
	}
	if group.Children == nil {
		g.leaves = append(g.leaves, path)
		return nil
	}
	if h.unified {
		if err := delegate(path); err != nil {
			return err
		}
	}
	for _, child := range group.Children {
		file, value := h.weight(child.Share)
		if err := g.make(h, filepath.Join(path, child.Name), child, file, value); err != nil {
			return err
		}
	}
	return nil
}

// delegate lets the cgroups within one of version 2 have shares.
func delegate(path string) error {
	if err := os.WriteFile(filepath.Join(path, "cgroup.subtree_control"), []byte("+cpu"), 0o644); err != nil {
		return fmt.Errorf("letting cgroups have shares: %w (version 2 allows it only where no process is: in a container give it the host's cgroups)", err)
	}
	return nil
}

// enter moves a process into the cgroup of a workload.
func (g *cgroups) enter(workload, pid int) error {
	path := filepath.Join(g.leaves[workload], "cgroup.procs")
	if err := os.WriteFile(path, []byte(strconv.Itoa(pid)), 0o644); err != nil {
		return fmt.Errorf("moving a process into its cgroup: %w", err)
	}
	return nil
}

// remove removes the cgroups, whose processes have ended.
func (g *cgroups) remove() error {
	var failed error
	for _, path := range slices.Backward(g.made) {
		failed = errors.Join(failed, os.Remove(path))
	}
	g.made = nil
	return failed
}
