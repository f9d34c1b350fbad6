package reading_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// chain is a pod with a container that runs short-lived children for half of 10 s, before and after.
func chain() (before, after reading.Pod) {
	child := reading.Task{ID: 8, Parent: 7, Start: 1009 * second, Run: 100 * ms, Wait: 100 * ms, CPU: 1}
	before, after = pod(old(7, 0, 0)), pod(old(7, 100*ms, 900*ms), child)
	before.Usage, after.Usage = 0, 5*second
	before.Groups[0].Usage, after.Groups[0].Usage = 0, 5*second
	return before, after
}

// stall is that of a group which was polled so often.
func stall(stalled time.Duration, polls int64) *reading.Stall {
	return &reading.Stall{Stalled: stalled, Polls: polls}
}

func TestAChainWaitsForAsLongAsItIsStalled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		container, pod *reading.Stall
		want           float64 // seconds
	}{
		"in windows of 20 ms":                       {stall(2*second, 500), nil, 2},
		"in two windows, alike":                     {stall(2*second, 500), stall(2*second, 250), 2},
		"in two windows, extrapolated":              {stall(2*second, 500), stall(1800*ms, 250), 2.2},
		"in two windows of other lengths":           {stall(2*second, 500), stall(1600*ms, 100), 2.1},
		"in a longer window for longer":             {stall(2*second, 500), stall(2100*ms, 250), 2},
		"in windows of one length":                  {stall(2*second, 500), stall(1800*ms, 500), 2},
		"for all that it did not run":               {stall(9*second, 500), nil, 5},
		"for all that it did not run, extrapolated": {stall(4500*ms, 500), stall(2*second, 250), 5},
		"never": {stall(0, 500), stall(0, 250), 0},
		"polled too seldom, so that the rest counts": {stall(2*second, 7), nil, 1},
		"not polled, so that the rest counts":        {nil, nil, 1},
	} {
		before, after := chain()
		before.Groups[0].Stall, before.Stall = stall(0, 0), stall(0, 0)
		after.Groups[0].Stall, after.Stall = c.container, c.pod
		got := compared(t, before, after)
		if want := 10 / (10 - c.want); math.Abs(got.Dilation-want) > 0.02*want {
			t.Errorf("%s: got a dilation of %v, want %v", name, got.Dilation, want)
		}
	}
}

func TestCountersOfStallsGoOnFromTheReadingBefore(t *testing.T) {
	t.Parallel()
	before, after := chain()
	before.Groups[0].Stall, after.Groups[0].Stall = stall(7*second, 300), stall(9*second, 800)
	if got := compared(t, before, after); math.Abs(got.Dilation-10.0/8) > 0.02 {
		t.Errorf("got a dilation of %v, want 1.25", got.Dilation)
	}
	before.Groups[0].Stall, after.Groups[0].Stall = nil, stall(9*second, 800)
	if got := compared(t, before, after); math.Abs(got.Dilation-10.0/9) > 0.02 {
		t.Errorf("polled from within the interval: got a dilation of %v, want 1.11 of what was seen", got.Dilation)
	}
	before.Groups[0].Stall, after.Groups[0].Stall = stall(7*second, 300), stall(5*second, 800)
	if got := compared(t, before, after); math.Abs(got.Dilation-10.0/9) > 0.02 {
		t.Errorf("after a counter that went back: got a dilation of %v, want 1.11 of what was seen", got.Dilation)
	}
}

func TestStallsOfSeveralContainersAddUp(t *testing.T) {
	t.Parallel()
	before, after := chain()
	before.Groups = append(before.Groups, group("d"))
	after.Groups = append(after.Groups, group("d"))
	for i := range before.Groups {
		before.Groups[i].Stall, after.Groups[i].Stall = stall(0, 0), stall(time.Duration(i+1)*second, 500)
	}
	before.Stall, after.Stall = stall(0, 0), stall(second, 250) // says nothing of either container
	if got := compared(t, before, after); math.Abs(got.Dilation-10.0/7) > 0.02 {
		t.Errorf("got a dilation of %v, want that of 3 s in 10", got.Dilation)
	}
}

func TestAPodThatRunsOtherTasksIsNotStalledWhileTheyRun(t *testing.T) {
	t.Parallel()
	before, after := chain()
	before.Groups[0].Tasks = append(before.Groups[0].Tasks, old(6, 0, 0))
	after.Groups[0].Tasks = append(after.Groups[0].Tasks, old(6, 3*second, 0))
	after.Usage, after.Groups[0].Usage = 8*second, 8*second
	before.Groups[0].Stall, after.Groups[0].Stall = stall(0, 0), stall(0, 500)
	got := compared(t, before, after)
	after.Groups[0].Stall = nil
	if without := compared(t, before, after); got.Dilation != without.Dilation || got.Dilation < 1.05 {
		t.Errorf("got a dilation of %v, want %v of what was seen", got.Dilation, without.Dilation)
	}
}

