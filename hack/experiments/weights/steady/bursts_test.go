package main

import (
	"testing"
	"time"

	"loadline.dev/loadline/hack/experiments/weights/account"
)

func TestOnlyTheWindowCounts(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	c := counter{window: window{from: at(10), to: at(20), end: at(30)}}
	for second := range 30 { // half of the time it computes
		c.now = account.Part{CPU: time.Duration(second) * time.Second / 2, Idle: time.Duration(second) * time.Second / 4, Work: float64(second)}
		c.look(at(second))
	}
	if want := (account.Part{Wall: 10 * time.Second, CPU: 5 * time.Second, Idle: 2500 * time.Millisecond, Work: 10}); c.last != want {
		t.Errorf("%+v, want %+v", c.last, want)
	}
	if got := c.last.Pace(); got != 0.75 {
		t.Errorf("pace %v, want 0.75", got)
	}
}

func TestAJobThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for _, b := range []bursts{{threads: 1}, {burst: 1, idle: -1, threads: 1}, {burst: 1}} {
		if _, err := b.run(window{}); err == nil {
			t.Errorf("%+v is no error", b)
		}
	}
}
