package reading

import (
	"bytes"
	"math"
	"path/filepath"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// Processor is what the kernel had accounted of a processor.
type Processor struct {
	Number int
	// Busy is how long it ran anything, Stolen how long the hypervisor kept it while it had something to run.
	Busy, Stolen time.Duration
}

// maxProcessors bounds the numbers of processors that are taken for true.
const maxProcessors = 1 << 16

// processorTimes returns the processors that /proc/stat has, in its order.
func processorTimes(text []byte) ([]Processor, error) {
	var all []Processor
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		key, rest := field(first)
		name, is := bytes.CutPrefix(key, []byte("cpu"))
		if !is {
			break
		}
		if len(name) == 0 { // of all together
			continue
		}
		n, ok := number(name, maxProcessors)
		if !ok {
			return nil, wrong(line, "%q does not begin with the number of a processor", first)
		}
		p := Processor{Number: int(n)}
		var err error
		if p.Busy, p.Stolen, err = ticks(line, first, rest); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// ticks returns how long a line of /proc/stat says that processors were busy and stolen. The times of guests, its last two
// columns, are in those of users.
func ticks(line int, first, rest []byte) (busy, stolen time.Duration, err error) {
	const user, idling, iowait, steal = 0, 3, 4, 7
	for column := user; column <= steal; column++ {
		var value []byte
		value, rest = field(rest)
		n, ok := number(value, math.MaxInt64/int64(tick)/8)
		if !ok {
			return 0, 0, wrong(line, "column %d of %q is not a number of ticks", column+2, first)
		}
		switch column {
		case idling, iowait:
		case steal:
			stolen = time.Duration(n) * tick
		default:
			busy += time.Duration(n) * tick
		}
	}
	return busy, stolen, nil
}

// perProcessor takes how long each processor was busy from cpuacct.usage_percpu, which has the time of each possible
// processor in the order of their numbers, and is exact.
func perProcessor(text []byte, all []Processor) error {
	first, _ := nextLine(text)
	busy := make([]time.Duration, 0, len(all))
	for rest := bytes.TrimRight(first, " "); len(rest) > 0; {
		var value []byte
		value, rest = field(rest)
		used, ok := duration(value, time.Nanosecond)
		if !ok || len(busy) > maxProcessors {
			return wrong(1, "%.80q is not how long each processor ran", first)
		}
		busy = append(busy, used)
	}
	for i := range all {
		if all[i].Number >= len(busy) {
			return wrong(1, "has no time of processor %d", all[i].Number)
		}
		all[i].Busy = busy[all[i].Number]
	}
	return nil
}

// processorSet adds the processors of a list such as 0-3,8 to a set.
func processorSet(text []byte, set map[int]bool) error {
	first, _ := nextLine(text)
	for rest := bytes.TrimSpace(first); len(rest) > 0; {
		var part []byte
		part, rest, _ = bytes.Cut(rest, []byte(","))
		low, high, is := bytes.Cut(part, []byte("-"))
		if !is {
			high = low
		}
		from, okFrom := number(low, maxProcessors)
		to, okTo := number(high, maxProcessors)
		if !okFrom || !okTo || from > to {
			return wrong(1, "%.80q is not a list of processors", first)
		}
		for n := from; n <= to; n++ {
			set[int(n)] = true
		}
	}
	return nil
}

// processors reads the times of all processors.
func (r *Reader) processors(reading *Reading) error {
	err := r.parse(filepath.Join(r.Proc, "stat"), func(text []byte) (err error) {
		reading.Processors, err = processorTimes(text)
		return err
	})
	if err != nil || !r.trees.version1 || r.trees.usage == "" {
		return err
	}
	err = r.parse(filepath.Join(r.trees.usage, "cpuacct.usage_percpu"), func(text []byte) error { return perProcessor(text, reading.Processors) })
	if absent(err) {
		return nil
	}
	return err
}

// allowed returns the list of processors that a container may run on, as the control groups have it; empty if they do not.
func (r *Reader) allowed(path string) (list string, err error) {
	if r.trees.processors == "" {
		return "", nil
	}
	file := "cpuset.cpus.effective"
	if r.trees.version1 {
		file = "cpuset.effective_cpus"
	}
	err = r.parse(filepath.Join(r.trees.processors, path, file), func(text []byte) error {
		first, _ := nextLine(text)
		known, is := r.lists[string(first)]
		if !is {
			if err := processorSet(first, map[int]bool{}); err != nil {
				return err
			}
			known = string(first)
			r.lists[known] = known // one string for all containers that have it
		}
		list = known
		return nil
	})
	if absent(err) {
		return "", nil
	}
	return list, err
}

// ofPods returns the processors that pods run on: those that a container which ran may run on, all unless the kubelet
// reserves some. Others than these have the containers that hold a pod together, which never run.
func (r *Reading) ofPods(ran func(container string) bool) []Processor {
	set, seen := map[int]bool{}, map[string]bool{}
	for i := range r.Pods {
		for j := range r.Pods[i].Groups {
			g := &r.Pods[i].Groups[j]
			if seen[g.Processors] || !ran(g.ID) {
				continue
			}
			seen[g.Processors] = true
			if g.Processors == "" || processorSet([]byte(g.Processors), set) != nil {
				return r.Processors
			}
		}
	}
	var some []Processor
	for _, p := range r.Processors {
		if set[p.Number] {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		return r.Processors
	}
	return some
}

// thatRan returns a function that reports whether a container ran in an interval of these pods.
func thatRan(pods []usage.Pod) func(container string) bool {
	active := map[string]bool{}
	for i := range pods {
		for _, c := range pods[i].Containers {
			active[c.ID] = c.Run > idle
		}
	}
	return func(container string) bool { return active[container] }
}

// exclusive reports whether a container that ran may run on processors that no container of another pod which ran may use.
func (r *Reading) exclusive(ran func(container string) bool) bool {
	const several = -1
	pods := map[string]int{} // by list of processors: the pod that has it
	for i := range r.Pods {
		for j := range r.Pods[i].Groups {
			g := &r.Pods[i].Groups[j]
			if !ran(g.ID) {
				continue
			}
			if of, known := pods[g.Processors]; known && of != i {
				pods[g.Processors] = several
				continue
			}
			pods[g.Processors] = i
		}
	}
	if len(pods) < 2 {
		return false
	}
	lists, sets := map[int]int{}, make(map[string]map[int]bool, len(pods)) // lists: how many have a processor
	for list := range pods {
		set := map[int]bool{}
		if list == "" || processorSet([]byte(list), set) != nil {
			return false
		}
		for n := range set {
			lists[n]++
		}
		sets[list] = set
	}
	for list, pod := range pods {
		shared := pod == several
		for n := range sets[list] {
			shared = shared || lists[n] > 1
		}
		if !shared {
			return true
		}
	}
	return false
}

// busyAndStolen returns how many processors the pods run on, given which containers ran, and how long these were busy and
// stolen between two readings. Where these are all, what the control groups say of the node is taken, which is exact where
// the ticks are not.
func busyAndStolen(before, after *Reading, ran func(container string) bool) (cpus int, busy, stolen float64) {
	now := after.ofPods(ran)
	if len(now) == len(after.Processors) {
		return max(1, after.CPUs), grown(before.Busy, after.Busy), grown(before.Stolen, after.Stolen)
	}
	then := make(map[int]Processor, len(before.Processors))
	for _, p := range before.Processors {
		then[p.Number] = p
	}
	for _, p := range now {
		if old, known := then[p.Number]; known {
			busy += grown(old.Busy, p.Busy)
			stolen += grown(old.Stolen, p.Stolen)
		}
	}
	return len(now), busy, stolen
}

// idle is how many seconds a container may run that does nothing.
const idle = 1e-4
