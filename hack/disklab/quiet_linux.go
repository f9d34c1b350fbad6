package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/reading"
)

// quiet runs pairs of pods that use the disk little, and counts the intervals in which Loadline says that a pod is slowed down there, and it is
// not by its own clock.
func quiet(ctx context.Context, o quietOptions, out, log io.Writer) (err error) {
	if err := mayRecord(); err != nil {
		return err
	}
	l, err := openLab(ctx, o.dir, options{warm: time.Second, seconds: 1, tries: 1, patience: o.patience, foreignCPU: 0.1, pressureOnly: o.pressureOnly}, log)
	defer func() { err = errors.Join(err, l.close()) }()
	if err != nil {
		return err
	}
	all := &tally{}
	for i := 0; all.intervals < o.intervals; i++ {
		specs := drawQuiet(rand.New(rand.NewPCG(o.seed, uint64(i))))
		claims, err := l.claims(ctx, specs)
		if err != nil {
			return err
		}
		of := &tally{}
		of.add(claims)
		all.add(claims)
		fmt.Fprintf(log, "%s, and %s: %s\n", specs[0], specs[1], of)
	}
	_, err = fmt.Fprintln(out, all)
	return err
}

// claims runs two pods, first until what operations take is learned of, and then for some intervals of a second.
func (l *lab) claims(ctx context.Context, specs []spec) (all []claim, err error) {
	const learning, judged = 15, 50
	running := make([]*child, 0, len(specs))
	defer func() {
		err = errors.Join(err, l.end(ctx, running))
	}()
	for i, s := range specs {
		c, err := l.start(ctx, s, i)
		if err != nil {
			return nil, err
		}
		running = append(running, c)
	}
	if _, err := l.quiet(ctx); err != nil {
		return nil, err
	}
	for _, c := range running {
		if err := c.say(lineStart); err != nil {
			return nil, err
		}
	}
	kept, err := history.New(1, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	before, last, err := l.both(running)
	if err != nil {
		return nil, err
	}
	for k := range learning + judged {
		if err := pause(ctx, time.Second); err != nil {
			return nil, err
		}
		after, now, err := l.both(running)
		if err != nil {
			return nil, err
		}
		v := reading.Between(before, after, labNode, nil)
		if err := kept.Add(v); err != nil {
			return nil, err
		}
		if k >= learning {
			if err := json.Unmarshal(kept.Last(1)[0], v); err != nil {
				return nil, err
			}
			of, err := said(v, len(specs))
			if err != nil {
				return nil, err
			}
			for i := range of {
				t := now.pods[i].totals.since(last.pods[i].totals)
				of[i].units, of[i].latency = t.Units, t.Latency
				of[i].cycle = float64(specs[i].Depth) * v.End.Sub(v.Start).Seconds()
			}
			all = append(all, of...)
		}
		before, last = after, now
	}
	return all, nil
}

// both reads what the gauge reads, and what the jobs say themselves.
func (l *lab) both(running []*child) (*reading.Reading, *moment, error) {
	r, err := l.reader.Read()
	if err != nil {
		return nil, nil, err
	}
	m, err := l.now(running)
	return r, m, err
}
