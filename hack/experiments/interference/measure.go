package main

import (
	"context"
	"errors"
	"os"
	"time"

	"loadline.dev/loadline/pkg/probe/result"
)

// pressed are the interference resources, by their standard jobs. Between processors that are no hyper-threads of one core
// the last one shows that they are not.
func pressed() []string { return []string{result.LLC, result.MemoryBandwidth, result.Core} }

// session is a measurement.
type session struct {
	*options
	programs []program
	round    int
	add      func(...row) error
}

// measure runs rounds.
func measure(ctx context.Context, o *options) (err error) {
	dir, err := os.MkdirTemp("", "interference")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := prepare(dir); err != nil {
		return err
	}
	add, done, err := appendTo(o.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	s := &session{options: o, programs: programs(dir), add: add}
	for s.round = 1; s.round <= o.rounds; s.round++ {
		for _, step := range []func(context.Context) error{s.bubbles, s.sensitivities, s.pairs} {
			if err := step(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// bubblesOf returns the bubbles of a job, by pressure.
func (s *session) bubblesOf(job string) (all []bubble) {
	levels := s.levels
	if job == result.Core {
		levels = 1
	}
	for k := range levels {
		all = append(all, bubble{job, float64(k+1) / float64(levels), s.llc})
	}
	return all
}

// bubbles measures reporters beside bubbles of the same kind.
func (s *session) bubbles(ctx context.Context) error {
	for _, job := range pressed() {
		for _, b := range s.bubblesOf(job) {
			alone, with, err := beside(ctx, s.probe, bubble{job, 1, s.llc}, s.slice+loading, func(mark func() error) error {
				ended := make(chan error, 1)
				go func() {
					_, err := press(ctx, s.probe, b, 0, s.slice+loading, nil)
					ended <- err
				}()
				err := errors.Join(wait(ctx, loading), mark(), wait(ctx, s.slice), mark())
				return errors.Join(err, <-ended)
			})
			if err != nil {
				return err
			}
			if err := s.add(s.reported(job, job, b.pressure, alone, with)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// sensitivities measures programs beside bubbles, and bubbles beside programs.
func (s *session) sensitivities(ctx context.Context) error {
	for i := range s.programs {
		p := &s.programs[i]
		for _, job := range pressed() {
			for _, b := range s.bubblesOf(job) {
				if err := s.alone(ctx, p); err != nil {
					return err
				}
				var used usage
				alone, with, err := beside(ctx, s.probe, b, s.slice, func(mark func() error) (err error) {
					used, err = during(ctx, p, s.slice, mark)
					return err
				})
				if err != nil {
					return err
				}
				rows := []row{s.row(p, job, b.pressure, apart, used)}
				if b.pressure == 1 { // the bubble is a reporter
					rows = append(rows, s.reported(job, p.name, 1, alone, with)...)
				}
				if err := s.add(rows...); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// reported returns what a unit of a bubble took beside something, between two rows of what it took alone meanwhile.
func (s *session) reported(job, beside string, pressure, alone, with float64) []row {
	own := row{s.round, job, "", 0, apart, alone, alone}
	return []row{own, {s.round, job, beside, pressure, apart, with, with}, own}
}

// row returns what a program took.
func (s *session) row(p *program, beside string, pressure float64, where place, u usage) row {
	return row{s.round, p.name, beside, pressure, where, u.wall.Seconds(), u.cpu.Seconds()}
}

// alone measures a program alone.
func (s *session) alone(ctx context.Context, p *program) error {
	limited, cancel := context.WithTimeout(ctx, s.slice)
	defer cancel()
	used, err := repeat(limited, p, 0)
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	return s.add(s.row(p, "", 0, apart, used))
}

// pairs measures all pairs of programs, on two processors and on one.
func (s *session) pairs(ctx context.Context) error {
	for i := range s.programs {
		for j := range s.programs[:i+1] {
			for where, slice := range map[place]time.Duration{apart: s.slice, shared: 2 * s.slice} {
				if err := errors.Join(s.alone(ctx, &s.programs[i]), s.alone(ctx, &s.programs[j])); err != nil {
					return err
				}
				if err := s.pair(ctx, &s.programs[i], &s.programs[j], where, slice); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pair measures two programs at once.
func (s *session) pair(ctx context.Context, a, b *program, where place, slice time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, slice)
	defer cancel()
	core := 1
	if where == shared {
		core = 0
	}
	var other usage
	ended := make(chan error, 1)
	go func() {
		var err error
		other, err = repeat(limited, b, core)
		ended <- err
	}()
	used, err := repeat(limited, a, 0)
	if err := errors.Join(err, <-ended, ctx.Err()); err != nil {
		return err
	}
	rows := []row{s.row(a, b.name, 1, where, used)}
	if a != b {
		rows = append(rows, s.row(b, a.name, 1, where, other))
	}
	return s.add(rows...)
}
