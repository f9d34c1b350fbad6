package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// reads returns a disk that only read: some operations of 4 KiB, how long each took in seconds, and how many were in flight while it was busy.
func reads(operations int64, each, inFlight float64) usage.Disk {
	seconds := float64(operations) * each
	return usage.Disk{
		Name: "vda", Number: "254:0", Reads: usage.Transfers{Operations: operations, Bytes: 4096 * operations, Seconds: seconds},
		BusySeconds: seconds / inFlight, QueuedSeconds: seconds,
	}
}

// lasting returns a disk with writes that are in flight while its cache is emptied, as Linux counts them, and how many of them were at once.
func lasting(inFlight float64) usage.Disk {
	const seconds, emptying = 1.1, 0.7
	return usage.Disk{
		Name: "vda", Number: "254:0", Writes: usage.Transfers{Operations: 6200, Bytes: 6200 * 4096, Seconds: seconds},
		Flushes: &usage.Transfers{Operations: 2850, Seconds: emptying}, BusySeconds: seconds / inFlight, QueuedSeconds: seconds + emptying,
	}
}

// fataler is a test, or one of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// learned returns what is known of the disk after an interval in which it did something.
func learned(t fataler, s services, d usage.Disk) []usage.DiskService {
	t.Helper()
	v := usage.Interval{Node: "a", Seconds: 10, CPUs: 1, Disks: []usage.Disk{d}}
	s.learn(&v)
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	return v.Disks[0].Service
}

func TestOnlyIntervalsWithEnoughOperationsAndFewAtOnceCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		disk  usage.Disk
		known bool
	}{
		"quiet":                      {reads(100, 0.001, 1), true},
		"nearly quiet":               {reads(100, 0.001, 1.09), true},
		"many at once":               {reads(100, 0.001, 64.1), false},
		"few operations":             {reads(9, 0.01, 1), false},
		"less than the clock counts": {reads(100, 0.0001, 1), false},
		"writes that last":           {lasting(1), true},
		"writes that last, at once":  {lasting(65), false},
		"nothing that ended":         {usage.Disk{Name: "vda", Number: "254:0", BusySeconds: 1, QueuedSeconds: 1}, false},
		"never busy":                 {usage.Disk{Name: "vda", Number: "254:0", Reads: usage.Transfers{Operations: 100, Seconds: 1}}, false},
	} {
		if got := learned(t, services{}, c.disk); (len(got) > 0) != c.known {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestADirectionAndASizeHaveAMedianOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := services{}
	for _, each := range []float64{0.001, 0.002, 0.003, 0.004, 9} {
		d := reads(100, min(each, 0.009), 1)
		d.Writes = usage.Transfers{Operations: 10, Bytes: 10 * 30 << 20, Seconds: 0.5}
		learned(t, s, d)
	}
	d := reads(1000, 0.0001, 1)
	d.Reads.Bytes = 1000 * 5000
	got := learned(t, s, d)
	want := []usage.DiskService{
		{Direction: usage.Read, Bytes: 4096, MeanBytes: 4096, Seconds: 0.003, Spread: 0.001, Intervals: 5},
		{Direction: usage.Read, Bytes: 8192, MeanBytes: 5000, Seconds: 0.0001, Intervals: 1},
		{Direction: usage.Write, Bytes: 16 << 20, MeanBytes: 30 << 20, Seconds: 0.05, Intervals: 5},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The kernel counts a write that only empties the cache among the writes: 2850 of 6200, of 0.7 of 1.1 s.
func TestFlushesAreToldFromWritesOfData(t *testing.T) {
	t.Parallel()
	const data, emptied = 6200 - 2850, 2850.0
	want := []usage.DiskService{
		{Direction: usage.Flush, Bytes: 16 << 10, MeanBytes: 6200 * 4096 / emptied, Seconds: 0.7 / emptied, Intervals: 1},
		{Direction: usage.Write, Bytes: 8 << 10, MeanBytes: 6200.0 * 4096 / data, Seconds: 0.4 / data, Intervals: 1},
	}
	got := learned(t, services{}, lasting(1))
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6*max(1, b) })); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A device that is never quiet is known by its quietest intervals, as an upper bound, until there is a quieter one.
func TestADeviceThatIsNeverQuietIsKnownByItsQuietestIntervals(t *testing.T) {
	t.Parallel()
	s := services{}
	for _, c := range []struct {
		inFlight, each float64
		want           usage.DiskService
	}{
		{2.5, 0.0025, usage.DiskService{Seconds: 0.0025, Intervals: 1, InFlight: 3}},
		{2.9, 0.0027, usage.DiskService{Seconds: 0.0026, Intervals: 2, InFlight: 3, Spread: 0.00005}},
		{1.4, 0.0014, usage.DiskService{Seconds: 0.0014, Intervals: 1, InFlight: 1.5}},
		{2.5, 0.0025, usage.DiskService{Seconds: 0.0014, Intervals: 1, InFlight: 1.5}},
		{1.05, 0.001, usage.DiskService{Seconds: 0.001, Intervals: 1}},
		{1.4, 0.0014, usage.DiskService{Seconds: 0.001, Intervals: 1}},
	} {
		c.want.Direction, c.want.Bytes, c.want.MeanBytes = usage.Read, 4096, 4096
		got := learned(t, s, reads(1000, c.each, c.inFlight))
		if diff := cmp.Diff([]usage.DiskService{c.want}, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })); diff != "" {
			t.Errorf("after %v in flight: -want +got:\n%s", c.inFlight, diff)
		}
	}
}

