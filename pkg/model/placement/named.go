package placement

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Options are what some policies take.
type Options struct {
	Rand      *rand.Rand // of [Random] and [LeastRequested]
	Threshold float64    // of [LMUFT]
	Target    float64    // of [TargetLoadPacking]
	CPU       int        // the resource of [TargetLoadPacking]
	Scored    []Scored   // the capacities of [LeastRequested]
}

// policies makes each policy, in the order in which they are listed.
var policies = []func(Options) Policy{
	func(Options) Policy { return &RoundRobin{} },
	func(o Options) Policy { return Random{o.Rand} },
	func(Options) Policy { return List{} },
	func(o Options) Policy { return LeastRequested{Scored: o.Scored, Rand: o.Rand} },
	func(o Options) Policy { return TargetLoadPacking{Resource: o.CPU, Target: o.Target} },
	func(Options) Policy { return LMUF{} },
	func(o Options) Policy { return LMUFT{Threshold: o.Threshold} },
	func(Options) Policy { return LRT{} },
	func(Options) Policy { return LeastDilation{} },
	func(Options) Policy { return &LeastCompletion{} },
}

// Names returns the names of all policies.
func Names() []string {
	names := make([]string, len(policies))
	for i, policy := range policies {
		names[i] = policy(Options{}).Name()
	}
	return names
}

// Named returns a new policy of that name, or an error that lists the names.
func Named(name string, o Options) (Policy, error) {
	for _, policy := range policies {
		if p := policy(o); p.Name() == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("policy: %q is not one of %s", name, strings.Join(Names(), ", "))
}
