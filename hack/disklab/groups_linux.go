package main

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
)

// groups are control groups as a kubelet lays them out: kubepods/pod<uid>/<id>, below a directory of this process in each hierarchy, so
// that they are in no kubelet's way.
type groups struct {
	root        string
	hierarchies []string // the directories of the hierarchies
	version1    bool
	name        string
	made        []string // in the order in which they were made
}

// anchor is the UID of a pod without tasks that is there as long as the lab is: by it a reader of the node finds the others.
const anchor = "d15c1ab0-0000-4000-8000-000000000000"

// newGroups makes the directories of the pods. The caller removes them, whatever the error is.
func newGroups(root string) (*groups, error) {
	g := &groups{root: root, name: fmt.Sprintf("disklab-%d", os.Getpid())}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		g.hierarchies = []string{root}
		for _, dir := range []string{"", g.name, filepath.Join(g.name, "kubepods")} {
			if dir != "" {
				if err := g.directory(filepath.Join(root, dir)); err != nil {
					return g, err
				}
			}
			for _, controller := range []string{"cpu", "cpuset", "io", "memory"} { // those that there are
				_ = os.WriteFile(filepath.Join(root, dir, "cgroup.subtree_control"), []byte("+"+controller), 0)
			}
		}
		return g, g.pod(anchor)
	}
	g.version1 = true
	seen := map[string]bool{} // cpu and cpuacct are one, or two, by links
	for _, name := range []string{"cpu", "cpuacct", "blkio", "memory", "cpuset", "unified"} {
		path, err := filepath.EvalSymlinks(filepath.Join(root, name))
		if err != nil || seen[path] {
			continue
		}
		seen[path] = true
		g.hierarchies = append(g.hierarchies, path)
	}
	if len(g.hierarchies) == 0 {
		return g, fmt.Errorf("%s: has no control groups", root)
	}
	return g, g.pod(anchor)
}

func (g *groups) pod(uid string) error {
	for _, dir := range []string{"", "kubepods", "kubepods/pod" + uid} {
		for _, hierarchy := range g.hierarchies {
			if err := g.directory(filepath.Join(hierarchy, g.name, dir)); err != nil {
				return err
			}
		}
	}
	return nil
}

// directory makes a directory if there is none, and lets it have all processors.
func (g *groups) directory(path string) error {
	if err := os.Mkdir(path, 0o755); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%w: control groups are made by root", err)
	}
	g.made = append(g.made, path)
	g.weigh(path)
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} { // without them no process may come
		if all, err := os.ReadFile(filepath.Join(filepath.Dir(path), name)); err == nil && g.version1 {
			if err := os.WriteFile(filepath.Join(path, name), all, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// weigh lets the pods come before whatever else the machine does: with the largest weight that there is, a hundred times that of a process.
func (g *groups) weigh(path string) {
	if !strings.HasSuffix(path, g.name) && !strings.HasSuffix(path, "kubepods") {
		return
	}
	name, weight := "cpu.weight", 10000
	if g.version1 {
		name, weight = "cpu.shares", 262144
	}
	if path = filepath.Join(path, name); exists(path) { // only in the hierarchy of processors
		_ = os.WriteFile(path, []byte(strconv.Itoa(weight)), 0)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// add puts a process into a container of a new pod.
func (g *groups) add(uid, container string, process int) error {
	if err := g.pod(uid); err != nil {
		return err
	}
	for _, hierarchy := range g.hierarchies {
		path := filepath.Join(hierarchy, g.name, "kubepods", "pod"+uid, container)
		if err := g.directory(path); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(path, "cgroup.procs"), []byte(strconv.Itoa(process)), 0); err != nil {
			return err
		}
	}
	return nil
}

// end kills what runs in a pod still, as a server that a program of it started, and waits until it has ended.
func (g *groups) end(ctx context.Context, uid string) error {
	const every, patience = 10 * time.Millisecond, 5 * time.Second
	err := wait.PollUntilContextTimeout(ctx, every, patience, true, func(context.Context) (bool, error) {
		left, err := g.kill(uid)
		return left == 0, err
	})
	if err != nil {
		return fmt.Errorf("pod %s does not end: %w", uid, err)
	}
	return nil
}

// kill kills what runs in a pod, and returns how many processes these are.
func (g *groups) kill(uid string) (left int, err error) {
	for _, path := range g.made {
		if !strings.Contains(path, "pod"+uid) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		if err != nil {
			return left, err
		}
		for id := range strings.FieldsSeq(string(text)) {
			process, err := strconv.Atoi(id)
			if err != nil {
				return left, fmt.Errorf("%s: %w", path, err)
			}
			left++
			if err := unix.Kill(process, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
				return left, err
			}
		}
	}
	return left, nil
}

// remove removes the groups whose path has a text in it; all with an empty one. Their processes must have ended.
func (g *groups) remove(with string) error {
	var kept []string
	var errs []error
	for _, path := range slices.Backward(g.made) {
		if !strings.Contains(path, with) {
			kept = append(kept, path)
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs, kept = append(errs, err), append(kept, path)
		}
	}
	slices.Reverse(kept)
	g.made = kept
	return errors.Join(errs...)
}

// file returns what a pod's group has in a file of one of the hierarchies, empty if there is none. Version 2 has but one.
func (g *groups) file(hierarchy, uid, name string) string {
	if !g.version1 {
		hierarchy = ""
	}
	text, err := os.ReadFile(filepath.Join(g.root, hierarchy, g.name, "kubepods", "pod"+uid, name))
	if err != nil {
		return ""
	}
	return string(text)
}

// account lets the kernel count operations of control groups of version 1: Linux from 6.10 on begins when a limit is first set at the
// device, of whatever group. This one limits nothing.
func (g *groups) account(number string) error {
	if !g.version1 {
		return nil
	}
	path := filepath.Join(g.root, "blkio", g.name, "blkio.throttle.read_bps_device")
	if _, err := os.Stat(path); err != nil {
		return nil //nolint:nilerr // the kernel has no such limits, and counts anyhow or never
	}
	return os.WriteFile(path, []byte(number+" 1125899906842624"), 0)
}
