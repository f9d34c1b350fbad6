package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"loadline.dev/loadline/hack/accuracy/speedup"
)

var threadColumns = []string{"job", "threads", "real_s", "user_s", "sys_s"}

// threadSet is jobs by their number of threads, of which one is left out at a time. Its ratio is the speed, over that with one
// thread.
type threadSet struct {
	name string
	jobs map[string][]speedup.Run
	cpus int
}

func readThreads(name string, data []byte, cpus int) ([]set, error) {
	records, err := readTimes(data, threadColumns)
	if err != nil {
		return nil, err
	}
	s := threadSet{name, map[string][]speedup.Run{}, cpus}
	lines := map[string]int{}
	for _, r := range records {
		threads, err := strconv.Atoi(r.kind)
		if err != nil || threads < 1 {
			return nil, fmt.Errorf("line %d: threads: %q is not a number of at least 1", r.line, r.kind)
		}
		s.jobs[r.job] = append(s.jobs[r.job], speedup.Run{Threads: threads, Real: r.real, CPU: r.cpu})
		lines[r.job] = r.line
	}
	for _, job := range slices.Sorted(maps.Keys(s.jobs)) {
		runs := s.jobs[job]
		one := slices.ContainsFunc(runs, func(r speedup.Run) bool { return r.Threads == 1 })
		if !one || len(runs) < 3 {
			return nil, fmt.Errorf("line %d: job: %q needs a row with 1 thread and two with more, to leave one out", lines[job], job)
		}
	}
	return []set{s}, nil
}

func (s threadSet) measure() ([]row, error) {
	var measured, held, sample, ideal, others []float64
	for _, job := range slices.Sorted(maps.Keys(s.jobs)) {
		runs := s.jobs[job]
		whole, err := speedup.Fit(runs, s.cpus)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", job, err)
		}
		one := runs[slices.IndexFunc(runs, func(r speedup.Run) bool { return r.Threads == 1 })]
		for i, r := range runs {
			if r.Threads == 1 {
				continue
			}
			part, err := speedup.Fit(slices.Delete(slices.Clone(runs), i, i+1), s.cpus)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", job, err)
			}
			measured = append(measured, one.Real/r.Real)
			held = append(held, one.Real/part.Real(r.Threads, r.CPU))
			sample = append(sample, one.Real/whole.Real(r.Threads, r.CPU))
			ideal = append(ideal, float64(r.Threads))
			others = append(others, s.elsewhere(job))
		}
	}
	const resource = "threads"
	return []row{
		newRow(s.name, resource, "Amdahl", measured, held),
		newRow(s.name, resource, "Amdahl, in sample", measured, sample),
		newRow(s.name, resource, "linear speedup", measured, ideal),
		newRow(s.name, resource, "constant", measured, others),
	}, nil
}

// elsewhere returns the median speed of the other jobs.
func (s threadSet) elsewhere(job string) float64 {
	var speeds []float64
	for other, runs := range s.jobs {
		if other == job && len(s.jobs) > 1 {
			continue
		}
		one := slices.IndexFunc(runs, func(r speedup.Run) bool { return r.Threads == 1 })
		for _, r := range runs {
			if r.Threads > 1 {
				speeds = append(speeds, runs[one].Real/r.Real)
			}
		}
	}
	slices.Sort(speeds)
	return speeds[len(speeds)/2]
}

func (s threadSet) notes() []string {
	return []string{fmt.Sprintf("%s: nothing was measured twice. Held out are elapsed times, job by job and number of threads; the CPU time of the run is taken as known.", s.name)}
}
