package topology

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"

	"loadline.dev/loadline/pkg/probe/result"
)

// tree is a sysfs in the making.
type tree fstest.MapFS

func (t tree) file(text, path string, args ...any) {
	t[fmt.Sprintf(path, args...)] = &fstest.MapFile{Data: []byte(text + "\n")}
}

// core says of the processors of a physical core that they are its hyper-threads, in a package.
func (t tree) core(core, inPackage string, processors ...int) {
	for _, id := range processors {
		t.file(core, "cpu/cpu%d/topology/core_cpus_list", id)
		t.file(inPackage, "cpu/cpu%d/topology/package_cpus_list", id)
	}
}

// cache says of processors that they share a cache.
func (t tree) cache(index, level int, kind, size, shared string) {
	set, err := cpuset.Parse(shared)
	if err != nil {
		panic(err)
	}
	for _, id := range set.List() {
		at := fmt.Sprintf("cpu/cpu%d/cache/index%d/", id, index)
		t.file(fmt.Sprint(level), "%slevel", at)
		t.file(kind, "%stype", at)
		t.file(size, "%ssize", at)
		t.file(shared, "%sshared_cpu_list", at)
	}
}

// laptop has two fast cores of two threads each, numbered one after the other, a cluster of four slow ones that share a
// second-level cache, and two slower ones beyond the last-level cache of the others.
func laptop() tree {
	t := tree{}
	t.file("0-9", "cpu/online")
	t.file("0-9", "node/node0/cpulist")
	for first := 0; first < 4; first += 2 {
		core := fmt.Sprintf("%d-%d", first, first+1)
		t.core(core, "0-9", first, first+1)
		t.cache(0, 1, "Data", "48K", core)
		t.cache(1, 1, "Instruction", "64K", core)
		t.cache(2, 2, "Unified", "2048K", core)
	}
	for id := 4; id < 10; id++ {
		t.core(fmt.Sprint(id), "0-9", id)
		t.cache(0, 1, "Data", "32K", fmt.Sprint(id))
	}
	t.cache(2, 2, "Unified", "2048K", "4-7")
	t.cache(2, 2, "Unified", "2048K", "8-9")
	t.cache(3, 3, "Unified", "24576K", "0-7")
	return t
}

// epyc has two sockets of two last-level caches each, for two cores of two threads, whose numbers are far apart, and a
// NUMA node with memory but no processor.
func epyc() tree {
	t := tree{}
	t.file("0-15", "cpu/online")
	t.file("0-3,8-11", "node/node0/cpulist")
	t.file("4-7,12-15", "node/node1/cpulist")
	t.file("", "node/node2/cpulist")
	for id := range 8 {
		socket := "0-3,8-11"
		if id >= 4 {
			socket = "4-7,12-15"
		}
		core := fmt.Sprintf("%d,%d", id, id+8)
		t.core(core, socket, id, id+8)
		t.cache(0, 1, "Data", "32K", core)
		t.cache(2, 2, "Unified", "512K", core)
	}
	for first := 0; first < 8; first += 2 {
		t.cache(3, 3, "Unified", "32768K", fmt.Sprintf("%d-%d,%d-%d", first, first+1, first+8, first+9))
	}
	return t
}

// virtual is a virtual machine of two processors that share the last-level cache.
func virtual() tree {
	t := tree{}
	t.file("0-1", "cpu/online")
	t.file("0-1", "node/node0/cpulist")
	for id := range 2 {
		t.core(fmt.Sprint(id), "0-1", id)
		t.cache(2, 2, "Unified", "1024K", fmt.Sprint(id))
	}
	t.cache(3, 3, "Unified", "32768K", "0-1")
	return t
}

// arm has no files of caches, names of an older kernel, no NUMA nodes, and a processor that is offline.
func arm() tree {
	t := tree{}
	t.file("0-1,3", "cpu/online")
	for _, id := range []int{0, 1, 3} {
		t.file(fmt.Sprint(id), "cpu/cpu%d/topology/thread_siblings_list", id)
		t.file("0-3", "cpu/cpu%d/topology/core_siblings_list", id)
	}
	return t
}

// domains returns those of a resource, as text.
func domains(m Machine, resource string) string {
	var texts []string
	for _, d := range m.Domains(resource) {
		texts = append(texts, d.String())
	}
	return strings.Join(texts, " ")
}