// pressured writes for how long groups were stalled, in place and at once, as a file is polled meanwhile.
func pressured(n node, path string, stalled time.Duration) {
	n.tb.Helper()
	path = filepath.Join(n.root, path)
	if err := os.MkdirAll(path, 0o755); err != nil {
		n.tb.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(path, "cpu.pressure"), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		n.tb.Fatal(err)
	}
	if _, err := fmt.Fprintf(file, "some avg10=0.00 total=%012d\nfull avg10=0.00 total=%012d\n", 2*stalled.Microseconds(), stalled.Microseconds()); err != nil {
		n.tb.Fatal(err)
	}
	if err := file.Close(); err != nil {
		n.tb.Fatal(err)
	}
}

// follower is a node with a pod whose container "abc" is to be followed, its reader, and an interval that says so.
func follower(t *testing.T) (node, *reading.Reader, *usage.Interval) {
	t.Helper()
	n := newNode(t)
	n.write("cgroup/cgroup.controllers", "cpu\n")
	pressured(n, "cgroup/kubepods/pod"+uid, 3*second)
	n.write("cgroup/kubepods/pod"+uid+"/abc/cgroup.threads", "")
	n.write("cgroup/kubepods/pod"+uid+"/def/cgroup.threads", "")
	pressured(n, "cgroup/kubepods/pod"+uid+"/abc", second)
	pressured(n, "cgroup/kubepods/pod"+uid+"/def", second)
	r := n.reader()
	r.Stalls = reading.NewStalls()
	busy := usage.Times{Run: 1, Unseen: 1}
	v := &usage.Interval{Pods: []usage.Pod{
		{UID: "gone", Times: busy, Containers: []usage.Container{{ID: "abc", Times: busy}}},
		{UID: uid, Times: busy, Containers: []usage.Container{{ID: "abc", Times: busy}, {ID: "def", Times: usage.Times{Run: 1}}, {ID: "gone", Times: busy}}},
	}}
	return n, r, v
}

func reads(t *testing.T, r *reading.Reader) reading.Pod {
	t.Helper()
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return got.Pods[0]
}

func TestContainersWhoseTasksComeAndGoArePolledTwiceAsOftenAsTheirPods(t *testing.T) {
	t.Parallel()
	n, r, v := follower(t)
	first, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	if p := first.Pods[0]; p.Stall != nil || p.Groups[0].Stall != nil {
		t.Fatalf("got %+v, want no stalls before any are followed", p)
	}
	r.Follow(first, v)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		r.Stalls.Run(ctx)
		close(ended)
	}()
	began := reads(t, r)
	pressured(n, "cgroup/kubepods/pod"+uid+"/abc", 1500*ms)
	pressured(n, "cgroup/kubepods/pod"+uid, 3250*ms)
	now := began
	for now.Groups[0].Stall.Polls < began.Groups[0].Stall.Polls+20 || now.Groups[0].Stall.Polls <= now.Stall.Polls {
		<-time.After(20 * ms) // each reading polls both
		now = reads(t, r)
	}
	if now.Groups[1].Stall != nil {
		t.Errorf("got %+v of a container all of whose tasks were seen", now.Groups[1].Stall)
	}
	if a, b := now.Groups[0].Stall.Stalled-began.Groups[0].Stall.Stalled, now.Stall.Stalled-began.Stall.Stalled; a != 500*ms || b != 250*ms {
		t.Errorf("got %v and %v, want 500 and 250 ms", a, b)
	}
	if err := os.RemoveAll(filepath.Join(n.root, "cgroup/kubepods/pod"+uid+"/abc/cpu.pressure")); err != nil {
		t.Fatal(err)
	}
	r.Follow(first, &usage.Interval{})
	if p := reads(t, r); p.Stall != nil || p.Groups[0].Stall != nil {
		t.Errorf("got %+v, want no stalls once none are followed", p)
	}
	r.Follow(first, v)
	if p := reads(t, r); p.Stall == nil || p.Groups[0].Stall != nil {
		t.Errorf("got %+v, want the stalls of the pod alone, whose container's file is gone", p)
	}
	stop()
	<-ended
	if p := reads(t, r); p.Stall != nil {
		t.Errorf("got %+v, want no stalls after the end", p.Stall)
	}
}

func TestAKernelWithoutStallsOfGroupsIsReadWithoutThem(t *testing.T) {
	t.Parallel()
	n, r, v := follower(t)
	first, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	n.write("cgroup/kubepods/pod"+uid+"/abc/cpu.pressure", "some avg10=0.00 total=5\n")
	r.Follow(first, v)
	if p := reads(t, r); p.Groups[0].Stall != nil || p.Stall == nil {
		t.Errorf("got %+v, want the stalls of the pod alone", p)
	}
}

func TestAFileOfStallsThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	n, r, v := follower(t)
	first, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	n.write("cgroup/kubepods/pod"+uid+"/abc/cpu.pressure", "nothing\n")
	r.Follow(first, v)
	if _, err := r.Read(); err == nil {
		t.Error("got no error")
	}
	if p := reads(t, r); p.Groups[0].Stall != nil {
		t.Errorf("got %+v of a file that failed", p.Groups[0].Stall)
	}
}

func TestWithoutStallsNothingIsFollowed(t *testing.T) {
	t.Parallel()
	_, r, v := follower(t)
	r.Stalls = nil
	first, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	r.Follow(first, v)
	if p := reads(t, r); p.Stall != nil || p.Groups[0].Stall != nil {
		t.Errorf("got %+v", p)
	}
}
