package contention

import (
	"iter"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/wakeup"
)

// BoundSharing returns bounds from above on the dilations of jobs that share one resource by weights and limits, as
// [PredictSharing] takes them, in O(n·m) time for n jobs and m resources. They hold whatever the others do.
//
// At the shared resource a job gets at least its due, its share where all the others want the resource all the time: at each
// level of groups the ratio of its group's weight to the weight of all members. So its threads take at most t/due times as long
// as their service there, and no longer than with a server for each where that is more than t. At any other resource with c
// servers a job finds no more than all n threads that ever come there, and takes at most n/c times as long. Where the bound of
// [Ceiling] is lower, it applies; it uses the fraction of its time that each job is there. Interference makes its service at
// most as slow as its curve says. The neutral time is at least the own time, and at least the time for the job's work at a
// resource on all of its servers, or on the part that its limit allows.
//
// The error is that of [mix.EstimateSharing].
func BoundSharing(jobs []loading.Vector, servers []int, sharing Sharing) ([]float64, error) {
	jobs, servers, err := sharing.Prepare(jobs, servers)
	if err != nil {
		return nil, err
	}
	w := worst{sharing: &sharing, servers: servers, due: sharing.due(jobs, servers[sharing.Resource]), threads: make([]int, len(servers))}
	w.ceiling = NewCeiling(servers, sharing.Resource)
	for j, v := range jobs {
		w.ceiling.Add(v, sharing.Shares[j], 1)
		for i, d := range v {
			if !d.Idle() {
				w.threads[i] += d.ThreadCount()
			}
		}
	}
	bounds := make([]float64, len(jobs))
	for j, v := range jobs {
		bounds[j] = w.dilation(j, v)
	}
	return bounds, nil
}

// worst bounds the waits of the jobs of a node.
type worst struct {
	sharing *Sharing
	servers []int
	threads []int     // at each resource
	due     []float64 // of each job at the shared resource
	ceiling *Ceiling
}

// dilation returns a bound on that of job j.
func (w *worst) dilation(j int, v loading.Vector) float64 {
	response := 1.0
	for i, d := range v {
		if d.Idle() {
			continue
		}
		slower := slowest(v, i)
		response += d.Loading*(slower-1) + max(d.Loading, d.EffectiveSensitivity())*slower*w.wait(j, i, d)
		if i == w.sharing.Resource {
			response += d.Loading * wakeup.Longest(w.servers[i], d.Loading, d.Burst)
		}
	}
	return max(1, response/w.neutral(j, v))
}

// neutral returns a lower bound on the time of job j alone, in own times.
func (w *worst) neutral(j int, v loading.Vector) float64 {
	neutral := 1.0
	for i, d := range v {
		if !d.Idle() {
			neutral = max(neutral, d.Loading*float64(d.ThreadCount())/w.alone(j, i))
		}
	}
	return neutral
}

// alone returns the largest number of servers of a resource that job j may have.
func (w *worst) alone(j, resource int) float64 {
	if limit := w.sharing.Shares[j].Limit; limit > 0 && resource == w.sharing.Resource {
		return min(float64(w.servers[resource]), max(limit, loading.MinLimit))
	}
	return float64(w.servers[resource])
}

// wait returns a bound on the wait of a thread of job j at a resource for others, its siblings and its limit, as a multiple of
// its service.
func (w *worst) wait(j, resource int, d loading.Demand) float64 {
	c := float64(w.servers[resource])
	wait, limited := float64(w.threads[resource])/c-1, false
	if resource == w.sharing.Resource {
		most := w.alone(j, resource)
		wait, limited = float64(d.ThreadCount())/min(w.due[j], most)-1, most < c
	}
	if !limited && !w.ceiling.interfering {
		wait = min(wait, w.ceiling.wait(resource, d))
	}
	return max(0, wait)
}

// slowest returns the largest slowdown of a job's service at a resource by interference.
func slowest(v loading.Vector, resource int) float64 {
	slower := 1.0
	for _, d := range v {
		if d.Effect == nil || d.Effect.Of != resource {
			continue
		}
		worst := 0.0
		for _, p := range d.Effect.Curve {
			worst = max(worst, p.Inflation-1)
		}
		slower += worst
	}
	return slower
}

