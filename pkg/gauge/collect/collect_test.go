package collect_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

func TestEveryIntervalArrivesOnceAndInOrder(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add("a", c.history("a", c.clock.Now(), 0))
	for _, after := range []time.Duration{45 * time.Second, 30 * time.Second, 31 * time.Second, 2 * time.Second, 90 * time.Second} {
		c.round(t, after)
	}
	want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	if diff := cmp.Diff(want, c.numbers("a")); diff != "" {
		t.Errorf("unexpected intervals (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{6, 5, 5, 2, 11}, c.asked["a.example:8443"]); diff != "" {
		t.Errorf("asked for unexpected numbers (-want +got):\n%s", diff)
	}
	last := c.received.by["a"][len(c.received.by["a"])-1]
	if want := c.clock.Now().Add(-8 * time.Second); !last.Ended.Equal(want) {
		t.Errorf("the last interval ended at %v, not at %v", last.Ended, want)
	}
}

func TestTheClocksOfNodesDoNotMatter(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	wrong := time.Duration(0)
	c.add("behind", c.history("behind", c.clock.Now(), -1000*time.Hour))
	c.add("ahead", c.history("ahead", c.clock.Now(), 1000*time.Hour))
	began := c.clock.Now()
	c.add("jumping", func(w http.ResponseWriter, r *http.Request) {
		wrong -= time.Hour // between any two rounds
		c.history("jumping", began, wrong)(w, r)
	})
	for range 3 {
		c.round(t, 30*time.Second)
	}
	for _, node := range []string{"behind", "ahead", "jumping"} {
		if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}, c.numbers(node)); diff != "" {
			t.Errorf("%s: unexpected intervals (-want +got):\n%s", node, diff)
		}
		for _, o := range c.received.by[node] {
			if o.Ended.After(c.clock.Now()) || o.Ended.Before(began) {
				t.Errorf("%s: an interval ended at %v", node, o.Ended)
			}
		}
	}
}

func TestAGaugeThatRestartsGoesOn(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	began := c.clock.Now()
	c.add("a", func(w http.ResponseWriter, r *http.Request) { c.history("a", began, 0)(w, r) })
	c.round(t, 30*time.Second)
	began = c.clock.Now().Add(25 * time.Second)
	c.round(t, 30*time.Second) // it has nothing yet
	c.round(t, 30*time.Second)
	if diff := cmp.Diff([]int{1, 2, 3, 1, 2, 3}, c.numbers("a")); diff != "" {
		t.Errorf("unexpected intervals (-want +got):\n%s", diff)
	}
}

func TestAGaugeThatFailsIsAskedEverMoreSeldomAndKeepsNoOtherFromBeingAsked(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	began := c.clock.Now()
	dead := true
	c.add("dead", func(w http.ResponseWriter, r *http.Request) {
		if dead {
			http.Error(w, "unavailable", http.StatusServiceUnavailable)
			return
		}
		c.history("dead", began, 0)(w, r)
	})
	c.add("alive", c.history("alive", began, 0))
	var at []int
	for n := range 60 {
		if round := c.round(t, 30*time.Second); round.Asked == 2 {
			at = append(at, n)
			if round.Failed != 1 {
				t.Errorf("round %d: %d failed", n, round.Failed)
			}
		}
	}
	if diff := cmp.Diff([]int{0, 1, 3, 7, 15, 25, 35, 45, 55}, at); diff != "" {
		t.Errorf("it was asked in other rounds (-want +got):\n%s", diff)
	}
	if got := len(c.numbers("alive")); got != 180 {
		t.Errorf("%d intervals of the other gauge arrived, not 180", got)
	}
	dead = false
	c.round(t, 5*time.Minute)
	if round := c.round(t, 30*time.Second); round.Asked != 2 || round.Failed != 0 {
		t.Errorf("once it answers again the round is %+v", round)
	}
	if got := len(c.numbers("dead")); got != 6+3 {
		t.Errorf("%d intervals arrived of the gauge that answers again", got)
	}
}

func TestASlowGaugeIsGivenUp(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.collector.Patience = 100 * time.Millisecond
	c.add("slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c.add("trickling", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"ageSeconds":1,`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	if round := c.round(t, 30*time.Second); round.Failed != 2 || len(c.received.by) != 0 {
		t.Errorf("the round is %+v, and %v arrived", round, c.received.by)
	}
}