func TestDomainsAreThoseWhoShareAThing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sys               tree
		core, llc, memory string
		sizes             []int64 // of the last-level caches
	}{
		"a laptop": {laptop(), "0-1 2-3", "8-9 0-7", "0-9", []int64{2 << 20, 24 << 20}},
		"two sockets of several last-level caches": {
			epyc(), "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15", "0-1,8-9 2-3,10-11 4-5,12-13 6-7,14-15",
			"0-3,8-11 4-7,12-15",
			[]int64{32 << 20, 32 << 20, 32 << 20, 32 << 20},
		},
		"a virtual machine":               {virtual(), "", "0-1", "0-1", []int64{32 << 20}},
		"arm64 without files of caches":   {arm(), "", "", "0-1,3", nil},
		"no file but the list of numbers": {tree{"cpu/online": &fstest.MapFile{Data: []byte("0-1")}}, "", "", "0 1", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := Read(fstest.MapFS(test.sys))
			if err != nil {
				t.Fatal(err)
			}
			got := []string{domains(m, result.Core), domains(m, result.LLC), domains(m, result.MemoryBandwidth), domains(m, result.CPU)}
			if diff := cmp.Diff([]string{test.core, test.llc, test.memory, ""}, got); diff != "" {
				t.Errorf("domains (-want +got):\n%s", diff)
			}
			var sizes []int64
			for _, c := range m.LastLevel() {
				sizes = append(sizes, c.Size)
			}
			if diff := cmp.Diff(test.sizes, sizes); diff != "" {
				t.Errorf("sizes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachCacheIsThereOnce(t *testing.T) {
	t.Parallel()
	m, err := Read(fstest.MapFS(virtual()))
	if err != nil {
		t.Fatal(err)
	}
	want := []Cache{
		{2, 1 << 20, cpuset.New(0)},
		{2, 1 << 20, cpuset.New(1)},
		{3, 32 << 20, cpuset.New(0, 1)},
	}
	if diff := cmp.Diff(want, m.Caches, cmp.Comparer(cpuset.CPUSet.Equals)); diff != "" {
		t.Errorf("caches (-want +got):\n%s", diff)
	}
}

func TestNeighborsShareADomainButNotACore(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sys      tree
		resource string
		within   string
		want     [2]int
		ok       bool
	}{
		"hyper-threads are neighbors in a core":         {epyc(), result.Core, "0-15", [2]int{0, 8}, true},
		"hyper-threads are none in a last-level cache":  {epyc(), result.LLC, "0-15", [2]int{0, 1}, true},
		"a container has one processor of each cache":   {epyc(), result.LLC, "0,2,4", [2]int{}, false},
		"and two of one memory":                         {epyc(), result.MemoryBandwidth, "0,2,4", [2]int{0, 2}, true},
		"a container has the hyper-threads of one core": {epyc(), result.LLC, "3,11", [2]int{}, false},
		"and no others": {epyc(), result.Core, "3,11", [2]int{3, 11}, true},
		"a virtual machine does not show its hyperthreads": {virtual(), result.Core, "0-1", [2]int{}, false},
		"a resource that is none of interference":          {virtual(), result.CPU, "0-1", [2]int{}, false},
		"processors that are not there":                    {virtual(), result.LLC, "1-40", [2]int{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := Read(fstest.MapFS(test.sys))
			if err != nil {
				t.Fatal(err)
			}
			within, err := cpuset.Parse(test.within)
			if err != nil {
				t.Fatal(err)
			}
			one, other, ok := m.Neighbors(test.resource, within)
			if got := [2]int{one, other}; ok != test.ok || got != test.want {
				t.Errorf("%v, %v; want %v, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestAFileThatLinuxDoesNotWriteIsNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ path, text, want string }{
		"no processors":             {"cpu/online", "", "cpu/online: names no processor"},
		"a list with a hole":        {"cpu/online", "0-,1", `cpu/online: "0-,1" is not a list of processors such as 0-3,8`},
		"a list that runs backward": {"node/node0/cpulist", "3-1", `node/node0/cpulist: "3-1" is not a list of processors`},
		"a core without itself":     {"cpu/cpu1/topology/core_cpus_list", "0", `cpu/cpu1/topology/core_cpus_list: "0" lacks the processor itself, 1`},
		"a cache without itself":    {"cpu/cpu1/cache/index3/shared_cpu_list", "0", `index3/shared_cpu_list: "0" lacks the processor itself, 1`},
		"a level of 0":              {"cpu/cpu0/cache/index2/level", "0", `cpu/cpu0/cache/index2/level: "0" is not a level of at least 1`},
		"a level in words":          {"cpu/cpu0/cache/index2/level", "two", `"two" is not a level of at least 1`},
		"a negative size":           {"cpu/cpu0/cache/index3/size", "-1K", `cpu/cpu0/cache/index3/size: "-1K" is not a size of at most 1 TiB such as 32768K`},
		"a size of nothing":         {"cpu/cpu0/cache/index3/size", "K", `"K" is not a size`},
		"a size that is too large":  {"cpu/cpu0/cache/index3/size", "9007199254740993K", "is not a size of at most 1 TiB"},
		"a size of another unit":    {"cpu/cpu0/cache/index3/size", "1KM", `"1KM" is not a size`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sys := virtual()
			sys.file(test.text, "%s", test.path)
			if _, err := Read(fstest.MapFS(sys)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestEmptyFilesSayNothing(t *testing.T) {
	t.Parallel()
	sys := virtual()
	for _, path := range []string{"cpu/cpu0/cache/index3/size", "cpu/cpu1/cache/index2/type", "cpu/cpu0/cache/index2/level", "node/node0/cpulist"} {
		sys.file("", "%s", path)
	}
	sys["cpu/cpu0/cache/index3/shared_cpu_list"] = &fstest.MapFile{Data: []byte("0-1\r\n")}
	m, err := Read(fstest.MapFS(sys))
	if err != nil {
		t.Fatal(err)
	}
	want := []Cache{{3, 0, cpuset.New(0, 1)}}
	if diff := cmp.Diff(want, m.Caches, cmp.Comparer(cpuset.CPUSet.Equals)); diff != "" {
		t.Errorf("caches (-want +got):\n%s", diff)
	}
	if got := domains(m, result.MemoryBandwidth); got != "0-1" {
		t.Errorf("memory is shared by %s, want the package, 0-1", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("0-1", "32768K", "3")
	f.Fuzz(func(t *testing.T, list, size, level string) {
		sys := virtual()
		sys.file(list, "cpu/online")
		sys.file(size, "cpu/cpu0/cache/index3/size")
		sys.file(level, "cpu/cpu0/cache/index3/level")
		m, err := Read(fstest.MapFS(sys))
		if err != nil {
			return
		}
		for _, c := range m.LastLevel() {
			if c.Size < 0 || c.Level < 1 || c.Processors.IsEmpty() {
				t.Errorf("a cache %+v", c)
			}
		}
	})
}