// due returns the least number of servers of the shared resource that each job gets while it wants them.
func (s *Sharing) due(jobs []loading.Vector, servers int) []float64 {
	wanting := Sharing{Resource: s.Resource, Groups: s.Groups}
	var of []int
	for j, v := range jobs {
		if s.Resource < len(v) && !v[s.Resource].Idle() {
			of, wanting.Shares = append(of, j), append(wanting.Shares, s.Shares[j])
		}
	}
	flat := wanting.flat()
	totals := make([]float64, max(1, len(s.Groups))) // of the weights of a group's jobs
	for k, j := range of {
		for g := range s.above(s.Shares[j].Group) {
			totals[g] += flat[k].Weight
		}
	}
	due := make([]float64, len(jobs))
	for k, j := range of {
		due[j] = float64(servers) * flat[k].Weight / totals[0]
		for g := range s.above(s.Shares[j].Group) {
			if g < len(s.Groups) && s.Groups[g].Limit > 0 {
				due[j] = min(due[j], s.Groups[g].Limit*flat[k].Weight/totals[g])
			}
		}
	}
	return due
}

// above yields a group, and the groups that it is in up to the root.
func (s *Sharing) above(group int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for g := group; yield(g) && g > 0; {
			g = s.Groups[g].Parent
		}
	}
}

// Steps returns about how many elementary steps, of up to about a tenth of a microsecond, [PredictSharing] takes for jobs that it
// takes: see BenchmarkSteps.
func (s *Sharing) Steps(jobs []loading.Vector, servers []int) float64 {
	jobs, servers, err := s.Prepare(jobs, servers)
	if err != nil {
		return 0 // it takes none
	}
	if s.mayThrottle(jobs, servers) {
		return throttlingTurns * s.steps(jobs, servers)
	}
	return s.steps(jobs, servers)
}

// mayThrottle reports whether jobs could exceed a limit, at the longest service times that interference can give them.
func (s *Sharing) mayThrottle(jobs []loading.Vector, servers []int) bool {
	n := s.network(jobs, servers)
	for j, v := range jobs {
		if demands := n.Jobs[j].Demands; len(v) > s.Resource {
			demands[0] = min(1, demands[0]*slowest(v, s.Resource))
		}
	}
	return len(quotasOf(n, make([]bursts, len(jobs)))) > 0
}

func (s *Sharing) steps(jobs []loading.Vector, servers []int) float64 {
	copies, threads := map[int]int{}, 0.0 // threads of jobs of one thread that are equal and of each other job, and of all
	_, first := s.Distinct(jobs)
	for j := range jobs {
		if s.Resource < len(jobs[j]) && !jobs[j][s.Resource].Idle() {
			n := jobs[j][s.Resource].ThreadCount()
			if n > 1 {
				copies[j] = n
			} else {
				copies[first[j]]++
			}
			threads += float64(n)
		}
	}
	different := 1.0 // states of the processor
	for _, n := range copies {
		different *= float64(n + 1)
	}
	states, _ := s.network(jobs, servers).States(gps.Options{})
	if different <= gps.DefaultStates {
		return chainSteps * max(different, float64(states))
	}
	closure := float64(len(copies))*threads*cellSteps + threads*threads
	if others := s.others(jobs); others > 0 {
		closure *= weighTurns + float64(others)/stationParts
	}
	if states == 0 {
		return closure
	}
	return 2*closure + chainSteps*float64(states) // of jobs that are nearly alike, with a closure, too
}

// others returns the number of resources besides the shared one that some job needs.
func (s *Sharing) others(jobs []loading.Vector) (count int) {
	needed := map[int]bool{s.Resource: true}
	for _, v := range jobs {
		for i, d := range v {
			if !d.Idle() && !needed[i] {
				needed[i] = true
				count++
			}
		}
	}
	return count
}

const (
	// cellSteps is the cost of each kind of jobs and number of threads at the resource in a closure, and chainSteps that of each
	// state of a chain that is small enough to be solved.
	cellSteps  = 120
	chainSteps = 100
	// throttlingTurns is the least number of solutions of a network until limits are met.
	throttlingTurns = 10
	// weighTurns is how much longer a closure takes with another resource, and stationParts the number of these that take as long as
	// the shared one alone.
	weighTurns, stationParts = 2.5, 4
	// maxSteps bounds the steps of PredictSharing, where jobs have several threads. It is worth some seconds.
	maxSteps = 48e6
)

// affordable returns the jobs with the number of threads that [PredictSharing] may take: see [loading.InEffect].
func (s *Sharing) affordable(jobs []loading.Vector, servers []int) []loading.Vector {
	limits := loading.ThreadLimits(jobs, servers)
	for s.steps(jobs, servers) > maxSteps && limits[s.Resource] > 1 {
		limits[s.Resource] = max(1, limits[s.Resource]*3/4)
		jobs = loading.ReduceAll(jobs, limits)
	}
	return jobs
}
