package wakeup_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/wakeup"
)

// delay returns what a thread of the first class waits.
func delay(processors int, classes ...wakeup.Class) float64 {
	return wakeup.Delays(processors, classes)[0]
}

func TestAThreadThatFindsAllProcessorsBusyWaitsTheLongest(t *testing.T) {
	t.Parallel()
	one := wakeup.Class{Loading: 0.3, Burst: 0.002, Present: 0.3, Running: 0.3}
	for _, processors := range []int{2, 3, 4, 8, 15} { // with one last-level cache
		busy := wakeup.Class{Threads: processors, Loading: 1, Present: 1, Running: 1}
		if got, want := delay(processors, one, busy), wakeup.Longest(processors, 0.3, 0.002); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d processors: waits %v, want %v", processors, got, want)
		}
	}
}

// On four processors of which one is busy for certain, and little used so that all but the previous one are looked at, a thread finds an
// idle one. On two, of which one is busy, it has been there before with a probability of a half, and finds the other one.
func TestAThreadThatFindsAnIdleProcessorDoesNotWait(t *testing.T) {
	t.Parallel()
	one := wakeup.Class{Loading: 0.1, Burst: 0.002, Present: 0.1, Running: 0.1}
	busy := wakeup.Class{Loading: 1, Present: 1, Running: 0.1}
	for _, processors := range []int{2, 4} {
		if got := delay(processors, one, busy); got != 0 {
			t.Errorf("%d processors: waits %v", processors, got)
		}
	}
}

// From a utilization of 85 % on no idle processor is searched for: with three of four busy a thread waits if both that it ran on
// before are, (3/4)².
func TestBusyProcessorsAreNotSearchedForAnIdleOne(t *testing.T) {
	t.Parallel()
	one := wakeup.Class{Loading: 0.5, Burst: 0.002, Present: 0.5, Running: 0.5}
	busy := wakeup.Class{Threads: 3, Loading: 1, Present: 1, Running: 1}
	if got, want := delay(4, one, busy), 9.0/16*wakeup.Longest(4, 0.5, 0.002); math.Abs(got-want) > 1e-12 {
		t.Errorf("waits %v, want %v", got, want)
	}
}

// The slice is 0.7 ms on one processor, twice that on two, and four times that on eight and more; a thread with long bursts and long
// sleeps waits for a third of it at most.
func TestTheLongestWaitIsAThirdOfASlice(t *testing.T) {
	t.Parallel()
	const burst = 10.0 // seconds
	for processors, slice := range map[int]float64{2: 1.4e-3, 4: 2.1e-3, 8: 2.8e-3, 128: 2.8e-3} {
		if got := burst * wakeup.Longest(processors, 1e-9, burst); math.Abs(got/(slice/3)-1) > 1e-4 {
			t.Errorf("%d processors: %v, want a third of %v", processors, got, slice)
		}
	}
}

func TestNoThreadWaitsWhereNothingIsKnownToHoldItUp(t *testing.T) {
	t.Parallel()
	busy := wakeup.Class{Threads: 8, Loading: 1, Present: 1, Running: 1}
	for name, got := range map[string]float64{
		"alone":               delay(4, wakeup.Class{Loading: 0.5, Burst: 0.01, Present: 0.5, Running: 0.5}),
		"on one processor":    delay(1, wakeup.Class{Loading: 0.5, Burst: 0.01, Present: 0.5, Running: 0.5}, busy),
		"of unknown bursts":   delay(4, wakeup.Class{Loading: 0.5, Present: 0.5, Running: 0.5}, busy),
		"that never sleeps":   delay(4, wakeup.Class{Loading: 1, Burst: 0.01, Present: 1, Running: 1}, busy),
		"beside idle threads": delay(4, wakeup.Class{Loading: 0.5, Burst: 0.01, Present: 0.5, Running: 0.5}, wakeup.Class{Threads: 100}),
	} {
		if got != 0 {
			t.Errorf("a thread %s waits %v", name, got)
		}
	}
}

func drawClass(t *rapid.T) wakeup.Class {
	fraction := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1e-12, 0.5, 1 - 1e-12, 1}))
	c := wakeup.Class{Threads: rapid.IntRange(0, 20).Draw(t, "threads"), Loading: fraction.Draw(t, "loading"), Present: fraction.Draw(t, "present")}
	c.Running = c.Present * fraction.Draw(t, "running")
	c.Burst = rapid.SampledFrom([]float64{0, 1e-9, 1e-4, 1e-3, 0.1, 1e3}).Draw(t, "burst")
	return c
}

// Whatever threads there are, a wait is from 0 to the longest one, and no shorter with one more thread that is always there.
func TestWaitsGrowWithOtherThreadsUpToTheLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		processors := rapid.SampledFrom([]int{1, 2, 3, 4, 15, 16, 24, 32, 128}).Draw(t, "processors")
		classes := rapid.SliceOfN(rapid.Custom(drawClass), 1, 6).Draw(t, "classes")
		before := wakeup.Delays(processors, classes)
		more := wakeup.Delays(processors, append(classes, wakeup.Class{Loading: 1, Present: 1, Running: 1}))
		const rounding = 1e-9
		for k, c := range classes {
			longest := wakeup.Longest(processors, c.Loading, c.Burst)
			if !(before[k] >= 0 && before[k] <= longest*(1+rounding)) || !(more[k] >= before[k]*(1-rounding)-rounding*longest) {
				t.Fatalf("class %d of %+v on %d processors waits %v, with one more thread %v, at most %v", k, classes, processors, before[k], more[k], longest)
			}
		}
	})
}

// Threads of one class are as many classes of one thread each.
func TestThreadsOfAClassAreAlike(t *testing.T) {
	t.Parallel()
	one := wakeup.Class{Threads: 1, Loading: 0.4, Burst: 0.001, Present: 0.6, Running: 0.35}
	three := one
	three.Threads = 3
	other := wakeup.Class{Threads: 2, Loading: 0.8, Burst: 0.02, Present: 0.9, Running: 0.7}
	if got, want := delay(4, three, other), delay(4, one, one, one, other); math.Abs(got-want) > 1e-12 || got == 0 {
		t.Errorf("%v as a class, %v one by one", got, want)
	}
}

func BenchmarkDelays(b *testing.B) {
	classes := make([]wakeup.Class, 40)
	for k := range classes {
		part := float64(k+1) / float64(len(classes)+1)
		classes[k] = wakeup.Class{Threads: 4, Loading: part, Burst: 0.002, Present: part, Running: part}
	}
	for b.Loop() {
		wakeup.Delays(64, classes)
	}
}
