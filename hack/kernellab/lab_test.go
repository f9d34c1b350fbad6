package main

import (
	"errors"
	"flag"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

// What make test-lab gives the tests that boot a kernel.
var (
	kernelFolder = flag.String("kernels", "", "`folder` for kernels to run the tests with")
	gaugeFile    = flag.String("gauge", "", "`file` of loadline-gauge, statically linked")
)

// pod returns a row of a mix; it never sleeps.
func pod(mix string, number, request int) mixes.Row {
	return mixes.Row{Mix: mix, Seconds: 10, Pod: number, Request: request, Loading: 1, Burst: 10, Threads: 1, Kind: mixes.Constant}
}

func TestPodsRunAloneOnceAndThenTogether(t *testing.T) {
	t.Parallel()
	rows := []mixes.Row{pod("a", 1, 1000), pod("a", 2, 500), pod("b", 1, 100)}
	rows[1].Limit, rows[1].Spare, rows[1].Kind, rows[1].Forks, rows[1].Seed = 300, 50, mixes.Exponential, true, 7
	rows[2].Loading, rows[2].Burst, rows[2].Threads = 0.25, 0.2, 3
	for name, test := range map[string]struct {
		settings
		want string
	}{
		"control groups of version 2": {settings{cgroup: 2, settle: 60, groups: flat, processors: 1}, "2 60 1 pods/%d\n" +
			"alone/1 5 39:0:0:1:10:1:c:0:0\nalone/2 10 39:300:50:1:10:1:e:1:7\nalone/3 10 39:0:0:0.25:0.2:3:c:0:0\n" +
			"a 10 39:0:0:1:10:1:c:0:0 20:300:50:1:10:1:e:1:7\nb 10 4:0:0:0.25:0.2:3:c:0:0\nc 10 4:0:0:1:10:1:c:0:0\n"},
		"control groups of version 1, slices of 6 processors": {settings{cgroup: 1, groups: flat, processors: 1, cpus: 6}, "1 0 3 pods/%d\n" +
			"alone/1 5 1024:0:0:1:10:1:c:0:0\nalone/2 10 1024:300:50:1:10:1:e:1:7\nalone/3 10 1024:0:0:0.25:0.2:3:c:0:0\n" +
			"a 10 1024:0:0:1:10:1:c:0:0 512:300:50:1:10:1:e:1:7\nb 10 102:0:0:0.25:0.2:3:c:0:0\nc 10 102:0:0:1:10:1:c:0:0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newExperiment(append(slices.Clip(rows), pod("c", 1, 100)), 250, test.settings, func(string) {})
			if diff := cmp.Diff(test.want, e.text()); diff != "" {
				t.Errorf("what the guest is told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDilationsAreOfWhatWasDoneAloneAndTogether(t *testing.T) {
	t.Parallel()
	var told []string
	e := newExperiment([]mixes.Row{pod("a", 1, 1000), pod("a", 2, 1000)}, 250, settings{cgroup: 2, processors: 1}, func(mix string) { told = append(told, mix) })
	e.text()
	const said = `kernel,6.12.117,700000,500.08
alone/1,1,495,4.95,4.95,4.98,0.01,30,0,0,0

a,1,490,4.95,4.95,5.0,5.0,900,0,0,0
a,2,330,3.3,3.3,3.4,6.6,800,100,40,2.5
end
`
	if ended, err := listen(strings.NewReader(said), e.hear); !ended || err != nil {
		t.Fatal(ended, err)
	}
	rows, err := e.results()
	if err != nil {
		t.Fatal(err)
	}
	want := mixes.Result{
		Kernel: "6.12.117", HZ: 250, Slice: 700000, Processors: 1, Cgroup: 2, Weight: 39, AloneSeconds: 5,
		Alone:    mixes.Account{Own: 4.95, Computed: 4.95, Bursts: 495, Run: 4.98, Wait: 0.01, Sleep: 0.01, Slices: 30},
		Together: mixes.Account{Own: 3.3, Computed: 3.3, Bursts: 330, Run: 3.4, Wait: 6.6, Slices: 800, Periods: 100, Throttled: 40, Held: 2.5},
		Dilation: 3,
	}
	rounding := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, rows[1].Result, rounding); diff != "" || math.Abs(rows[0].Dilation-2) > 1e-9 {
		t.Errorf("the first is dilated to %v, the second (-want +got):\n%s", rows[0].Dilation, diff)
	}
	if diff := cmp.Diff([]string{"alone/1", "a"}, told); diff != "" {
		t.Errorf("mixes told (-want +got):\n%s", diff)
	}
}

func TestWhatTheGuestComplainsOfIsTheError(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for name, test := range map[string]struct {
		said, want string
	}{
		"an error":      {"error,/sys: No such device\n", "guest: /sys: No such device"},
		"what we think": {"a,1\n", "stop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := listen(strings.NewReader(test.said), func(string) error { return stop }); err == nil || err.Error() != test.want {
				t.Errorf("the error is %v", err)
			}
		})
	}
	e := newExperiment([]mixes.Row{pod("a", 1, 1000)}, 250, settings{cgroup: 2, processors: 1}, func(string) {})
	e.text()
	if err := e.hear("a,1,2"); err == nil || err.Error() != `guest: "a,1,2" is no line of results` {
		t.Errorf("the error of half a line is %v", err)
	}
	if _, err := e.results(); err == nil || err.Error() != "mix a: pod 1 did nothing in 5 s" {
		t.Errorf("the error of a mix that did not run is %v", err)
	}
}

// skipWithoutKernels skips a test that boots one.
func skipWithoutKernels(t *testing.T) {
	t.Helper()
	if *kernelFolder == "" {
		t.Skip("no folder for kernels: make test-lab runs this test")
	}
	if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
		t.Skipf("make lab-packages installs it on Debian: %v", err)
	}
}

// boot lets a kernel run mixes.
func boot(t *testing.T, o options, rows []mixes.Row) *experiment {
	t.Helper()
	o.mirror, o.folder, o.qemu, o.settle = defaultMirror, *kernelFolder, "qemu-system-x86_64", 10
	e, err := o.run(t.Context(), slices.Clone(rows), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// booted returns what a kernel makes of mixes of pods in groups that lie side by side.
func booted(t *testing.T, o options, rows []mixes.Row) []mixes.Row {
	t.Helper()
	o.groups = flat
	got, err := boot(t, o, rows).results()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if r.HZ != 250 || !strings.HasPrefix(r.Kernel, o.kernel) || r.Processors != o.processors {
			t.Errorf("it is Linux %s with %d ticks a second on %d processors", r.Kernel, r.HZ, r.Processors)
		}
	}
	return got
}

// Weights, a quota and a thread that sleeps alone have closed forms. Ticks and switches take less than 1 %.
func TestAKernelSharesAProcessorByWeightsAndQuotas(t *testing.T) {
	t.Parallel()
	skipWithoutKernels(t)
	rows := []mixes.Row{
		pod("weights", 1, 1000), pod("weights", 2, 500),
		pod("quota", 1, 1000), pod("quota", 2, 1000),
		pod("alone", 1, 1000),
	}
	rows[3].Limit = 200
	rows[4].Loading = 0.5
	for name, o := range map[string]options{
		"6.1 with control groups of version 1":    {kernel: "6.1", settings: settings{cgroup: 1, processors: 1}},
		"6.12 with slices as on eight processors": {kernel: "6.12", settings: settings{cgroup: 2, processors: 1, cpus: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := booted(t, o, rows)
			heavy := float64(got[0].Weight) / float64(got[1].Weight)
			for i, want := range []float64{1 + 1/heavy, 1 + heavy, 1 / 0.8, 1, 1} {
				if math.Abs(got[i].Dilation/want-1) > 0.01 {
					t.Errorf("%s, pod %d: dilated to %v, want %v", got[i].Mix, got[i].Pod, got[i].Dilation, want)
				}
			}
			if alone := got[3].Stretch(); math.Abs(alone/5-1) > 0.01 || got[3].Alone.Throttled < 99 {
				t.Errorf("alone a limit of 0.2 stretches a pod to %v, throttled in %d periods", alone, got[3].Alone.Throttled)
			}
		})
	}
}

// A thread that would get more than a processor by its weight has one, and the others share the other one. Threads move between the
// processors every few milliseconds, which is where 3 % go.
func TestAKernelSharesTwoProcessorsByWeights(t *testing.T) {
	t.Parallel()
	skipWithoutKernels(t)
	rows := []mixes.Row{
		pod("weights", 1, 1000), pod("weights", 2, 500), pod("weights", 3, 250), pod("weights", 4, 125),
		pod("apart", 1, 1000), pod("apart", 2, 10),
	}
	got := booted(t, options{kernel: "6.12", settings: settings{cgroup: 2, processors: 2}}, rows)
	for i, want := range []float64{1, 35.0 / 20, 35.0 / 10, 35.0 / 5, 1, 1} { // weights 39, 20, 10, 5
		if math.Abs(got[i].Dilation/want-1) > 0.03 {
			t.Errorf("%s, pod %d: dilated to %v, want %v", got[i].Mix, got[i].Pod, got[i].Dilation, want)
		}
	}
}

// A gauge sees what programs took of a processor, but neither what interrupts took of their time there nor how late timers are: 2 %.
// It takes a process that starts another one for each burst for one that computes a little more than the burst.
func TestAGaugeSeesWhatProgramsMeasured(t *testing.T) {
	t.Parallel()
	skipWithoutKernels(t)
	if *gaugeFile == "" {
		t.Skip("no gauge: make test-lab runs this test")
	}
	const seconds = 31
	rows := []mixes.Row{
		{Pod: 1, Request: 1000, Loading: 1, Burst: 10, Threads: 1, Kind: mixes.Constant},
		{Pod: 2, Request: 500, Loading: 0.3, Burst: 2, Threads: 2, Kind: mixes.Exponential},
		{Pod: 3, Request: 500, Limit: 100, Loading: 0.4, Burst: 5, Threads: 1, Kind: mixes.Constant},
		{Pod: 4, Request: 200, Loading: 0.1, Burst: 1, Threads: 1, Kind: mixes.Exponential},
		{Pod: 5, Request: 200, Loading: 0.1, Burst: 30, Threads: 1, Kind: mixes.Constant, Forks: true},
	}
	for i := range rows {
		rows[i].Mix, rows[i].Seconds, rows[i].Seed = "a", seconds, i
	}
	for name, o := range map[string]options{
		"6.1 with control groups of version 1 by cgroupfs": {kernel: "6.1", settings: settings{cgroup: 1, groups: cgroupfs, processors: 1}},
		"6.12 with control groups of version 2 by systemd": {kernel: "6.12", settings: settings{cgroup: 2, groups: systemd, processors: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.gauge = *gaugeFile
			sights, err := boot(t, o, rows).sights()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range sights {
				if math.Abs(s.off()) > 0.04 {
					t.Errorf("pod %d is dilated to %v, and the gauge says to %v", s.Pod, s.stretch(), s.seen.Dilation)
				}
				if math.Abs(s.seen.CPULoading/s.loading()-1) > 0.06 || math.Round(s.seen.Threads) != float64(s.Threads) {
					t.Errorf("pod %d computes in %v of %d threads' time, and the gauge says in %v of %v", s.Pod, s.loading(), s.Threads,
						s.seen.CPULoading, s.seen.Threads)
				}
				if s.Loading < 1 && s.burstOff() > 1.06 {
					t.Errorf("pod %d computes for %v ms at a time, and the gauge says for %v s", s.Pod, s.burst(), s.seen.BurstSeconds)
				}
				if s.Limit > 0 && s.seen.Throttled < 1 || s.Limit == 0 && s.seen.Throttled > 0 {
					t.Errorf("pod %d with a limit of %d is throttled for %v s of %v, as the gauge says", s.Pod, s.Limit, s.seen.Throttled, seconds)
				}
			}
		})
	}
}
