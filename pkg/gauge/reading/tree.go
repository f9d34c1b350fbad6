package reading

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// hierarchies says under which directories the control groups keep what: one directory of version 2, or those of the
// controllers of version 1.
type hierarchies struct {
	// groups is walked, and has the tasks.
	groups string
	// usage, limits and pressure have how long tasks ran, were throttled and waited. Empty: none has.
	usage, limits, pressure string
	// disks has what groups did at disks: io.stat and io.max of version 2, else the files of blkio. Empty: none has.
	disks         string
	disksVersion2 bool
	// processors says which processors groups may run on. Empty: none does.
	processors string
	// version1 has the usage of groups, and the ids of tasks, in other files.
	version1 bool
}

// mounted returns the hierarchies under a directory.
func mounted(root string) (*hierarchies, error) {
	if exists(filepath.Join(root, "cgroup.controllers")) {
		return &hierarchies{groups: root, usage: root, limits: root, pressure: root, processors: root, disks: root, disksVersion2: true}, nil
	}
	first := func(names ...string) string {
		for _, name := range names {
			if path := filepath.Join(root, name); exists(path) {
				return path
			}
		}
		return ""
	}
	h := &hierarchies{
		version1: true,
		limits:   first("cpu", "cpu,cpuacct", "cpuacct,cpu"),
		usage:    first("cpuacct", "cpu,cpuacct", "cpuacct,cpu"),
		pressure: first("unified"),
		// The kubelet and runtimes set processors there, too.
		processors: first("cpuset"),
		disks:      first("blkio"),
	}
	if h.disks == "" {
		h.disks, h.disksVersion2 = h.pressure, true
	}
	if h.groups = h.limits; h.groups == "" {
		h.groups = h.usage
	}
	if h.groups == "" {
		return nil, fmt.Errorf("%s: has neither cgroup.controllers nor cpu nor cpuacct: want where control groups are mounted", root)
	}
	return h, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// searched is how deep below the root the directory of all pods is looked for: below a user's session, a container that is a
// node and the root of the kubelet it is the eighth.
const searched = 8

// pods returns the directories that hold all pods, relative to their hierarchy: several where nodes are containers; the one
// with the reader's own pod is that of its node.
func (r *Reader) pods() ([]string, error) {
	found, err := r.search("", searched, nil)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: has no directory named kubepods or kubepods.slice: is the node a kubelet's, and this the mount of the host?",
			r.trees.groups)
	}
	slices.Sort(found)
	if i := slices.IndexFunc(found, func(root string) bool { return r.Pod != "" && r.holds(root, r.Pod) }); i >= 0 {
		found = found[i : i+1]
	}
	return found, err
}

// holds reports whether a directory of all pods has the pod of a UID.
func (r *Reader) holds(root, uid string) bool {
	names, err := r.directories(root)
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		what, of := directory(name)
		return what == onePod && of == uid || what == class && r.holds(filepath.Join(root, name), uid)
	})
}

func (r *Reader) search(below string, levels int, found []string) ([]string, error) {
	names, err := directories(filepath.Join(r.trees.groups, below), r.buffer, nil)
	if err != nil && !gone(err) && !errors.Is(err, fs.ErrPermission) {
		return found, err
	}
	for _, name := range names {
		path := filepath.Join(below, name)
		switch what, _ := directory(name); {
		case what == allPods:
			found = append(found, path)
		case levels > 1:
			if found, err = r.search(path, levels-1, found); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}
