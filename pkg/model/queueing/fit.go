package queueing

import "math"

// Bounds of errors of the distribution function of the wait, found by comparison with
// exact solutions and with simulations of service times up to 1 : 1000 apart:
// docs/evidence/sizing-accuracy.md.
const (
	// mergingError, times the loss of merging two phases, is that of merging them, up to
	// maxMergingError.
	mergingError, maxMergingError = 0.4, 0.06
	// smoothError, times 1 − scv, is that of taking a class with an scv below 1 for an
	// exponential one and shortening the wait.
	smoothError = 0.05
)

// scalingError bounds the error of solving a queue with fewer servers in place of one.
func scalingError(servers, fewer int) float64 {
	if servers == fewer {
		return 0
	}
	return 0.1/float64(fewer) + 0.14*(1/math.Sqrt(float64(fewer))-1/math.Sqrt(float64(servers)))
}

// maxWork bounds the work of solving a queue exactly: some milliseconds.
const maxWork = 2_000_000

// work returns the sum of the cubes of the numbers of states with 0 to m busy servers, or
// some number above maxWork if it is above.
func work(phases, servers int) int {
	sum, states := 0, 1
	for j := 0; j <= servers && sum <= maxWork; j++ {
		sum += states * states * states
		states = states * (j + phases) / (j + 1) // a binomial coefficient
	}
	return sum
}

// solvable returns the largest number of servers, up to a limit, for which a queue with
// the given number of phases is solved exactly; 0 if there is none.
func solvable(phases, limit int) int {
	servers := 0
	for servers < limit && work(phases, servers+1) <= maxWork {
		servers++
	}
	return servers
}

// fit returns the phases and the number of servers of the queue that is solved in place
// of the one with the given phases and servers, and a bound of the error: the queue
// itself if its states are few, else the one with the smallest bound, which has fewer
// phases, but at least three, or fewer servers.
func (x phases) fit(servers int) (fitted phases, fewer int, off float64) {
	const distinct = 3
	off = math.Inf(1)
	for count := len(x.list); count >= min(distinct, len(x.list)); count-- {
		solved := solvable(count, servers)
		if solved == 0 {
			continue
		}
		merged, bound := x.fewer(count)
		if bound += scalingError(servers, solved); bound < off {
			fitted, fewer, off = merged, solved, bound
		}
		if solved == servers {
			break // fewer phases are no better
		}
	}
	return fitted, fewer, off
}
