package processes

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheProcessorTimeOfAProcessIsThatOfUsersAndOfTheSystem(t *testing.T) {
	t.Parallel()
	const stat = "42 (a (strange) name) S 1 2 3 4 5 6 7 8 9 10 150 25 0 0 20 0 1 0 100\n"
	if got, err := parseProcessor([]byte(stat)); err != nil || got != 1750*time.Millisecond {
		t.Errorf("%v, %v, want 1.75s", got, err)
	}
	for _, bad := range []string{"", "42 (short) S 1 2", strings.Replace(stat, "150", "many", 1)} {
		if got, err := parseProcessor([]byte(bad)); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

func TestTheMemoryOfAProcessIsKnown(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	if m, err := Memory(os.Getpid()); err != nil || m.Own <= 0 || m.All < m.Own || m.Peak < m.All {
		t.Errorf("%+v: %v", m, err)
	}
}

func TestThePeakOfAProgramIsNotThatOfItsParent(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	large := bytes.Repeat([]byte{1}, 256<<20)
	t.Cleanup(func() { runtime.KeepAlive(large) })
	for script, fails := range map[string]bool{"read line; exit 0": false, "read line; exit 3": true} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			program := exec.CommandContext(t.Context(), "sh", "-c", script)
			input, err := program.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			peak, err := peakUntil(program.Process.Pid, func() error { return errors.Join(input.Close(), program.Wait()) })
			if (err != nil) != fails {
				t.Errorf("it ends with %v", err)
			}
			if peak <= 0 || peak > len(large)>>11 {
				t.Errorf("a shell had %d KiB, its parent has %d", peak, len(large)>>10)
			}
		})
	}
}

func TestTheOpenFilesOfAProcessAreCounted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n, err := Files(os.Getpid()); err != nil || n < 4 { // the three that every process has, and that one
		t.Errorf("%d files, %v", n, err)
	}
}

func TestTheProcessesOfACgroupAreFoundByAPartOfItsPath(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	for id, cgroup := range map[string]string{"1": "0::/init\n", "42": "9:cpu:/kubepods/burstable/pod123-4/abc\n", "43": "0::/kubepods/pod123-4/def\n", "44": "", "self": "0::/kubepods/pod123-4\n"} {
		if err := os.MkdirAll(filepath.Join(proc, id), 0o755); err != nil {
			t.Fatal(err)
		}
		if id == "44" {
			continue // has just ended
		}
		if err := os.WriteFile(filepath.Join(proc, id, "cgroup"), []byte(cgroup), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := inCgroups(proc, []string{"pod123-4", "pod5"})
	if err != nil || !slices.Equal(got["pod123-4"], []int{42, 43}) || len(got) != 1 {
		t.Errorf("%v, %v, want 42 and 43 of pod123-4", got, err)
	}
}

func TestAMachineHasCores(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	if n, err := Cores(); err != nil || n < runtime.NumCPU() {
		t.Errorf("%d, %v, of which this process may use %d", n, err, runtime.NumCPU())
	}
}
