package main

import (
	"slices"
	"time"
)

// factors are the mean response times of a workload in one run, relative to the mean
// CPU time of its jobs: as measured, and as computed for the same jobs.
type factors struct {
	measured       float64
	sharing        float64
	discriminatory float64
	orders         float64
}

// compare computes the factors of jobs that arrived after the warm-up. The computed ones
// are those of a core that is slower by the stretch, as the core was: on a busy one the
// percent that others and the kernel take dilates responses by several percent, under
// every discipline.
func compare(s setting, jobs [][]job, took [][]time.Duration, warmUp time.Duration, stretch float64) []factors {
	n := len(jobs)
	all := make([]factors, n)
	slower := slowed(jobs, stretch)
	computed := func(d discipline) []float64 { return means(jobs, simulate(slower, d), warmUp) }
	measured, shared, abreast := means(jobs, took, warmUp), computed(sharing(s.root)), computed(discriminatory(s.root))
	for w := range n {
		all[w] = factors{measured: measured[w], sharing: shared[w], discriminatory: abreast[w]}
	}
	for _, o := range orders(s.root, 0) {
		for w, factor := range computed(priority(o)) {
			all[w].orders += o.probability * factor
		}
	}
	return all
}

// means returns the mean response time over the mean CPU time, per workload.
func means(jobs [][]job, took [][]time.Duration, warmUp time.Duration) []float64 {
	factors := make([]float64, len(jobs))
	for w := range jobs {
		first := slices.IndexFunc(jobs[w], func(j job) bool { return j.Arrival >= warmUp })
		if first < 0 {
			continue
		}
		response, demand := time.Duration(0), time.Duration(0)
		for k, j := range jobs[w][first:] {
			response += took[w][first+k]
			demand += j.Demand
		}
		factors[w] = response.Seconds() / demand.Seconds()
	}
	return factors
}

// slowed returns jobs that need more by a factor.
func slowed(jobs [][]job, by float64) [][]job {
	slower := make([][]job, len(jobs))
	for w := range jobs {
		for _, j := range jobs[w] {
			slower[w] = append(slower[w], job{j.Arrival, time.Duration(float64(j.Demand) * by)})
		}
	}
	return slower
}
