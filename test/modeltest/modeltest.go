// Package modeltest has what the tests of several packages of the model share: jobs and nodes drawn at random, and predictions
// that must not fail.
package modeltest

import (
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// DrawVector draws the vector of a job at m resources. Loadings add up to at
// most 1; pressures may be anything; some demands are idle, some certain.
func DrawVector(t *rapid.T, m, maxThreads int) loading.Vector {
	v := make(loading.Vector, m)
	left := 1.0
	for i := range v {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0: // leaves the resource alone
			continue
		case 1: // is always there
			v[i].Loading = left
		default:
			v[i].Loading = left * rapid.Float64Range(0, 1).Draw(t, "loading")
		}
		left = max(0, left-v[i].Loading)
		v[i].Pressure = v[i].Loading
		if rapid.Bool().Draw(t, "asymmetric") {
			v[i].Pressure = rapid.Float64Range(0, 1).Draw(t, "pressure")
		}
		if rapid.IntRange(0, 2).Draw(t, "waits otherwise") == 0 {
			v[i].Sensitivity = min(1, v[i].Loading*rapid.Float64Range(0, 2).Draw(t, "exposure"))
		}
		v[i].Threads = rapid.IntRange(0, maxThreads).Draw(t, "threads")
	}
	return v
}

// DrawVectors draws up to maxJobs vectors, some of them idle, at one resource only, or equal.
func DrawVectors(t *rapid.T, m, maxThreads, maxJobs int) []loading.Vector {
	jobs := make([]loading.Vector, rapid.IntRange(0, maxJobs).Draw(t, "jobs"))
	for j := range jobs {
		jobs[j] = DrawVector(t, m, maxThreads)
		switch rapid.IntRange(0, 9).Draw(t, "job") {
		case 0: // idle
			clear(jobs[j])
		case 1: // uses one resource
			one := rapid.IntRange(0, m-1).Draw(t, "one")
			clear(jobs[j][:one])
			clear(jobs[j][one+1:])
		case 2: // equals another
			jobs[j] = slices.Clone(jobs[rapid.IntRange(0, j).Draw(t, "equal")])
		}
	}
	return jobs
}

// DrawServers draws the numbers of servers of m resources.
func DrawServers(t *rapid.T, m, maxServers int) []int {
	return rapid.SliceOfN(rapid.IntRange(1, maxServers), m, m).Draw(t, "servers")
}

// Close reports whether two numbers differ by no more than the rounding of sums of a few hundred products of fractions.
func Close(got, want float64) bool { return math.Abs(got-want) <= 1e-11*max(1, math.Abs(want)) }

// TB is the part of [testing.TB] and [rapid.TB] that Predict needs.
type TB interface {
	// Helper is that of [testing.TB].
	Helper()
	// Fatal is that of [testing.TB].
	Fatal(args ...any)
}

// Predict is [contention.Predict] of jobs that it takes.
func Predict(t TB, jobs []loading.Vector, servers []int, options queueing.Options) *contention.Prediction {
	t.Helper()
	prediction, err := contention.Predict(jobs, servers, options)
	if err != nil {
		t.Fatal(err)
	}
	return prediction
}

// BusyNode returns the jobs of a node with eight resources that are all in demand, the same each time.
func BusyNode(n int) (jobs []loading.Vector, servers []int) {
	r := rand.New(rand.NewPCG(1, 8))
	servers = []int{1, 1, 1, 1, 1, 1, 1, 1}
	for range n {
		v := make(loading.Vector, len(servers))
		for i := range v {
			v[i] = loading.Symmetric(r.Float64() / float64(n))
		}
		jobs = append(jobs, v)
	}
	return jobs, servers
}
