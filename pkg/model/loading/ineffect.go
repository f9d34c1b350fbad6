package loading

import "slices"

// This file bounds the cost of computing with the threads of jobs, for any vectors: see [InEffect].

// The number of a job's threads that count at a resource of a node is the larger of these two.
const (
	MinThreadsInEffect = 32
	ThreadsPerServer   = 4 // times the servers
)

const (
	// maxThreadSquares bounds the sum of the squares of the numbers of threads at the resources of a node, where jobs have
	// several. It is worth some milliseconds.
	maxThreadSquares = 1 << 21
)

// InEffect returns the jobs of a node as they count there, the given ones where none has more threads than count:
//
//   - of one job at one resource [ThreadsPerServer] for each server, and no fewer than [MinThreadsInEffect];
//   - of all jobs together as many as can be computed with in a few milliseconds, 1448 at one busy resource, and in some seconds
//     where they share it by weights ([contention.PredictSharing]): those with the most threads give them up, and each keeps one.
//
// Each thread that counts stands for several: it presses harder by that factor, and is present for longer by that factor, up to
// all of its time, which its resources share. Up to there the job presses on the others as hard as before; beyond it, more threads would only
// wait for each other. Servers are those of each resource; the vectors must be valid for them.
func InEffect(jobs []Vector, servers []int) []Vector {
	return ReduceAll(jobs, ThreadLimits(jobs, servers))
}

// ReduceAll returns the jobs with at most limits[i] threads of each at resource i: the given ones if they have no more.
func ReduceAll(jobs []Vector, limits []int) []Vector {
	var reduced []Vector
	for j, v := range jobs {
		if v.fits(limits) {
			continue
		}
		if reduced == nil {
			reduced = slices.Clone(jobs)
		}
		reduced[j] = v.Reduced(limits)
	}
	if reduced == nil {
		return jobs
	}
	return reduced
}

// ThreadLimits returns the number of threads of one job that count at each resource.
func ThreadLimits(jobs []Vector, servers []int) []int {
	limits := make([]int, len(servers))
	for i, c := range servers {
		limits[i] = max(MinThreadsInEffect, ThreadsPerServer*c)
	}
	squares := func() (sum float64) {
		for _, n := range countThreads(jobs, limits) {
			sum += float64(n) * float64(n)
		}
		return sum
	}
	for squares() > maxThreadSquares {
		most := slices.Max(limits)
		if most == 1 {
			break
		}
		for i := range limits {
			limits[i] = min(limits[i], max(1, most*3/4))
		}
	}
	return limits
}

// countThreads returns the number of threads at each resource, of each job at most limits[i] at resource i.
func countThreads(jobs []Vector, limits []int) []int {
	counts := make([]int, len(limits))
	for _, v := range jobs {
		for i, d := range v {
			if !d.Idle() {
				counts[i] += min(d.ThreadCount(), limits[i])
			}
		}
	}
	return counts
}

// fits reports whether the job has at most limits[i] threads at resource i.
func (v Vector) fits(limits []int) bool {
	for i, d := range v {
		if d.ThreadCount() > limits[i] {
			return false
		}
	}
	return true
}

// Reduced returns the vector with at most limits[i] threads at resource i: itself if it has no more.
func (v Vector) Reduced(limits []int) Vector {
	if v.fits(limits) {
		return v
	}
	more, idle := 0.0, 1.0 // time at resources that the threads need more, and that they have
	for i, d := range v {
		idle -= d.Loading
		more += d.Loading * (d.standsFor(limits[i]) - 1)
	}
	part := 1.0
	if idle = max(0, idle); more > idle {
		part = idle / more
	}
	there := v.presentFor(limits)
	w := slices.Clone(v)
	for i, d := range v {
		times := d.standsFor(limits[i])
		w[i].Pressure = min(1, d.Pressure*times*there)
		if times == 1 {
			continue
		}
		longer := 1 + part*(times-1)
		w[i].Loading, w[i].Sensitivity = min(1, d.Loading*longer), min(1, d.Sensitivity*longer)
		w[i].Threads = limits[i]
	}
	return w
}

// presentFor returns the part of what a thread that counts would press on others for which it can, since it is at one resource at a time. Where
// all of a job's resources are bottlenecks, which needs ThreadsPerServer times the servers of each, all of them are busy.
func (v Vector) presentFor(limits []int) float64 {
	each, all, resources := 0.0, 0.0, 0.0
	for i, d := range v {
		each += d.Pressure
		all += d.Pressure * d.standsFor(limits[i])
		if !d.Idle() {
			resources++
		}
	}
	if most := max(1, each, resources/ThreadsPerServer); all > most {
		return most / all
	}
	return 1
}

// standsFor returns the number of the job's threads for which each thread that counts stands.
func (d Demand) standsFor(limit int) float64 { return max(1, float64(d.ThreadCount())/float64(limit)) }
