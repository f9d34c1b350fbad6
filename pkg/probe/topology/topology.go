// Package topology reads from sysfs what the processors of a machine share without a queue: the execution units of a
// physical core, caches, and the memory of a socket. Those who share one are in the same domain of an interference
// resource.
//
// It reads an fs.FS, so that the tree of any machine is as good as this one's, and measures nothing.
package topology

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"

	"loadline.dev/loadline/pkg/probe/result"
)

// Path is where Linux shows the file system that [Read] takes.
const Path = "/sys/devices/system"

// Machine is what the processors of a machine share. Sets of processors are disjoint within each field, hold no processor
// that is offline, and are in the order of their first processors.
type Machine struct {
	// Processors are the logical processors that are online.
	Processors cpuset.CPUSet
	// Cores are the logical processors of each physical core: more than one with hyper-threads.
	Cores []cpuset.CPUSet
	// Caches are the caches for data, each once, by level and then by processors. It is empty where the kernel says
	// nothing about caches, as in some virtual machines and on some arm64 machines.
	Caches []Cache
	// Memories are the processors of each NUMA node that has some, or of each package on a kernel without NUMA nodes.
	Memories []cpuset.CPUSet
}

// Cache is a cache for data.
type Cache struct {
	// Level is 1 for the cache nearest to the core.
	Level int
	// Size is in bytes, 0 where the kernel does not say.
	Size int64
	// Processors share it.
	Processors cpuset.CPUSet
}

// Read reads the file system at [Path]. What is missing is left out of the result, except for the processors that are
// online, without which nothing can be said. The error names the file that holds something else than Linux writes.
func Read(sys fs.FS) (Machine, error) {
	r := reader{sys}
	online, known, err := r.processors("cpu/online")
	if err != nil {
		return Machine{}, err
	}
	if !known || online.IsEmpty() {
		return Machine{}, errors.New("cpu/online: names no processor")
	}
	m := Machine{Processors: online}
	var packages []cpuset.CPUSet
	for _, id := range online.List() {
		cpu := fmt.Sprintf("cpu/cpu%d/", id)
		siblings, err := r.sharing(id, online, cpu+"topology/core_cpus_list", cpu+"topology/thread_siblings_list")
		if err != nil {
			return Machine{}, err
		}
		m.Cores = append(m.Cores, siblings)
		neighbors, err := r.sharing(id, online, cpu+"topology/package_cpus_list", cpu+"topology/core_siblings_list")
		if err != nil {
			return Machine{}, err
		}
		packages = append(packages, neighbors)
		caches, err := r.caches(id, online)
		if err != nil {
			return Machine{}, err
		}
		m.Caches = append(m.Caches, caches...)
	}
	if m.Memories, err = r.memories(online); err != nil {
		return Machine{}, err
	}
	if len(m.Memories) == 0 {
		m.Memories = packages
	}
	m.Cores, m.Memories = distinct(m.Cores), distinct(m.Memories)
	slices.SortStableFunc(m.Caches, func(a, b Cache) int {
		return cmp.Or(a.Level-b.Level, a.first()-b.first())
	})
	m.Caches = slices.CompactFunc(m.Caches, func(a, b Cache) bool { return a.Level == b.Level && a.first() == b.first() })
	return m, nil
}

// first returns the lowest of the processors.
func (c Cache) first() int { return c.Processors.List()[0] }

// LastLevel returns the caches that are the last before memory for the processors that share them. It is empty if no cache
// is known.
func (m Machine) LastLevel() []Cache {
	return slices.DeleteFunc(slices.Clone(m.Caches), func(c Cache) bool {
		return slices.ContainsFunc(m.Caches, func(other Cache) bool {
			return other.Level > c.Level && other.Processors.Contains(c.first())
		})
	})
}

// Domains returns who shares each domain of an interference resource: [result.Core] the hyper-threads of each physical
// core that has more than one, [result.LLC] the processors of each last-level cache, [result.MemoryBandwidth] those of
// each NUMA node. It is empty where processors share no such thing, or the kernel does not say who does.
func (m Machine) Domains(resource string) []cpuset.CPUSet {
	var domains []cpuset.CPUSet
	switch resource {
	case result.Core:
		for _, core := range m.Cores {
			if core.Size() > 1 {
				domains = append(domains, core)
			}
		}
	case result.LLC:
		for _, cache := range m.LastLevel() {
			domains = append(domains, cache.Processors)
		}
	case result.MemoryBandwidth:
		domains = slices.Clone(m.Memories)
	}
	return domains
}

// Neighbors returns a processor of the set and another one in the same domain of an interference resource, on another
// physical core unless the resource is [result.Core]. It reports false where there is no such pair.
func (m Machine) Neighbors(resource string, within cpuset.CPUSet) (one, other int, ok bool) {
	for _, domain := range m.Domains(resource) {
		shared := domain.Intersection(within)
		if shared.Size() < 2 {
			continue
		}
		one := shared.List()[0]
		others := shared.Difference(cpuset.New(one))
		if resource != result.Core {
			others = shared.Difference(m.core(one))
		}
		if !others.IsEmpty() {
			return one, others.List()[0], true
		}
	}
	return 0, 0, false
}

