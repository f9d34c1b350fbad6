package reading_test

import (
	"testing"
	"time"

	"loadline.dev/loadline/pkg/gauge/reading"
)

// A kubelet that reserves processors has its pods run on the others.
func TestANodeIsTheProcessorsThatItsPodsRunOn(t *testing.T) {
	t.Parallel()
	state := func(since, run, busy0, busy1 time.Duration, processors ...string) *reading.Reading {
		r := at(since, pod(old(1, run, 0)))
		r.Busy, r.Stolen = busy0+busy1, 3*ms
		r.Processors = []reading.Processor{{Number: 0, Busy: busy0, Stolen: ms}, {Number: 1, Busy: busy1, Stolen: ms}}
		r.Pods[0].Groups = append(r.Pods[0].Groups, group("pause", old(2, 0, 0)))
		for i, list := range processors {
			r.Pods[0].Groups[i].Processors = list
		}
		return r
	}
	for name, c := range map[string]struct {
		processors []string
		cpus       int
		busy       float64
	}{
		"all":                                 {[]string{"0-1", "0-1"}, 2, 9},
		"one, and what holds the pod has all": {[]string{"1", "0-1"}, 1, 6},
		"the other":                           {[]string{"0", "0-1"}, 1, 3},
		"not known":                           {nil, 2, 9},
		"none that is online":                 {[]string{"7"}, 2, 9},
	} {
		interval := reading.Between(state(0, 0, second, second, c.processors...), state(10*second, 5*second, 4*second, 7*second, c.processors...), "worker-1", nil)
		if err := interval.Validate(); err != nil {
			t.Fatal(err)
		}
		if interval.CPUs != c.cpus || interval.BusySeconds != c.busy {
			t.Errorf("%s: %d processors that were busy for %v s, want %d and %v", name, interval.CPUs, interval.BusySeconds, c.cpus, c.busy)
		}
	}
}
