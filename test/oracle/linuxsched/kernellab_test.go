package linuxsched_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

// emulated returns a kernel on the emulated processor of the kernel lab (hack/kernellab), which takes a nanosecond for each instruction.
// The costs are what pods alone took there.
func emulated(k linuxsched.Kernel) linuxsched.Kernel {
	const µs = time.Microsecond
	k.Costs.Tick, k.Costs.Switch, k.Costs.Wake, k.Costs.Idle, k.Costs.Fork = 15*µs, 6*µs, 4*µs, 6*µs, 35*µs
	return k
}

// What pods took on real kernels, on one emulated processor. test/testdata/kernellab/README.md says how that was measured. Only the costs
// of the kernel's work are fitted, to what pods took alone.
func TestPodsOnOneProcessorTakeWhatTheKernelMeasured(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/kernellab/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d tables, %v", len(files), err)
	}
	for _, file := range files {
		version := strings.TrimSuffix(filepath.Base(file), ".csv")
		k, simulated := kernels[version]
		if !simulated { // 7.3 ends slices without the tick
			t.Logf("the simulation has no Linux %s", version)
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			m := linuxsched.Machine{Kernel: emulated(k), CPUs: 1, Seed: 1}
			alone, free, limited, forking := &tally{}, &tally{}, &tally{}, &tally{}
			for _, mix := range mixes(t, file) {
				pods, limits, forks := emulatedPods(t, mix)
				stretches := emulate(t, m, pods, mix[0].number(t, "seconds"))
				for i, r := range mix {
					threads := r.number(t, "threads")
					seconds := r.number(t, "alone_seconds")
					got, want := emulate(t, m, pods[i:i+1], seconds)[0], threads*seconds/r.number(t, "alone_own")
					y := alone
					if r["forks"] == "true" {
						y = forking
					}
					y.add(got/want-1, fmt.Sprintf("%s pod %s alone: %.3f, measured %.3f", r["mix"], r["pod"], got, want))
					got, want = stretches[i]/got, r.number(t, "dilation")
					y = free
					switch {
					case forks:
						y = forking
					case limits:
						y = limited
					}
					y.add(got/want-1, fmt.Sprintf("%s pod %s: %.3f, measured %.3f", r["mix"], r["pod"], got, want))
				}
			}
			alone.within(t, "pods alone", 0.002, 0.2, 1) // one uses exactly its limit
			free.within(t, "mixes without limits", 0.004, 0.04, 0)
			limited.within(t, "mixes with limits", 0.005, 0.06, 0)
			forking.within(t, "mixes in which pods fork", 0.016, 0.2, 3)
		})
	}
}

// emulatedPods returns the pods of a mix of the kernel lab, and whether any has a limit, or forks.
func emulatedPods(t *testing.T, mix []row) (pods []linuxsched.Pod, limits, forks bool) {
	t.Helper()
	const thousandth = 100 * time.Microsecond // of a core in a period
	outer := &linuxsched.Group{}
	for _, r := range mix {
		p := linuxsched.Pod{Group: linuxsched.Group{
			Weight: int(r.number(t, "weight")), Quota: time.Duration(r.number(t, "limit")) * thousandth,
			Burst: time.Duration(r.number(t, "spare")) * thousandth, Parent: outer,
		}}
		for k := range int(r.number(t, "threads")) {
			p.Threads = append(p.Threads, programOf(t, r, int64(r.number(t, "seed"))+1000003*int64(k)))
		}
		pods = append(pods, p)
		limits = limits || p.Quota > 0
		forks = forks || r["forks"] == "true"
	}
	return pods, limits, forks
}

// emulate returns the stretches of pods in a window from their start.
func emulate(t *testing.T, m linuxsched.Machine, pods []linuxsched.Pod, seconds float64) []float64 {
	t.Helper()
	result, err := m.Run(pods, 0, time.Duration(seconds*float64(time.Second)))
	if err != nil {
		t.Fatal(err)
	}
	var stretches []float64
	for _, u := range result.Pods {
		stretches = append(stretches, u.Stretch())
	}
	return stretches
}