// core returns the logical processors of the physical core of one of them.
func (m Machine) core(processor int) cpuset.CPUSet {
	for _, core := range m.Cores {
		if core.Contains(processor) {
			return core
		}
	}
	return cpuset.New(processor)
}

// distinct returns the sets in the order of their first processors, each once. Of sets that overlap it returns the first.
func distinct(sets []cpuset.CPUSet) []cpuset.CPUSet {
	var kept []cpuset.CPUSet
	var seen cpuset.CPUSet
	slices.SortStableFunc(sets, func(a, b cpuset.CPUSet) int { return a.List()[0] - b.List()[0] })
	for _, set := range sets {
		if seen.Intersection(set).IsEmpty() {
			kept, seen = append(kept, set), seen.Union(set)
		}
	}
	return kept
}

// reader reads the files of sysfs.
type reader struct{ fs.FS }

// text returns the content of a file without white space around it; known is false if there is no such file, or if it is
// empty.
func (r reader) text(path string) (text string, known bool, err error) {
	content, err := fs.ReadFile(r, path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	text = strings.TrimSpace(string(content))
	return text, text != "", err
}

// processors reads a list of processors such as 0-3,8.
func (r reader) processors(path string) (set cpuset.CPUSet, known bool, err error) {
	text, known, err := r.text(path)
	if err != nil || !known {
		return cpuset.New(), false, err
	}
	if set, err = cpuset.Parse(text); err != nil {
		return cpuset.New(), false, fmt.Errorf("%s: %q is not a list of processors such as 0-3,8: %w", path, text, err)
	}
	return set, true, nil
}

// sharing returns the processors online of the first of the files that there is: those that share something with one of
// them, which is one of them itself. Without a file it shares with no other.
func (r reader) sharing(id int, online cpuset.CPUSet, paths ...string) (cpuset.CPUSet, error) {
	for _, path := range paths {
		set, known, err := r.processors(path)
		if err != nil {
			return cpuset.New(), err
		}
		if known && !set.Contains(id) {
			return cpuset.New(), fmt.Errorf("%s: %q lacks the processor itself, %d", path, set, id)
		}
		if known {
			return set.Intersection(online), nil
		}
	}
	return cpuset.New(id), nil
}

// caches returns the caches for data of a processor.
func (r reader) caches(id int, online cpuset.CPUSet) ([]Cache, error) {
	var caches []Cache
	indexes, err := fs.Glob(r, fmt.Sprintf("cpu/cpu%d/cache/index*", id))
	if err != nil {
		return nil, err
	}
	for _, index := range indexes {
		kind, known, err := r.text(index + "/type")
		if err != nil {
			return nil, err
		}
		if !known || kind == "Instruction" {
			continue
		}
		c := Cache{}
		if c.Level, known, err = r.level(index + "/level"); err != nil {
			return nil, err
		}
		if !known {
			continue
		}
		if c.Size, err = r.size(index + "/size"); err != nil {
			return nil, err
		}
		if c.Processors, err = r.sharing(id, online, index+"/shared_cpu_list"); err != nil {
			return nil, err
		}
		caches = append(caches, c)
	}
	return caches, nil
}

// level reads that of a cache.
func (r reader) level(path string) (level int, known bool, err error) {
	text, known, err := r.text(path)
	if err != nil || !known {
		return 0, false, err
	}
	if level, err = strconv.Atoi(text); err != nil || level < 1 {
		return 0, false, fmt.Errorf("%s: %q is not a level of at least 1", path, text)
	}
	return level, true, nil
}

// size reads a number of bytes such as 32768K; 0 if there is none.
func (r reader) size(path string) (int64, error) {
	text, known, err := r.text(path)
	if err != nil || !known {
		return 0, err
	}
	const kibi, mebi = 1 << 10, 1 << 20
	number, unit := strings.TrimRight(text, "KM"), int64(1)
	switch text[len(number):] {
	case "":
	case "K":
		unit = kibi
	case "M":
		unit = mebi
	default:
		number = ""
	}
	size, err := strconv.ParseInt(number, 10, 64)
	const largest = 1 << 40
	if err != nil || size < 0 || size > largest/unit {
		return 0, fmt.Errorf("%s: %q is not a size of at most 1 TiB such as 32768K", path, text)
	}
	return size * unit, nil
}

// memories returns the processors online of each NUMA node that has some.
func (r reader) memories(online cpuset.CPUSet) ([]cpuset.CPUSet, error) {
	var memories []cpuset.CPUSet
	lists, err := fs.Glob(r, "node/node[0-9]*/cpulist")
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		set, _, err := r.processors(list)
		if err != nil {
			return nil, err
		}
		if set = set.Intersection(online); !set.IsEmpty() {
			memories = append(memories, set)
		}
	}
	return memories, nil
}
