package reading_test

import (
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
		blocked          time.Duration
		tasks            []reading.Task
		threads, loading float64
	}{
		"one has room for all":           {4 * second, []reading.Task{slept(old(7, 6*second, 0), 9), slept(old(8, 0, 0), 2)}, 1, 0.4},
		"a task that never sleeps":       {4 * second, []reading.Task{slept(old(7, 10*second, 0), 0), slept(old(8, 0, 0), 2)}, 14.0 * 14 / 116, 4 * 0.4 / 14},
		"what is left is of the next":    {8 * second, []reading.Task{slept(old(7, 6*second, 0), 9), slept(old(8, 0, 0), 2)}, 14.0 * 14 / 116, (10*0.4 + 4*0.4) / 14},
		"no time without waiting at all": {8 * second, []reading.Task{slept(old(7, 5*second, 5*second), 9)}, 1, 0},
		"no task that was seen":          {8 * second, nil, 1, 0},
		"nothing blocked":                {0, []reading.Task{slept(old(7, 6*second, 0), 9)}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before []reading.Task
			for _, task := range c.tasks {
				before = append(before, slept(old(task.ID, 0, 0), 0))
			}
			was, is := pod(before...), pod(c.tasks...)
			was.Usage, is.Usage = 0, time.Second // so that it is reported without tasks
			got := byPressure(t, c.blocked, was, is)
			diff(t, []float64{c.blocked.Seconds(), c.threads, c.loading}, []float64{got.Blocked, got.Threads, got.DiskLoading})
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
