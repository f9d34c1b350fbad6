package reading_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	unknown = reading.Unknown
	second  = time.Second
	ms      = time.Millisecond
)

// at is a reading of a node of two processors, some time after noon, when it was up for 1,000 s.
func at(since time.Duration, pods ...reading.Pod) *reading.Reading {
	return &reading.Reading{At: noon.Add(since), Uptime: 1000*second + since, CPUs: 2, BlockedKnown: true, Pods: pods}
}

// pod is a pod of one container, without any account but of its tasks.
func pod(tasks ...reading.Task) reading.Pod {
	return reading.Pod{UID: "a", Usage: unknown, Throttled: unknown, Pressure: unknown, Groups: []reading.Group{group("c", tasks...)}}
}

func group(id string, tasks ...reading.Task) reading.Group {
	return reading.Group{ID: id, Usage: unknown, Throttled: unknown, Held: unknown, Tasks: tasks}
}

// old is a task that began long before the readings.
func old(id int, run, wait time.Duration) reading.Task {
	return reading.Task{ID: id, Parent: 1, Start: second, Run: run, Wait: wait, CPU: id % 2}
}

// compared is what happened in the 10 s from one state of a pod to the next.
func compared(t *testing.T, before, after reading.Pod) usage.Pod {
	t.Helper()
	return only(t, reading.Between(at(0, before), at(10*second, after), "worker-1", nil))
}

func only(t *testing.T, interval *usage.Interval) usage.Pod {
	t.Helper()
	if err := interval.Validate(); err != nil {
		t.Fatal(err)
	}
	if len(interval.Pods) != 1 {
		t.Fatalf("got %d pods, want 1", len(interval.Pods))
	}
	return interval.Pods[0]
}

func diff(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
}

func TestATaskIsRatedByItsTimeWithoutWaiting(t *testing.T) {
	t.Parallel()
	was, is := old(7, 5*second, 3*second), old(7, 9*second, 5*second)
	is.Blocked, is.Sleeps = second, 80
	times := usage.Times{Run: 4, Wait: 2, Blocked: 1}
	diff(t, usage.Pod{
		UID: "a", Seconds: 10, Times: times, Tasks: 1, Threads: 1, Dilation: 10.0 / 8, CPULoading: 4.0 / 8, DiskLoading: 1.0 / 8, BurstSeconds: 0.05,
		Containers: []usage.Container{{ID: "c", Times: times}},
	}, compared(t, pod(was), pod(is)))
}

// slept is a task that slept some number of times.
func slept(task reading.Task, sleeps int64) reading.Task {
	task.Sleeps = sleeps
	return task
}

func TestABurstIsWhatATaskRunsUntilItSleeps(t *testing.T) {
	t.Parallel()
	fresh := slept(old(7, 2*second, 0), 40)
	fresh.Start = 1005 * second
	older := slept(old(7, 2*second, 0), 40)
	older.Start = 999 * second
	for name, c := range map[string]struct {
		before, after []reading.Task
		burst         float64
	}{
		"one task":          {[]reading.Task{slept(old(7, second, 0), 100)}, []reading.Task{slept(old(7, 3*second, second), 300)}, 0.01},
		"others preempt it": {[]reading.Task{slept(old(7, 0, 0), 0)}, []reading.Task{slept(old(7, 3*second, 3*second), 30)}, 0.1},
		"it never sleeps":   {[]reading.Task{slept(old(7, 0, 0), 5)}, []reading.Task{slept(old(7, 8*second, 2*second), 5)}, 8},
		"it never ran":      {[]reading.Task{slept(old(7, 0, 0), 5)}, []reading.Task{slept(old(7, 0, second), 50)}, 0},
		"a thread that often wakes does next to nothing": {
			[]reading.Task{slept(old(7, 0, 0), 0), slept(old(8, 0, 0), 0)}, []reading.Task{slept(old(7, 4*second, 0), 40), slept(old(8, 10*ms, 0), 1000)}, (4*0.1 + 0.01*1e-5) / 4.01,
		},
		"the counts began anew":      {[]reading.Task{slept(old(7, 9*second, 0), 900)}, []reading.Task{slept(old(7, 2*second, 0), 40)}, 0.05},
		"it came":                    {nil, []reading.Task{fresh}, 0.05},
		"it came from elsewhere":     {nil, []reading.Task{older}, 0},
		"its sleeps are unknown":     {[]reading.Task{slept(old(7, 0, 0), reading.Uncounted)}, []reading.Task{slept(old(7, 2*second, 0), 40)}, 0},
		"its sleeps are unknown now": {[]reading.Task{slept(old(7, 0, 0), 40)}, []reading.Task{slept(old(7, 2*second, 0), reading.Uncounted)}, 0},
	} {
		if got := compared(t, pod(c.before...), pod(c.after...)).BurstSeconds; math.Abs(got-c.burst) > 1e-9 {
			t.Errorf("%s: bursts of %v s, want %v", name, got, c.burst)
		}
	}
}

