package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"loadline.dev/loadline/hack/experiments/compare"
	"loadline.dev/loadline/hack/experiments/job"
	"loadline.dev/loadline/hack/experiments/measure"
	"loadline.dev/loadline/hack/experiments/start"
	"loadline.dev/loadline/pkg/probe/result"
)

// allMixes are the co-locations of the second part: two to six pods.
func allMixes() []compare.Mix {
	return []compare.Mix{
		{"cpu", "cpu"},
		{"cpu", "cpu-50"},
		{"cpu-50", "cpu-50"},
		{"cpu-75", "cpu-25"},
		{"cpu", "io"},
		{"cpu", "cpu-60-io-40"},
		{"cpu-60-io-40", "io"},
		{"filecomp", "cpu"},
		{"filecomp", "io"},
		{"cpu-50", "cpu-25", "cpu-30-io-60"},
		{"cpu-60-io-40", "cpu-60-io-40", "cpu-60-io-40"},
		{"cpu-75", "filecomp", "io"},
		{"cpu-25", "cpu-25", "cpu-25", "cpu-25"},
		{"cpu", "cpu-50", "io", "cpu-30-io-60"},
		{"filecomp", "filecomp", "cpu-50", "io"},
		{"cpu-25", "cpu-25", "cpu-50", "cpu-60-io-40", "io"},
		{"cpu", "cpu-75", "cpu-50", "cpu-25", "cpu-30-io-60", "filecomp"},
	}
}

// quickMixes are of the kinds that a quick run measures.
func quickMixes() []compare.Mix {
	return []compare.Mix{
		{"cpu", "cpu-50"},
		{"cpu-50", "cpu-60-io-40"},
		{"cpu", "cpu-50", "cpu-50", "cpu-60-io-40"},
	}
}

// mixesOf leaves out those with kinds that a device does not have.
func mixesOf(all []compare.Mix, device job.Standard) []compare.Mix {
	kinds := job.Kinds(device)
	return slices.DeleteFunc(all, func(m compare.Mix) bool {
		return slices.ContainsFunc(m, func(kind string) bool { return !slices.Contains(kinds, kind) })
	})
}

// jobsOf returns the jobs of a mix. Each has bursts of its own, also those of one kind:
// the same ones would march in step.
func jobsOf(m compare.Mix, seconds float64, repetition int) []job.Job {
	const apart = 100
	jobs := make([]job.Job, len(m))
	for i, name := range m {
		jobs[i] = job.Job{Kind: job.Of(name), Seconds: seconds, Seed: apart*(repetition+1) + i}
	}
	return jobs
}

// mixes runs jobs together, and keeps their reports in a file of the output folder.
func (s *session) mixes(ctx context.Context) error {
	all := allMixes()
	if s.quick {
		all = quickMixes()
	}
	all = mixesOf(all, s.io)
	if err := s.known.Require(s.io, compare.Kinds(all...)...); err != nil {
		return err
	}
	fmt.Printf("\n2. %d co-locations on node %s\n\n", len(all), start.First)
	var ran []compare.Together
	for repetition := range s.repeat {
		before, err := s.alone(ctx, compare.Kinds(all[0]))
		if err != nil {
			return err
		}
		// Between two mixes all their kinds run alone.
		for i, m := range all {
			s.log.Step("%d of %d, repetition %d of %d: %v", i+1, len(all), repetition+1, s.repeat, m)
			t := compare.Together{Mix: m, Before: before}
			if t.Loads, err = s.RunJobs(ctx, s.known.Speeds, jobsOf(m, s.seconds, repetition), start.First); err != nil {
				return fmt.Errorf("%v: %w", m, err)
			}
			if t.After, err = s.alone(ctx, compare.Kinds(all[i:min(i+2, len(all))]...)); err != nil {
				return err
			}
			ran, before = append(ran, t), t.After
			if err := measure.WriteJSON(mixesFile(s.out), ran); err != nil {
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
		s.log.Step("%s alone", name)
		l, err := s.RunJobs(ctx, s.known.Speeds, []job.Job{{Kind: job.Of(name), Seconds: s.seconds}}, start.First)
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", name, err)
		}
		loads[name] = l[0]
	}
	return loads, nil
}

// compare compares the mixes that ran with what is predicted.
func (s *session) compare() error {
	var all []compare.Together
	if err := measure.ReadJSON(mixesFile(s.out), &all); err != nil {
		return fmt.Errorf("reading which mixes ran: %w (run the part %s)", err, partMixes)
	}
	for i := range all {
		if err := s.known.Require(s.io, compare.Kinds(all[i].Mix)...); err != nil {
			return err
		}
	}
	return compare.Mixes(all, s.known, s.out)
}
