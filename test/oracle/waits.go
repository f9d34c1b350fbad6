// Package oracle computes what the tests of several packages compare the model with:
// waits to the first order by enumerating which threads are at a resource, in O(2ⁿ·n)
// time, and closed forms of the D-factor paper. It follows the definitions in package
// contention and shares nothing with its algorithms.
package oracle

import (
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
)

// Thread is one thread of a job at one resource.
type Thread struct {
	Sensitivity, Pressure float64
}

// ThreadOf returns a thread of a demand.
func ThreadOf(d loading.Demand) Thread {
	if d.Sensitivity == 0 || d.Loading == 0 {
		return Thread{d.Loading, d.Pressure}
	}
	return Thread{d.Sensitivity, d.Pressure}
}

// Threads returns the threads that jobs have at a resource. The vectors may be
// of different lengths.
func Threads(jobs []loading.Vector, resource int) []Thread {
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

// Delay returns what waiting for the threads of other jobs at a resource adds to the
// dilation of job j, to first order: how much longer a thread waits there than it does
// when the job is alone, over what the job takes alone.
func Delay(servers []int, jobs []loading.Vector, j, resource int) float64 {
	together := threadWait(servers, jobs, j, resource)
	alone := threadWait(servers, jobs[j:j+1], 0, resource)
	return (together - alone) / Alone(servers, jobs[j])
}

// Alone returns what a job takes alone to first order, in times of a thread that never
// waits.
func Alone(servers []int, job loading.Vector) float64 {
	alone := 1.0
	for i := range servers {
		alone += threadWait(servers, []loading.Vector{job}, 0, i)
	}
	return alone
}

// threadWait returns what each thread of job j waits at a resource for all others.
func threadWait(servers []int, jobs []loading.Vector, j, resource int) float64 {
	before, own := len(Threads(jobs[:j], resource)), Threads(jobs[j:j+1], resource)
	if len(own) == 0 || own[0].Sensitivity == 0 {
		return 0
	}
	return own[0].Sensitivity * Wait(Threads(jobs, resource), before, servers[resource])
}

// TotalWait returns W, the sum over the threads of the jobs of what each waits for
// those of other jobs, as a multiple of its job's time alone.
func TotalWait(servers []int, jobs []loading.Vector) float64 {
	w := 0.0
	for i := range servers {
		for j, v := range jobs {
			if i < len(v) {
				w += float64(max(1, v[i].Threads)) * Delay(servers, jobs, j, i)
			}
		}
	}
	return w
}

// DilationOfCopies returns the dilation of each of n identical jobs, n ≥ 1, with
// loading vector p: Property 1 of the D-factor paper, λ = 1 + (n − 1) p·p. For jobs that
// are always busy at one of two resources, (p, 1 − p), that is Theorem 2, Eq. (12).
func DilationOfCopies(n int, p ...float64) float64 {
	square := 0.0
	for _, v := range p {
		square += v * v
	}
	return 1 + float64(n-1)*square
}
