package sizing

import (
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
	return o.Simulation.validate()
}
