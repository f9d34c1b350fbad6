//go:build linux

package cgroupfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/cgroups"
	"k8s.io/utils/cpuset"
)

// ours returns a cgroup for a test, which is gone after it. Only root can make some, and not in each container.
func ours(t *testing.T) Cgroup {
	t.Helper()
	c := Cgroup(fmt.Sprintf("loadline-test-%d-%d", os.Getpid(), len(t.Name())))
	if err := c.Writable(); err != nil {
		t.Skip("no cgroup can be made: ", err)
	}
	t.Cleanup(func() { must(t, c.Remove()) })
	return c
}

func TestACgroupHasItsProcessorsAndIsRemovedWithThoseWithinIt(t *testing.T) {
	t.Parallel()
	c := ours(t)
	must(t, c.Make("pods", cpuset.New(0), LowWeight))
	paths, err := c.Within("pods").paths()
	must(t, err)
	folder, weight := paths["cpuset"], filepath.Join(paths["cpu"], "cpu.shares")
	want := "128"
	if cgroups.IsCgroup2UnifiedMode() {
		folder, weight, want = paths[""], filepath.Join(paths[""], "cpu.weight"), "12"
	}
	for file, want := range map[string]string{filepath.Join(folder, "cpuset.cpus"): "0\n", weight: want + "\n"} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v, want %q", file, got, err, want)
		}
	}
	for range 2 { // the second time there is nothing to do
		must(t, c.Remove())
	}
	for controller, path := range paths {
		if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %s is there: %v", controller, filepath.Dir(path), err)
		}
	}
}

func TestAllProcessesOfACgroupEndAndThoseWithinIt(t *testing.T) {
	t.Parallel()
	c := ours(t)
	must(t, c.Make("pods", cpuset.New(0), NormalWeight))
	child := exec.CommandContext(t.Context(), "sleep", "1h")
	must(t, child.Start())
	paths, err := c.Within("pods").paths()
	must(t, err)
	for _, path := range paths {
		must(t, cgroups.WriteCgroupProc(path, child.Process.Pid))
	}
	ended := make(chan error)
	go func() { ended <- child.Wait() }()
	must(t, c.Kill())
	if err := <-ended; err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process ended with %v", err)
	}
}

func TestACgroupThatIsNotThereHasNoProcesses(t *testing.T) {
	t.Parallel()
	must(t, Cgroup("loadline-test-missing").Kill())
	must(t, Cgroup("loadline-test-missing").Remove())
}

func TestOperationsAtDisksAreCounted(t *testing.T) {
	t.Parallel()
	c, folder := ours(t), t.TempDir()
	must(t, c.Make("pods", cpuset.New(0), LowWeight))
	must(t, c.CountOperations(folder))
	number, err := diskOf(folder)
	must(t, err)
	paths, err := c.paths()
	must(t, err)
	limit, err := os.ReadFile(filepath.Join(paths["blkio"], readLimit))
	if number == "" || cgroups.IsCgroup2UnifiedMode() || errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the kernel counts as it does: disk %q, %v", number, err)
	}
	must(t, err)
	if !strings.Contains(string(limit), number+" ") {
		t.Fatalf("the limits are %q, want one at %s", limit, number)
	}
	pods := c.Within("pods")
	write := exec.CommandContext(t.Context(), "sh", "-c", "read go; dd if=/dev/zero of="+filepath.Join(folder, "file")+" bs=64k count=4 oflag=direct")
	input, err := write.StdinPipe()
	must(t, err)
	must(t, write.Start())
	within, err := pods.paths()
	must(t, err)
	must(t, cgroups.WriteCgroupProc(within["blkio"], write.Process.Pid))
	_, err = input.Write([]byte("go\n"))
	must(t, err)
	must(t, write.Wait())
	counted, err := os.ReadFile(filepath.Join(within["blkio"], "blkio.throttle.io_serviced"))
	must(t, err)
	if !strings.Contains(string(counted), number+" Write ") || strings.Contains(string(counted), number+" Write 0\n") {
		t.Errorf("no operations are counted: %q", counted)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
