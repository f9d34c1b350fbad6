package main

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"loadline.dev/loadline/hack/experiments/weights/account"
)

// bursts are threads that compute and sleep in turns, each for itself.
type bursts struct {
	burst, idle time.Duration
	exponential bool
	threads     int
	seed        uint64
}

func (b *bursts) run(w window) (account.Account, error) {
	if b.burst <= 0 || b.idle < 0 || b.threads < 1 {
		return account.Account{}, errors.New("--burst must be above 0, --idle at least 0 and --threads at least 1")
	}
	debug.SetGCPercent(-1)            // the collector is no part of the job
	runtime.GOMAXPROCS(b.threads + 1) // else a quota would count
	a := account.Account{Late: w.late(), Parts: make([]account.Part, b.threads)}
	var group errgroup.Group
	for i := range b.threads {
		group.Go(func() (err error) {
			a.Parts[i], err = b.thread(w, rand.New(rand.NewPCG(b.seed, uint64(i))))
			return err
		})
	}
	return a, group.Wait()
}

// thread runs one thread. What is drawn comes from random.
func (b *bursts) thread(w window, random *rand.Rand) (account.Part, error) {
	runtime.LockOSThread()
	if err := sleepPrecisely(); err != nil {
		return account.Part{}, err
	}
	draw := func(mean time.Duration) time.Duration {
		if b.exponential {
			return time.Duration(float64(mean) * random.ExpFloat64())
		}
		return mean
	}
	sleep(time.Until(w.from.Add(-lead)))
	c := counter{window: w}
	sleep(draw(b.idle)) // so that equal jobs do not march in step
	for time.Now().Before(w.end) {
		if err := c.compute(draw(b.burst)); err != nil {
			return account.Part{}, err
		}
		if b.idle > 0 {
			idle := draw(b.idle)
			sleep(idle)
			c.now.Idle += idle
		}
	}
	if c.last.Wall == 0 {
		return account.Part{}, errors.New("the window ended before the thread had run in it")
	}
	return c.last, nil
}

// counter counts what a thread does from the first moment in the window at which it runs until the last.
type counter struct {
	window
	begun       time.Time
	first, last account.Part // between begun and the last moment
	now         account.Part
	state       uint64
}

// compute keeps the processor busy until the thread has had so much of it.
func (c *counter) compute(demand time.Duration) error {
	from, err := cpuTime()
	if err != nil {
		return err
	}
	before := c.now.CPU
	for {
		const some = 10000 // some 10 microseconds
		for range some {
			c.state = c.state*6364136223846793005 + 1442695040888963407
		}
		c.now.Work += some
		t, err := cpuTime()
		if err != nil {
			return err
		}
		c.now.CPU = before + t - from
		c.look(time.Now())
		if t-from >= demand {
			return nil
		}
	}
}

// look keeps the count when it is within the window.
func (c *counter) look(now time.Time) {
	switch {
	case now.Before(c.from) || now.After(c.to):
	case c.begun.IsZero():
		c.begun, c.first = now, c.now
	default:
		c.last = account.Part{
			Wall: now.Sub(c.begun), CPU: c.now.CPU - c.first.CPU, Idle: c.now.Idle - c.first.Idle, Work: c.now.Work - c.first.Work,
		}
	}
}
