package reading

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"
)

// level reads the pods of a directory that holds pods, and of the classes in it.
func (r *Reader) level(reading *Reading, path string) error {
	names, err := r.directories(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		below := filepath.Join(path, name)
		switch what, uid := directory(name); what {
		case class:
			err = r.level(reading, below)
		case onePod:
			pod := Pod{UID: uid, Path: below}
			err = r.pod(below, &pod)
			reading.Pods = append(reading.Pods, pod)
		case other, allPods:
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pod reads a pod.
func (r *Reader) pod(path string, pod *Pod) (err error) {
	r.ofTasks.next()
	r.ofGroups.next()
	if pod.Pressure, err = r.pressure(path); err != nil {
		return err
	}
	if pod.DiskPressure, err = r.pressureOf(path, "io.pressure"); err != nil {
		return err
	}
	if pod.MemoryPressure, err = r.pressureOf(path, "memory.pressure"); err != nil {
		return err
	}
	if pod.Stall, err = r.stall(path); err != nil {
		return err
	}
	a, err := r.account(path)
	if err != nil {
		return err
	}
	pod.Usage, pod.Throttled = a.used, a.throttled
	own := Group{Usage: Unknown, Throttled: Unknown, Held: Unknown}
	if err := r.direct(path, &own); err != nil {
		return err
	}
	names, err := r.directories(path)
	if err != nil {
		return err
	}
	for _, name := range names {
		below := filepath.Join(path, name)
		if !r.ofGroups.take() {
			break
		}
		id := container(name)
		if id == "" {
			if _, err := r.group(below, &own, searched); err != nil {
				return err
			}
			continue
		}
		group := Group{ID: id, Path: below, Usage: Unknown, Throttled: Unknown, Held: Unknown}
		a, err := r.group(below, &group, searched)
		if err != nil {
			return err
		}
		group.Usage, group.Periods, group.ThrottledPeriods = a.used, a.periods, a.throttledPeriods
		if a.periods > 0 {
			if group.QuotaBurst, err = r.quotaBurst(below); err != nil {
				return err
			}
		}
		if group.Processors, err = r.allowed(below); err != nil {
			return err
		}
		if group.Stall, err = r.stall(below); err != nil {
			return err
		}
		pod.Groups = append(pod.Groups, group)
	}
	if len(own.Tasks) > 0 {
		pod.Groups = append(pod.Groups, own)
	}
	return r.podDisks(path, pod)
}

// group adds to a group the values of a control group and of those within, and returns the account of the former.
func (r *Reader) group(path string, to *Group, levels int) (account, error) {
	a, err := r.account(path)
	if err != nil {
		return noAccount, err
	}
	to.Throttled = sum(to.Throttled, a.throttled)
	if err := r.direct(path, to); err != nil || levels == 0 {
		return a, err
	}
	names, err := r.directories(path)
	for _, name := range names {
		if !r.ofGroups.take() {
			break
		}
		if _, err := r.group(filepath.Join(path, name), to, levels-1); err != nil {
			return a, err
		}
	}
	return a, err
}

// direct adds to a group the values of a control group without those within: its tasks, and the time for which they were
// held back.
func (r *Reader) direct(path string, to *Group) error {
	held, err := r.held(path)
	if err != nil {
		return err
	}
	to.Held = sum(to.Held, held)
	return r.tasks(path, to)
}

// directories returns the names of the directories in one that is walked, none if it is no more.
func (r *Reader) directories(path string) ([]string, error) {
	names, err := directories(filepath.Join(r.trees.groups, path), r.buffer, nil)
	if gone(err) {
		return nil, nil
	}
	return names, err
}

// sum returns the sum of the known values.
func sum(a, b time.Duration) time.Duration {
	switch {
	case a == Unknown:
		return b
	case b == Unknown:
		return a
	}
	return a + b
}

// merged returns pods in the order of their UIDs, and their groups in that of their IDs, merging groups found at two
// places: a kubelet whose driver was changed leaves directories behind.
func merged(pods []Pod) []Pod {
	slices.SortStableFunc(pods, func(a, b Pod) int { return cmp.Compare(a.UID, b.UID) })
	kept := pods[:0]
	for _, p := range pods {
		if n := len(kept); n > 0 && kept[n-1].UID == p.UID {
			one := &kept[n-1]
			one.Usage, one.Throttled, one.Pressure = sum(one.Usage, p.Usage), sum(one.Throttled, p.Throttled), sum(one.Pressure, p.Pressure)
			one.mergeDisks(&p)
			one.Groups = append(one.Groups, p.Groups...)
			continue
		}
		kept = append(kept, p)
	}
	for i := range kept {
		kept[i].Groups = mergedGroups(kept[i].Groups)
	}
	return kept
}

func mergedGroups(groups []Group) []Group {
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Compare(a.ID, b.ID) })
	kept := groups[:0]
	for _, g := range groups {
		if n := len(kept); n > 0 && kept[n-1].ID == g.ID {
			one := &kept[n-1]
			one.Usage, one.Throttled, one.Held = sum(one.Usage, g.Usage), sum(one.Throttled, g.Throttled), sum(one.Held, g.Held)
			one.Periods, one.ThrottledPeriods = one.Periods+g.Periods, one.ThrottledPeriods+g.ThrottledPeriods
			one.QuotaBurst = max(one.QuotaBurst, g.QuotaBurst)
			one.Tasks = append(one.Tasks, g.Tasks...)
			continue
		}
		kept = append(kept, g)
	}
	return kept
}
