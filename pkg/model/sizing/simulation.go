package sizing

import (
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Simulation sets the length of a simulation. A pool is simulated in independent replications, the
// same for every number of servers and discipline: jobs arrive at the same times and ask for the
// same service. After 8 replications, 16 and so on it is decided whether each class meets its SLA,
// if the confidence intervals suffice; if they do not when Replications are spent, a pool counts as
// too small.
type Simulation struct {
	Seed uint64
	// Jobs is the number of jobs in a replication that are counted, at most 1e8. 0 chooses: more
	// where servers are busier, and the queue forgets its past more slowly. A tenth of that number
	// come before and are not counted.
	Jobs         int
	Replications int     // the most of them, from 8 to 4,096; 0 means 64
	Confidence   float64 // of the intervals, between 0 and 1; 0 means 0.99
	Workers      int     // goroutines; 0 means one for each processor
	// Progress is called now and then by the goroutine that called, if it is not nil.
	Progress func(Progress)
}

// Progress says how far a simulation has come.
type Progress struct {
	Classes      int // in the pool that is simulated
	Servers      int // that it is simulated with
	Replications int // that are done
}

const (
	roundReplications = 8
	maxReplications   = 4096
	maxJobs           = 100_000_000
)

func (s Simulation) validate() error {
	switch {
	case s.Jobs < 0 || s.Jobs > maxJobs:
		return &queueing.ValueError{Field: "simulation.jobs", Value: float64(s.Jobs), Rule: fmt.Sprintf("is not between 0 and %d", maxJobs)}
	case s.Replications != 0 && (s.Replications < roundReplications || s.Replications > maxReplications):
		return &queueing.ValueError{
			Field: "simulation.replications", Value: float64(s.Replications),
			Rule: fmt.Sprintf("is not between %d and %d", roundReplications, maxReplications),
		}
	case s.Confidence != 0 && !(s.Confidence > 0 && s.Confidence < 1):
		return &queueing.ValueError{Field: "simulation.confidence", Value: s.Confidence, Rule: "is not between 0 and 1"}
	case s.Workers < 0:
		return &queueing.ValueError{Field: "simulation.workers", Value: float64(s.Workers), Rule: "is not at least 0"}
	}
	return nil
}

func (s Simulation) replications() int {
	if s.Replications == 0 {
		return 64
	}
	return s.Replications
}

func (s Simulation) confidence() float64 {
	if s.Confidence == 0 {
		return 0.99
	}
	return s.Confidence
}

// jobs returns the number of jobs to count. A queue forgets its state in some 1/(1 − √u)² jobs, u
// being the utilization.
func (s Simulation) jobs(utilization float64) int {
	if s.Jobs > 0 {
		return s.Jobs
	}
	const (
		fewest, most = 20_000, 500_000
		memories     = 25
	)
	spare := 1 - math.Sqrt(utilization)
	return int(min(most, max(fewest, memories/(spare*spare))))
}
