package reading

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// tasks adds the tasks of a control group to a group.
func (r *Reader) tasks(path string, to *Group) error {
	if err := r.list(path); err != nil {
		return err
	}
	for _, id := range r.ids {
		if !r.ofTasks.take() {
			continue // it counts for how many the pod has
		}
		task, err := r.task(id)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		r.seen[id] = task
		to.Tasks = append(to.Tasks, task)
	}
	return nil
}

// list finds the ids of the tasks of a control group, up to the bound for a pod: by its tasks, or if it has no list of them, by its
// processes.
func (r *Reader) list(path string) error {
	file := "cgroup.threads"
	if r.trees.version1 {
		file = "tasks"
	}
	err := r.parseIDs(filepath.Join(r.trees.groups, path, file))
	if err == nil || !absent(err) {
		return err
	}
	err = r.parseIDs(filepath.Join(r.trees.groups, path, "cgroup.procs"))
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	processes := r.ids
	r.ids = nil
	for _, process := range processes {
		if len(r.ids) >= maxPodTasks {
			break
		}
		names, err := directories(filepath.Join(r.Proc, strconv.Itoa(process), "task"), r.buffer, nil)
		if err != nil && !gone(err) {
			return err
		}
		for _, name := range names {
			if id, err := strconv.Atoi(name); err == nil {
				r.ids = append(r.ids, id)
			}
		}
	}
	return nil
}

// task reads a task. /proc/ID is there for threads as well, though no listing shows it. What did not run since the last reading
// has changed in nothing, which saves the longer ones of its files.
func (r *Reader) task(id int) (task Task, err error) {
	task.Seen = r.Now().Sub(r.began)
	path := r.file(id, "schedstat")
	if r.buffer, err = readRecord(path, r.buffer); err != nil {
		if gone(err) && exists(r.file(id, "stat")) && !exists(path) {
			return task, fmt.Errorf("%s: is not there: want a kernel with CONFIG_SCHED_INFO", path)
		}
		return task, err
	}
	if err := task.schedstat(r.buffer); err != nil {
		return task, named(path, err)
	}
	task.ID = id
	if last, ok := r.last[id]; ok && last.Run == task.Run && last.Wait == task.Wait && last.Slices == task.Slices {
		last.Seen = task.Seen
		return last, nil
	}
	path = r.file(id, "stat")
	if r.buffer, err = readRecord(path, r.buffer); err != nil {
		return task, err
	}
	if err := task.stat(r.buffer); err != nil {
		return task, named(path, err)
	}
	task.Sleeps, err = r.sleeps(id)
	return task, err
}

// sleeps returns how often a task slept. Its file is there unless the kernel is older than 6.15 and without CONFIG_SCHED_DEBUG.
// /proc/ID/status has the count of each kernel, but also the supplementary groups of the task, which can be 65,536.
func (r *Reader) sleeps(id int) (int64, error) {
	path := r.file(id, "sched")
	var err error
	if r.buffer, err = readRecord(path, r.buffer); gone(err) {
		return UnknownSleeps, nil
	}
	if err != nil {
		return UnknownSleeps, err
	}
	n, err := sleeps(r.buffer)
	return n, named(path, err)
}

// file returns the path of a file of a task.
func (r *Reader) file(id int, name string) string {
	r.path = append(append(r.path[:0], r.Proc...), '/')
	r.path = append(strconv.AppendInt(r.path, int64(id), 10), '/')
	r.path = append(r.path, name...)
	return string(r.path)
}
