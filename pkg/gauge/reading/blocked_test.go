package reading_test

import (
	"math"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/reading"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// byPressure is what happened in 10 s in which some task of a pod was blocked for some time, on a kernel that accounts no task's.
func byPressure(t *testing.T, blocked time.Duration, was, is reading.Pod) usage.Pod {
	t.Helper()
	was.DiskPressure, is.DiskPressure = &reading.Pressure{}, &reading.Pressure{Some: blocked, Full: reading.Unknown}
	before, after := at(0, was), at(10*second, is)
	before.BlockedKnown, after.BlockedKnown = false, false
	v := reading.Between(before, after, "worker-1", nil)
	if v.BlockedUnknown {
		t.Error("blocked times are unknown")
	}
	got := only(t, v)
	if got.BlockedBy != usage.ByPressure {
		t.Errorf("it was blocked by %q", got.BlockedBy)
	}
	return got
}

func TestATaskThatIsBlockedAloneIsRatedAsByItsOwnAccount(t *testing.T) {
	t.Parallel()
	was, is := slept(old(7, 0, 0), 0), slept(old(7, 2*second, second), 1000)
	other := slept(old(8, 0, 0), 3)
	got := byPressure(t, 5*second, pod(was, other), pod(is, other))
	is.Blocked = 5 * second
	want := compared(t, pod(was, other), pod(is, other))
	want.BlockedBy, want.DiskPressure = usage.ByPressure, &usage.DiskPressure{SomeSeconds: 5}
	diff(t, want, got)
	if got.DiskLoading != 5.0/9 {
		t.Errorf("diskLoading is %v, want 5/9", got.DiskLoading)
	}
}

func TestThePressureIsOfThoseThatSleepMostOften(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown            time.Duration
		tasks            []reading.Task
		blocked          float64
		threads, loading float64
	}{
		"one has room for all":           {4 * second, []reading.Task{slept(old(7, 6*second, 0), 9), slept(old(9, 0, 0), 2)}, 4, 1, 0.4},
		"a task that never sleeps":       {4 * second, []reading.Task{slept(old(7, 10*second, 0), 0), slept(old(9, 0, 0), 2)}, 4, 14.0 * 14 / 116, 4 * 0.4 / 14},
		"what is left is of the next":    {8 * second, []reading.Task{slept(old(7, 6*second, 0), 9), slept(old(9, 0, 0), 2)}, 8, 14.0 * 14 / 116, (10*0.4 + 4*0.4) / 14},
		"no time without waiting at all": {8 * second, []reading.Task{slept(old(7, 5*second, 5*second), 9)}, 8, 1, 0},
		"no task that was seen":          {8 * second, nil, 9, 1, 0.9},
		"nothing blocked":                {0, []reading.Task{slept(old(7, 6*second, 0), 9)}, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before []reading.Task
			for _, task := range c.tasks {
				before = append(before, slept(old(task.ID, 0, 0), 0))
			}
			was, is := pod(before...), pod(c.tasks...)
			was.Usage, is.Usage = 0, time.Second // so that it is reported without tasks
			got := byPressure(t, c.shown, was, is)
			diff(t, []float64{c.blocked, c.threads, c.loading}, []float64{got.Blocked, got.Threads, got.DiskLoading})
		})
	}
}

// What the kernel shows is the mean of the pressure at each processor, weighted by how long each had a task that did not sleep.
func TestThePressureIsAMeanOverProcessors(t *testing.T) {
	t.Parallel()
	moved := func(task reading.Task, times int64) reading.Task {
		task.Moves = times
		return task
	}
	on := func(task reading.Task, processor int) reading.Task {
		task.CPU = processor
		return task
	}
	for name, c := range map[string]struct {
		shown   float64 // seconds of 10
		tasks   []reading.Task
		blocked float64
	}{
		"it stays where it is":                    {4, []reading.Task{slept(old(7, 2*second, 0), 9)}, 4},
		"it alternates between two":               {2, []reading.Task{moved(slept(old(7, 2*second, 0), 9), 1e6)}, 4},
		"it alternates, and waits for processors": {2, []reading.Task{moved(slept(old(7, 2*second, second), 9), 1e6)}, 4},
		// Of three moves in a window of two seconds, it is three eighths of the time where it is not in the end.
		"it moves now and then":                 {4 * (25.0 + 9) / 64, []reading.Task{moved(slept(old(7, 2*second, 0), 9), 15)}, 4},
		"how often it moves is not known":       {4, []reading.Task{moved(slept(old(7, 2*second, 0), 9), reading.Uncounted)}, 4},
		"another one computes elsewhere":        {8 * 8.0 / 18, []reading.Task{slept(old(7, 10*second, 0), 0), slept(old(8, 0, 0), 2)}, 8},
		"seven compute, and one there":          {5.0 * 10 / 80, append(computing(8), slept(on(old(70, 5*second, 0), 0), 9)), 5},
		"it is blocked all the time, at most":   {9, []reading.Task{moved(slept(old(7, 2*second, 0), 9), 1e6)}, 10},
		"of a task that has no room nothing is": {3, []reading.Task{moved(slept(old(7, 10*second, 0), 9), 1e6)}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before []reading.Task
			for _, task := range c.tasks {
				before = append(before, slept(on(old(task.ID, 0, 0), task.CPU), 0))
			}
			got := byPressure(t, time.Duration(c.shown*float64(second)), pod(before...), pod(c.tasks...))
			const precision = 0.005 // of rounds
			if math.Abs(got.Blocked-c.blocked) > precision*c.blocked {
				t.Errorf("it was blocked for %v s, want %v", got.Blocked, c.blocked)
			}
		})
	}
}

