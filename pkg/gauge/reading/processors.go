package reading

import (
	"bytes"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/cpuset"
)

// Processor is the kernel's account of a processor.
type Processor struct {
	Number int
	// Busy is how long it ran anything, Stolen how long the hypervisor kept it while it had something to run.
	Busy, Stolen time.Duration
}

// maxProcessors bounds the numbers of processors that are taken for true: those of four digits. Linux has at most 8192.
const maxProcessors = 9999

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

// longNumber is one above [maxProcessors]. A range up to it would be a set that fills the memory.
var longNumber = regexp.MustCompile(`\d{5}`)

// processorSet reads a list of processors such as 0-3,8.
func processorSet(list string) (cpuset.CPUSet, error) {
	if set, err := cpuset.Parse(strings.TrimSpace(longNumber.ReplaceAllString(list, "x"))); err == nil {
		return set, nil
	}
	return cpuset.New(), wrong(1, "%.80q is not a list of processors", list)
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
			known = string(first)
			if _, err := processorSet(known); err != nil {
				return err
			}
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

// placement holds the processors that the containers of a node may run on: by their list, the index of the pod whose containers
// have it, or several.
type placement map[string]int

// several is in the place of the index of a pod for more than one pod.
const several = -1

// placed returns where containers may run at the end of an interval. It does not depend on what ran meanwhile, so that it changes only
// when the kubelet or its runtime changes it. Left out are
//
//   - sandboxes: the kubelet's CPU manager does not place them, so that they may run on all processors, and reap a process now and then
//   - containers that the reading before does not have: while a runtime makes one, it is not placed yet
//   - containers that vanished while they were read, before their list was
//
// Containers that are new count where there are no others.
func placed(before, after *Reading) placement {
	earlier := map[string]bool{}
	for i := range before.Pods {
		for k := range before.Pods[i].Groups {
			earlier[before.Pods[i].Groups[k].ID] = true
		}
	}
	if p := after.placed(func(id string) bool { return earlier[id] }); len(p) > 0 {
		return p
	}
	return after.placed(func(string) bool { return true })
}

// placed returns where those containers may run that count.
func (r *Reading) placed(counts func(id string) bool) placement {
	p := placement{}
	for i := range r.Pods {
		for k := range r.Pods[i].Groups {
			g := &r.Pods[i].Groups[k]
			if g.ID == "" || g.Processors == "" || !g.works() || !counts(g.ID) {
				continue
			}
			if of, known := p[g.Processors]; known && of != i {
				p[g.Processors] = several
			} else {
				p[g.Processors] = i
			}
		}
	}
	return p
}

// works reports whether a container runs anything but the process that holds a pod's namespaces.
func (g *Group) works() bool {
	return slices.ContainsFunc(g.Tasks, func(t Task) bool { return !t.Pause })
}

// among returns those of some processors that a container may run on: all unless the kubelet reserves some, or it is not known.
func (p placement) among(all []Processor) []Processor {
	set := cpuset.New()
	for list := range p {
		some, err := processorSet(list)
		if err != nil {
			return all
		}
		set = set.Union(some)
	}
	some := slices.DeleteFunc(slices.Clone(all), func(p Processor) bool { return !set.Contains(p.Number) })
	if len(some) == 0 {
		return all
	}
	return some
}

// exclusive reports whether a container may run on processors that no container of another pod may use.
func (p placement) exclusive() bool {
	if len(p) < 2 {
		return false
	}
	sets := make(map[string]cpuset.CPUSet, len(p))
	for list := range p {
		set, err := processorSet(list)
		if err != nil {
			return false
		}
		sets[list] = set
	}
	for list, pod := range p {
		if pod == several {
			continue
		}
		others := cpuset.New()
		for other, set := range sets {
			if other != list {
				others = others.Union(set)
			}
		}
		if sets[list].Intersection(others).IsEmpty() {
			return true
		}
	}
	return false
}

// busyAndStolen returns the number of processors that containers may run on, and the time that these were busy and stolen between
// two readings. Where these are all, it takes the node's values from the control groups, which are exact where the ticks are not.
func (p placement) busyAndStolen(before, after *Reading) (cpus int, busy, stolen float64) {
	now := p.among(after.Processors)
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
