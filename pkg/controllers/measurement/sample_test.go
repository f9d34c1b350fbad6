package measurement

import (
	"math"
	"testing"

	"loadline.dev/loadline/pkg/probe/report"
)

// A target that computes, for 6 s of 10 s alone, and a probe of the CPU, on a processor of
// which an observer takes a fortieth. While the target can run it has half of the rest.
func TestTheObserverIsNoContention(t *testing.T) {
	t.Parallel()
	const (
		idle, work = 4.0, 6.0 // seconds
		observing  = 0.025
		rest       = 1 - observing
		begin      = 100e9
	)
	for name, test := range map[string]struct {
		fraction float64 // of the processor that the target has while it can run
		probes   float64 // dilation of the probe without the observer
	}{
		"alone":  {rest, 0},
		"beside": {rest / 2, (idle + 2*work) / (idle + work)},
	} {
		ready := work / test.fraction
		elapsed := idle + ready
		w := &report.Watch{
			Begin: begin, End: begin + int64(elapsed*1e9),
			CPUNanos: work * 1e9, WaitNanos: int64((ready - work) * 1e9), ObserverNanos: int64(observing * elapsed * 1e9),
		}
		if got, want := float64(*given(w))/1e9, idle+ready*rest; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: it took %v s, want %v", name, got, want)
		}
		if test.probes == 0 {
			continue
		}
		pace := 1000 * rest * (idle + ready/2) / elapsed
		probe := &report.Run{Intensity: 1, Processor: report.Series{Thousandths: []int64{0}}}
		if got := 1000 / unobserved(pace, probe, w); math.Abs(got-test.probes) > 1e-6 {
			t.Errorf("%s: the probe is dilated %v times, want %v", name, got, test.probes)
		}
		if got := unobserved(pace, &report.Run{Intensity: 1}, w); math.Abs(got-pace) > 1e-12 {
			t.Errorf("%s: the pace %v of a probe of no CPU became %v", name, pace, got)
		}
	}
}

func TestATargetFromWhichAllWasTakenStillTookTime(t *testing.T) {
	t.Parallel()
	if got := *given(&report.Watch{Begin: 5, End: 15, CPUNanos: 10, StolenNanos: 9, ObserverNanos: 9}); got != 1 {
		t.Errorf("it took %d ns, want 1", got)
	}
}
