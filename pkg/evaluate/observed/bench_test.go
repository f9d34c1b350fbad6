package observed

import (
	"fmt"
	"testing"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// crowd is a minute of a node of 110 pods, with disks or without.
func crowd(withDisks bool) *Input {
	var pods []usage.Pod
	for i := range 110 {
		p := user(fmt.Sprintf("p-%d", i), 0.5)
		if withDisks {
			p.Disks = []usage.PodDisk{reads("dm-0", 100), reads("vda", 100)}
		}
		pods = append(pods, p)
	}
	var disks []usage.Disk
	if withDisks {
		disks = []usage.Disk{device("dm-0", 11000, 2e-3, "vda"), device("vda", 11000, 2e-3)}
	}
	var intervals []usage.Interval
	for range 6 {
		intervals = append(intervals, tenSeconds(disks, pods...))
	}
	return onNode(intervals)
}

// BenchmarkObserve is the observation of a node of 110 pods from a minute of its gauge, without a solution of its model.
func BenchmarkObserve(b *testing.B) {
	for _, withDisks := range []bool{false, true} {
		b.Run(fmt.Sprintf("disks=%v", withDisks), func(b *testing.B) {
			in := crowd(withDisks)
			for b.Loop() {
				Observe(in, DefaultAbove)
			}
		})
	}
}
