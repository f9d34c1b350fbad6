// Package bruteforce computes waits by enumerating which threads are at a
// resource, in O(2ⁿ·n) time. It is for tests: it follows the definitions in
// package contention and shares nothing with its algorithms.
package bruteforce

import (
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
)

// Thread is one thread of a job at one resource.
type Thread struct {
	Sensitivity, Pressure float64
}

// ThreadOf returns a thread of a demand.
func ThreadOf(d contention.Demand) Thread {
	if d.Sensitivity == 0 || d.Loading == 0 {
		return Thread{d.Loading, d.Pressure}
	}
	return Thread{d.Sensitivity, d.Pressure}
}

// Threads returns the threads that jobs have at a resource. The vectors may be
// of different lengths.
func Threads(jobs []contention.Vector, resource int) []Thread {
	var threads []Thread
	for _, v := range jobs {
		if resource >= len(v) {
			continue
		}
		for range max(1, v[resource].Threads) {
			threads = append(threads, ThreadOf(v[resource]))
		}
	}
	return threads
}

// Wait returns E[(N + 1 − c)^+] / c for thread k of threads and c servers, N
// the number of the other threads that are at the resource.
func Wait(threads []Thread, k, servers int) float64 {
	others := slices.Delete(slices.Clone(threads), k, k+1)
	expected := 0.0
	for set := range 1 << len(others) {
		p, n := 1.0, 0
		for o, other := range others {
			if set>>o&1 == 1 {
				p *= other.Pressure
				n++
			} else {
				p *= 1 - other.Pressure
			}
		}
		expected += p * float64(max(0, n+1-servers))
	}
	return expected / float64(servers)
}

// TotalWait returns W = Σ_j (λ_j − 1) over the threads of the jobs.
func TotalWait(servers []int, jobs []contention.Vector) float64 {
	w := 0.0
	for i, c := range servers {
		threads := Threads(jobs, i)
		for k, thread := range threads {
			if thread.Sensitivity > 0 {
				w += thread.Sensitivity * Wait(threads, k, c)
			}
		}
	}
	return w
}
