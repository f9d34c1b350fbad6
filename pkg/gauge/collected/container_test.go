package collected

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// held is a container that its limit holds back for as long as it runs.
func held(id string) usage.Container {
	return usage.Container{
		ID: id, Times: usage.Times{Run: 3, Unseen: 0.5, Wait: 1, Throttled: 3, Blocked: 0.25}, Threads: 1.5, Dilation: 2, CPULoading: 0.75, BurstSeconds: 0.02,
		Periods: 100, ThrottledPeriods: 60, QuotaBurstSeconds: 0.01,
	}
}

// of returns a pod with containers that are throttled for some seconds in all.
func of(throttled float64, containers ...usage.Container) usage.Pod {
	p := slow("a")
	p.Throttled, p.Containers = throttled, containers
	return p
}

// runtimeID is an ID as container runtimes make them.
var runtimeID = strings.Repeat("0f", 32)

func TestContainersAreKeptOfPodsThatALimitHeldBack(t *testing.T) {
	t.Parallel()
	k := newKept()
	side := usage.Container{ID: "side", Times: usage.Times{Run: 1}} // without a limit
	calm := held(runtimeID)
	calm.Throttled, calm.ThrottledPeriods = 0, 0
	k.pass(period, []usage.Pod{of(0, calm, side)}, "worker-1")
	k.pass(period, []usage.Pod{of(3, held(runtimeID), side)}, "worker-1")
	k.pass(period, []usage.Pod{of(0, calm, side)}, "worker-1")
	var got [][]usage.Container
	for _, v := range k.report(t, "worker-1").Intervals {
		got = append(got, v.Pods[0].Containers)
	}
	// The first interval is from before a limit held it back, and later ones say as well when none did.
	want := [][]usage.Container{nil, {held(runtimeID)}, {calm}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOlderIntervalsOfContainersAreMerged(t *testing.T) {
	t.Parallel()
	k := newKept()
	busier := held("main")
	busier.Run, busier.CPULoading, busier.Dilation = 6, 0.9, 4
	for range 30 {
		k.pass(2*period, []usage.Pod{of(3, held("main"))}, "worker-1")
	}
	first := k.report(t, "worker-1").Intervals[0]
	c := first.Pods[0].Containers[0]
	if n := first.Seconds / period.Seconds(); n != 6 || math.Abs(c.Run-3*n) > 1e-9 || c.Periods != 600 || c.ThrottledPeriods != 360 || c.Throttled != 18 {
		t.Errorf("in %v seconds it was %+v", first.Seconds, c)
	}
	if c.Dilation != 2 || c.CPULoading != 0.75 || c.Threads != 1.5 || math.Abs(c.BurstSeconds-0.02) > 1e-9 || c.QuotaBurstSeconds != 0.01 {
		t.Errorf("on average it was %+v", c)
	}
	// What is alone in one of them would seem to have done little.
	a, b := held("a"), held("b")
	one, two := newRow(&identity{throttled: true}, new(of(3, a, b))), newRow(&identity{throttled: true}, new(of(3, b)))
	one.add(&two)
	if len(one.containers) != 1 || one.containers[0].id != "b" || one.containers[0].run != 6 {
		t.Errorf("together are %+v", one.containers)
	}
	// A mean is weighted by the time without waiting: 4 seconds at 2 and at 0.75, and 6.67 at 4 and at 0.9.
	m, n := limited(new(of(3, held("main"))))[0], limited(new(of(3, busier)))[0]
	m.add(&n)
	mine, its := 3/0.75, 6/0.9
	if math.Abs(m.dilation-(2*mine+4*its)/(mine+its)) > 1e-9 || math.Abs(m.cpuLoading-(0.75*mine+0.9*its)/(mine+its)) > 1e-9 {
		t.Errorf("the means are %+v", m)
	}
}

func TestOfManyContainersThoseThatWereThrottledMostAreKept(t *testing.T) {
	t.Parallel()
	var all []usage.Container
	for i := range usage.MaxContainers {
		c := held(fmt.Sprintf("c-%03d", i))
		c.Throttled = float64(i)
		all = append(all, c)
	}
	k := newKept()
	k.pass(period, []usage.Pod{of(3, all...)}, "worker-1")
	kept := k.report(t, "worker-1").Intervals[0].Pods[0].Containers
	if len(kept) != mostContainers || kept[0].ID != fmt.Sprintf("c-%03d", usage.MaxContainers-mostContainers) || kept[mostContainers-1].ID != "c-099" {
		t.Errorf("%d are kept: %v", len(kept), kept)
	}
}

// Nodes may lie: what is kept is bounded all the same, and valid.
func TestContainersAreWithinTheMemoryOfANode(t *testing.T) {
	t.Parallel()
	k := newKept()
	var pods []usage.Pod
	for i := range 500 {
		p := of(3)
		p.UID = fmt.Sprintf("pod-%d", i)
		for n := range 20 {
			p.Containers = append(p.Containers, held(strings.Repeat("x", 120)+fmt.Sprint(n)))
		}
		pods = append(pods, p)
	}
	for range 60 {
		k.pass(period, pods, "worker-1")
	}
	k.report(t, "worker-1")
	n := k.nodes["worker-1"]
	if n.size > MaxNodeBytes && len(n.spans) > 1 || len(n.spans) > 10 {
		t.Errorf("%d intervals take %d bytes", len(n.spans), n.size)
	}
}

// What is packed is the same afterwards, as exactly as it is kept.
func TestContainersAreThereAgainAsTheyWere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all []container
		for range rapid.IntRange(0, mostContainers).Draw(t, "containers") {
			c := container{id: rapid.SampledFrom([]string{runtimeID, strings.ToUpper(runtimeID), "a", strings.Repeat("z", 128), strings.Repeat("0", 64)}).Draw(t, "ID")}
			for _, f := range c.fields() {
				*f.value = float64(rapid.Uint32().Draw(t, "value")) / f.parts
			}
			all = append(all, c)
		}
		r := row{pod: 7, containers: all}
		got := unpack(nil, r.pack(r.pack(nil)))
		same := cmp.Options{cmp.AllowUnexported(row{}, container{}), cmpopts.EquateApprox(1e-9, 0)}
		if diff := cmp.Diff([]row{r, r}, got, same...); diff != "" {
			t.Fatal(diff)
		}
	})
}
