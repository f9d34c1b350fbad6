package contention

import (
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/throttling"
)

// quota is a limit on the joint usage of the shared resource by some jobs, on average over its periods.
type quota struct {
	limit float64
	jobs  []int
	// periods is the quota in each period where the bursts of its only job are known, and 0 where the limit holds on average.
	periods float64
	burst   float64 // of the job, in seconds
	// delay is the time for which a thread of theirs is throttled for each unit of time that it is served, at least 0.
	delay float64
	// The previous delay, and the intended change of it.
	before, change float64
}

// bursts says how a job computes: for how long at a time on average, in seconds, and with which quota in each period. Both are 0
// where either is not known.
type bursts struct{ mean, quota float64 }

// quotasOf returns the limits of a network that its jobs would exceed if nothing held them back: no other ever
// throttles.
func quotasOf(n *gps.Network, bursts []bursts) []quota {
	var quotas []quota
	add := func(q quota) {
		wanted := 0.0
		for _, j := range q.jobs {
			wanted += served(&n.Jobs[j])
		}
		if q.limit > 0 && wanted > q.limit {
			quotas = append(quotas, q)
		}
	}
	for j := range n.Jobs {
		add(quota{limit: n.Jobs[j].Limit, jobs: []int{j}, periods: bursts[j].quota, burst: bursts[j].mean})
	}
	for g := range n.Groups {
		var members []int
		for j := range n.Jobs {
			if inside(n, n.Jobs[j].Group, g) {
				members = append(members, j)
			}
		}
		add(quota{limit: n.Groups[g].Limit, jobs: members})
	}
	return quotas
}

const (
	// maxThrottling bounds the number of solutions of the network for finding the throttling of its jobs.
	maxThrottling = 100
	// throttlingTolerance is by which fraction responses may still change, and lastThrottlingTolerance after
	// maxThrottling solutions, which is still below the error of a solution.
	throttlingTolerance     = 1e-4
	lastThrottlingTolerance = 1e-2
)

// throttle solves a network whose limits hold on average over the periods of a quota. It also returns the time for
// which each job is throttled, in own times: a throttled job asks for nothing, as if idle.
//
// A job whose limit is below its demand is throttled until its usage equals the limit, and not at all once the others
// leave it less than the limit. Each limit is met in turn, with all else fixed: more throttling of one job only leaves
// more to the others, so these times grow from zero to their smallest solution.
func throttle(n *gps.Network, bursts []bursts) (*gps.Solution, []float64, error) {
	quotas := quotasOf(n, bursts)
	free := &gps.Network{Servers: n.Servers, Jobs: slices.Clone(n.Jobs), Groups: slices.Clone(n.Groups)}
	for j := range free.Jobs {
		free.Jobs[j].Limit = 0
	}
	for g := range free.Groups {
		free.Groups[g].Limit = 0
	}
	throttled := make([]float64, len(n.Jobs))
	change := 0.0
	for turn := range maxThrottling {
		solution, err := gps.Solve(free, gps.Options{})
		if err != nil {
			return nil, nil, err
		}
		if len(quotas) == 0 {
			return solution, throttled, nil
		}
		responses := make([]float64, len(n.Jobs))
		for j := range responses {
			responses[j] = solution.Responses[j] * (1 + throttled[j])
		}
		before := slices.Clone(throttled)
		for q := range quotas {
			if quotas[q].periods > 0 {
				quotas[q].stop(n.Jobs, responses, throttled, 1/solution.Stretches[quotas[q].jobs[0]][0])
			} else {
				quotas[q].meet(n.Jobs, responses, throttled)
			}
		}
		change = 0
		for j := range throttled {
			change = max(change, math.Abs(throttled[j]-before[j])/responses[j])
			free.Jobs[j].Demands = waitingLonger(n.Jobs[j].Demands, throttled[j])
		}
		if change < throttlingTolerance || turn == maxThrottling-1 && change < lastThrottlingTolerance {
			return solution, before, nil
		}
	}
	return nil, nil, fmt.Errorf("throttling: %w after %d solutions: responses still change by %v", gps.ErrUnsettled, maxThrottling, change)
}

// meet changes how long the jobs of a quota are throttled so that it is met and, if they are throttled at all, just so.
func (q *quota) meet(jobs []gps.Job, responses, throttled []float64) {
	more := -q.delay
	for range newtonSteps {
		excess, slope := -q.limit, 0.0
		for _, j := range q.jobs {
			p := jobs[j].Demands[0]
			used := served(&jobs[j]) / (responses[j] + p*more)
			excess += used
			slope += used * p / (responses[j] + p*more)
		}
		if excess <= newtonTolerance*q.limit { // from the left, as usage is convex in the delay
			break
		}
		more += excess / slope
	}
	q.delayBy(q.gain(more)*more, jobs, responses, throttled)
}

// stop changes how long the only job of a quota is throttled to what that quota in each period does to its bursts, where it
// is served at a mean speed.
func (q *quota) stop(jobs []gps.Job, responses, throttled []float64, speed float64) {
	j := q.jobs[0]
	p := jobs[j].Demands[0]
	load := throttling.Load{Threads: jobs[j].Threads, Loading: p, Burst: q.burst}
	more := load.Stopped(q.periods, speed, responses[j]-throttled[j]-p/speed)/p - q.delay
	q.delayBy(q.gain(more)*more, jobs, responses, throttled)
}

// delayBy adds to the delay, which stays at least 0.
func (q *quota) delayBy(more float64, jobs []gps.Job, responses, throttled []float64) {
	more = max(-q.delay, more)
	q.delay += more
	for _, j := range q.jobs {
		throttled[j] += jobs[j].Demands[0] * more
		responses[j] += jobs[j].Demands[0] * more
	}
}

// gain returns the fraction of a change to make, 1 unless the last change had another effect than expected: the wait of
// a thread changes with its delay, too (the secant method).
func (q *quota) gain(change float64) float64 {
	gain := 1.0
	if q.delay != q.before && change != q.change {
		gain = (q.delay - q.before) / (q.change - change)
	}
	q.before, q.change = q.delay, change
	if !(gain > minGain) {
		return minGain
	}
	return min(gain, maxGain)
}

const minGain, maxGain = 0.1, 8

// Newton's method for one convex function gains digits at each step; far from the root it doubles the delay.
const (
	newtonSteps     = 100
	newtonTolerance = 1e-12
)

// served returns how much service the threads of a job take at the shared resource in its own time.
func served(j *gps.Job) float64 {
	if len(j.Demands) == 0 {
		return 0
	}
	return float64(max(1, j.Threads)) * j.Demands[0]
}

// inside reports whether a group is another, or below it.
func inside(n *gps.Network, group, other int) bool {
	for group > other {
		group = n.Groups[group].Parent
	}
	return group == other
}

// waitingLonger returns the demands of a job whose own time grows by some time at no station.
func waitingLonger(demands []float64, time float64) []float64 {
	longer := make([]float64, len(demands))
	for i, d := range demands {
		longer[i] = d / (1 + time)
	}
	return longer
}