// The parent starts a child for each of 100 bursts of 50 ms, waits for it, and rests.
func TestTheBurstsOfShortLivedChildrenAreCountedByTheirParent(t *testing.T) {
	t.Parallel()
	child := func(run time.Duration, sleeps int64) reading.Task {
		return reading.Task{ID: 8, Parent: 7, Start: 1009 * second, Run: run, Sleeps: sleeps, CPU: 1}
	}
	for name, c := range map[string]struct {
		after  []reading.Task
		before int64
		burst  float64
	}{
		"no child was met":               {[]reading.Task{slept(old(7, ms, 0), 200)}, 0, 0.05},
		"a child was met":                {[]reading.Task{slept(old(7, ms, 0), 200), child(10*ms, 0)}, 0, 0.05},
		"the child sleeps as often":      {[]reading.Task{slept(old(7, ms, 0), 200), child(50*ms, 2)}, 0, 0.025},
		"the parent's are unknown":       {[]reading.Task{slept(old(7, ms, 0), 200)}, reading.Uncounted, 0},
		"the parent waits for the first": {[]reading.Task{slept(old(7, ms, 0), 1)}, 0, 5},
	} {
		was, is := pod(slept(old(7, 0, 0), c.before)), pod(c.after...)
		was.Usage, is.Usage = 0, 5*second
		if got := compared(t, was, is).BurstSeconds; math.Abs(got/max(c.burst, 1e-9)-1) > 0.02 && got != c.burst {
			t.Errorf("%s: bursts of %v s, want %v", name, got, c.burst)
		}
	}
}

func TestTheNodeIsBetweenReadings(t *testing.T) {
	t.Parallel()
	before, after := at(0), at(10*second, pod(old(7, 0, 0)))
	before.Busy, before.Stolen, after.Busy, after.Stolen = 5*second, second, 17*second, 4*second
	diff(t, &usage.Interval{
		Node: "worker-1", Start: noon, End: noon.Add(10 * second), Seconds: 10, CPUs: 2, BusySeconds: 12, StolenSeconds: 3,
		Pods: []usage.Pod{{
			UID: "a", Namespace: "namespace of a", Name: "name of a", Seconds: 10, Tasks: 1, Threads: 1, Dilation: 1,
			Containers: []usage.Container{{ID: "c"}},
		}},
	}, reading.Between(before, after, "worker-1", func(uid string) (namespace, name string) {
		return "namespace of " + uid, "name of " + uid
	}))
}

func TestAnIntervalSaysWhereBlockedTimeIsNotAccounted(t *testing.T) {
	t.Parallel()
	after := at(10*second, pod(old(7, 0, 0)))
	after.BlockedKnown = false
	if got := reading.Between(at(0), after, "worker-1", nil); !got.BlockedUnknown {
		t.Errorf("got %+v", got)
	}
}

func TestNoTimeIsNoInterval(t *testing.T) {
	t.Parallel()
	for _, since := range []time.Duration{0, -second, time.Microsecond - 1} {
		if got := reading.Between(at(0, pod()), at(since, pod()), "worker-1", nil); got != nil {
			t.Errorf("got %+v after %v, want nil", got, since)
		}
	}
}

func TestAnIdlePodIsNotSlow(t *testing.T) {
	t.Parallel()
	got := compared(t, pod(old(7, second, second), old(8, second, second)), pod(old(7, second, second), old(8, second, second)))
	got.Containers = nil
	diff(t, usage.Pod{UID: "a", Seconds: 10, Tasks: 2, Threads: 1, Dilation: 1}, got)
}

