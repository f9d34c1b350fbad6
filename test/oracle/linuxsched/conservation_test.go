package linuxsched_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

// visitor returns a program that visits the first station for a fraction of its time alone, and sleeps.
func visitor(seed uint64, loading float64) func() linuxsched.Program {
	return func() linuxsched.Program {
		const service = 5 * time.Millisecond
		return &linuxsched.Cycle{Random: rand.New(rand.NewPCG(seed, 2)), Steps: []linuxsched.Step{
			{Kind: linuxsched.Visit, Length: service},
			{Kind: linuxsched.Sleep, Length: time.Duration(float64(service) * (1 - loading) / loading)},
		}}
	}
}

// draw draws a machine and pods on it.
func draw(t *rapid.T) (linuxsched.Machine, []linuxsched.Pod) {
	cpus := rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "processors")
	m := linuxsched.Machine{
		Kernel: kernels[rapid.SampledFrom([]string{"6.1", "6.12", "6.18"}).Draw(t, "kernel")], CPUs: cpus,
		Caches: rapid.SampledFrom([]int{1, 1, cpus / 2}).Draw(t, "caches"), Stations: []linuxsched.Station{{Discipline: linuxsched.Sharing}, {Servers: 2}},
		Seed: uint64(rapid.IntRange(0, 100).Draw(t, "seed")),
	}
	outer := []*linuxsched.Group{nil, {Weight: 200}, {Weight: 20, Quota: 50 * time.Millisecond}}
	var pods []linuxsched.Pod
	for range rapid.IntRange(1, 10).Draw(t, "pods") {
		p := linuxsched.Pod{Group: linuxsched.Group{
			Weight: rapid.SampledFrom([]int{0, 1, 8, 100, 10000}).Draw(t, "weight"),
			Quota:  rapid.SampledFrom([]time.Duration{0, 0, 2 * time.Millisecond, 30 * time.Millisecond, 150 * time.Millisecond}).Draw(t, "quota"),
			Burst:  rapid.SampledFrom([]time.Duration{0, 10 * time.Millisecond}).Draw(t, "burst of the quota"),
			Parent: rapid.SampledFrom(outer).Draw(t, "group"),
		}}
		lengths := rapid.SliceOfN(rapid.SampledFrom([]time.Duration{0, time.Nanosecond, 100 * time.Microsecond, 3 * time.Millisecond, 80 * time.Millisecond}), 4, 4).Draw(t, "lengths")
		steps := []linuxsched.Step{
			{Kind: rapid.SampledFrom([]linuxsched.Kind{linuxsched.Compute, linuxsched.Fork}).Draw(t, "kind"), Length: time.Microsecond + lengths[0]},
			{Kind: linuxsched.Sleep, Length: lengths[1]},
			{Kind: linuxsched.Visit, Station: 0, Length: lengths[2]},
			{Kind: linuxsched.Visit, Station: 1, Length: lengths[3]},
		}[:rapid.IntRange(1, 4).Draw(t, "steps")]
		shape := rapid.SampledFrom([]linuxsched.Shape{linuxsched.Exponential, linuxsched.Constant, linuxsched.LogNormal}).Draw(t, "shape")
		for range rapid.IntRange(1, 6).Draw(t, "threads") {
			seed := uint64(rapid.IntRange(0, 1000).Draw(t, "seed"))
			p.Threads = append(p.Threads, func() linuxsched.Program {
				return &linuxsched.Cycle{Steps: steps, Shape: shape, Random: rand.New(rand.NewPCG(seed, 3))}
			})
		}
		pods = append(pods, p)
	}
	return m, pods
}

