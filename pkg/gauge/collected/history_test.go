package collected

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	testingclock "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// period is the time between two intervals of the gauges of tests.
const period = 10 * time.Second

// kept is a history at a time that tests set.
type kept struct {
	*History

	clock *testingclock.FakePassiveClock
}

func newKept() *kept {
	clock := testingclock.NewFakePassiveClock(noon)
	return &kept{New(clock), clock}
}

// pass has a round end after time has passed in which each of some nodes had intervals, of the pods that it is given.
func (k *kept) pass(by time.Duration, pods []usage.Pod, nodes ...string) {
	k.clock.SetTime(k.clock.Now().Add(by))
	for _, node := range nodes {
		o := &collect.Observed{Gauge: collect.Gauge{ID: "gauge-of-" + node, Node: node}, Ended: k.clock.Now()}
		for back := by - by%period; back > 0; back -= period {
			end := k.clock.Now().Add(period - back)
			o.Intervals = append(o.Intervals, usage.Interval{
				Node: node, Start: end.Add(-period), End: end, Seconds: period.Seconds(), CPUs: 4, BusySeconds: 12, StolenSeconds: 0.5, CgroupVersion: 2, ExclusiveCPUs: true, Pods: pods,
			})
		}
		k.Add(o)
	}
	k.EndRound(nil)
}

// slow is a pod that takes twice as long as alone.
func slow(uid string) usage.Pod {
	return usage.Pod{
		UID: uid, Namespace: "shop", Name: "cart", Seconds: 10, Times: usage.Times{Run: 4, Unseen: 1, Wait: 5, Blocked: 1}, Tasks: 3, Threads: 1.5,
		Dilation: 2, CPULoading: 0.75, DiskLoading: 0.25, BurstSeconds: 0.2, SlowedSeconds: 40, SlowedBefore: true, PressureSeconds: new(4.5),
	}
}

