package metrics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	testingclock "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

const stale = 30 * time.Second

// watched are metrics and Prometheus's view of them.
type watched struct {
	*Metrics
	prometheus.Gatherer
	clock *testingclock.FakePassiveClock
}

func watch(t interface{ Fatal(args ...any) }, maxPods int) *watched {
	now, registry := testingclock.NewFakePassiveClock(noon), prometheus.NewPedanticRegistry()
	m, err := New(registry, Options{MaxPods: maxPods, Stale: stale, Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	return &watched{m, m.Gatherer(registry), now}
}

// series returns the values of a metric by "namespace/pod", without histograms.
func (w *watched) series(t interface{ Fatal(args ...any) }, name string) map[string]float64 {
	families, err := w.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "loadline_gauge_"+name {
			continue
		}
		for _, s := range f.GetMetric() {
			labels := make([]string, 0, 2)
			for _, l := range s.GetLabel() { // sorted by their names
				labels = append(labels, l.GetValue())
			}
			found[strings.Join(labels, "/")] = s.GetCounter().GetValue() + s.GetGauge().GetValue() + s.GetHistogram().GetSampleSum()
		}
	}
	return found
}

func (w *watched) want(t *testing.T, name string, want map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, w.series(t, name)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// pod returns a pod that waited for some seconds.
func pod(name string, wait float64) usage.Pod {
	return usage.Pod{UID: "uid-" + name, Namespace: "shop", Name: name, Times: usage.Times{Run: 1, Wait: wait, Throttled: 0.5, Blocked: 0.25}, Threads: 1, Dilation: 1 + wait}
}

func (w *watched) sampled(pods ...usage.Pod) {
	w.Sampled(&usage.Interval{Node: "a", CPUs: 4, Seconds: 10, BusySeconds: 8, StolenSeconds: 0.5, End: w.clock.Now(), Pods: pods, LeftOut: 3}, 16*time.Millisecond)
}

func TestBlockedTimesThatAreNotAccountedHaveNoSeries(t *testing.T) {
	t.Parallel()
	w := watch(t, 2)
	w.Sampled(&usage.Interval{Node: "a", CPUs: 4, Seconds: 10, BlockedUnknown: true, Pods: []usage.Pod{pod("cart", 4)}}, time.Millisecond)
	w.want(t, "pod_run_seconds_total", map[string]float64{"shop/cart": 1})
	w.want(t, "pod_blocked_seconds_total", map[string]float64{})
	unknown := pod("till", 4)
	unknown.Blocked, unknown.BlockedBy = 0, usage.ByNothing
	w.sampled(unknown)
	w.want(t, "pod_blocked_seconds_total", map[string]float64{})
	w.sampled(pod("cart", 4))
	w.want(t, "pod_blocked_seconds_total", map[string]float64{"shop/cart": 0.25})
}

func TestTheSecondsOfPodsAddUp(t *testing.T) {
	t.Parallel()
	w := watch(t, 10)
	w.sampled(pod("cart", 2), pod("till", 0))
	w.sampled(pod("cart", 3), pod("till", 0))
	w.want(t, "pod_run_seconds_total", map[string]float64{"shop/cart": 2, "shop/till": 2})
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/cart": 5, "shop/till": 0})
	w.want(t, "pod_throttled_seconds_total", map[string]float64{"shop/cart": 1, "shop/till": 1})
	w.want(t, "pod_blocked_seconds_total", map[string]float64{"shop/cart": 0.5, "shop/till": 0.5})
	w.want(t, "pod_dilation", map[string]float64{"shop/cart": 4, "shop/till": 1})
	w.want(t, "pods_summed", map[string]float64{"": 0})
	w.want(t, "pods_left_out", map[string]float64{"": 3})
	w.want(t, "node_busy_seconds_total", map[string]float64{"": 16})
	w.want(t, "node_stolen_seconds_total", map[string]float64{"": 1})
	w.want(t, "node_processors", map[string]float64{"": 4})
	w.want(t, "reading_duration_seconds", map[string]float64{"": 0.032})
	w.want(t, "last_reading_timestamp_seconds", map[string]float64{"": float64(noon.Unix())})
}

func TestPodsBeyondTheBoundShareOneSeries(t *testing.T) {
	t.Parallel()
	w := watch(t, 2)
	w.sampled(pod("a", 1), pod("b", 4), pod("c", 2), pod("d", 3))
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/b": 4, "shop/d": 3, "(others)/(others)": 3})
	w.want(t, "pod_dilation", map[string]float64{"shop/b": 5, "shop/d": 4})
	w.want(t, "pods_summed", map[string]float64{"": 2})

	w.sampled(pod("a", 5), pod("b", 4), pod("c", 2), pod("d", 3)) // a waits more, but not much more
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/b": 8, "shop/d": 6, "(others)/(others)": 10})

	w.sampled(pod("a", 7), pod("b", 4), pod("c", 2), pod("d", 3)) // now it does
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/a": 7, "shop/b": 12, "(others)/(others)": 15})

	w.sampled(pod("a", 7), pod("c", 2)) // there is room again
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/a": 14, "shop/c": 2, "(others)/(others)": 15})
	w.want(t, "pods_summed", map[string]float64{"": 0})
}

func TestTheSeriesOfAPodGoWithIt(t *testing.T) {
	t.Parallel()
	w := watch(t, 10)
	w.sampled(pod("cart", 2), pod("till", 1))
	w.sampled(pod("till", 1))
	for _, name := range []string{"pod_run_seconds_total", "pod_wait_seconds_total", "pod_throttled_seconds_total", "pod_blocked_seconds_total", "pod_dilation"} {
		if got := w.series(t, name); len(got) != 1 {
			t.Errorf("%s still has %v", name, got)
		}
	}
}

func TestASuccessorOfTheSameNameGoesOnWithTheSeries(t *testing.T) {
	t.Parallel()
	w := watch(t, 10)
	w.sampled(pod("db-0", 2))
	next := pod("db-0", 1)
	next.UID = "another"
	w.sampled(pod("db-0", 2), next)
	w.sampled(next)
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/db-0": 6})
}

func TestAPodWhoseNameIsNotKnownHasItsUIDUntilItIs(t *testing.T) {
	t.Parallel()
	w := watch(t, 10)
	unnamed := pod("cart", 2)
	unnamed.Namespace, unnamed.Name = "", ""
	w.sampled(unnamed)
	w.want(t, "pod_wait_seconds_total", map[string]float64{"(unknown)/uid-cart": 2})
	w.sampled(pod("cart", 1))
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/cart": 1})
}

func TestAStaleDilationIsNotShown(t *testing.T) {
	t.Parallel()
	w := watch(t, 10)
	w.sampled(pod("cart", 2))
	w.clock.SetTime(noon.Add(stale - 1))
	w.Failed()
	w.want(t, "pod_dilation", map[string]float64{"shop/cart": 3})
	w.clock.SetTime(noon.Add(stale))
	w.want(t, "pod_dilation", map[string]float64{})
	w.want(t, "pod_wait_seconds_total", map[string]float64{"shop/cart": 2})
	w.want(t, "reading_errors_total", map[string]float64{"": 1})
	w.want(t, "last_reading_timestamp_seconds", map[string]float64{"": float64(noon.Unix())})
	w.sampled(pod("cart", 2))
	w.want(t, "pod_dilation", map[string]float64{"shop/cart": 3})
}

func TestNamesThatCannotBeListedAreSeen(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	w.want(t, "pod_names_failing", map[string]float64{"": 0})
	w.Named(errors.New("permission denied"))
	w.want(t, "pod_names_failing", map[string]float64{"": 1})
	w.Named(nil)
	w.want(t, "pod_names_failing", map[string]float64{"": 0})
}

// However pods come and go, series are bounded, none goes backwards while it exists, and each pod's activity is counted
// somewhere, once, unless its pod is gone or has lost its place.
func TestSeriesAreBoundedAndNeverGoBackwards(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		maxPods := rapid.IntRange(1, 5).Draw(t, "max pods")
		w := watch(t, maxPods)
		before := map[string]float64{}
		for range rapid.IntRange(1, 20).Draw(t, "intervals") {
			var pods []usage.Pod
			waited := 0.0
			for i := range 12 {
				if rapid.Bool().Draw(t, "runs") {
					p := pod(fmt.Sprint(i), float64(rapid.IntRange(0, 1000).Draw(t, "wait")))
					waited += p.Wait
					pods = append(pods, p)
				}
			}
			w.sampled(pods...)
			now := w.series(t, "pod_wait_seconds_total")
			grown := 0.0
			for name, seconds := range now {
				if seconds < before[name] {
					t.Fatalf("%s went from %v to %v", name, before[name], seconds)
				}
				grown += seconds - before[name]
			}
			_, others := now[Others+"/"+Others]
			if n := len(now); n > maxPods+1 || n == maxPods+1 && !others {
				t.Fatalf("%d series, want at most %d and that of the others", n, maxPods)
			}
			if math.Abs(grown-waited) > 1e-6*waited { // rounding
				t.Fatalf("the series grew by %v, and the pods waited %v", grown, waited)
			}
			before = now
		}
	})
}

func TestScrapesAndIntervalsMayComeTogether(t *testing.T) {
	t.Parallel()
	w := watch(t, 2)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				w.series(t, "pod_wait_seconds_total")
			}
		})
	}
	for i := range 200 {
		w.sampled(pod(fmt.Sprint(i), 1), pod(fmt.Sprint(i+1), 2), pod(fmt.Sprint(i+2), 3))
		w.Failed()
	}
	all.Wait()
}

func TestNoPodsIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := New(prometheus.NewRegistry(), Options{}); err == nil || err.Error() != "max-pods: 0 is not at least 1" {
		t.Errorf("got %v", err)
	}
}

func TestTheMetricsKeepToTheConventionsOfPrometheus(t *testing.T) {
	t.Parallel()
	w := watch(t, 2)
	w.sampled(pod("a", 1), pod("b", 2), pod("c", 3))
	families, err := w.Gather()
	if err != nil {
		t.Fatal(err)
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	problems = slices.DeleteFunc(problems, func(p promlint.Problem) bool { // the program is called gauge
		return p.Text == "metric name should not include type 'gauge'"
	})
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %+v", err, problems)
	}
}