func TestWhereNoTaskIsLeftOrWasThereIsNoPod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after *reading.Reading }{
		"without tasks":   {at(0, pod()), at(10*second, pod())},
		"gone altogether": {at(0, pod(old(7, second, 0))), at(10 * second)},
	} {
		if got := reading.Between(c.before, c.after, "worker-1", nil); len(got.Pods) != 0 {
			t.Errorf("%s: got %+v, want no pod", name, got.Pods)
		}
	}
}

func TestTasksAreMatchedByTheirIDAndTheirStart(t *testing.T) {
	t.Parallel()
	began := func(start time.Duration, run, wait time.Duration) reading.Task {
		task := old(7, run, wait)
		task.Start = start
		return task
	}
	for name, c := range map[string]struct {
		before, after []reading.Task
		tasks         int
		run, dilation float64
	}{
		"the same": {[]reading.Task{began(second, second, 0)}, []reading.Task{began(second, 3*second, second)}, 1, 2, 10.0 / 9},
		"another that got the id": {
			[]reading.Task{began(second, second, 0)}, []reading.Task{began(1005*second, 3*second, second)}, 2, 3, 5.0 / 4,
		},
		"one that came": {nil, []reading.Task{began(1005*second, 3*second, second)}, 1, 3, 5.0 / 4},
		// Started, counted and seen in the same tick of the clock.
		"one that just came":                       {nil, []reading.Task{began(1010*second, 5*ms, 0)}, 1, 0.005, 1},
		"one that vanished":                        {[]reading.Task{began(second, second, 0)}, nil, 1, 0, 1},
		"one whose counters went back":             {[]reading.Task{began(second, 5*second, 0)}, []reading.Task{began(second, second, second)}, 1, 1, 10.0 / 9},
		"one that came from outside of pods":       {nil, []reading.Task{began(second, 500*second, second)}, 1, 0, 1},
		"one whose counters cannot be right":       {[]reading.Task{began(second, 0, 0)}, []reading.Task{began(second, 500*second, 500*second)}, 1, 10, 1},
		"one that waited from before until it ran": {[]reading.Task{began(second, 0, 0)}, []reading.Task{began(second, ms, 25*second)}, 1, 0.001, 1000},
		"one that has yet to run":                  {[]reading.Task{began(second, 0, 0)}, []reading.Task{began(second, 0, second)}, 1, 0, 1},
	} {
		got := compared(t, pod(c.before...), pod(c.after...))
		if got.Tasks != c.tasks || math.Abs(got.Run-c.run) > 1e-9 || math.Abs(got.Dilation-c.dilation) > 1e-9 {
			t.Errorf("%s: got %d tasks that ran %v, dilated by %v, want %d, %v and %v", name, got.Tasks, got.Run, got.Dilation, c.tasks, c.run, c.dilation)
		}
	}
}

func TestATaskIsComparedOverTheTimeBetweenItsOwnReadings(t *testing.T) {
	t.Parallel()
	was, is := old(7, 0, 0), old(7, 5500*ms, 5500*ms)
	was.Seen, is.Seen = 0, second
	if got := compared(t, pod(was), pod(is)); math.Abs(got.Dilation-2) > 1e-9 || math.Abs(got.CPULoading-1) > 1e-9 {
		t.Errorf("got a dilation of %v and a loading of %v, want 2 and 1 over 11 s", got.Dilation, got.CPULoading)
	}
}

func TestThreadsThatAreActiveAlikeAreCounted(t *testing.T) {
	t.Parallel()
	var before, after []reading.Task
	for id := range 8 {
		before, after = append(before, old(id, 0, 0)), append(after, old(id, 3*second, 2*second))
	}
	// Threads of a runtime that all but sleep.
	for id := 10; id < 30; id++ {
		before, after = append(before, old(id, 0, 0)), append(after, old(id, ms, 5*second))
	}
	got := compared(t, pod(before...), pod(after...))
	if math.Abs(got.Threads-8) > 0.02 || math.Abs(got.Dilation-1.25) > 0.01 || math.Abs(got.CPULoading-3.0/8) > 0.01 {
		t.Errorf("got %+v, want 8 threads, a dilation of 1.25 and a loading of 3/8", got)
	}
}

