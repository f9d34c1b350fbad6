package history

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// interval is the i-th.
func interval(i int) *usage.Interval {
	return &usage.Interval{Node: "a", CPUs: 1, Seconds: float64(i)}
}

// numbers returns which intervals a history returns.
func numbers(t interface{ Fatal(args ...any) }, encoded [][]byte) []int {
	all := []int{}
	for _, text := range encoded {
		var v usage.Interval
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, int(v.Seconds))
	}
	return all
}

func newHistory(t *testing.T, keep int) *History {
	t.Helper()
	h, err := New(keep, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLongIntervalsAreKeptAsFarAsThereIsRoomAndTheNewestAlways(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(interval(1))
	if err != nil {
		t.Fatal(err)
	}
	for room, want := range map[int][]int{3: {4, 5, 6}, 1: {6}, 0: {6}, 10: {1, 2, 3, 4, 5, 6}} {
		h := newHistory(t, 10)
		h.maxBytes = room * len(text)
		for i := range 6 {
			if err := h.Add(interval(i + 1)); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, numbers(t, h.Last(10))); diff != "" {
			t.Errorf("in room for %d (-want +got):\n%s", room, diff)
		}
	}
}

func TestTheLastIntervalsAreKeptTheOldestFirst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keep, added := rapid.IntRange(1, 40).Draw(t, "keep"), rapid.IntRange(0, 100).Draw(t, "added")
		n := rapid.OneOf(rapid.IntRange(-5, 50), rapid.Just(math.MaxInt), rapid.Just(math.MinInt)).Draw(t, "n")
		h, err := New(keep, clock.RealClock{})
		if err != nil {
			t.Fatal(err)
		}
		want := []int{}
		for i := 1; i <= added; i++ {
			if err := h.Add(interval(i)); err != nil {
				t.Fatal(err)
			}
			want = append(want, i)
		}
		want = want[max(0, len(want)-keep):]
		want = want[len(want)-min(max(n, 0), len(want)):]
		if diff := cmp.Diff(want, numbers(t, h.Last(n))); diff != "" {
			t.Fatalf("the last %d of %d (-want +got):\n%s", n, added, diff)
		}
	})
}

func TestAHistoryOfNothingIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := New(0, clock.RealClock{}); err == nil || err.Error() != "keep: 0 is not at least 1" {
		t.Errorf("got %v", err)
	}
}

func TestAnIntervalThatBreaksTheRulesIsNotKept(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 3)
	wrong := interval(1)
	wrong.BusySeconds = math.NaN()
	for _, v := range []*usage.Interval{nil, {}, wrong} {
		if err := h.Add(v); err == nil {
			t.Errorf("%+v was added", v)
		}
	}
	if age, is := h.Age(); is || len(h.Last(3)) != 0 {
		t.Errorf("something was kept, of the age %v", age)
	}
}

func TestReadersSeeWholeHistoriesWhileIntervalsAreAdded(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 5)
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 4 {
		all.Go(func() {
			for ctx.Err() == nil {
				seen := numbers(t, h.Last(5))
				for i := 1; i < len(seen); i++ {
					if seen[i] != seen[i-1]+1 {
						t.Errorf("a reader sees %v", seen)
						return
					}
				}
				h.Age()
			}
		})
	}
	for i := 1; i <= 500; i++ {
		if err := h.Add(interval(i)); err != nil {
			t.Error(err)
		}
	}
	stop()
	all.Wait()
}

// told keeps the notifications of an observer.
type told struct {
	took   []time.Duration
	failed int
}

func (o *told) Sampled(_ *usage.Interval, took time.Duration) { o.took = append(o.took, took) }
func (o *told) Failed()                                       { o.failed++ }

func TestFollowingAddsWhatSucceedsAndSaysHowOldItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, o := newHistory(t, 10), new(told)
		n := 0
		sample := func(context.Context) (*usage.Interval, error) {
			n++
			time.Sleep(time.Second) //nolint:forbidigo // the clock of the bubble
			switch n {
			case 2:
				return nil, errors.New("no such file")
			case 3:
				return &usage.Interval{}, nil
			}
			return interval(n), nil
		}
		ctx, stop := context.WithTimeout(t.Context(), 45*time.Second)
		defer stop()
		ticker := time.NewTicker(10 * time.Second)
		defer ticker.Stop()
		h.Follow(ctx, ticker.C, sample, o)
		if diff := cmp.Diff([]int{1, 4}, numbers(t, h.Last(10))); diff != "" {
			t.Errorf("what is kept (-want +got):\n%s", diff)
		}
		if age, is := h.Age(); !is || age != 4*time.Second {
			t.Errorf("the newest has the age %v", age)
		}
		if diff := cmp.Diff([]time.Duration{time.Second, time.Second}, o.took); diff != "" || o.failed != 2 {
			t.Errorf("%d failed; how long the others took (-want +got):\n%s", o.failed, diff)
		}
	})
}

