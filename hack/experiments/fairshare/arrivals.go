package main

import (
	"math/rand/v2"
	"time"
)

// job is when a job arrives, from the start of the run, and the CPU time it needs.
type job struct {
	Arrival, Demand time.Duration
}

// arrivals draws the jobs of each workload that arrive within a time: Poisson processes,
// which do not wait for earlier jobs to end.
func arrivals(s setting, within time.Duration, r *rand.Rand) [][]job {
	leaves := workloads(s.root)
	jobs := make([][]job, len(leaves))
	for w, leaf := range leaves {
		between := leaf.Service / leaf.Utilization
		for at := r.ExpFloat64() * between; at < within.Seconds(); at += r.ExpFloat64() * between {
			demand := leaf.Service
			if !s.fixed {
				demand *= r.ExpFloat64()
			}
			jobs[w] = append(jobs[w], job{seconds(at), seconds(demand)})
		}
	}
	return jobs
}

// evenly returns the jobs of a lone workload that never wait for each other.
func evenly(within time.Duration) []job {
	var jobs []job
	for at := time.Duration(0); at < within; at += 3 * seconds(service) {
		jobs = append(jobs, job{at, seconds(service)})
	}
	return jobs
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