// A proxy computes for half of its time but that its limit stops it, and an application beside it has none.
func TestAContainerThatItsLimitHoldsBackIsRatedByItself(t *testing.T) {
	t.Parallel()
	state := func(run, wait, held time.Duration, periods, throttled int64) reading.Pod {
		proxy, app := group("proxy", slept(old(7, run, wait), int64(run/(20*ms)))), group("app", old(8, 4*run, 0))
		proxy.Held, proxy.Periods, proxy.ThrottledPeriods, proxy.QuotaBurst = held, periods, throttled, 30*ms
		app.Held = 0
		return reading.Pod{UID: "a", Usage: unknown, Throttled: unknown, Pressure: unknown, Groups: []reading.Group{app, proxy}}
	}
	got := compared(t, state(second, 0, 0, 10, 5), state(2*second, 8*second, 8*second, 110, 85))
	diff(t, []usage.Container{
		{ID: "app", Times: usage.Times{Run: 4}},
		{
			ID: "proxy", Times: usage.Times{Run: 1, Throttled: 8}, Threads: 1, Dilation: 5, CPULoading: 0.5, BurstSeconds: 0.02,
			Periods: 100, ThrottledPeriods: 80, QuotaBurstSeconds: 0.03,
		},
	}, got.Containers)
	anew := compared(t, state(second, 0, 0, 10, 5), state(2*second, 8*second, 8*second, 4, 3)).Containers[1]
	if anew.Periods != 4 || anew.ThrottledPeriods != 3 {
		t.Errorf("counts that began anew grew by %d and %d", anew.Periods, anew.ThrottledPeriods)
	}
}

func TestThrottlingIsTakenFromTheWaiting(t *testing.T) {
	t.Parallel()
	// Measured on Linux 6.18 over 3 s, under a limit for the group that came to be held back for so long.
	// A task that was read twice in 3 s and a moment ran and waited for that moment more than the interval has.
	for name, c := range map[string]struct {
		tasks, cpus     int
		run, wait, held float64 // of all tasks
		want            float64
	}{
		"no limit":                       {2, 1, 3, 3, 0, 0},
		"1 task, 1 processor":            {1, 1, 0.60, 2.40, 2.39, 2.39},
		"2 tasks, 1 processor":           {2, 1, 0.60, 5.41, 2.36, 2 * 2.36},
		"4 tasks, 1 processor":           {4, 1, 0.60, 11.40, 2.33, 4 * 2.33},
		"2 tasks, 2 processors":          {2, 2, 1.20, 4.80, 4.66, 4.66},
		"4 tasks, 2 processors":          {4, 2, 1.20, 10.80, 4.73, 2 * 4.73},
		"8 tasks, 2 processors":          {8, 2, 1.20, 22.80, 4.70, 4 * 4.70},
		"more than the tasks waited":     {1, 1, 0.60, 1.00, 2.39, 1.00},
		"beside others, 2 and 2 of them": {2, 2, 2.00, 4.00, 1.00, 1.00},
	} {
		var before, after []reading.Task
		for id := range c.tasks {
			share := float64(second) / float64(c.tasks)
			before, after = append(before, old(id, 0, 0)), append(after, old(id, time.Duration(c.run*share), time.Duration(c.wait*share)))
			before[id].CPU, after[id].CPU = id%c.cpus, id%c.cpus
		}
		was, is := pod(before...), pod(after...)
		was.Groups[0].Held, is.Groups[0].Held = second, second+time.Duration(c.held*float64(second))
		got := only(t, reading.Between(at(0, was), at(3*second, is), "worker-1", nil))
		if math.Abs(got.Throttled-c.want) > 0.02*c.want+1e-6 || math.Abs(got.Wait+got.Throttled-c.wait) > 0.02 {
			t.Errorf("%s: got %v throttled and %v waiting, want %v and the rest of %v", name, got.Throttled, got.Wait, c.want, c.wait)
		}
	}
}

func TestWithoutAnAccountOfAllLimitsThoseOfThePodAndTheContainerAreTaken(t *testing.T) {
	t.Parallel()
	// The same measurements: a container under the limit of its pod and one of its own, two containers of a pod that has one.
	one := func(tasks int, pods, containers time.Duration) (before, after reading.Pod) {
		for id := range tasks {
			before.Groups = append(before.Groups, group(fmt.Sprint(id), old(id, 0, 0)))
			after.Groups = append(after.Groups, group(fmt.Sprint(id), old(id, 600*ms, 2400*ms)))
			before.Groups[id].Throttled, after.Groups[id].Throttled = 0, containers/time.Duration(tasks)
		}
		before.UID, before.Pressure, before.Usage = "a", unknown, unknown
		after.UID, after.Pressure, after.Usage = "a", unknown, unknown
		after.Throttled = pods
		return before, after
	}
	for name, c := range map[string]struct {
		tasks            int
		pods, containers time.Duration
		want             float64
	}{
		"one, both limits": {1, 2120 * ms, 230 * ms, 2.35},
		"two, both limits": {2, 3060 * ms, 2340 * ms, 4.66},
		"two, of the pod":  {2, 4760 * ms, 0, 4.76},
		"at the same time": {1, 2400 * ms, 2400 * ms, 2.40},
	} {
		before, after := one(c.tasks, c.pods, c.containers)
		got := only(t, reading.Between(at(0, before), at(3*second, after), "worker-1", nil))
		if math.Abs(got.Throttled-c.want) > 0.04*c.want {
			t.Errorf("%s: got %v throttled, want %v", name, got.Throttled, c.want)
		}
	}
}

