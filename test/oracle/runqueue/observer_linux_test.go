package runqueue_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"loadline.dev/loadline/test/oracle/runqueue"
)

// observe starts an observer, and skips the test where there can be none.
func observe(tb testing.TB) *runqueue.Observer {
	tb.Helper()
	observer, err := runqueue.Start()
	if errors.Is(err, runqueue.ErrUnavailable) {
		tb.Skip(err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := observer.Close(); err != nil {
			tb.Error(err)
		}
	})
	return observer
}

// account returns the account of an observer, and skips the test where it has none.
func account(tb testing.TB, o *runqueue.Observer) runqueue.Account {
	tb.Helper()
	a, err := o.Account()
	if errors.Is(err, runqueue.ErrLost) {
		tb.Skipf("this machine is too busy: %v", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// busy is a process that computes in a control group of its own.
type busy struct {
	path  string
	group runqueue.Group
	*exec.Cmd
}

// start starts a process that computes on the first processor, in a new group. It is in its place, and stopped.
func start(t *testing.T, name string) *busy {
	t.Helper()
	b := &busy{path: filepath.Join(runqueue.Hierarchy(), fmt.Sprintf("loadline-runqueue-%d-%s", os.Getpid(), name))}
	if _, err := os.Stat(filepath.Join(runqueue.Hierarchy(), "cgroup.controllers")); err == nil {
		write(t, filepath.Join(runqueue.Hierarchy(), "cgroup.subtree_control"), "+cpu")
	}
	if err := os.Mkdir(b.path, 0o755); errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EROFS) {
		t.Skipf("it takes a control group of its own: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(b.path); err != nil {
			t.Error(err)
		}
	})
	groups, err := runqueue.GroupsBelow(b.path)
	if err != nil {
		t.Fatal(err)
	}
	b.group = groups[0]
	// It ends with this process, however that ends.
	script := fmt.Sprintf("echo $$ >%s/cgroup.procs && kill -STOP $$ && while kill -0 $PPID; do :; done", b.path)
	b.Cmd = exec.CommandContext(t.Context(), "sh", "-c", script)
	b.Stderr = os.Stderr
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = b.Wait() // it was killed
	})
	b.stopped(t)
	var first unix.CPUSet
	first.Set(0)
	if err := unix.SchedSetaffinity(b.Process.Pid, &first); err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path, value string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		t.Fatal(err)
	}
}

// waited returns for how long the kernel says that the process, which is stopped, waited for a processor.
func (b *busy) waited(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", b.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	delay, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(delay)
}

// signal sends the process a signal.
func (b *busy) signal(t *testing.T, signal unix.Signal) {
	t.Helper()
	if err := b.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// stop stops the process.
func (b *busy) stop(t *testing.T) {
	t.Helper()
	b.signal(t, unix.SIGSTOP)
	b.stopped(t)
}

// stopped returns once the kernel says that the process is stopped.
func (b *busy) stopped(t *testing.T) {
	t.Helper()
	if _, err := unix.Wait4(b.Process.Pid, nil, unix.WUNTRACED, nil); err != nil {
		t.Fatal(err)
	}
}

// until waits until something holds of the account.
func until(t *testing.T, o *runqueue.Observer, holds func(runqueue.Account) bool) runqueue.Account {
	t.Helper()
	for {
		a := account(t, o)
		if holds(a) {
			return a
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// still waits until processes that were stopped are off their processor: the kernel says that they are stopped a moment before, and they
// may wait once more in between. Meanwhile the time of theirs in the account grows.
func still(t *testing.T, o *runqueue.Observer, all ...*busy) runqueue.Account {
	t.Helper()
	last := time.Duration(-1)
	return until(t, o, func(a runqueue.Account) bool {
		before := last
		last = 0
		for _, b := range all {
			last += a.Run[b.group] + a.Throttled[b.group] + waited(a, b.group)
		}
		return last == before
	})
}

// tolerance is how far an account may be off the kernel's own, relatively: that reads the clock at another moment of each switch.
const tolerance = 0.05

// check checks a time against that of the kernel.
func check(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if math.Abs(float64(got-want)) > tolerance*float64(want) {
		t.Errorf("%s: %v, and the kernel says %v", what, got, want)
	}
}

// Of each process the kernel accounts how long it waited, not for which other one: the account has the same in all.
func TestWhatAProcessWaitsIsAccountedToWhatRunsMeanwhile(t *testing.T) {
	t.Parallel()
	observer := observe(t)
	all := []*busy{start(t, "first"), start(t, "second")}
	before := still(t, observer, all...)
	kernel := make([]time.Duration, len(all))
	for i, b := range all {
		kernel[i] = b.waited(t)
		b.signal(t, unix.SIGCONT)
	}
	const enough = 300 * time.Millisecond
	until(t, observer, func(a runqueue.Account) bool {
		return a.Waited[runqueue.Pair{Waiting: all[0].group, Running: all[1].group}] > enough &&
			a.Waited[runqueue.Pair{Waiting: all[1].group, Running: all[0].group}] > enough
	})
	for _, b := range all {
		b.stop(t)
	}
	a := still(t, observer, all...).Since(before)
	for i, b := range all {
		check(t, "it waited", waited(a, b.group), b.waited(t)-kernel[i])
		if own := a.Waited[runqueue.Pair{Waiting: b.group, Running: b.group}]; own != 0 {
			t.Errorf("the one thread of a group waited %v for itself", own)
		}
	}
}

func TestWhatALimitHoldsBackWaitsForNoOther(t *testing.T) {
	t.Parallel()
	observer := observe(t)
	b := start(t, "limited")
	b.limit(t)
	before, kernel := still(t, observer, b), b.waited(t)
	b.signal(t, unix.SIGCONT)
	const enough = time.Second
	until(t, observer, func(a runqueue.Account) bool { return a.Throttled[b.group] > enough })
	b.stop(t)
	a := still(t, observer, b).Since(before)
	check(t, "its limit held it back", a.Throttled[b.group], b.throttled(t))
	check(t, "it waited for its limit and for others", waited(a, b.group)+a.Throttled[b.group], b.waited(t)-kernel)
}

// waited returns for how long the threads of a group waited for others.
func waited(a runqueue.Account, group runqueue.Group) (sum time.Duration) {
	for pair, d := range a.Waited {
		if pair.Waiting == group {
			sum += d
		}
	}
	return sum
}

// limit lets the process compute a tenth of its time.
func (b *busy) limit(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(b.path, "cpu.max")); err == nil {
		write(t, filepath.Join(b.path, "cpu.max"), "10000 100000")
		return
	}
	write(t, filepath.Join(b.path, "cpu.cfs_quota_us"), "10000")
}

// throttled returns for how long the kernel says that the limit held the group back.
func (b *busy) throttled(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.path, "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var n int64
		if _, err := fmt.Sscanf(line, "throttled_time %d", &n); err == nil {
			return time.Duration(n)
		}
		if _, err := fmt.Sscanf(line, "throttled_usec %d", &n); err == nil {
			return time.Duration(n) * time.Microsecond
		}
	}
	t.Fatalf("the group does not say for how long it was throttled: %s", text)
	return 0
}
