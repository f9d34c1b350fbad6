package program

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// Schedule is when a program works.
type Schedule struct {
	// Start is when it begins with its rounds, From and To are the moments between which they count. All may be over: a program
	// that is ready later than From is an error.
	Start, From, To time.Time
}

// Run makes a program ready, in an empty folder, takes it through rounds as the schedule says, and returns its account.
func Run(ctx context.Context, s *Spec, folder string, when Schedule) (a *Account, err error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p, err := openings()[s.Kind](ctx, s, folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Kind, err)
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := until(ctx, when.Start); err != nil {
		return nil, err
	}
	if late := time.Since(when.From); late > 0 {
		return nil, fmt.Errorf("%s: it was ready %v too late", s.Kind, late)
	}
	laps, computed, err := p.goRound(ctx, s, when)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Kind, err)
	}
	if a, err = sum(laps, s.Think, when.From, when.To); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Kind, err)
	}
	a.Computed = computed.Seconds()
	return a, nil
}

// goRound has all clients go through rounds until the schedule ends, and returns these, and how long the process computed.
func (p *program) goRound(ctx context.Context, s *Spec, when Schedule) (laps []lap, computed time.Duration, err error) {
	ending, cancel := context.WithDeadline(ctx, when.To)
	defer cancel()
	group, ending := errgroup.WithContext(ending)
	of := make([][]lap, s.Clients)
	for client := range s.Clients {
		pauses := rand.New(rand.NewPCG(s.Seed, uint64(client)))
		group.Go(func() (err error) {
			of[client], err = p.client(ctx, ending, s.Think, pauses)
			return err
		})
	}
	group.Go(func() error {
		if err := until(ending, when.From); err != nil {
			return nil //nolint:nilerr // a client failed, and says why
		}
		before := processTime()
		<-ending.Done()
		computed = processTime() - before
		return nil
	})
	err = errors.Join(group.Wait(), ctx.Err())
	for client := range of {
		laps = append(laps, of[client]...)
	}
	return laps, computed, err
}

// maxPause is the longest pause, in means.
const maxPause = 5

// client goes through rounds until the second context ends. Work that has begun is finished.
func (p *program) client(ctx, ending context.Context, think time.Duration, pauses *rand.Rand) (laps []lap, err error) {
	for {
		l := lap{began: time.Now(), pause: time.Duration(min(maxPause, pauses.ExpFloat64()) * float64(think))}
		if until(ending, l.began.Add(l.pause)) != nil {
			return laps, nil //nolint:nilerr // it is the end
		}
		l.worked = time.Now()
		if err := p.round(ctx); err != nil {
			return nil, err
		}
		l.ended = time.Now()
		laps = append(laps, l)
	}
}

// until waits for a moment, or for the end of the context, which is an error even if the moment is over.
func until(ctx context.Context, moment time.Time) error {
	wait := time.Until(moment)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// processTime returns how long the threads of the process have run.
func processTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
