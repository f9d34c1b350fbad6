package dilation

import (
	"fmt"
	"testing"
	"time"
)

// run has changes made for some time, each of a namespace after so many ticks, and returns when the pods were tried again.
func (p *pace) run(pods int, tick, until time.Duration, changes func(at time.Duration) []string) (tried []time.Duration) {
	begin := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for at := time.Duration(0); at < until; at += tick {
		for _, namespace := range changes(at) {
			p.change(namespace, begin.Add(at))
		}
		if due, is := p.due(); is && !due.After(begin.Add(at)) {
			p.tried(pods, begin.Add(at))
			tried = append(tried, at)
		}
	}
	return tried
}

// A user who changes a profile all the time has the pods tried again a few times at once and then seldom, and what others
// change goes on having them tried at once.
func TestChangesOfOneNamespaceHaveTheirPace(t *testing.T) {
	t.Parallel()
	const tick, other = 100 * time.Millisecond, 5*time.Minute + 3*time.Second
	hostile := func(time.Duration) []string { return []string{"hostile"} }
	var p pace
	tried := p.run(10, tick, 10*time.Minute, hostile)
	if want := retriesAtOnce + int(10*time.Minute/retryInterval); len(tried) > want || len(tried) < want-1 {
		t.Errorf("tried again %d times in 10 minutes, want %d: %v", len(tried), want, tried)
	}
	p = pace{}
	soon := false
	for _, at := range p.run(10, tick, 10*time.Minute, func(at time.Duration) []string {
		if at == other {
			return []string{"hostile", "honest"}
		}
		return hostile(at)
	}) {
		soon = soon || at >= other && at <= other+wakeInterval
	}
	if !soon {
		t.Error("what changed in another namespace had the pods not tried again soon")
	}
}

func TestManyPodsAreTriedAgainAsFastAsTheyCanBePlaced(t *testing.T) {
	t.Parallel()
	const pods = 10_000
	var p pace
	n := 0
	tried := p.run(pods, 100*time.Millisecond, 10*time.Minute, func(time.Duration) []string {
		n++
		return []string{fmt.Sprint("namespace-", n)} // each time another one
	})
	if most := int(10*time.Minute/(pods*perPod)) + 1; len(tried) > most || len(tried) < most-1 {
		t.Errorf("%d pods were tried again %d times in 10 minutes, want %d", pods, len(tried), most)
	}
}

func TestNamespacesThatAreQuietAreForgotten(t *testing.T) {
	t.Parallel()
	var p pace
	for n := range 1000 {
		p.run(1, time.Second, time.Second, func(time.Duration) []string { return []string{fmt.Sprint("namespace-", n)} })
	}
	now := time.Date(2026, 7, 1, 13, 0, 0, 0, time.UTC)
	p.change("another", now)
	p.tried(1, now)
	if len(p.sources) != 1 {
		t.Errorf("%d namespaces are remembered, of which one has changed in the last hour", len(p.sources))
	}
	if _, is := p.due(); is {
		t.Error("the pods are to be tried again, and nothing has changed")
	}
}
