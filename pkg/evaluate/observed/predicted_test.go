package observed

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
	"loadline.dev/loadline/pkg/model/loading"
)

// predictedOf returns the dilation of a pod by the model with a disk of some servers, and that with what was observed there; 0 where it is in
// none.
func predictedOf(t *testing.T, in *Input, name string, servers int) (atDisk, besides float64) {
	t.Helper()
	p, _ := explained(t, in, name)
	var err error
	if p.Index >= 0 {
		if besides, err = p.Predicted(); err != nil {
			t.Fatal(err)
		}
	}
	at, served, err := p.Node.AtDisk(servers)
	if err != nil {
		t.Fatal(err)
	}
	if !served {
		return 0, besides
	}
	if atDisk, _, err = at.Predicted(p); err != nil {
		t.Fatal(err)
	}
	return atDisk, besides
}

// cart is at the disk for 4.95 s of 5.95 s alone, and backup for 4.95 s of 5.05 s, in what are ten seconds for both. Mean value analysis: when one
// comes to the only server, the other is there for the part of the time that it would be there alone.
func TestWhatPodsWaitAtTheDiskIsPredicted(t *testing.T) {
	t.Parallel()
	cart := user("cart", 0.9, reads("vda", 4950))
	cart.CPULoading, cart.Run = 0.1, 1
	backup := user("backup", 0.99, reads("vda", 4950))
	v := tenSeconds([]usage.Disk{device("vda", 9900, 2e-3)}, cart, backup)
	in := onNode([]usage.Interval{v, v, v})
	const exact = 1e-9
	met := 1 + (4.95/5.95)*(4.95/5.05)
	if got, besides := predictedOf(t, in, "cart", 1); math.Abs(got-met) > exact || math.Abs(besides-10/5.95) > exact {
		t.Errorf("by the model cart takes %v times as long as alone, not %v, and %v with what it waited, not %v", got, met, besides, 10/5.95)
	}
	if got, _ := predictedOf(t, in, "backup", 1); math.Abs(got-met) > exact {
		t.Errorf("backup takes %v times as long, not %v", got, met)
	}
	if got, _ := predictedOf(t, in, "cart", 2); math.Abs(got-1) > exact {
		t.Errorf("where the disk serves both at once cart takes %v times as long", got)
	}
}

// The threads of a pod wait for each other at the disk, as they were observed to: by the repairman's model, that of a pod that always reads.
func TestThreadsOfAPodWaitForEachOtherAtTheDisk(t *testing.T) {
	t.Parallel()
	reader := user("backup", 1, reads("vda", 10000))
	reader.CPULoading, reader.Run = 0, 0
	v := tenSeconds([]usage.Disk{device("vda", 10000, 4e-3)}, threaded(4, reader))
	got, _ := predictedOf(t, onNode([]usage.Interval{v, v, v}), "backup", 1)
	if math.Abs(got-4) > 1e-6 {
		t.Errorf("of four threads at a disk that serves one each takes %v times as long", got)
	}
}

// Whatever a gauge says within the rules of its report, and whatever the disk serves at once.
func TestNoReportMakesPredictionsWhatTheyCannotBe(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Observe(onNode([]usage.Interval{drawn(t, "first"), drawn(t, "second")}, "p-3"), DefaultAbove)
		c.SolveAll()
		n, servers := c.Nodes[0], rapid.SampledFrom([]int{1, 3, loading.MaxServers}).Draw(t, "servers")
		at, served, err := n.AtDisk(servers)
		if err != nil {
			t.Fatal(err)
		}
		if !served {
			return
		}
		for _, p := range n.Pods {
			d, is, err := at.Predicted(p)
			if err != nil || is && (!(d >= 1) || math.IsInf(d, 0)) {
				t.Fatalf("%s is dilated to %v, %v", p.Name(), d, err)
			}
		}
	})
}

// Of a pod with more threads than the model takes as much is asked in all: 200 threads that are at the disk for a hundredth of their time alone.
func TestManyThreadsAskOfTheDiskAsMuchInAll(t *testing.T) {
	t.Parallel()
	many := threaded(200, user("backup", 0.01, reads("vda", 20000)))
	many.CPULoading, many.Run = 0, 0
	v := tenSeconds([]usage.Disk{device("vda", 20000, 1e-3)}, many)
	p, _ := explained(t, onNode([]usage.Interval{v, v, v}), "backup")
	vector, atDisk := p.withDisk(threadsAnywhere)
	if d := vector[1]; !atDisk || d.Threads != threadsAnywhere || math.Abs(d.Loading*threadsAnywhere-200*0.01) > 1e-9 {
		t.Errorf("the demand at the disk is %+v, %v", d, atDisk)
	}
}

// What is known of a pod in less than half of its time is not taken for all of it: what it waited at the disk is added.
func TestAPodOfWhichLittleIsKnownTakesWhatItWaited(t *testing.T) {
	t.Parallel()
	cart, backup := user("cart", 0.5, reads("vda", 2500)), user("backup", 0.9, reads("vda", 4500))
	known := tenSeconds([]usage.Disk{device("vda", 7000, 2e-3)}, cart, backup)
	cart.Disks = nil // blocked by what is not told
	unknown := tenSeconds([]usage.Disk{device("vda", 4500, 2e-3)}, cart, backup)
	in := onNode([]usage.Interval{unknown, unknown, known})
	got, besides := predictedOf(t, in, "cart", 1)
	if p, _ := explained(t, in, "cart"); math.Abs(got-p.Longer()) > 1e-9 || got <= 1.01 || math.Abs(got-besides) > 1e-9 {
		t.Errorf("predicted are %v and %v, and it took %v times as long", got, besides, p.Longer())
	}
	if got, _ := predictedOf(t, in, "backup", 1); math.Abs(got-1) > 1e-9 {
		t.Errorf("by itself in the model backup takes %v times as long", got)
	}
}

func TestWhereDisksAreNotKnownNoModelHasThem(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]usage.Interval{
		"none serves a pod":           tenSeconds([]usage.Disk{device("vda", 0, 0)}, user("cart", 0)),
		"the gauge tells of no disks": tenSeconds(nil, user("cart", 0.5)),
	} {
		if got, besides := predictedOf(t, onNode([]usage.Interval{v, v, v}), "cart", 1); got != 0 || besides != 1 {
			t.Errorf("%s: predicted are %v and %v", name, got, besides)
		}
	}
}