func TestWhatOnlyTheControlGroupCountedIsUnseen(t *testing.T) {
	t.Parallel()
	was, is := pod(old(7, 0, 0)), pod(old(7, 4*second, 0))
	was.Usage, is.Usage = 5*second, 9100*ms
	was.Groups[0].Usage, is.Groups[0].Usage = 3*second, 7050*ms
	got := compared(t, was, is)
	diff(t, usage.Times{Run: 4.1, Unseen: 0.1}, got.Times)
	diff(t, usage.Times{Run: 4.05, Unseen: 0.05}, got.Containers[0].Times)
	if math.Abs(got.CPULoading-0.4) > 1e-9 || math.Abs(got.Threads-1) > 1e-9 {
		t.Errorf("got %+v, want the loading of the task that was seen", got)
	}
}

func TestAChainOfShortLivedChildrenIsOneTask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pressure, held, usage           time.Duration
		cpu                             int // of the child that was met last
		dilation, cpuLoading, throttled float64
	}{
		"by its pressure":                     {5 * second, 0, 5 * second, 1, 2, 1, 0},
		"by its pressure, half of the time":   {2500 * ms, 0, 2500 * ms, 1, 10 / 7.5, 1.0 / 3, 0},
		"by its pressure on 2 processors":     {3 * second, 0, 5 * second, 0, 1 / 0.52, 0.5 / 0.52, 0},
		"by what was seen":                    {unknown, 0, 5 * second, 1, 10 / 9.4, 5 / 9.4, 0},
		"by its limit":                        {unknown, 5 * second, 5 * second, 1, 2, 1, 5},
		"by what is in more than it can have": {9 * second, 0, 5 * second, 1, 2, 1, 0},
	} {
		child := reading.Task{ID: 8, Parent: 7, Start: 1009 * second, Run: 500 * ms, Wait: 500 * ms, CPU: c.cpu}
		gone := reading.Task{ID: 9, Parent: 7, Start: 999 * second, Run: 500 * ms, Wait: 500 * ms, CPU: 1}
		was, is := pod(old(7, 0, 0), gone), pod(old(7, 100*ms, 100*ms), child)
		was.Usage, is.Usage = 0, c.usage
		was.Groups[0].Usage, is.Groups[0].Usage = 0, c.usage
		was.Groups[0].Held, is.Groups[0].Held = 0, c.held
		if is.Pressure = c.pressure; c.pressure != unknown {
			was.Pressure = 0
		}
		got := compared(t, was, is)
		if math.Abs(got.Dilation-c.dilation) > 0.02 || math.Abs(got.CPULoading-c.cpuLoading) > 0.02 || math.Abs(got.Threads-1) > 0.01 {
			t.Errorf("%s: got a dilation of %v, a loading of %v, %v threads; want %v, %v and 1", name,
				got.Dilation, got.CPULoading, got.Threads, c.dilation, c.cpuLoading)
		}
		if math.Abs(got.Throttled-c.throttled) > 0.2 {
			t.Errorf("%s: got %v throttled, want %v", name, got.Throttled, c.throttled)
		}
	}
}

func TestChildrenAtTheSameTimeAreSeveralTasks(t *testing.T) {
	t.Parallel()
	was, is := pod(old(7, 0, 0)), pod(old(7, ms, 0))
	was.Usage, is.Usage = 0, 18*second
	if got := compared(t, was, is); math.Abs(got.Threads-2) > 0.01 || math.Abs(got.CPULoading-0.9) > 0.01 {
		t.Errorf("got %v threads and a loading of %v, want 2 and 0.9", got.Threads, got.CPULoading)
	}
}

