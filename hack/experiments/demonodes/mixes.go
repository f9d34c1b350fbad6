package main

import (
	"context"
	"fmt"
	"path/filepath"

	"loadline.dev/loadline/pkg/probe/result"
)

// together is a mix that ran, and what its kinds told of themselves alone before and
// after it.
type together struct {
	Mix    mix                    `json:"mix"`
	Loads  []result.Load          `json:"loads"`
	Before map[string]result.Load `json:"before"`
	After  map[string]result.Load `json:"after"`
}

// mixes runs jobs together, and keeps what they told in a file of the output folder.
func (s *session) mixes(ctx context.Context) error {
	all := allMixes()
	if s.quick {
		all = quickMixes()
	}
	if err := s.known.require(s.io, kindsOf(all...)...); err != nil {
		return err
	}
	fmt.Printf("\n2. %d co-locations on node %s\n\n", len(all), first)
	var ran []together
	for repetition := range s.repeat {
		before, err := s.alone(ctx, kindsOf(all[0]))
		if err != nil {
			return err
		}
		// Between two mixes all their kinds run alone.
		for i, m := range all {
			s.log.step("%d of %d, repetition %d of %d: %v", i+1, len(all), repetition+1, s.repeat, m)
			t := together{Mix: m, Before: before}
			if t.Loads, err = s.runJobs(ctx, m.jobs(s.seconds, repetition), first); err != nil {
				return fmt.Errorf("%v: %w", m, err)
			}
			if t.After, err = s.alone(ctx, kindsOf(all[i:min(i+2, len(all))]...)); err != nil {
				return err
			}
			ran, before = append(ran, t), t.After
			if err := writeJSON(mixesFile(s.out), ran); err != nil {
				return err
			}
		}
	}
	return nil
}

func mixesFile(out string) string { return filepath.Join(out, "mixes.json") }

// alone runs kinds of jobs one after the other.
func (s *session) alone(ctx context.Context, names []string) (map[string]result.Load, error) {
	loads := map[string]result.Load{}
	for _, name := range names {
		s.log.step("%s alone", name)
		l, err := s.runJobs(ctx, []job{{kindOf(name), s.seconds, 0}}, first)
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", name, err)
		}
		loads[name] = l[0]
	}
	return loads, nil
}