func TestWhatAGaugeCannotHaveObservedIsRefused(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	changed := func(change func(v *usage.Interval)) http.HandlerFunc {
		v := interval("liar", 1, at)
		change(&v)
		return says(usage.Report{Intervals: []usage.Interval{v}})
	}
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		why    string // it is refused; empty if it is no report at all
	}{
		"about another node":      {changed(func(v *usage.Interval) { v.Node = "other" }), `intervals[0].node: "other" is not the node that it runs on, "liar"`},
		"of an impossible value":  {changed(func(v *usage.Interval) { v.Pods[0].Dilation = 0.5 }), "intervals[0].pods[0].dilation: 0.5 is not at least 1 and finite"},
		"of an endless interval":  {changed(func(v *usage.Interval) { v.Seconds = 1e9 }), "intervals[0].seconds: 1e+09 is more than 3600"},
		"of a pod for too long":   {changed(func(v *usage.Interval) { v.Pods[0].Seconds = 1e6 }), "intervals[0].pods[0].seconds: 1e+06 is more than that of the interval, 10"},
		"of an age without end":   {says(usage.Report{AgeSeconds: 1e9, Intervals: []usage.Interval{interval("liar", 1, at)}}), "ageSeconds: 1e+09 is more than 8.64e+06"},
		"more than was asked for": {says(usage.Report{Intervals: slices.Repeat([]usage.Interval{interval("liar", 1, at)}, 900)}), "intervals[6]: is too large: there are more than 6"},
		"what is no report":       {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, "is no JSON at byte 1: invalid character '<' at start of value"},
		"without an end":          {func(w http.ResponseWriter, _ *http.Request) { endless(w) }, "intervals[0].node: is too large: a value of it is longer than 65536 bytes"},
		"in colours":              {changed(func(v *usage.Interval) { v.Pods[0].UID = "\x1b[31mRED\n" }), `intervals[0].pods[0].uid: "\x1b[31mRED\n" is not from 1 to 64 letters, digits and dashes`},
		"by sending us away": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/v1/usage?last=7", http.StatusFound)
		}, ""},
		"by refusing a token": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "unauthorized", http.StatusUnauthorized) }, ""},
		"by breaking off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("{"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.add("liar", test.answer)
			round := c.round(t, time.Minute)
			if round.Failed != 1 || len(c.received.by) != 0 {
				t.Errorf("the round is %+v, and %v arrived", round, c.received.by)
			}
			if got := len(c.asked["liar.example:8443"]); got != 1 {
				t.Errorf("it was asked %d times", got)
			}
			var want []usage.Refusal
			if test.why != "" {
				want = []usage.Refusal{{Node: "liar", Reason: test.why}}
			}
			if diff := cmp.Diff(want, round.Refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAGaugeThatIsRefusedIsNamedUntilItsAnswerIsTaken(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	began, lies := c.clock.Now(), true
	c.add("liar", func(w http.ResponseWriter, r *http.Request) {
		if lies {
			says(usage.Report{AgeSeconds: -1})(w, r)
			return
		}
		c.history("liar", began, 0)(w, r)
	})
	want := []usage.Refusal{{Node: "liar", Reason: "ageSeconds: -1 is not at least 0 and finite"}}
	for n := range 3 {
		if round := c.round(t, 15*time.Second); !cmp.Equal(want, round.Refused) { // in the second it is not asked
			t.Errorf("round %d refused %+v", n, round.Refused)
		}
	}
	lies = false
	if round := c.round(t, 5*time.Minute); round.Failed != 0 || len(round.Refused) != 0 {
		t.Errorf("once it does not lie the round is %+v", round)
	}
}

// endless writes an interval that never ends, until the reader has enough.
func endless(w http.ResponseWriter) {
	_, err := w.Write([]byte(`{"ageSeconds":0,"intervals":[{"node":"`))
	for text := []byte(strings.Repeat("x", 1<<16)); err == nil; {
		_, err = w.Write(text)
	}
}

func TestAGaugeCannotHaveObservedMoreTimeThanHasPassed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add("liar", func(w http.ResponseWriter, _ *http.Request) { // always two intervals that have just ended
		report := usage.Report{}
		for n := range 2 {
			report.Intervals = append(report.Intervals, interval("liar", n, c.clock.Now()))
		}
		says(report)(w, nil)
	})
	for range 10 {
		c.round(t, time.Second)
	}
	if got := len(c.numbers("liar")); got != 2+1 {
		t.Errorf("%d intervals of ten seconds arrived in ten seconds", got)
	}
}

func TestAnAnswerThatIsTooLongIsAskedForInPart(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	began := c.clock.Now()
	c.add("large", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("last") != "3" {
			endless(w)
			return
		}
		c.history("large", began, 0)(w, r)
	})
	for range 8 {
		c.round(t, 30*time.Second)
	}
	if diff := cmp.Diff([]int{6, 3}, c.asked["large.example:8443"][:2]); diff != "" {
		t.Errorf("it was asked for other numbers (-want +got):\n%s", diff)
	}
	if len(c.numbers("large")) == 0 {
		t.Error("nothing arrived")
	}
}

