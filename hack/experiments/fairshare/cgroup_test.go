package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheHierarchyIsThatWithTheCPUController(t *testing.T) {
	t.Parallel()
	with, without := t.TempDir(), t.TempDir()
	for dir, controllers := range map[string]string{with: "cpuset cpu io\n", without: "cpuset io\n"} {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.controllers"), []byte(controllers), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		mounts string
		want   hierarchy
	}{
		"version 1":                         {"cgroup /cg/cpuset cgroup rw,cpuset 0 0\ncgroup /cg/cpu cgroup rw,cpu,cpuacct 0 0\n", hierarchy{path: "/cg/cpu"}},
		"version 2":                         {"cgroup2 " + with + " cgroup2 rw,nosuid 0 0\n", hierarchy{path: with, unified: true}},
		"version 2 beside a cpu controller": {"cgroup2 " + without + " cgroup2 rw 0 0\ncgroup /cg/cpu cgroup rw,cpu 0 0\n", hierarchy{path: "/cg/cpu"}},
		"none":                              {"tmpfs /tmp tmpfs rw 0 0\n\ncgroup2 " + without + " cgroup2 rw 0 0\n", hierarchy{}},
	} {
		got, err := findHierarchy(c.mounts)
		if got != c.want || (err == nil) != (c.want.path != "") {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func TestSharesAreWrittenToTheFilesOfTheVersion(t *testing.T) {
	t.Parallel()
	root := flat("", group("x", 3, workload("a", 1, 0.1), workload("b", 4, 0.1)), workload("c", 10, 0.1)).root
	for name, c := range map[string]struct {
		unified bool
		want    map[string]string
	}{
		"version 1": {false, map[string]string{
			"cpu.shares": "262144", "x/cpu.shares": "3072", "x/a/cpu.shares": "1024", "x/b/cpu.shares": "4096", "c/cpu.shares": "10240",
		}},
		"version 2": {true, map[string]string{
			"cpu.weight": "10000", "x/cpu.weight": "300", "x/a/cpu.weight": "100", "x/b/cpu.weight": "400", "c/cpu.weight": "1000",
			"cgroup.subtree_control": "+cpu", "x/cgroup.subtree_control": "+cpu",
		}},
	} {
		groups, err := makeGroups(hierarchy{path: t.TempDir(), unified: c.unified}, root)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, dir := range groups.made {
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if f.IsDir() {
					continue
				}
				path := filepath.Join(dir, f.Name())
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				got[strings.TrimPrefix(path, groups.made[0]+"/")] = string(content)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(groups.leaves) != 3 || filepath.Base(groups.leaves[1]) != "b" {
			t.Errorf("%s: workloads are in %v", name, groups.leaves)
		}
	}
}

func TestAPlaceWithoutCgroupsIsRefused(t *testing.T) {
	t.Parallel()
	groups, err := makeGroups(hierarchy{path: filepath.Join(t.TempDir(), "missing")}, settings()[0].root)
	if err == nil || !strings.HasPrefix(err.Error(), "making a cgroup: ") {
		t.Errorf("error is %v", err)
	}
	if err := groups.remove(); err != nil {
		t.Error(err)
	}
}
