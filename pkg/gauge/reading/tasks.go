package reading

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"
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
		state, err := r.task(id)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		r.seen[id] = state
		to.Tasks = append(to.Tasks, state.Task)
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
func (r *Reader) task(id int) (task taskState, err error) {
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
	if last, ok := r.last[id]; ok && last.Start == task.Start {
		r.check(&task, &last)
	}
	return task, r.sched(&task.Task)
}

// taskState is a task, and what is known of its delays: since some moment it has waited for no longer than since then, besides blocked.
type taskState struct {
	Task

	since   time.Time
	blocked time.Duration
}

// check looks whether the account of a task that ran since the last reading has more time than there was. Some kernels, 6.18 among them, count
// from the begin of an earlier wait where they take a task out of its queue later than it went to sleep: 57 s within two. Then none of their
// accounts is believed any more.
func (r *Reader) check(task, last *taskState) {
	const tolerance, window = 1.01, time.Minute
	elapsed := r.Now().Sub(last.since)
	if known := !last.since.IsZero(); known {
		r.delaysWrong = r.delaysWrong || task.Blocked-last.blocked > time.Duration(tolerance*float64(elapsed))+2*tick
		if elapsed < window {
			task.since, task.blocked = last.since, last.blocked
			return
		}
	}
	task.since, task.blocked = r.before, task.Blocked // it ran since then: all that ends from now on began after that
}

// sched sets how often a task slept, and moved. Its file is there unless the kernel is older than 6.15 and without CONFIG_SCHED_DEBUG.
// /proc/ID/status has the sleeps of each kernel, but also the supplementary groups of the task, which can be 65,536.
func (r *Reader) sched(task *Task) error {
	path := r.file(task.ID, "sched")
	var err error
	if r.buffer, err = readRecord(path, r.buffer); gone(err) {
		task.Sleeps, task.Moves = Uncounted, Uncounted
		return nil
	}
	if err != nil {
		return err
	}
	return named(path, task.sched(r.buffer))
}

// file returns the path of a file of a task.
func (r *Reader) file(id int, name string) string {
	r.path = append(append(r.path[:0], r.Proc...), '/')
	r.path = append(strconv.AppendInt(r.path, int64(id), 10), '/')
	r.path = append(r.path, name...)
	return string(r.path)
}
