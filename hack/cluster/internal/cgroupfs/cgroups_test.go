//go:build linux

package cgroupfs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestProcessesOfACgroupAreThoseWithinItToo(t *testing.T) {
	t.Parallel()
	ours := t.TempDir()
	makeFolder(t, filepath.Join(ours, "pods", "a"))
	for folder, text := range map[string]string{"": "11\n12\n", "pods": "", "pods/a": "13\n"} {
		hold(t, filepath.Join(ours, folder), text)
	}
	got, err := processesIn(ours)
	if slices.Sort(got); err != nil || !slices.Equal(got, []int{11, 12, 13}) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := processesIn(filepath.Join(ours, "missing")); err != nil || len(got) > 0 {
		t.Errorf("a cgroup that is not there has %v, %v", got, err)
	}
}

func TestAllProcessesOfACgroupEndButThisOne(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	c := Cgroup{name: "ours", roots: []string{root}}
	child := exec.Command("sleep", "1h")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	makeFolder(t, filepath.Join(root, "ours"))
	hold(t, filepath.Join(root, "ours"), fmt.Sprintf("%d\n%d\n", os.Getpid(), child.Process.Pid))
	ended := make(chan error)
	go func() { ended <- child.Wait() }()
	if err := c.Kill(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil || err.Error() != "signal: killed" {
		t.Errorf("the other process ended with %v", err)
	}
}

// hold makes a folder list processes, as a cgroup does.
func hold(t *testing.T, folder, processes string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte(processes), 0o600); err != nil {
		t.Fatal(err)
	}
}
