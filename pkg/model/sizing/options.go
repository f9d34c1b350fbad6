package sizing

import (
	"cmp"
	"fmt"

	"loadline.dev/loadline/pkg/model/queueing"
)

// Options say how pools work and how hard to try. The zero value is good.
type Options struct {
	Discipline Discipline
	// MaxExactClasses is the number of classes up to which [Best] tries all
	// partitions, at most 16. 0 means 12, or 4 where pools are simulated.
	MaxExactClasses int
	Simulation      Simulation // for PDP and LateLast
	// MaxServers is how many servers a pool that is computed is looked at with, at most:
	// one that needs more is [ErrTooLarge]. 0 means [queueing.MaxQueueServers].
	MaxServers int
	// Work bounds what may be computed: an answer that takes more is [ErrTooCostly].
	// Nil is no bound.
	Work *Work
}

// exactClassesLimit bounds the 3^n steps and 2^n pools of all partitions.
const exactClassesLimit = 16

func (o Options) maxExactClasses() int {
	switch {
	case o.MaxExactClasses > 0:
		return o.MaxExactClasses
	case o.Discipline.Simulated():
		return 4
	default:
		return 12
	}
}

// simulates reports whether a pool of some classes must be simulated: not if no job
// arrives, or if there is only one order in which to serve.
func (o Options) simulates(classes []Class) bool {
	if arrivals(classes) == 0 || o.Discipline == PDP && len(classes) == 1 {
		return false
	}
	return o.Discipline.Simulated()
}

func (o Options) validate() error {
	if o.Discipline < FCFS || o.Discipline > LateLast {
		return fmt.Errorf("discipline: %v is not known", o.Discipline)
	}
	if o.MaxExactClasses < 0 || o.MaxExactClasses > exactClassesLimit {
		return &queueing.ValueError{Field: "maxExactClasses", Value: float64(o.MaxExactClasses), Rule: fmt.Sprintf("is not between 0 and %d", exactClassesLimit)}
	}
	if o.MaxServers < 0 || o.MaxServers > queueing.MaxQueueServers {
		return &queueing.ValueError{Field: "maxServers", Value: float64(o.MaxServers), Rule: fmt.Sprintf("is not between 0 and %d", queueing.MaxQueueServers)}
	}
	return o.Simulation.validate()
}

func (o Options) maxServers() int { return cmp.Or(o.MaxServers, queueing.MaxQueueServers) }
