package main

import (
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/hack/experiments/compare"
	"loadline.dev/loadline/hack/experiments/start"
)

// paperJob is a row of Table 3 of the D-factor paper.
type paperJob struct {
	name           string
	kind           string
	start, neutral float64 // seconds
}

// paperJobs are the four jobs, their times divided by a scale.
func paperJobs(scale float64) []paperJob {
	return []paperJob{
		{"w1", "cpu", 0, 110.56 / scale},
		{"w2", "io", 0, 115.83 / scale},
		{"w3", "cpu", 0, 180.00 / scale},
		{"w4", "cpu", 60 / scale, 110.56 / scale},
	}
}

// arrangement is a way to place the four jobs.
type arrangement struct {
	name string
	// scheduler is that of the pods, and nodes where they must run, if anywhere.
	scheduler string
	nodes     []string
}

const (
	defaultScheduler  = "default-scheduler"
	loadlineScheduler = "loadline"
)

// arrangements are the paper's two schedules, which leave no choice, and what the
// schedulers choose.
func arrangements() []arrangement {
	return []arrangement{
		{"the paper's, list scheduler", defaultScheduler, []string{start.First, start.First, start.Second, start.Second}},
		{"the paper's, min p'·p̄", defaultScheduler, []string{start.First, start.First, start.Second, start.First}},
		{"kube-scheduler", defaultScheduler, nil},
		{"Loadline", loadlineScheduler, nil},
	}
}

// execution is the four jobs as they ran, in the order of the paper.
type execution struct {
	nodes []string
	jobs  []compare.Ran
}

// punctual returns an error if a job began later after the first one than it should have.
func (e execution) punctual(planned []paperJob) error {
	const late = 0.25 // seconds
	for i, j := range e.jobs {
		if by := (j.Start - e.jobs[0].Start) - (planned[i].start - planned[0].start); math.Abs(by) > late {
			return fmt.Errorf("the container of %s came up %.1fs too late to begin beside %s as it should", planned[i].name, by, planned[0].name)
		}
	}
	return nil
}

// makespan is from the first start to the last end.
func (e execution) makespan() float64 {
	begin, end := e.jobs[0].Start, 0.0
	for _, j := range e.jobs {
		begin, end = min(begin, j.Start), max(end, j.Start+j.Elapsed)
	}
	return end - begin
}

// predicted returns the makespan that follows from who ran where since when.
func (e execution) predicted(servers []int) (float64, error) {
	begin, end := e.jobs[0].Start, 0.0
	for _, node := range []string{start.First, start.Second} {
		var here []compare.Ran
		for i, j := range e.jobs {
			begin = min(begin, j.Start)
			if e.nodes[i] == node {
				here = append(here, j)
			}
		}
		ends, err := compare.Ends(here, servers)
		if err != nil {
			return 0, fmt.Errorf("node %s: %w", node, err)
		}
		if len(ends) > 0 {
			end = max(end, slices.Max(ends))
		}
	}
	return end - begin, nil
}

// on names the jobs that ran on a node: "w1, w4".
func (e execution) on(node string) []string {
	var names []string
	for i, j := range paperJobs(1) {
		if e.nodes[i] == node {
			names = append(names, j.name)
		}
	}
	return names
}

// middle returns the execution of the median makespan, of an even number the shorter of
// the middle two.
func middle(all []execution) execution {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b execution) int {
		switch {
		case a.makespan() < b.makespan():
			return -1
		case a.makespan() > b.makespan():
			return 1
		default:
			return 0
		}
	})
	return sorted[(len(sorted)-1)/2]
}
