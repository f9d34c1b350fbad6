package dilation

import (
	"time"

	"golang.org/x/time/rate"
)

// pace decides when the pods that wait are tried again because of changes. These come from namespaces, whose users change
// profiles as often as they like, and each may make room for any pod. So each namespace has the pods tried again at once a few
// times, and then at an interval: a user who changes a profile all the time delays the effect of their own changes, and not that of
// the changes in other namespaces. Between two times the scheduler has about the time that it needs for all the pods. The zero
// value has seen no change.
type pace struct {
	sources map[string]*source // by namespace, metav1.NamespaceAll for what concerns all
	next    time.Time          // before which no pods are tried again
}

// source is where changes come from.
type source struct {
	limit *rate.Limiter
	due   time.Time // when the pods are tried again for its sake, zero if nothing has changed since they were
}

const (
	// Changes of one source have the pods tried again retriesAtOnce times at once, and then every retryInterval; each
	// interval in which there was none gives one of the former back.
	retriesAtOnce = 5
	retryInterval = 30 * time.Second

	// wakeInterval is the shortest time between two times that all pods are tried again, whatever changes: while thousands of
	// profiles come in, each would have them tried. Where there are many pods it is perPod for each, which is about what a
	// scheduling cycle takes on thousands of nodes.
	wakeInterval = time.Second
	perPod       = 5 * time.Millisecond
)

// change takes in a change.
func (p *pace) change(namespace string, now time.Time) {
	s := p.sources[namespace]
	if s == nil {
		if p.sources == nil {
			p.sources = map[string]*source{}
		}
		s = &source{limit: rate.NewLimiter(rate.Every(retryInterval), retriesAtOnce)}
		p.sources[namespace] = s
	}
	if s.due.IsZero() {
		s.due = now.Add(s.limit.ReserveN(now, 1).DelayFrom(now))
	}
}

// due returns when the pods are to be tried again, false if nothing has changed since they were.
func (p *pace) due() (at time.Time, is bool) {
	for _, s := range p.sources {
		if !s.due.IsZero() && (!is || s.due.Before(at)) {
			at, is = s.due, true
		}
	}
	if is && at.Before(p.next) {
		at = p.next
	}
	return at, is
}

// tried takes in that all pods, a number of them, are tried again now. It forgets the sources that have been quiet for so long
// that they are like new ones.
func (p *pace) tried(pods int, now time.Time) {
	p.next = now.Add(max(wakeInterval, time.Duration(pods)*perPod))
	for namespace, s := range p.sources {
		s.due = time.Time{}
		if s.limit.TokensAt(now) >= retriesAtOnce {
			delete(p.sources, namespace)
		}
	}
}