func TestASlowerDeviceIsKnownAfterHalfOfWhatIsRemembered(t *testing.T) {
	t.Parallel()
	s := services{}
	for range 100 {
		learned(t, s, reads(100, 0.001, 1))
	}
	for n := 1; n <= remembered; n++ {
		want := 0.001
		if n > remembered/2 {
			want = 0.005
		}
		if got := learned(t, s, reads(100, 0.005, 1))[0]; math.Abs(got.Seconds-want) > 1e-6 || got.Intervals != remembered {
			t.Errorf("after %d slower intervals: %+v, want %v s", n, got, want)
		}
	}
}

// The median has the standard error that is claimed, and is not moved by a third of intervals that only look quiet.
func TestTheEstimateIsWithinItsError(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	const trials, truth, deviation = 2000, 0.001, 0.0001
	var squares, worst float64
	for range trials {
		clean, mixed := services{}, services{}
		var c, m []usage.DiskService
		for k := range remembered {
			each := truth + deviation*random.NormFloat64()
			c = learned(t, clean, reads(100, each, 1))
			if k%3 == 0 {
				each *= 5
			}
			m = learned(t, mixed, reads(100, each, 1))
		}
		squares += (c[0].Seconds - truth) * (c[0].Seconds - truth)
		worst = max(worst, math.Abs(m[0].Seconds-truth))
	}
	// 0.23 is sqrt(π/2/31); 2,000 trials show a standard error within some 2 %.
	if got := math.Sqrt(squares/trials) / deviation; math.Abs(got-0.23) > 0.02 {
		t.Errorf("the standard error is %v deviations", got)
	}
	// A third of high outliers makes the median the 0.74 quantile of the others, at 0.65 deviations; its own error comes to that.
	if worst > 3*deviation {
		t.Errorf("with outliers it is wrong by up to %v deviations", worst/deviation)
	}
}

func TestTheMemoryOfDevicesIsBounded(t *testing.T) {
	t.Parallel()
	s := services{}
	for n := range 3 * maxServed {
		d := reads(100, 0.001, 1)
		d.Name = fmt.Sprint("dm-", n)
		learned(t, s, d)
	}
	if len(s) != maxServed || s[fmt.Sprint("dm-", 3*maxServed-1)] == nil || s["dm-0"] != nil {
		t.Errorf("%d devices are remembered", len(s))
	}
	other := reads(100, 0.003, 1)
	other.Name, other.Number = fmt.Sprint("dm-", 3*maxServed-1), "253:9"
	if got := learned(t, s, other); got[0].Intervals != 1 {
		t.Errorf("another device of the same name has the past of the one before: %+v", got)
	}
}

func TestWhateverDisksDidWhatIsLearnedIsValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := services{}
		for range rapid.IntRange(1, 40).Draw(t, "intervals") {
			transfers := func() usage.Transfers {
				return usage.Transfers{
					Operations: rapid.Int64Range(0, 1e15).Draw(t, "operations"), Bytes: rapid.Int64Range(0, 1e15).Draw(t, "bytes"),
					Seconds: rapid.Float64Range(0, 1e15).Draw(t, "seconds"),
				}
			}
			learned(t, s, usage.Disk{
				Name: "vda", Number: "254:0", Reads: transfers(), Writes: transfers(),
				BusySeconds: rapid.Float64Range(0, 10).Draw(t, "busy"), QueuedSeconds: rapid.Float64Range(0, 11).Draw(t, "queued"),
			})
		}
	})
}
