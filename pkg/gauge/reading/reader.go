package reading

import (
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// Reader takes readings. Its zero value reads its own node. It keeps buffers, and the last state of each task: use one Reader
// for all readings of a node, not at the same time.
type Reader struct {
	// Proc is where the proc file system of the host is, by default /proc, Cgroup where its control groups are, by default
	// /sys/fs/cgroup, and Sys where its sysfs is, by default /sys.
	Proc, Cgroup, Sys string
	// Pod is the UID of the pod that the reader runs in, if it runs in one. Where the control groups of several nodes are below
	// Cgroup, those of the node with this pod are read.
	Pod string
	// Stalls, if there are any, are polled between the readings: see [Reader.Follow].
	Stalls *Stalls
	// Now returns the time, with a monotonic clock reading; the default is time.Now.
	Now func() time.Time

	trees    *hierarchies
	roots    []string // the directories of all pods, by the search
	searches int      // for how many more readings they stand
	buffer   []byte
	path     []byte
	ids      []int
	// What the last reading and this one have of tasks: what did not run since the last has changed in nothing.
	last, seen map[int]taskState
	// delaysWrong reports whether the account of a task had more time blocked than there was.
	delaysWrong bool
	lists       map[string]string // of processors that containers may run on
	// began is when this reading did, and before when the last one did that succeeded, which last is of.
	began, before time.Time
	// turn is the number of this reading, from 1. The devices are those of the last reading by their names, and the disks of pods by
	// the directories of these.
	turn      int
	devices   map[string]*device
	podsDisks map[string]*podDisks
	// How many tasks and control groups may be read yet.
	ofTasks, ofGroups allowance
}

// untilSearch is for how many readings the directories of all pods are taken to be where they were.
const untilSearch = 32

// Read takes a reading. Tasks and control groups that vanish meanwhile are left out. It returns an error if a file cannot be
// read or has not the form that the kernel gives it, with the name of the file and the line.
func (r *Reader) Read() (*Reading, error) {
	if err := r.prepare(); err != nil {
		return nil, err
	}
	r.began = r.Now()
	reading := &Reading{At: r.began, Version: 2}
	if r.trees.version1 {
		reading.Version = 1
	}
	if err := r.node(reading); err != nil {
		return nil, err
	}
	if err := r.disks(reading); err != nil {
		return nil, err
	}
	for _, root := range r.roots {
		if err := r.level(reading, root); err != nil {
			return nil, err
		}
	}
	reading.BlockedKnown = reading.BlockedKnown && !r.delaysWrong
	reading.Pods = merged(reading.Pods)
	maps.DeleteFunc(r.podsDisks, func(_ string, d *podDisks) bool { return d.turn != r.turn })
	r.last, r.seen, r.before = r.seen, r.last, r.began
	return reading, nil
}

// prepare sets defaults, and looks for the pods when it is time to.
func (r *Reader) prepare() (err error) {
	if r.Proc == "" {
		r.Proc = "/proc"
	}
	if r.Cgroup == "" {
		r.Cgroup = "/sys/fs/cgroup"
	}
	if r.Sys == "" {
		r.Sys = "/sys"
	}
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.buffer == nil {
		r.buffer = make([]byte, 0, 32<<10)
		r.last, r.seen, r.lists = map[int]taskState{}, map[int]taskState{}, map[string]string{}
		r.devices, r.podsDisks = map[string]*device{}, map[string]*podDisks{}
		r.ofTasks = allowance{all: maxTasks, most: maxPodTasks, least: minPodTasks}
		r.ofGroups = allowance{all: maxGroups, most: maxPodGroups, least: minPodGroups}
	}
	r.turn++
	clear(r.seen)
	r.ofTasks.reading()
	r.ofGroups.reading()
	if r.trees == nil {
		if r.trees, err = mounted(r.Cgroup); err != nil {
			return err
		}
	}
	moved := func(root string) bool { return !exists(filepath.Join(r.trees.groups, root)) }
	if r.searches--; r.searches < 0 || slices.ContainsFunc(r.roots, moved) {
		if r.roots, err = r.pods(); err != nil {
			r.searches = 0
			return err
		}
		r.searches = untilSearch
	}
	return nil
}

// node reads the values of the node itself.
func (r *Reader) node(reading *Reading) error {
	err := r.parse(filepath.Join(r.Proc, "stat"), func(text []byte) (err error) {
		reading.CPUs, reading.Busy, reading.Stolen, err = procStat(text)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.processors(reading); err != nil {
		return err
	}
	err = r.parse(filepath.Join(r.Proc, "uptime"), func(text []byte) (err error) {
		reading.Uptime, err = uptime(text)
		return err
	})
	if err != nil {
		return err
	}
	// What the root group of version 1 used is exact; that of version 2 is made of the ticks that were just read.
	if r.trees.version1 && r.trees.usage != "" {
		busy, err := r.usage("")
		if err != nil {
			return err
		}
		if busy != Unknown {
			reading.Busy = busy
		}
	}
	reading.BlockedKnown = true
	err = r.parse(filepath.Join(r.Proc, "sys", "kernel", "task_delayacct"), func(text []byte) error {
		reading.BlockedKnown = len(text) > 0 && text[0] == '1'
		return nil
	})
	if gone(err) {
		return nil
	}
	return err
}
