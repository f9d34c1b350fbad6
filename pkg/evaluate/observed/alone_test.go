package observed

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// threaded is a user with some threads, each of which was blocked for the part of the time.
func threaded(threads float64, p usage.Pod) usage.Pod {
	p.Threads, p.Blocked = threads, threads*p.Blocked
	return p
}

// Of ten seconds in which a read of 4 KiB takes a millisecond when the disk is quiet.
func TestAPodIsAtADiskWhileThatServesIt(t *testing.T) {
	t.Parallel()
	busy := user("cart", 0.9, reads("vda", 4950))
	busy.CPULoading, busy.Run = 0.1, 1
	limited := usage.PodDisk{Name: "vda", ReadOperations: 980, ReadBytes: 980 * 4096, Limit: &usage.DiskLimit{ReadOperations: 100}}
	writes := usage.PodDisk{Name: "vda", WriteOperations: 4950, WriteBytes: 4950 * 4096}
	other := user("backup", 0.99, reads("vda", 4950))
	for name, test := range map[string]struct {
		disks  []usage.Disk
		pods   []usage.Pod
		change func(v *usage.Interval)
		want   Alone
	}{
		"by itself": {
			[]usage.Disk{device("vda", 5000, 1e-3)}, []usage.Pod{user("cart", 0.5, reads("vda", 5000))}, nil, Alone{0.01, 0.5, true},
		},
		"waiting for others is not of the time alone": {
			[]usage.Disk{device("vda", 9900, 2e-3)}, []usage.Pod{busy, other}, nil, Alone{1 / 5.95, 4.95 / 5.95, true},
		},
		"nor is that for threads of its own": {
			[]usage.Disk{device("vda", 10000, 4e-3)},
			[]usage.Pod{threaded(4, user("cart", 0.99, reads("vda", 10000)))},
			nil,
			Alone{0.01 / (1 - 0.99*(1-10/39.6)), 0.99 * (10 / 39.6) / (1 - 0.99*(1-10/39.6)), true},
		},
		"operations of one thread that are there at once": {
			[]usage.Disk{device("vda", 9900, 16e-3)}, []usage.Pod{user("cart", 0.99, reads("vda", 9900))}, nil, Alone{0.01, 0.99, true},
		},
		"its own limit is waited for alone, too": {
			[]usage.Disk{device("vda", 980, 1e-3)}, []usage.Pod{user("cart", 0.99, limited)}, nil, Alone{0.01, 0.098, true},
		},
		"once in a stack of devices": {
			[]usage.Disk{device("dm-0", 5000, 1e-3, "vda"), device("vda", 5000, 1e-3)},
			[]usage.Pod{user("cart", 0.5, reads("dm-0", 5000), reads("vda", 5000))},
			nil,
			Alone{0.01, 0.5, true},
		},
		"blocked for longer than its operations explain": {
			[]usage.Disk{device("vda", 2000, 1e-3)}, []usage.Pod{user("cart", 0.5, reads("vda", 2000))}, nil, Alone{0.01, 0.2, true},
		},
		"never": {
			[]usage.Disk{device("vda", 5000, 1e-3)}, []usage.Pod{user("cart", 0)}, nil, Alone{0.01, 0, true},
		},
		"never, on a node where no operation ended": {
			nil, []usage.Pod{user("cart", 0)}, func(v *usage.Interval) { v.Pods[0].DiskPressure = &usage.DiskPressure{} }, Alone{0.01, 0, true},
		},
		"a gauge that knows nothing of disks": {nil, []usage.Pod{user("cart", 0)}, nil, Alone{0.01, 0, false}},
		"a kernel that accounts no blocked time": {
			[]usage.Disk{device("vda", 5000, 1e-3)},
			[]usage.Pod{user("cart", 0, reads("vda", 5000))},
			func(v *usage.Interval) { v.BlockedUnknown, v.Pods[0].BlockedBy = true, usage.ByNothing },
			Alone{0.01, 0, false},
		},
		"a disk that was not seen quiet": {
			[]usage.Disk{device("vda", 5000, 1e-3)},
			[]usage.Pod{user("cart", 0.5, reads("vda", 5000))},
			func(v *usage.Interval) { v.Disks[0].Service = nil },
			Alone{0.01, 0, false},
		},
		"a disk that was only seen busy": {
			[]usage.Disk{device("vda", 5000, 1e-3)},
			[]usage.Pod{user("cart", 0.5, reads("vda", 5000))},
			func(v *usage.Interval) {
				v.Disks[0].Service = slices.Clone(v.Disks[0].Service)
				v.Disks[0].Service[0].InFlight = 1.5
			},
			Alone{0.01, 0, false},
		},
		"one of two that was not": {
			[]usage.Disk{device("vda", 2000, 1e-3), device("vdb", 3000, 1e-3)},
			[]usage.Pod{user("cart", 0.5, reads("vda", 2000), reads("vdb", 3000))},
			func(v *usage.Interval) { v.Disks[1].Service = nil },
			Alone{0.01, 0, false},
		},
		"one of two that was not and hardly counts": {
			[]usage.Disk{device("vda", 4900, 1e-3), device("vdb", 100, 1e-3)},
			[]usage.Pod{user("cart", 0.5, reads("vda", 4900), reads("vdb", 100))},
			func(v *usage.Interval) { v.Disks[1].Service = nil },
			Alone{0.01, 0.49, true},
		},
		"writes of which nothing is learned": {
			[]usage.Disk{device("vda", 5000, 1e-3)}, []usage.Pod{user("cart", 0.5, writes)}, nil, Alone{0.01, 0, false},
		},
		"blocked by what is at no disk": {
			[]usage.Disk{device("vda", 5000, 1e-3)}, []usage.Pod{user("cart", 0.5)}, nil, Alone{0.01, 0, false},
		},
		"short of memory": {
			[]usage.Disk{device("vda", 5000, 1e-3)},
			[]usage.Pod{user("cart", 0.5, reads("vda", 5000))},
			func(v *usage.Interval) { v.Pods[0].MemoryPressureSeconds = new(0.6) },
			Alone{0.01, 0, false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := tenSeconds(test.disks, test.pods...)
			v.Disks, v.Pods = append([]usage.Disk{}, v.Disks...), append([]usage.Pod{}, v.Pods...)
			if test.change != nil {
				test.change(&v)
			}
			if err := v.Validate(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, AloneIn(&v)[0], cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Whatever a gauge says within the rules of its report: loadings are fractions of one whole, and waiting makes none less.
func TestLoadingsOfTheTimeAloneAreFractionsOfIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := drawn(t, "interval")
		if rapid.Bool().Draw(t, "nothing of disks") {
			v.Disks = nil
			for i := range v.Pods {
				v.Pods[i].Disks = nil
			}
		}
		if err := v.Validate(); err != nil {
			t.Fatal(err)
		}
		for i, a := range AloneIn(&v) {
			is := fmt.Sprintf("pod %d is alone at %+v", i, a)
			if !(a.CPU >= 0 && a.Disk >= 0 && a.CPU+a.Disk <= 1+1e-9) || math.IsNaN(a.CPU+a.Disk) {
				t.Fatal(is)
			}
			if !a.DiskKnown && (a.Disk != 0 || a.CPU != v.Pods[i].CPULoading) || a.CPU < v.Pods[i].CPULoading {
				t.Fatalf("%s, and a CPU loading of %v was reported", is, v.Pods[i].CPULoading)
			}
		}
	})
}
