package collected

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// onDisks is an interval of a gauge with disks that pods use.
func onDisks(node string, end time.Time) usage.Interval {
	reader, other := slow("a"), slow("b")
	reader.BlockedBy, reader.DiskPressure, reader.MemoryPressureSeconds = usage.ByPressure, &usage.DiskPressure{SomeSeconds: 4, FullSeconds: 2.5}, new(0.25)
	reader.Disks = []usage.PodDisk{
		{Name: "dm-0", WriteOperations: 1, WriteBytes: 4096},
		{Name: "vda", ReadOperations: 29006, ReadBytes: 118808576, Limit: &usage.DiskLimit{ReadOperations: 200, WriteBytes: 1 << 30}},
	}
	other.Blocked, other.DiskLoading, other.BlockedBy = 0, 0, usage.ByNothing
	return usage.Interval{
		Node: node, Start: end.Add(-period), End: end, Seconds: period.Seconds(), CPUs: 4, BusySeconds: 12, Pods: []usage.Pod{reader, other}, DisksLeftOut: 3,
		Disks: []usage.Disk{
			{Name: "dm-0", Number: "253:0", Beneath: []string{"sda", "sdb"}, Writes: usage.Transfers{Operations: 7}},
			{
				Name: "vda", Number: "254:0", Rotates: true, Scheduler: "mq-deadline", QueueDepth: 256, BusySeconds: 3.536, QueuedSeconds: 3.974,
				Reads:   usage.Transfers{Operations: 30210, Bytes: 123740160, Seconds: 3.975},
				Flushes: &usage.Transfers{Operations: 1, Seconds: 0.072},
				Service: []usage.DiskService{
					{Direction: usage.Read, Bytes: 4096, Seconds: 0.000131, Spread: 0.000002, Intervals: 31},
					{Direction: usage.Write, Bytes: 1 << 20, MeanBytes: 700000, Seconds: 0.5, Intervals: 1, InFlight: 1.5},
					{Direction: usage.Flush, Bytes: 8192, MeanBytes: 4096, Seconds: 0.0003, Intervals: 2},
				},
			},
		},
	}
}

// passDisks has some nodes report what they did at disks in half a minute.
func (k *kept) passDisks(nodes ...string) {
	k.clock.SetTime(k.clock.Now().Add(30 * time.Second))
	for _, node := range nodes {
		o := &collect.Observed{Gauge: collect.Gauge{Node: node}, Ended: k.clock.Now()}
		for back := 2; back >= 0; back-- {
			o.Intervals = append(o.Intervals, onDisks(node, k.clock.Now().Add(-time.Duration(back)*period)))
		}
		k.Add(o)
	}
	k.EndRound(nil)
}

func TestTheDisksOfTheLatestIntervalsAreThoseOfTheGauge(t *testing.T) {
	t.Parallel()
	k := newKept()
	for range 10 {
		k.passDisks("worker-1")
	}
	all := k.report(t, "worker-1").Intervals
	if diff := cmp.Diff(onDisks("worker-1", k.clock.Now()), all[len(all)-1]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	later := 0.0
	for _, v := range slices.Backward(all) {
		if has := len(v.Disks) > 0; has != (later < fine.Seconds()) {
			t.Errorf("%v s before the end there are disks: %v", later, has)
		}
		if v.Pods[0].BlockedBy != usage.ByPressure || v.Pods[1].BlockedBy != usage.ByNothing {
			t.Errorf("%v s before the end it is not known by what pods were blocked", later)
		}
		later += v.Seconds
	}
}

func TestWhatIsKnownOfAPartIsByWhatItIsKnown(t *testing.T) {
	t.Parallel()
	for want, parts := range map[string][2]string{
		usage.ByTasks: {usage.ByNothing, usage.ByTasks}, usage.ByPressure: {usage.ByPressure, usage.ByTasks}, usage.ByNothing: {usage.ByNothing, usage.ByNothing},
	} {
		first, next := newRow(&identity{}, &usage.Pod{BlockedBy: parts[0]}), newRow(&identity{}, &usage.Pod{BlockedBy: parts[1]})
		first.add(&next)
		if got := first.usageOf(&identity{}, "uid").BlockedBy; got != want {
			t.Errorf("%q are %q together, want %q", parts, got, want)
		}
	}
}

// The disks of a thousand nodes of 30 pods that all use 2 of 3 disks are a small part of all.
func TestDisksLeaveRoomForAnHour(t *testing.T) {
	t.Parallel()
	v := onDisks("worker-1", noon)
	v.Disks = append(v.Disks, v.Disks[1])
	v.Disks[2].Name = "vdb"
	v.Pods = slices.Repeat(v.Pods[:1], 30)
	of := int(fine/period) * len(packDisks(&v))
	t.Logf("%d bytes of a node", of)
	if all := 1000 * of; all > MaxBytes/8 {
		t.Errorf("the disks of 1,000 nodes take %d MiB of %d", all>>20, MaxBytes>>20)
	}
}