func TestAGaugeThatIsToRecallTellsAllThatItKeepsFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	recalls := 0
	c.collector.Recall = func(context.Context) (map[string]bool, error) {
		recalls++
		return map[string]bool{"changed": true}, nil
	}
	for _, node := range []string{"changed", "other"} {
		c.add(node, c.history(node, c.clock.Now(), 0))
	}
	c.round(t, 9*time.Minute)
	c.round(t, 30*time.Second)
	if diff := cmp.Diff([]int{60, 4}, c.asked["changed.example:8443"]); diff != "" {
		t.Errorf("asked for unexpected numbers (-want +got):\n%s", diff)
	}
	if got := c.numbers("changed"); len(got) != 57 || got[0] != 1 || got[56] != 57 {
		t.Errorf("the intervals %v arrived, want 1 to 57", got)
	}
	if got := c.numbers("other"); len(got) != 9 {
		t.Errorf("the intervals %v of the other node arrived, want 9", got)
	}
	if recalls != 1 {
		t.Errorf("it was asked %d times which gauges are to recall, want once, as there were no new ones later", recalls)
	}

	c.collector.Recall = func(context.Context) (map[string]bool, error) { return nil, errors.New("the cache is not there") }
	c.round(t, 30*time.Second) // no gauge is new
	c.add("new", c.history("new", c.clock.Now(), 0))
	if _, err := c.collector.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "the cache is not there") {
		t.Errorf("the error is %v", err)
	}
}

func TestGaugesThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add("a", c.history("a", c.clock.Now(), 0))
	gauges := c.gauges
	c.round(t, time.Minute)
	c.gauges = nil
	if round := c.round(t, 30*time.Second); !cmp.Equal(*round, collect.Round{}) {
		t.Errorf("without gauges the round is %+v", round)
	}
	c.gauges = gauges
	c.round(t, time.Minute)
	if diff := cmp.Diff([]int{6, 6}, c.asked["a.example:8443"]); diff != "" {
		t.Errorf("asked for unexpected numbers (-want +got):\n%s", diff)
	}
}

func TestWithoutAListOrATokenThereIsNoRound(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add("a", c.history("a", c.clock.Now(), 0))
	c.collector.Token = func() (string, error) { return "", errors.New("no such file") }
	if _, err := c.collector.Round(t.Context()); err == nil || err.Error() != "reading the token for gauges: no such file" {
		t.Errorf("got %v", err)
	}
	c.collector.Gauges = func(context.Context) ([]collect.Gauge, error) { return nil, errors.New("not synced") }
	if _, err := c.collector.Round(t.Context()); err == nil || err.Error() != "listing gauges: not synced" {
		t.Errorf("got %v", err)
	}
}

func TestRoundsFollowEachOtherUntilTheContextIsDone(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.add("a", c.history("a", c.clock.Now().Add(-time.Hour), 0))
	ctx, cancel := context.WithCancel(t.Context())
	rounds := make(chan collect.Round)
	c.collector.Done = func(_ context.Context, r *collect.Round) { rounds <- *r }
	ended := make(chan error)
	go func() { ended <- c.collector.Start(ctx) }()
	for n, want := range []int{6, 3, 3} {
		if got := (<-rounds).Intervals; got != want {
			t.Errorf("round %d brought %d intervals, not %d", n, got, want)
		}
		c.clock.Step(collect.Period)
	}
	cancel()
	for {
		select {
		case <-rounds: // one that was under way
			continue
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		}
		return
	}
}