func TestAServerBesideShortLivedTasksIsItsOwnTask(t *testing.T) {
	t.Parallel()
	was, is := pod(old(6, 0, 0), old(7, 0, 0)), pod(old(6, ms, 0), old(7, 5*second, 0))
	was.Usage, is.Usage = 0, 9*second
	if got := compared(t, was, is); math.Abs(got.Threads-81.0/41) > 0.01 || math.Abs(got.CPULoading-41.0/90) > 0.01 {
		t.Errorf("got %v threads and a loading of %v, want 1.98 and 0.456", got.Threads, got.CPULoading)
	}
}

func TestAPodThatCameIsObservedFromItsBeginning(t *testing.T) {
	t.Parallel()
	task := old(7, 2*second, second)
	task.Start = 1006 * second
	is := pod(task)
	is.Usage, is.Pressure = 2*second, second
	got := only(t, reading.Between(at(0), at(10*second, is), "worker-1", nil))
	if got.Seconds != 4 || got.Run != 2 || math.Abs(got.Dilation-4.0/3) > 1e-9 || *got.PressureSeconds != 1 {
		t.Errorf("got %+v, want what it did in its 4 s", got)
	}
}

func TestAnIntervalKeepsThePodsAndContainersThatRanAndWaitedLongest(t *testing.T) {
	t.Parallel()
	var before, after []reading.Pod
	id := 0
	for i := range usage.MaxPods + 5 {
		was := reading.Pod{UID: fmt.Sprintf("%04d", i), Usage: unknown, Throttled: unknown, Pressure: unknown}
		is := was
		containers := 1
		if i == 7 {
			containers = usage.MaxContainers + 3
		}
		for j := range containers {
			id++
			was.Groups = append(was.Groups, group(fmt.Sprintf("%04d", j), old(id, 0, 0)))
			is.Groups = append(is.Groups, group(fmt.Sprintf("%04d", j), old(id, time.Duration(i)*ms, time.Duration(j)*ms)))
		}
		before, after = append(before, was), append(after, is)
	}
	got := reading.Between(at(0, before...), at(10*second, after...), "worker-1", nil)
	if err := got.Validate(); err != nil {
		t.Fatal(err)
	}
	// Pod 7 ran and waited for 6 s in all; 0 to 5 did so for the least.
	if got.LeftOut != 5 || len(got.Pods) != usage.MaxPods || got.Pods[0].UID != "0005" {
		t.Errorf("got %d pods from %s, and %d left out", len(got.Pods), got.Pods[0].UID, got.LeftOut)
	}
	for _, pod := range got.Pods {
		if pod.UID != "0007" {
			continue
		}
		if n := len(pod.Containers); n != usage.MaxContainers || pod.Containers[0].ID != "0003" || pod.Tasks != usage.MaxContainers+3 {
			t.Errorf("got %d containers from %s, and %d tasks", n, pod.Containers[0].ID, pod.Tasks)
		}
	}
}

func TestPodsWithManyContainersTakeNoneFromThoseWithFew(t *testing.T) {
	t.Parallel()
	var before, after []reading.Pod
	id := 0
	for i := range 120 {
		was := reading.Pod{UID: fmt.Sprintf("%04d", i), Usage: unknown, Throttled: unknown, Pressure: unknown}
		is := was
		containers := usage.MaxContainers
		if i < 10 {
			containers = 3
		}
		for j := range containers {
			id++
			was.Groups = append(was.Groups, group(fmt.Sprintf("%04d", j), old(id, 0, 0)))
			is.Groups = append(is.Groups, group(fmt.Sprintf("%04d", j), old(id, time.Duration(i)*ms, time.Duration(j)*ms)))
		}
		before, after = append(before, was), append(after, is)
	}
	got := reading.Between(at(0, before...), at(10*second, after...), "worker-1", nil)
	if err := got.Validate(); err != nil {
		t.Fatal(err)
	}
	const level = (usage.MaxAllContainers - 10*3) / 110
	for i := range got.Pods {
		want, first := level, usage.MaxContainers-level
		if i < 10 {
			want, first = 3, 0
		}
		if all := got.Pods[i].Containers; len(all) != want || all[0].ID != fmt.Sprintf("%04d", first) {
			t.Errorf("of pod %d there are %d containers from %s, not %d from %d", i, len(all), all[0].ID, want, first)
		}
	}
}