// fataler is a test, or one of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// report returns the kept report of a node, which must be valid.
func (k *kept) report(t fataler, node string) usage.Report {
	t.Helper()
	r, is := k.Report(node, usage.MaxIntervals)
	if !is {
		t.Fatal("nothing is kept of " + node)
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

// lengths returns how many seconds the intervals of a report have.
func lengths(r usage.Report) (all []float64) {
	for i := range r.Intervals {
		all = append(all, r.Intervals[i].Seconds)
	}
	return all
}

func TestTheLatestIntervalsAreThoseOfTheGauge(t *testing.T) {
	t.Parallel()
	k := newKept()
	k.pass(30*time.Second, []usage.Pod{slow("a"), slow("b")}, "worker-1")
	r := k.report(t, "worker-1")
	want := usage.Interval{
		Node: "worker-1", Start: noon.Add(20 * time.Second), End: noon.Add(30 * time.Second), Seconds: 10, CPUs: 4, BusySeconds: 12, StolenSeconds: 0.5,
		CgroupVersion: 2, ExclusiveCPUs: true, Pods: []usage.Pod{slow("a"), slow("b")},
	}
	if diff := cmp.Diff(want, r.Intervals[2]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhatIsOlderIsKeptInMinutesForAnHour(t *testing.T) {
	t.Parallel()
	k := newKept()
	for range 10 {
		k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1")
	}
	if diff := cmp.Diff([]float64{60, 60, 60, 30, 10, 10, 10, 10, 10, 10, 10, 10, 10}, lengths(k.report(t, "worker-1"))); diff != "" {
		t.Errorf("the lengths after five minutes (-want +got):\n%s", diff)
	}
	for range 140 {
		k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1")
	}
	total := 0.0
	for _, s := range lengths(k.report(t, "worker-1")) {
		total += s
	}
	if total < Keep.Seconds() || total > Keep.Seconds()+coarse.Seconds() {
		t.Errorf("after 75 minutes %v seconds are kept", total)
	}
}

// The sum of the activity of one processor and of that of two belongs to neither.
func TestIntervalsOfOtherProcessorsStayApart(t *testing.T) {
	t.Parallel()
	k := newKept()
	cpus := []int{1, 1, 1, 2, 1, 1}
	o := &collect.Observed{Gauge: collect.Gauge{ID: "gauge", Node: "worker-1"}, Ended: noon.Add(time.Minute)}
	for i, n := range cpus {
		start := noon.Add(time.Duration(i) * period)
		o.Intervals = append(o.Intervals, usage.Interval{
			Node: "worker-1", Start: start, End: start.Add(period), Seconds: period.Seconds(), CPUs: n, BusySeconds: 10 * float64(n), BlockedUnknown: i == 0,
		})
	}
	k.Add(o)
	k.clock.SetTime(o.Ended)
	k.pass(90*time.Second, nil, "worker-1")
	type merged struct {
		seconds, busy  float64
		cpus           int
		blockedUnknown bool
	}
	var got []merged
	r := k.report(t, "worker-1")
	for _, v := range r.Intervals[:3] {
		got = append(got, merged{v.Seconds, v.BusySeconds, v.CPUs, v.BlockedUnknown})
	}
	want := []merged{{30, 30, 1, true}, {10, 20, 2, false}, {20, 20, 1, false}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(merged{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAMinuteHasTheSumsAndTheMeansOfItsIntervals(t *testing.T) {
	t.Parallel()
	k := newKept()
	waiting, alone := slow("a"), slow("a")
	alone.Dilation, alone.CPULoading, alone.DiskLoading, alone.Wait, alone.Run, alone.PressureSeconds = 1, 0.25, 0.5, 0, 2.5, new(0.5)
	alone.BurstSeconds = 0.46
	k.pass(30*time.Second, []usage.Pod{waiting}, "worker-1")
	k.pass(30*time.Second, []usage.Pod{alone, slow("b")}, "worker-1")
	k.pass(90*time.Second, nil, "worker-1")
	first := k.report(t, "worker-1").Intervals[0]
	// Half of the time was 15 seconds of work and half 30, so it took 60 seconds in place of 45.
	want := usage.Interval{
		Node: "worker-1", Start: noon, End: noon.Add(time.Minute), Seconds: 60, CPUs: 4, BusySeconds: 72, StolenSeconds: 3, CgroupVersion: 2, ExclusiveCPUs: true,
		Pods: []usage.Pod{
			{
				UID: "a", Namespace: "shop", Name: "cart", Seconds: 60, Times: usage.Times{Run: 3*4 + 3*2.5, Unseen: 6, Wait: 15, Blocked: 6}, Tasks: 3, Threads: 1.5,
				Dilation: 60.0 / 45, CPULoading: (15*0.75 + 30*0.25) / 45, DiskLoading: (15*0.25 + 30*0.5) / 45, BurstSeconds: (4*0.2 + 2.5*0.46) / 6.5,
				SlowedSeconds: 40, SlowedBefore: true, PressureSeconds: new(15.0),
			},
			{
				UID: "b", Namespace: "shop", Name: "cart", Seconds: 30, Times: usage.Times{Run: 12, Unseen: 3, Wait: 15, Blocked: 3}, Tasks: 3, Threads: 1.5,
				Dilation: 2, CPULoading: 0.75, DiskLoading: 0.25, BurstSeconds: 0.2, SlowedSeconds: 40, SlowedBefore: true, PressureSeconds: new(13.5),
			},
		},
	}
	const roundings = 3e-3 // of five additions, to a thousandth of a second
	if diff := cmp.Diff(want, first, cmpopts.EquateApprox(0, roundings)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestALongIntervalIsNotMerged(t *testing.T) {
	t.Parallel()
	k := newKept()
	for range 4 {
		k.clock.SetTime(k.clock.Now().Add(5 * time.Minute))
		k.Add(&collect.Observed{Gauge: collect.Gauge{Node: "worker-1"}, Ended: k.clock.Now(), Intervals: []usage.Interval{{Node: "worker-1", Seconds: 300, CPUs: 1}}})
	}
	if diff := cmp.Diff([]float64{300, 300, 300, 300}, lengths(k.report(t, "worker-1"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A gauge that was forgotten and found again is asked the same as before.
func TestIntervalsThatAreThereAreNotAddedAgain(t *testing.T) {
	t.Parallel()
	k := newKept()
	k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1")
	again := &collect.Observed{Gauge: collect.Gauge{Node: "worker-1"}, Ended: k.clock.Now().Add(period)}
	for range 3 {
		again.Intervals = append(again.Intervals, usage.Interval{Node: "worker-1", Seconds: 10, CPUs: 1})
	}
	k.Add(again)
	k.Add(again)
	if diff := cmp.Diff([]float64{10, 10, 10, 10}, lengths(k.report(t, "worker-1"))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAfterAGapTheHistoryBeginsAnew(t *testing.T) {
	t.Parallel()
	for gap, want := range map[time.Duration]int{40 * time.Second: 6, 2 * time.Minute: 3} { // while a gauge is replaced, and longer
		k := newKept()
		k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1")
		k.clock.SetTime(k.clock.Now().Add(gap))
		k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1")
		if got := len(k.report(t, "worker-1").Intervals); got != want {
			t.Errorf("after %v there are %d intervals, want %d", gap, got, want)
		}
	}
}

func TestANodeThatIsNotHeardOfGetsOlderAndIsForgotten(t *testing.T) {
	t.Parallel()
	k := newKept()
	k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-1", "worker-2")
	for range 20 {
		k.pass(30*time.Second, []usage.Pod{slow("a")}, "worker-2")
	}
	if r := k.report(t, "worker-1"); r.AgeSeconds != 600 || len(r.Intervals) != 3 {
		t.Errorf("after ten minutes it is %v s old, with %d intervals", r.AgeSeconds, len(r.Intervals))
	}
	k.pass(30*time.Second, nil, "worker-2")
	if diff := cmp.Diff([]string{"worker-2"}, k.Nodes()); diff != "" {
		t.Errorf("the nodes (-want +got):\n%s", diff)
	}
	if _, is := k.Report("worker-1", 1); is {
		t.Error("there is a report of a node that was forgotten")
	}
}

func TestPodsThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	k := newKept()
	for n := range 3 * int(Keep/(30*time.Second)) {
		k.pass(30*time.Second, []usage.Pod{slow(fmt.Sprint(n))}, "worker-1")
	}
	if got, limit := len(k.nodes["worker-1"].pods), int((Keep+coarse)/(30*time.Second))+1; got > limit {
		t.Errorf("%d pods are remembered, and an hour had %d", got, limit)
	}
}

// pods are some pods of a node, unlike those of another round if that has another number.
func pods(n, round int) (all []usage.Pod) {
	for i := range n {
		p := slow(fmt.Sprintf("%08d-0000-4000-8000-%012d", i, round))
		p.Name = "cart-" + p.UID
		all = append(all, p)
	}
	return all
}

// past returns for how many seconds there is a history of a node.
func (k *kept) past(t fataler, node string) (total float64) {
	t.Helper()
	for _, s := range lengths(k.report(t, node)) {
		total += s
	}
	return total
}

// sizes returns the size of each node's intervals, and of all.
func (k *kept) sizes() (of map[string]int, all int) {
	of = map[string]int{}
	for name, n := range k.nodes {
		of[name] = nodeBytes
		for _, size := range n.sizes() {
			of[name] += size
		}
		all += of[name]
	}
	return of, all
}

func TestANodeWhoseSpaceIsFullLosesItsOwnPastOnly(t *testing.T) {
	t.Parallel()
	k := newKept()
	k.maxNodeBytes = 40_000
	for round := range 150 {
		k.clock.SetTime(k.clock.Now().Add(-30 * time.Second))
		k.pass(30*time.Second, pods(10, 0), "honest")
		k.pass(30*time.Second, pods(50, round), "liar")
	}
	of, _ := k.sizes()
	if of["liar"] > k.maxNodeBytes || of["liar"] < k.maxNodeBytes/2 {
		t.Errorf("of the liar %d bytes are kept", of["liar"])
	}
	if got := len(k.nodes["liar"].pods); got > 40_000/250 {
		t.Errorf("of the liar %d pods are remembered", got)
	}
	if past := k.past(t, "honest"); past < Keep.Seconds() {
		t.Errorf("of the honest node there are %v seconds", past)
	}
	if past := k.past(t, "liar"); past < 60 || past > 300 {
		t.Errorf("of the liar there are %v seconds", past)
	}
}

func TestWhereThereIsTooMuchTheNodesWithTheMostLoseTheirPast(t *testing.T) {
	t.Parallel()
	k := newKept()
	small, large := []string{"small-1", "small-2"}, []string{"large-1", "large-2", "large-3"}
	k.maxBytes = 100_000
	for range 130 {
		k.clock.SetTime(k.clock.Now().Add(-30 * time.Second))
		k.pass(30*time.Second, pods(2, 0), small...)
		k.pass(30*time.Second, pods(20, 0), large...)
	}
	of, all := k.sizes()
	if all > k.maxBytes || all < k.maxBytes*8/10 {
		t.Errorf("%d bytes are kept: %v", all, of)
	}
	for _, node := range small {
		if past := k.past(t, node); past < Keep.Seconds() {
			t.Errorf("of %s there are %v seconds", node, past)
		}
	}
	for _, node := range large {
		if k.past(t, node) != k.past(t, large[0]) || k.past(t, node) < 120 || k.past(t, node) > 3000 {
			t.Errorf("of %s there are %v seconds", node, k.past(t, node))
		}
	}
	k.maxBytes = 1
	k.pass(30*time.Second, pods(20, 0), large...)
	for _, node := range large {
		if diff := cmp.Diff([]float64{10}, lengths(k.report(t, node))); diff != "" {
			t.Errorf("without any room there is not the newest interval of %s alone (-want +got):\n%s", node, diff)
		}
	}
}

// A manager answers only with intervals that its readers accept as a report of a node.
func TestIntervalsThatHaveTooManyPodsTogetherAreNotMerged(t *testing.T) {
	t.Parallel()
	k := newKept()
	for round := range 12 {
		k.pass(30*time.Second, pods(700, round/3), "worker-1")
	}
	all := lengths(k.report(t, "worker-1")) // which is valid
	if len(all) < 10 || all[0] < 10 {
		t.Errorf("the lengths are %v", all)
	}
}

// This test is not parallel: it looks at the heap.
func TestWhatIsAccountedIsWhatTheHeapHas(t *testing.T) {
	for name, of := range map[string]func(round int) []usage.Pod{
		"the same pods":          func(int) []usage.Pod { return pods(30, 0) },
		"others in each round":   func(round int) []usage.Pod { return pods(30, round) },
		"many, others each time": func(round int) []usage.Pod { return pods(500, round) },
		"none":                   func(int) []usage.Pod { return nil },
	} {
		k := newKept()
		before := heap()
		for round := range 25 {
			for n := range 8 {
				k.clock.SetTime(k.clock.Now().Add(-30 * time.Second))
				k.pass(30*time.Second, of(round), fmt.Sprintf("worker-%d", n))
			}
			k.clock.SetTime(k.clock.Now().Add(30 * time.Second))
		}
		got := heap() - before
		_, accounted := k.sizes()
		t.Logf("%s: %d kB accounted, %d kB in the heap", name, accounted>>10, got>>10)
		if ratio := float64(got) / float64(accounted); ratio < 0.6 || ratio > 1.4 {
			t.Errorf("%s: %d bytes are accounted, and the heap has %d", name, accounted, got)
		}
		runtime.KeepAlive(k)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // sweep the garbage that the first one found
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Nodes may lie: for any valid interval the report is valid, and sums do not change.
func TestWhateverIsAddedTheReportIsValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Float64Range(0, 100), rapid.SampledFrom([]float64{0, 1e-320, 1e12, 1e15}))
		k := newKept()
		run := 0.0
		for n := range rapid.IntRange(1, 30).Draw(t, "intervals") {
			v := usage.Interval{Node: "a", CPUs: 1, Seconds: rapid.Float64Range(0.1, 100).Draw(t, "seconds"), BusySeconds: amount.Draw(t, "busy")}
			for uid := range rapid.IntRange(0, 3).Draw(t, "pods") {
				cpu := rapid.Float64Range(0, 1).Draw(t, "cpu")
				p := usage.Pod{
					UID: fmt.Sprint(uid), Seconds: amount.Draw(t, "pod's seconds"), Tasks: rapid.IntMin(0).Draw(t, "tasks"), Threads: max(1, amount.Draw(t, "threads")),
					Dilation: max(1, amount.Draw(t, "dilation")), CPULoading: cpu, DiskLoading: 1 - cpu, BurstSeconds: min(1e9, amount.Draw(t, "burst")), Times: usage.Times{Run: rapid.Float64Range(0, 100).Draw(t, "run"), Wait: amount.Draw(t, "wait")},
				}
				run += p.Run
				v.Pods = append(v.Pods, p)
			}
			if err := v.Validate(); err != nil {
				t.Fatalf("interval %d: %v", n, err)
			}
			k.clock.SetTime(k.clock.Now().Add(seconds(v.Seconds)))
			k.Add(&collect.Observed{Gauge: collect.Gauge{Node: "a"}, Ended: k.clock.Now(), Intervals: []usage.Interval{v}})
		}
		got := 0.0
		r := k.report(t, "a")
		for i := range r.Intervals {
			for j := range r.Intervals[i].Pods {
				got += r.Intervals[i].Pods[j].Run
			}
		}
		const rounding = 0.5e-3 // of each interval, and of each addition, of three pods
		if tolerance := 3 * 2 * 30 * rounding; math.Abs(got-run) > tolerance {
			t.Fatalf("they ran for %v seconds, and it says %v", run, got)
		}
	})
}
