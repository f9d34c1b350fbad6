package collect_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/gauge/access"
	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/history"
	gauge "loadline.dev/loadline/pkg/gauge/server"
)

// The handler of the gauge itself, with its guard: its answers arrive at authorized readers.
func TestWhatAGaugeServesArrives(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	kept, err := history.New(30, c.clock)
	if err != nil {
		t.Fatal(err)
	}
	guard := access.NewGuard(func(_ context.Context, r access.Request) (access.Decision, error) {
		if r != (access.Request{Token: theToken, Audience: "loadline-gauge", Path: "/v1/usage"}) {
			return access.Unauthenticated, nil
		}
		return access.Allowed, nil
	}, c.clock)
	protect := func(path string, next http.Handler) http.Handler { return guard.Protect(path, "loadline-gauge", next) }
	c.add("a", gauge.NewHandler(kept, protect, http.NotFoundHandler()).ServeHTTP)

	if round := c.round(t, time.Second); !cmp.Equal(*round, collect.Round{Gauges: 1, Asked: 1, Took: round.Took}) {
		t.Errorf("before there is an interval the round is %+v", round)
	}
	for n := 1; n <= 9; n++ {
		c.clock.Step(period)
		v := interval("a", n, c.clock.Now())
		if err := kept.Add(&v); err != nil {
			t.Fatal(err)
		}
		if n%3 == 0 {
			c.round(t, 7*time.Second)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5, 6, 7, 8, 9}, c.numbers("a")); diff != "" {
		t.Errorf("unexpected intervals (-want +got):\n%s", diff)
	}
	first, want := c.received.by["a"][0].Intervals[0], interval("a", 1, c.received.by["a"][0].Intervals[0].End)
	want.Pods[0].SlowedSeconds, want.Pods[0].SlowedBefore = want.Seconds, true // as the gauge adds
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("unexpected interval (-want +got):\n%s", diff)
	}
}
