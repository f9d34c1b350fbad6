// Package desim is a discrete-event simulation of jobs on servers, with which tests
// compare the replay of a trace. It does not use mean value analysis, and shares no
// code with the packages that it checks.
//
// # What is simulated
//
// A job spends its service demands and its idle time in many short visits, in
// random order, so that at every instant about the same fraction is left of each.
// A station with c servers and n jobs serves each at min(1, c/n) of its speed:
// processor sharing. Idling is one more station, with a server for each job.
// [Run] follows every visit from event to event.
//
// # Why its mean is that of the analytical model
//
// A job is a sequence of rounds. A round is a random, exponentially distributed part
// of the job's demands, and has the same proportions: four
// visits to each station, of random lengths that add up, shuffled. The last round
// brings what is left. So rounds are drawn independently from one distribution,
// and what a visit is depends on nothing that happens on the way. A network of such
// jobs, with processor sharing everywhere, has the product form of Baskett, Chandy,
// Muntz and Palacios, JACM 22 (2), 1975: make every visit of every possible round a
// class of its own, with a fixed service time. While the mix of jobs is constant,
// how many are at each station then depends on the demands alone and not on how
// they are cut up; and if rounds are short relative to what jobs last, each job
// moves on at its stationary speed until the mix changes. Rounds must not be of a
// fixed length: two jobs that wait for each other equally long would keep in step
// for ever, and not meet as often as in the stationary distribution.
//
// # What is left of the cutting
//
// Rounds add up to the demands, so a job alone takes exactly its neutral time. What
// varies is only which jobs visits find. In K visits that leaves a relative standard
// deviation of a/√K in a completion time, and a/√(RK) in the mean of R runs. On
// random traces a was 0.2 on average and at most 0.7, where many jobs share a server
// and their mix changes slowly. For 0.3 % RK must be 4,400 then, and at most 55,000.
//
// There is a bias of the order of 1/K, too, which more runs do not take away: the
// first and the last visits of a job do not find the stationary distribution. On
// the same traces it was 0.15 % of a job's time at K = 25, 0.02 % at 100, and lost
// in the noise at 1,000; with both signs, so that the mean over the jobs was below
// 0.01 % always.
package desim

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Station is a resource of a server.
type Station struct {
	Servers int     // the maximum number of jobs that it serves at full speed, at least 1
	Speed   float64 // seconds of service demand that it does in a second, above 0
}

// Server is a machine: a list of stations.
type Server []Station

// Job is a job with its place.
type Job struct {
	Arrival float64   // when it starts, in seconds, finite
	Server  int       // where, an index
	Demands []float64 // seconds of service at each station of the server, finite and at least 0; what is missing is 0
	Idle    float64   // seconds that it spends at no station, finite and at least 0
}

// neutral returns the time that the job takes alone on its server.
func (j *Job) neutral(server Server) float64 {
	sum := j.Idle
	for i, demand := range j.Demands {
		sum += demand / server[i].Speed
	}
	return sum
}

// Run returns when each job completes, in the order of the jobs. Visits are of
// about equal length: the shortest job is cut into about as many as visits says, at
// least 1, and longer ones into proportionally more. The same source of random numbers
// gives the same result. It panics if an index is out of range.
func Run(servers []Server, jobs []Job, visits int, rng *rand.Rand) []float64 {
	length := shortest(servers, jobs) / float64(visits)
	ends := make([]float64, len(jobs))
	for s, server := range servers { // independently of each other
		n := newNode(server, rng)
		for j := range jobs {
			if jobs[j].Server == s {
				n.jobs = append(n.jobs, job{j, jobs[j].Arrival, newTour(&jobs[j], server, length)})
			}
		}
		slices.SortStableFunc(n.jobs, func(a, b job) int { return cmp.Compare(a.arrival, b.arrival) })
		n.run(ends)
	}
	return ends
}

// shortest returns the least neutral time above 0.
func shortest(servers []Server, jobs []Job) float64 {
	least := math.Inf(1)
	for i := range jobs {
		if neutral := jobs[i].neutral(servers[jobs[i].Server]); neutral > 0 {
			least = min(least, neutral)
		}
	}
	return least
}