func TestAllTimeIsAccountedForAndRepeats(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, pods := draw(t)
		const window = 100 * time.Millisecond
		r, err := m.Run(pods, 50*time.Millisecond, window)
		if err != nil {
			t.Fatal(err)
		}
		again, err := m.Run(pods, 50*time.Millisecond, window)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Fatal(diff)
		}
		run := time.Duration(0)
		for i, u := range r.Pods {
			if sum := u.Run + u.WaitOwn + u.WaitOther + u.Throttled + u.Sleep + u.Service + u.WaitThere; sum != u.Elapsed {
				t.Fatalf("pod %d: %v of %v is accounted for: %+v", i, sum, u.Elapsed, u)
			}
			blamed := time.Duration(0)
			for _, d := range r.Blame[i] {
				blamed += d
			}
			if blamed != u.WaitOwn+u.WaitOther {
				t.Fatalf("pod %d: others are blamed for %v of %v", i, blamed, u.WaitOwn+u.WaitOther)
			}
			if u.Own > u.Elapsed || u.Own < 0 {
				t.Fatalf("pod %d has done %v in %v", i, u.Own, u.Elapsed)
			}
			run += u.Run
		}
		if run > window*time.Duration(m.CPUs) {
			t.Fatalf("%d processors ran for %v in %v", m.CPUs, run, window)
		}
	})
}

func TestWhoRunsIsBlamed(t *testing.T) {
	t.Parallel()
	pods := []linuxsched.Pod{pod(10, 2, 5*time.Millisecond, 0.3, 1), pod(100, 1, time.Second, 1, 2), pod(100, 1, time.Millisecond, 0.02, 3)}
	r, err := linuxsched.Machine{Kernel: linuxsched.Linux6_12(), CPUs: 1}.Run(pods, time.Second, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	blame := r.Blame[0]
	if blame[1] < 10*blame[0] || blame[0] < 2*blame[2] || blame[2] == 0 || blame[0] != r.Pods[0].WaitOwn || r.Blame[1][1] != 0 {
		t.Errorf("the light pod waited for itself for %v, for the busy one %v, for the one that is seldom there %v", blame[0], blame[1], blame[2])
	}
}

func TestWhatIsNoMachineOrPodIsRefused(t *testing.T) {
	t.Parallel()
	k := linuxsched.Linux6_12()
	for want, test := range map[string]struct {
		machine linuxsched.Machine
		group   linuxsched.Group
	}{
		"machine.CPUs: 0 is below 1":                       {linuxsched.Machine{Kernel: k}, linuxsched.Group{}},
		"machine.Caches: 3 do not divide 4 processors":     {linuxsched.Machine{Kernel: k, CPUs: 4, Caches: 3}, linuxsched.Group{}},
		"machine.Kernel.HZ: 0 is below 1":                  {linuxsched.Machine{CPUs: 1}, linuxsched.Group{}},
		"pods[0]: weight 10001 is not between 1 and 10000": {linuxsched.Machine{Kernel: k, CPUs: 1}, linuxsched.Group{Weight: 10001}},
		"pods[0]: quota 1µs is below 1ms":                  {linuxsched.Machine{Kernel: k, CPUs: 1}, linuxsched.Group{Quota: time.Microsecond}},
		"pods[0]: weight -1 is not between 1 and 10000":    {linuxsched.Machine{Kernel: k, CPUs: 1}, linuxsched.Group{Parent: &linuxsched.Group{Weight: -1}}},
	} {
		_, err := test.machine.Run([]linuxsched.Pod{{Group: test.group}}, 0, time.Second)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Windows that follow each other add up to one as long as all of them: looking changes nothing.
func TestWindowsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, pods := draw(t)
		const settle, window, count = 100 * time.Millisecond, 50 * time.Millisecond, 3
		whole, err := m.Run(pods, settle, count*window)
		if err != nil {
			t.Fatal(err)
		}
		windows, err := m.Windows(pods, settle, window)
		if err != nil {
			t.Fatal(err)
		}
		sum, seen := make([]linuxsched.Usage, len(pods)), 0
		for result := range windows {
			for i := range sum {
				sum[i].Add(result.Pods[i])
			}
			if seen++; seen == count {
				break
			}
		}
		rounding := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= count*time.Microsecond })
		if diff := cmp.Diff(whole.Pods, sum, rounding); diff != "" {
			t.Errorf("(-one window +%d windows)\n%s", count, diff)
		}
	})
}
