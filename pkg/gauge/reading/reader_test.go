package reading_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/reading"
)

const uid = "0a1b2c3d-1111-2222-3333-444455556666"

// thread is what node.task writes.
func thread(id int, run, wait time.Duration, slices int64) reading.Task {
	return reading.Task{
		ID: id, Parent: 1, Start: 100 * time.Second, Run: run, Wait: wait, Blocked: 250 * time.Millisecond, Slices: slices, Sleeps: sleeps, Moves: moves, CPU: 1,
	}
}

func read(t *testing.T, n node) *reading.Reading {
	t.Helper()
	got, err := n.reader().Read()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestControlGroupsOfVersion2AreRead(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	n.write("cgroup/system.slice/containerd.service/cgroup.threads", "1\n")
	pod := "cgroup/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice/"
	n.write(pod+"cpu.stat", "usage_usec 5000000\nuser_usec 1\nnr_throttled 3\nthrottled_usec 700000\n")
	n.write(pod+"cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n")
	n.write(pod+"cgroup.threads", "")
	n.write(pod+"cri-containerd-abc.scope/cgroup.threads", "11\n12\n404\n")
	n.write(pod+"cri-containerd-abc.scope/cpuset.cpus.effective", "0-1\n")
	n.write(pod+"cri-containerd-abc.scope/cpu.stat", "usage_usec 4000000\nnr_periods 9\nnr_throttled 7\nthrottled_usec 100\n")
	n.write(pod+"cri-containerd-abc.scope/cpu.max.burst", "30000\n")
	n.write(pod+"cri-containerd-abc.scope/cpu.stat.local", "throttled_usec 200\n")
	n.write(pod+"cri-containerd-abc.scope/init/cgroup.threads", "13\n")
	n.write(pod+"cri-containerd-abc.scope/init/cpu.stat", "usage_usec 3000000\nnr_periods 3\nnr_throttled 2\nthrottled_usec 10\n")
	n.write(pod+"cri-containerd-abc.scope/init/cpu.stat.local", "throttled_usec 20\n")
	n.task(11, "1000 2000 3")
	n.task(12, "0 0 0")
	n.task(13, "5 6 7")
	want := &reading.Reading{
		At: noon, Uptime: 1000500 * time.Millisecond, CPUs: 2, Busy: 1700 * time.Millisecond, Stolen: 300 * time.Millisecond, BlockedKnown: true,
		Processors: []reading.Processor{{Busy: 850 * time.Millisecond, Stolen: 150 * time.Millisecond}, {Number: 1, Busy: 850 * time.Millisecond, Stolen: 150 * time.Millisecond}},
		Version:    2,
		Pods: []reading.Pod{{
			UID: uid, Path: strings.Trim(strings.TrimPrefix(pod, "cgroup"), "/"), Usage: 5 * time.Second, Throttled: 700 * time.Millisecond, Pressure: 1234 * time.Microsecond,
			Groups: []reading.Group{{
				ID: "abc", Path: strings.TrimPrefix(pod, "cgroup/") + "cri-containerd-abc.scope", Usage: 4 * time.Second, Throttled: 110 * time.Microsecond, Held: 220 * time.Microsecond, Periods: 9, ThrottledPeriods: 7, QuotaBurst: 30 * time.Millisecond, Processors: "0-1",
				Tasks: []reading.Task{thread(11, 1000, 2000, 3), thread(12, 0, 0, 0), thread(13, 5, 6, 7)},
			}},
		}},
	}
	if diff := cmp.Diff(want, read(t, n)); diff != "" {
		t.Error(diff)
	}
}

func TestSandboxesAreKnownByTheirCommand(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	commands := []string{"pause", "pod", "pauser", "(pause)", "a) R 1 (pause", ""}
	var want []bool
	for i, command := range commands {
		n.write(fmt.Sprintf("cgroup/kubepods/pod%s/c%d/cgroup.threads", uid, i), fmt.Sprintln(11+i))
		n.taskOf(command, 11+i, "1000 2000 3")
		want = append(want, i < 2)
	}
	var got []bool
	for _, g := range read(t, n).Pods[0].Groups {
		got = append(got, g.Tasks[0].Pause)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of %q (-want +got):\n%s", commands, diff)
	}
}

func TestControlGroupsOfVersion1AreReadFromTheirControllers(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cpuacct/cpuacct.usage", "9000000000\n")
	n.write("cgroup/cpuacct/cpuacct.usage_percpu", "4000000000 5000000000 0 0 \n")
	n.write("cgroup/cpu/cpu.stat", "throttled_time 0\n")
	const pod = "/kubepods/pod" + uid + "/"
	n.write("cgroup/cpu"+pod+"tasks", "")
	n.write("cgroup/cpu"+pod+"cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 77\n")
	n.write("cgroup/cpuacct"+pod+"cpuacct.usage", "88\n")
	n.write("cgroup/cpu"+pod+"abc/tasks", "11\n")
	n.write("cgroup/cpu"+pod+"abc/cpu.stat", "nr_periods 5\nnr_throttled 4\nthrottled_time 66\n")
	n.write("cgroup/cpu"+pod+"abc/cpu.cfs_burst_us", "5\n")
	n.write("cgroup/cpuacct"+pod+"abc/cpuacct.usage", "55\n")
	n.write("cgroup/cpuset"+pod+"abc/cpuset.effective_cpus", "1\n")
	n.write("cgroup/cpu"+pod+"crio-conmon-abc/tasks", "12\n")
	n.write("cgroup/unified"+pod+"cpu.pressure", "some total=3\n")
	n.write("proc/sys/kernel/task_delayacct", "0\n")
	n.task(11, "1 2 3")
	n.task(12, "4 5 6")
	want := &reading.Reading{
		At: noon, Uptime: 1000500 * time.Millisecond, CPUs: 2, Busy: 9 * time.Second, Stolen: 300 * time.Millisecond,
		Processors: []reading.Processor{{Busy: 4 * time.Second, Stolen: 150 * time.Millisecond}, {Number: 1, Busy: 5 * time.Second, Stolen: 150 * time.Millisecond}},
		Version:    1,
		Pods: []reading.Pod{{
			UID: uid, Path: strings.Trim(pod, "/"), Usage: 88, Throttled: 77, Pressure: 3 * time.Microsecond,
			Groups: []reading.Group{
				{Usage: reading.Unknown, Throttled: reading.Unknown, Held: reading.Unknown, Tasks: []reading.Task{thread(12, 4, 5, 6)}},
				{ID: "abc", Path: strings.Trim(pod, "/") + "/abc", Usage: 55, Throttled: 66, Held: reading.Unknown, Periods: 5, ThrottledPeriods: 4, QuotaBurst: 5 * time.Microsecond, Processors: "1", Tasks: []reading.Task{thread(11, 1, 2, 3)}},
			},
		}},
	}
	if diff := cmp.Diff(want, read(t, n)); diff != "" {
		t.Error(diff)
	}
}

func TestPodsAreFoundWhereverTheKubeletKeepsThem(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef"
	underscored := strings.ReplaceAll(uid, "-", "_")
	for name, c := range map[string]struct{ directory, uid, container string }{
		"cgroupfs, burstable":     {"kubepods/burstable/pod" + uid + "/abc", uid, "abc"},
		"cgroupfs, guaranteed":    {"kubepods/pod" + uid + "/abc", uid, "abc"},
		"cgroupfs, static":        {"kubepods/besteffort/pod" + hash + "/abc", hash, "abc"},
		"cgroupfs, CRI-O":         {"kubepods/burstable/pod" + uid + "/crio-abc", uid, "abc"},
		"systemd, containerd":     {"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + underscored + ".slice/cri-containerd-abc.scope", uid, "abc"},
		"systemd, guaranteed":     {"kubepods.slice/kubepods-pod" + underscored + ".slice/cri-containerd-abc.scope", uid, "abc"},
		"systemd, static":         {"kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + hash + ".slice/docker-abc.scope", hash, "abc"},
		"systemd, CRI-O":          {"kubepods.slice/kubepods-pod" + underscored + ".slice/crio-abc.scope/container", uid, "abc"},
		"systemd, CRI-O's conmon": {"kubepods.slice/kubepods-pod" + underscored + ".slice/crio-conmon-abc.scope", uid, ""},
		"kind, cgroupfs":          {"docker/ff/kubelet/kubepods/burstable/pod" + uid + "/abc", uid, "abc"},
		"kind, systemd": {
			"system.slice/docker-ff.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" +
				underscored + ".slice/cri-containerd-abc.scope", uid, "abc",
		},
		"kind of another's session": {
			"user.slice/user-0.slice/user@0.service/user.slice/libpod-f.scope/container/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" +
				underscored + ".slice/cri-containerd-abc.scope", uid, "abc",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.write("cgroup/cgroup.controllers", "cpu\n")
			n.write("cgroup/"+c.directory+"/cgroup.threads", "11\n")
			n.task(11, "1 2 3")
			got := read(t, n)
			if len(got.Pods) != 1 || got.Pods[0].UID != c.uid {
				t.Fatalf("got %+v, want one pod %s", got.Pods, c.uid)
			}
			if g := got.Pods[0].Groups; len(g) != 1 || g[0].ID != c.container || len(g[0].Tasks) != 1 {
				t.Errorf("got %+v, want one task in %q", g, c.container)
			}
		})
	}
}

func TestDirectoriesOfOthersAreNoPods(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	for _, directory := range []string{
		"kubepods/podman", "kubepods/pod", "kubepods/burstable", "kubepods/pod_/x", "kubepods/system.slice", "kubepods/burstable/kubepods-x.slice",
		"notkubepods.slice/notkubepods-pod1.slice",
	} {
		n.write("cgroup/"+directory+"/cgroup.threads", "11\n")
	}
	n.task(11, "1 2 3")
	// A static pod's UID could be "man": a name that begins with pod and goes on with letters counts as
	// a pod's.
	if got := read(t, n); len(got.Pods) != 1 || got.Pods[0].UID != "man" {
		t.Errorf("got %+v, want podman alone", got.Pods)
	}
}

func TestAPodWhoseDriverWasChangedIsOnePod(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	for i, directory := range []string{"kubepods/pod" + uid, "kubepods.slice/kubepods-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice"} {
		n.write("cgroup/"+directory+"/abc/cgroup.threads", []string{"11\n", "12\n"}[i])
		n.write("cgroup/"+directory+"/cpu.stat", "usage_usec 5\n")
	}
	n.task(11, "1 2 3")
	n.task(12, "1 2 3")
	got := read(t, n)
	if len(got.Pods) != 1 || got.Pods[0].Usage != 10*time.Microsecond || len(got.Pods[0].Groups) != 1 || len(got.Pods[0].Groups[0].Tasks) != 2 {
		t.Errorf("got %+v, want one pod of one container of two tasks", got.Pods)
	}
}

func TestWithoutAListOfThreadsThoseOfTheProcessesAreRead(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	n.write("cgroup/kubepods/pod"+uid+"/abc/cgroup.procs", "11\n404\n")
	for _, id := range []string{"11", "12"} {
		n.write("proc/11/task/"+id+"/comm", "")
	}
	n.task(11, "1 2 3")
	n.task(12, "1 2 3")
	if got := read(t, n); len(got.Pods) != 1 || len(got.Pods[0].Groups[0].Tasks) != 2 {
		t.Errorf("got %+v, want two tasks", got.Pods)
	}
}

func TestATaskThatRanIsReadAnewAndOneThatDidNotIsNot(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	n.write("cgroup/kubepods/pod"+uid+"/abc/cgroup.threads", "11\n12\n")
	n.task(11, "1 2 3")
	n.task(12, "1 2 3")
	r := n.reader()
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	n.task(11, "2 2 4")
	// Were it read, it would be an error.
	n.write("proc/12/stat", "")
	n.write("proc/12/sched", "")
	for range 2 {
		got, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		want := []reading.Task{thread(11, 2, 2, 4), thread(12, 1, 2, 3)}
		if diff := cmp.Diff(want, got.Pods[0].Groups[0].Tasks); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWhatTheKernelDoesNotCountIsUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change        func(n node)
		sleeps, moves int64
	}{
		"neither":       {func(n node) { n.remove("proc/11/sched") }, reading.Uncounted, reading.Uncounted},
		"no migrations": {func(n node) { n.write("proc/11/sched", "a (11, #threads: 1)\nnr_voluntary_switches : 7\n") }, 7, reading.Uncounted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.write("cgroup/cgroup.controllers", "cpu\n")
			n.write("cgroup/kubepods/pod"+uid+"/abc/cgroup.threads", "11\n")
			n.task(11, "1 2 3")
			c.change(n)
			want := thread(11, 1, 2, 3)
			want.Sleeps, want.Moves = c.sleeps, c.moves
			if diff := cmp.Diff([]reading.Task{want}, read(t, n).Pods[0].Groups[0].Tasks); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A task may have any name of up to 15 bytes.
func TestACommandIsNoNumberOfSleeps(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	n.write("cgroup/kubepods/pod"+uid+"/abc/cgroup.threads", "11\n")
	n.taskOf("a\nnr_voluntary_switches : 9\n", 11, "1 2 3")
	if got := read(t, n).Pods[0].Groups[0].Tasks[0].Sleeps; got != sleeps {
		t.Errorf("it slept %d times, want %d", got, sleeps)
	}
}

func TestPodsAreLookedForAgainWhenTheirDirectoryIsGone(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	n.write("cgroup/kubepods/pod1/abc/cgroup.threads", "")
	r := n.reader()
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	n.remove("cgroup/kubepods")
	n.write("cgroup/kubepods.slice/kubepods-pod2.slice/cgroup.threads", "")
	got, err := r.Read()
	if err != nil || len(got.Pods) != 1 || got.Pods[0].UID != "2" {
		t.Errorf("got %+v and %v, want pod 2", got, err)
	}
}

func TestWhatCannotBeReadIsNamedByFileAndLine(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(node){
		"proc/11/schedstat:1: ": func(n node) { n.write("proc/11/schedstat", "1 x 3\n") },
		"proc/11/stat:1: ":      func(n node) { n.write("proc/11/stat", "11 no command\n") },
		"proc/11/stat:2: ":      func(n node) { n.write("proc/11/stat", "11 (a\nb) S 1\n") },
		"proc/11/schedstat: is not there: want a kernel with CONFIG_SCHED_INFO": func(n node) { n.remove("proc/11/schedstat") },
		"proc/11/sched:1: has no line that begins":                              func(n node) { n.write("proc/11/sched", "nr_voluntary_switches\n") },
		"proc/11/sched:2: ":                      func(n node) { n.write("proc/11/sched", "a\nnr_voluntary_switches : -1\n") },
		"proc/stat:1: column 4":                  func(n node) { n.write("proc/stat", "cpu 1 2 x\ncpu0 1\n") },
		"proc/uptime:1: ":                        func(n node) { n.write("proc/uptime", "soon\n") },
		"abc/cgroup.threads:2: \"x\"":            func(n node) { n.write("cgroup/kubepods/pod1/abc/cgroup.threads", "11\nx\n") },
		"abc/cgroup.threads:1: a task has no id": func(n node) { n.write("cgroup/kubepods/pod1/abc/cgroup.threads", "0\n") },
		"abc/cpu.stat:2: \"usage_usec -1\"":      func(n node) { n.write("cgroup/kubepods/pod1/abc/cpu.stat", "user_usec 1\nusage_usec -1\n") },
		"abc/cpu.max.burst:1: \"max\" is not a time in microseconds": func(n node) {
			n.write("cgroup/kubepods/pod1/abc/cpu.stat", "nr_periods 1\n")
			n.write("cgroup/kubepods/pod1/abc/cpu.max.burst", "max\n")
		},
		"pod1/cpu.pressure:1: ":                      func(n node) { n.write("cgroup/kubepods/pod1/cpu.pressure", "some avg10=0\n") },
		"cgroup: has no directory named kubepods":    func(n node) { n.remove("cgroup/kubepods") },
		"cgroup: has neither cgroup.controllers nor": func(n node) { n.remove("cgroup/cgroup.controllers") },
	} {
		n := newNode(t)
		n.write("cgroup/cgroup.controllers", "cpu\n")
		n.write("cgroup/kubepods/pod1/abc/cgroup.threads", "11\n")
		n.task(11, "1 2 3")
		spoil(n)
		if _, err := n.reader().Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func (n node) remove(path string) {
	n.tb.Helper()
	if err := os.RemoveAll(filepath.Join(n.root, path)); err != nil {
		n.tb.Fatal(err)
	}
}

// Where nodes are processes of one machine, each sees the control groups of all.
func TestAReaderInAPodReadsItsOwnNode(t *testing.T) {
	t.Parallel()
	const other = "9a9b9c9d-1111-2222-3333-444455556666"
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	n.write("cgroup/worker-1/kubepods/pod"+uid+"/cgroup.threads", "11\n")
	n.write("cgroup/worker-2/kubepods/besteffort/pod"+other+"/cgroup.threads", "12\n")
	n.task(11, "1 2 3")
	n.task(12, "1 2 3")
	for own, want := range map[string][]string{"": {uid, other}, uid: {uid}, other: {other}, "of another machine": {uid, other}} {
		r := n.reader()
		r.Pod = own
		got, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		var uids []string
		for _, p := range got.Pods {
			uids = append(uids, p.UID)
		}
		if diff := cmp.Diff(want, uids); diff != "" {
			t.Errorf("in pod %q: %s", own, diff)
		}
	}
}

// Of a task that competes for its processor, Linux 6.18 counted 57 s of block I/O within two.
func TestAnAccountOfMoreTimeThanThereWasIsNotBelieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// blocked are hundredths of a second at readings that are 10 s apart, in all of which the task ran unless it says so.
		blocked []int
		idle    int // the reading before which it did not run, and no more until the next
		known   bool
	}{
		"blocked all the time":                    {[]int{0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000}, 0, true},
		"a wait that began before the last one":   {[]int{0, 0, 1900}, 0, true},
		"one that began long before":              {[]int{0, 0, 0, 2900}, 2, true},
		"more than there was":                     {[]int{0, 0, 5700}, 0, false},
		"a little more, in each":                  {[]int{0, 1300, 2600, 3900, 5200, 6500}, 0, false},
		"more than there was, after a long sleep": {[]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5000}, 0, false},
		"once, and then as it should be":          {[]int{0, 0, 5700, 6000, 6500}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			n.write("cgroup/cgroup.controllers", "cpu\n")
			n.write("cgroup/kubepods/pod"+uid+"/abc/cgroup.threads", "11\n")
			r, now := n.reader(), noon
			r.Now = func() time.Time { return now }
			ran := 0
			var got *reading.Reading
			for i, blocked := range c.blocked {
				if c.idle == 0 || i != c.idle {
					ran++
				}
				n.task(11, fmt.Sprintf("%d 0 %d", ran, ran))
				n.stat("a", 11, blocked)
				var err error
				if got, err = r.Read(); err != nil {
					t.Fatal(err)
				}
				now = now.Add(10 * time.Second)
			}
			if got.BlockedKnown != c.known {
				t.Errorf("the account is believed: %v", got.BlockedKnown)
			}
		})
	}
}

// The task ran, and began to wait, after the first reading and before the one that fails.
func TestAWaitThatBeganBeforeAReadingThatFailedIsBelieved(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	n.write("cgroup/kubepods/pod"+uid+"/abc/cgroup.threads", "11\n")
	r, now := n.reader(), noon
	r.Now = func() time.Time { return now }
	for i, blocked := range []int{0, 0, 0, 2400} {
		n.task(11, fmt.Sprintf("%d 0 %d", 1+i, 1+i))
		n.stat("a", 11, blocked)
		const uptime = "1000.50 1800.00\n"
		fails := i == 1
		if n.write("proc/uptime", uptime); fails {
			n.write("proc/uptime", "")
		}
		got, err := r.Read()
		if (err != nil) != fails {
			t.Fatalf("reading %d: %v", i, err)
		}
		if !fails && !got.BlockedKnown {
			t.Errorf("reading %d: the account is not believed", i)
		}
		now = now.Add(10 * time.Second)
	}
}