// computing are tasks that compute all the time, each on a processor of its own but for the first one, which is free.
func computing(processors int) (all []reading.Task) {
	for i := 1; i < processors; i++ {
		task := slept(old(100+i, 10*second, 0), 0)
		task.CPU = i
		all = append(all, task)
	}
	return all
}

// Children of a shell come and go: what a reading meets of them has next to nothing of the time for which all were blocked.
func TestTasksThatCameAndWentWereBlockedByThePressure(t *testing.T) {
	t.Parallel()
	parent := func(sleeps int64) reading.Task { return slept(old(8, second/10, 0), sleeps) }
	child := func(id int, blocked time.Duration) reading.Task {
		return reading.Task{ID: id, Parent: 8, Start: 1005 * second, Run: second / 100, Blocked: blocked, Sleeps: 1, CPU: id % 2}
	}
	for name, c := range map[string]struct {
		shown, met      time.Duration
		blocked, atDisk float64
	}{
		"on one processor after the other": {2 * second, 0, 4, 0.4},
		"one is met in the midst":          {2 * second, second, 4, 0.4},
		"those that are met have all":      {second, 3 * second, 3, 0.3},
		"no pressure":                      {0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was := pod(parent(0), reading.Task{ID: 20, Parent: 8, Start: 999 * second, CPU: 0}, reading.Task{ID: 21, Parent: 8, Start: 999 * second, CPU: 1})
			is := pod(parent(200), child(30, c.met), child(31, 0))
			was.Usage, is.Usage = 0, 2*second
			was.DiskPressure, is.DiskPressure = &reading.Pressure{}, &reading.Pressure{Some: c.shown}
			got := compared(t, was, is)
			if got.BlockedBy != usage.ByTasks {
				t.Errorf("it was blocked by %q", got.BlockedBy)
			}
			const precision = 0.05
			if math.Abs(got.Blocked-c.blocked) > precision*c.blocked || math.Abs(got.DiskLoading-c.atDisk) > precision {
				t.Errorf("it was blocked for %v s, %v of its time, want %v and %v", got.Blocked, got.DiskLoading, c.blocked, c.atDisk)
			}
		})
	}
}

func TestAPodWithoutPressureIsBlockedByNothingKnown(t *testing.T) {
	t.Parallel()
	was, is := old(7, 0, 0), old(7, second, 0)
	is.Blocked = second // left over from when the kernel accounted it
	with, without := pod(was), pod(is)
	other := pod(old(9, 0, 0))
	other.UID, other.DiskPressure = "b", &reading.Pressure{}
	before, after := at(0, with, other), at(10*second, without, other)
	after.BlockedKnown = false
	v := reading.Between(before, after, "worker-1", nil)
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	if v.BlockedUnknown || v.Pods[0].BlockedBy != usage.ByNothing || v.Pods[0].Blocked != 0 || v.Pods[1].BlockedBy != usage.ByPressure {
		t.Errorf("got %+v", v)
	}
}

func TestWhereTheKernelAccountsTasksThePressureChangesNothing(t *testing.T) {
	t.Parallel()
	was, is := pod(old(7, 0, 0)), pod(old(7, second, 0))
	was.DiskPressure, is.DiskPressure = &reading.Pressure{}, &reading.Pressure{Some: 3 * second, Full: second}
	got := compared(t, was, is)
	if got.Blocked != 0 || got.DiskLoading != 0 || got.BlockedBy != usage.ByTasks || *got.DiskPressure != (usage.DiskPressure{SomeSeconds: 3, FullSeconds: 1}) {
		t.Errorf("got %+v", got)
	}
}
