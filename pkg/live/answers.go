package live

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/evaluate/plan"
)

// moment is what there is to show at a moment. It is not changed.
type moment struct {
	// id says when it was looked at, and differs from that of any other moment.
	id     string
	look   *Look
	answer *findings.Answer
	// cluster is what the answer is made of, nil while the plan is worked out. A trial solves models of it: trying is held meanwhile.
	cluster *observed.Cluster
	trying  *sync.Mutex
	// problem says why there was no later look, if that is so.
	problem string
	// where are the namespaces of what is shown.
	where []place
}

// answers keeps the latest moment, and a few of those of the past that were asked for.
type answers struct {
	mutex  sync.Mutex
	latest *moment
	failed string // why there is no moment yet
	// published is how many moments there were.
	published int
	// changed is closed when there is another latest moment.
	changed chan struct{}

	pastMutex sync.Mutex // held while a past moment is worked out: one at a time
	past      []pastMoment
}

// pastMoment is the answer about a moment of a look.
type pastMoment struct {
	look   *Look
	at     time.Time
	answer *findings.Answer
}

// maxPast is how many answers about the past are kept.
const maxPast = 4

// now returns the latest moment, nil where there is none yet, why there is none, and what is closed when there is another one.
func (a *answers) now() (latest *moment, failed string, changed <-chan struct{}) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.changed == nil {
		a.changed = make(chan struct{})
	}
	return a.latest, a.failed, a.changed
}

// publish makes a moment the latest one, or says why there is no later one.
func (a *answers) publish(m *moment, problem string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	switch {
	case m != nil:
		a.latest, a.failed = m, ""
	case a.latest == nil:
		a.failed = problem
	default:
		stale := *a.latest
		stale.problem = problem
		a.latest = &stale
	}
	if a.latest != nil {
		a.published++
		a.latest.id = fmt.Sprintf("%s %d", a.latest.look.Taken.UTC().Format(time.RFC3339Nano), a.published)
	}
	if a.changed != nil {
		close(a.changed)
	}
	a.changed = make(chan struct{})
}

// answer works out what a look shows. Of the first look the pods that are slowed down are published before it is known why, and that before
// the plan, which takes longest: an operator sees who is slowed down while what would help is worked out.
func (a *answers) answer(ctx context.Context, l *Look, above float64, h *History) error {
	c := observed.Observe(l.In, above)
	h.Add(l.In, c, l.Taken)
	l = l.kept()
	where := l.places()
	latest, _, _ := a.now()
	if latest == nil {
		for _, work := range []func(){func() {}, c.SolveSlowed} {
			work()
			first, err := findings.Of(c, above, nil)
			if err != nil {
				return err
			}
			l.serve(first)
			a.publish(&moment{look: l, answer: first, where: where}, "")
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	answer, err := complete(c, l, above)
	if err == nil {
		l.serve(answer)
		a.publish(&moment{look: l, answer: answer, cluster: c, trying: &sync.Mutex{}, where: where}, "")
	}
	return err
}

// complete returns what kubectl loadline who would answer.
func complete(c *observed.Cluster, l *Look, above float64) (*findings.Answer, error) {
	o := l.Options
	o.Above = above
	c.SolveAll()
	p, err := plan.Make(c, &o)
	if err != nil {
		return nil, err
	}
	return findings.Of(c, above, p)
}

// try returns what a change of a pod would do.
func (m *moment) try(change plan.Change, above float64) (*plan.Trial, error) {
	m.trying.Lock()
	defer m.trying.Unlock()
	o := m.look.Options
	o.Above = above
	return plan.Try(m.cluster, change, &o)
}

// at returns the answer about a moment of a look.
func (a *answers) at(l *Look, t time.Time, above float64) (*findings.Answer, error) {
	a.pastMutex.Lock()
	defer a.pastMutex.Unlock()
	for _, p := range a.past {
		if p.look == l && p.at.Equal(t) {
			return p.answer, nil
		}
	}
	answer, err := complete(observed.Observe(l.at(t), above), l, above)
	if err != nil {
		return nil, err
	}
	a.past = append(slices.DeleteFunc(a.past, func(p pastMoment) bool { return p.look != l }), pastMoment{l, t, answer})
	if len(a.past) > maxPast {
		a.past = slices.Clone(a.past[1:])
	}
	return answer, nil
}
