package observations_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/evaluate/observations"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// reader is a pod of one thread that was blocked for a part of ten seconds by reads of a millisecond each when the disk is quiet.
func reader(uid string, blocked float64, operations int64) usage.Pod {
	p := seen(uid, 0.1)
	p.DiskLoading, p.Blocked = blocked, 10*blocked
	p.Disks = []usage.PodDisk{{Name: "vda", ReadOperations: operations, ReadBytes: 4096 * operations}}
	return p
}

// withDisk is an interval with a disk at which reads took some times as long as when it is quiet.
func withDisk(slower float64, pods ...usage.Pod) usage.Interval {
	v := interval(pods...)
	reads := usage.Transfers{}
	for i := range pods {
		for _, d := range pods[i].Disks {
			reads.Operations += d.ReadOperations
			reads.Bytes += d.ReadBytes
		}
	}
	reads.Seconds = float64(reads.Operations) * slower * 1e-3
	v.Disks = []usage.Disk{{
		Name: "vda", Number: "254:0", Reads: reads, BusySeconds: min(10, reads.Seconds), QueuedSeconds: reads.Seconds,
		Service: []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 1e-3, Spread: 1e-5, Intervals: 9}},
	}}
	return v
}

// What is blocked for others is not of the time alone, so that both loadings are larger where that is known.
func TestASampleHasTheDiskWhereThatIsKnown(t *testing.T) {
	t.Parallel()
	unlearned := withDisk(1, reader("a", 0.9, 9000))
	unlearned.Disks[0].Service = nil
	quiet := withDisk(1, reader("a", 0.3, 3000))
	shared := withDisk(2, reader("a", 0.9, 4500), reader("b", 0.9, 4500))
	for name, c := range map[string]struct {
		intervals []usage.Interval
		want      observations.Sample
	}{
		"quiet":               {[]usage.Interval{quiet}, observations.Sample{Seconds: 10, CPULoading: 0.1, DiskLoading: 0.3, DiskSeconds: 10}},
		"beside another":      {[]usage.Interval{shared}, observations.Sample{Seconds: 10, CPULoading: 0.1 / 0.55, DiskLoading: 0.45 / 0.55, DiskSeconds: 10}},
		"not learned":         {[]usage.Interval{unlearned}, observations.Sample{Seconds: 10, CPULoading: 0.1}},
		"nothing of disks":    {[]usage.Interval{interval(seen("a", 0.1))}, observations.Sample{Seconds: 10, CPULoading: 0.1}},
		"of a part":           {[]usage.Interval{quiet, unlearned, interval(seen("a", 0.1))}, observations.Sample{Seconds: 30, CPULoading: 0.1, DiskLoading: 0.3, DiskSeconds: 10}},
		"a disk but no reads": {[]usage.Interval{withDisk(1, seen("a", 0.1))}, observations.Sample{Seconds: 10, CPULoading: 0.1, DiskSeconds: 10}},
	} {
		for i := range c.intervals {
			if err := c.intervals[i].Validate(); err != nil {
				t.Fatal(err)
			}
		}
		c.want.Pod, c.want.Threads = "a", 1
		if diff := cmp.Diff(&c.want, observations.Samples(c.intervals)["a"], cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What no gauge can report, the rules of reports refuse, so that samples never have it.
func TestWhatIsNoFractionOfTheTimeIsNoReport(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(v *usage.Interval){
		"no number":     func(v *usage.Interval) { v.Pods[0].DiskLoading = math.NaN() },
		"negative":      func(v *usage.Interval) { v.Pods[0].DiskLoading = -0.1 },
		"infinite":      func(v *usage.Interval) { v.Pods[0].Blocked = math.Inf(1) },
		"more than all": func(v *usage.Interval) { v.Pods[0].DiskLoading = 0.95 },
		"no service":    func(v *usage.Interval) { v.Disks[0].Service[0].Seconds = math.NaN() },
		"less than no service": func(v *usage.Interval) {
			v.Disks[0].Service[0].Seconds = -1
		},
	} {
		v := withDisk(1, reader("a", 0.3, 3000))
		if change(&v); v.Validate() == nil {
			t.Errorf("%s: the report is taken", name)
		}
	}
}

// Whatever gauges say within the rules of their reports: a summary has loadings that add up to 1 at most, and so has what is recommended by it.
func TestWhatGaugesSayOfDisksMakesVectorsThatProfilesCanHave(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 100), rapid.Float64Range(0, 1e15))
		h := &observations.History{}
		now := noon
		for minute := range 8 {
			now = noon.Add(time.Duration(minute) * time.Minute)
			v := withDisk(rapid.Float64Range(0, 10).Draw(t, "slower"), reader("a", 0, rapid.Int64Range(0, 1e9).Draw(t, "operations")), reader("b", 0.9, 1000))
			p := &v.Pods[0]
			p.CPULoading = rapid.Float64Range(0, 1).Draw(t, "cpu")
			p.DiskLoading = (1 - p.CPULoading) * rapid.Float64Range(0, 1).Draw(t, "disk")
			p.Blocked, p.Threads, p.Seconds = amount.Draw(t, "blocked"), max(1, amount.Draw(t, "threads")), amount.Draw(t, "seconds")
			v.Disks[0].Service[0].Seconds = amount.Draw(t, "service")
			if rapid.Bool().Draw(t, "not learned") {
				v.Disks[0].Service = nil
			}
			if err := v.Validate(); err != nil {
				t.Fatal(err)
			}
			for _, s := range observations.Samples([]usage.Interval{v, v}) {
				h.Add(fast, now, s)
			}
		}
		s := h.Summaries(now)[fast]
		says := fmt.Sprintf("%+v", s)
		for _, l := range []observations.Loading{s.CPU, s.Disk} {
			if !(l.Mean >= 0 && l.Mean <= 1 && l.Spread >= 0 && l.Number >= 0) || math.IsInf(l.Spread+l.Number, 0) {
				t.Fatal(says)
			}
		}
		if !(s.CPU.Mean+s.Disk.Mean <= 1+1e-9) {
			t.Fatal(says)
		}
		r := observations.Recommend(observations.Recommended{CPULoading: 0.1, Threads: 1}, &s)
		if !(r.CPULoading >= 0 && r.DiskLoading >= 0 && r.CPULoading+r.DiskLoading <= 1+1e-9) || r.HasDisk != s.Disk.Enough() {
			t.Fatalf("%s makes %+v", says, r)
		}
	})
}