func TestAChangeOfTheProcessorsIsLogged(t *testing.T) {
	t.Parallel()
	h, o := newHistory(t, 10), new(told)
	numbers := []int{2, 2, 1, 1, 4}
	ticks := make(chan time.Time, len(numbers)+1)
	for range cap(ticks) {
		ticks <- time.Time{}
	}
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	ctx, stop := context.WithCancel(klog.NewContext(t.Context(), log))
	n := 0
	h.Follow(ctx, ticks, func(ctx context.Context) (*usage.Interval, error) {
		if n == len(numbers) {
			stop()
			return nil, ctx.Err()
		}
		v := interval(n + 1)
		v.CPUs = numbers[n]
		n++
		return v, nil
	}, o)
	want := []string{
		`"level"=0 "msg"="The number of processors that pods may run on changed" "before"=2 "now"=1`,
		`"level"=0 "msg"="The number of processors that pods may run on changed" "before"=1 "now"=4`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheEndOfTheContextIsNoFailure(t *testing.T) {
	t.Parallel()
	h, o := newHistory(t, 1), new(told)
	ctx, stop := context.WithCancel(t.Context())
	ticks := make(chan time.Time, 1)
	ticks <- time.Time{}
	h.Follow(ctx, ticks, func(ctx context.Context) (*usage.Interval, error) {
		stop()
		return nil, ctx.Err()
	}, o)
	if o.failed != 0 || len(o.took) != 0 {
		t.Errorf("the observer was told %+v", o)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	t.Parallel()
	err := newHistory(t, 1).Add(&usage.Interval{Node: "a", CPUs: 1})
	if err == nil || !strings.HasPrefix(err.Error(), "seconds:") {
		t.Errorf("got %v", err)
	}
}

// spellsOf returns for how long the pods of the newest interval have been slowed down.
func spellsOf(t *testing.T, h *History) map[string]spell {
	t.Helper()
	var v usage.Interval
	if err := json.Unmarshal(h.Last(1)[0], &v); err != nil {
		t.Fatal(err)
	}
	all := map[string]spell{}
	for _, p := range v.Pods {
		all[p.UID] = spell{p.SlowedSeconds, p.SlowedBefore}
	}
	return all
}

func TestAGaugeRemembersForHowLongAPodHasBeenSlowedDown(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 1) // it keeps one interval, and remembers more
	add := func(dilations map[string]float64) map[string]spell {
		v := &usage.Interval{Node: "a", CPUs: 1, Seconds: 10}
		for uid, d := range dilations {
			v.Pods = append(v.Pods, usage.Pod{UID: uid, Seconds: 10, Threads: 1, Dilation: d})
		}
		if err := h.Add(v); err != nil {
			t.Fatal(err)
		}
		return spellsOf(t, h)
	}
	for k, c := range []struct {
		dilations map[string]float64
		want      map[string]spell
	}{
		{map[string]float64{"always": 2, "later": 1, "edge": usage.Slowed}, map[string]spell{"always": {10, true}, "later": {}, "edge": {10, true}}},
		{map[string]float64{"always": 3, "later": 1.2, "edge": 1.09}, map[string]spell{"always": {20, true}, "later": {10, false}, "edge": {}}},
		{map[string]float64{"always": 1.5, "later": 1.2, "edge": 2}, map[string]spell{"always": {30, true}, "later": {20, false}, "edge": {10, false}}},
		{map[string]float64{"always": 1.5, "edge": 1}, map[string]spell{"always": {40, true}, "edge": {}}},
		{map[string]float64{"later": 2}, map[string]spell{"later": {10, true}}}, // it was away: it may be another one
	} {
		if diff := cmp.Diff(c.want, add(c.dilations), cmp.AllowUnexported(spell{})); diff != "" {
			t.Errorf("interval %d (-want +got):\n%s", k, diff)
		}
	}
}

func TestAnIntervalThatIsNotAddedIsNotRemembered(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 1)
	slow := usage.Pod{UID: "a", Seconds: 10, Threads: 1, Dilation: 2}
	good := func() *usage.Interval {
		return &usage.Interval{Node: "a", CPUs: 1, Seconds: 10, Pods: []usage.Pod{slow}}
	}
	wrong := good()
	wrong.Pods[0].Threads = 0
	if err := h.Add(good()); err != nil {
		t.Fatal(err)
	}
	if h.Add(wrong) == nil {
		t.Fatal("an interval that breaks the rules was added")
	}
	if err := h.Add(good()); err != nil {
		t.Fatal(err)
	}
	if got := spellsOf(t, h)["a"]; got != (spell{20, true}) {
		t.Errorf("got %+v", got)
	}
}
