package measurement

import (
	"math"
	"testing"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/probe/result"
)

// A target that idles for 4 s and computes for 7.8 s, and a probe of the CPU, on a processor of
// which an observer takes a fortieth. While the target can run it has half of the rest: beside the
// probe it takes 20 s instead of 19.6 s.
func TestTheObserverIsNoContention(t *testing.T) {
	t.Parallel()
	const (
		idle, work = 4.0, 7.8 // seconds
		observing  = 0.025
		rest       = 1 - observing
		ready      = 2 * work / rest
		begin, end = 100, 100 + idle + ready
	)
	w := &result.Watch{
		BootID: "boot", Begin: begin * 1e9, End: end * 1e9,
		CPUNanos: work * 1e9, WaitNanos: (ready - work) * 1e9, ObserverNanos: observing * (idle + ready) * 1e9,
	}
	probe := &result.Run{Intensity: 1, BootID: "boot", Series: result.Series{Begin: 90e9, Interval: 1e9, Thousandths: []int64{0}}}
	for second := int64(90); second < 130; second++ {
		pace := 1000.0 // milliseconds of the processor a second
		if second >= begin && second < int64(end) {
			pace *= rest * (idle + ready/2) / (idle + ready)
		}
		done := probe.Series.Thousandths[second-90]
		probe.Series.Thousandths = append(probe.Series.Thousandths, done+int64(pace*1000))
	}
	probe.Processor = probe.Series
	for job, dilation := range map[string]float64{
		v1alpha1.ProbeCPU:             (idle + 2*work) / (idle + work),
		v1alpha1.ProbeMemoryBandwidth: (idle + ready) / (rest * (idle + ready/2)),
	} {
		if job != v1alpha1.ProbeCPU {
			probe.Processor = result.Series{}
		}
		r := &reading{
			step:  &step{kind: beside, resource: &probed{Name: "it", Job: job, Threads: 1}},
			probe: probe, watches: []result.Watch{*w}, alone: (idle + work) * 1e9,
		}
		got, flaw := r.sample()
		if flaw != nil {
			t.Fatalf("%s: %+v", job, flaw)
		}
		if took := got.TargetNanos / 1e9; math.Abs(took-(idle+2*work)) > 1e-6 {
			t.Errorf("%s: the target took %v s, want %v", job, took, idle+2*work)
		}
		if d := got.ProbeDilation; math.Abs(d-dilation) > 1e-4 {
			t.Errorf("%s: the probe is dilated %v times, want %v", job, d, dilation)
		}
		probe.Processor = probe.Series
	}
}
