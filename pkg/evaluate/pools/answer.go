package pools

import "fmt"

// Answer is how many servers the classes of a plan need.
type Answer struct {
	// Name is that of the PoolPlan.
	Name string `json:"name,omitempty"`
	// Discipline is the order in which pools take jobs that wait.
	Discipline string `json:"discipline"`
	// Strategy is how the classes share the pools: shared, dedicated or
	// partitioned.
	Strategy string `json:"strategy"`
	// Given reports whether the pools are those of the plan, rather than those of a
	// strategy.
	Given bool `json:"given,omitempty"`
	// Servers is the number of servers of all pools together, Cost their cost.
	Servers int     `json:"servers"`
	Cost    float64 `json:"cost"`
	// Gap is by which fraction of its cost a partition that was searched for may
	// be dearer than the cheapest; 0 where all were tried.
	Gap float64 `json:"gap,omitempty"`
	// Pools are the pools, in the order of the plan, else of their first class.
	Pools []PoolAnswer `json:"pools"`
	// Compared reports whether other ways to share pools were evaluated; Alternatives are the
	// results, the cheapest first.
	Compared     bool          `json:"compared"`
	Alternatives []Alternative `json:"alternatives,omitempty"`
	// Inputs are the inputs of the answer, one for each class.
	Inputs []ClassInput `json:"inputs"`
	// Assumed states the assumptions about unknown namespaces; empty if there are none.
	Assumed string `json:"assumed,omitempty"`
	// Held says why nothing must be scaled down now, though a plan is found:
	// there was no new answer to a query. Empty for no reason.
	Held string `json:"held,omitempty"`
}

// PoolAnswer is the need of one pool.
type PoolAnswer struct {
	Name string `json:"name"`
	// Classes are those that it serves; for hol of the highest priority first.
	Classes []Class `json:"classes"`
	// Servers is the fewest with which every class keeps its SLA.
	Servers int `json:"servers"`
	// Cost is the cost of its servers, Utilization the fraction that is busy on average.
	Cost        float64 `json:"cost"`
	Utilization float64 `json:"utilization"`
	// Binding is the class that misses its SLA the most with one server fewer;
	// empty where these could not keep up with the arrivals.
	Binding string `json:"binding,omitempty"`
	// Undecided reports whether a simulation could not say whether one server fewer
	// would do.
	Undecided bool `json:"undecided,omitempty"`
	// Error bounds the error of the probabilities where they are approximated; 0
	// where they are exact, or simulated.
	Error float64 `json:"error,omitempty"`
	// FewerMayDo reports whether one server fewer would do if the approximation
	// erred that far, MoreMayBeNeeded whether the servers would not.
	FewerMayDo      bool `json:"fewerMayDo,omitempty"`
	MoreMayBeNeeded bool `json:"moreMayBeNeeded,omitempty"`
	// MaxArrivalFactor is the largest factor of the arrivals of all classes at once for which the
	// servers are enough, MinServiceFactor the smallest of their service rates. Absent where not
	// computed, or without limit.
	MaxArrivalFactor *float64 `json:"maxArrivalFactor,omitempty"`
	MinServiceFactor *float64 `json:"minServiceFactor,omitempty"`
	// Fault says why the pool has no answer, though others of the plan have: a class of
	// it follows a profile that cannot be sized. Empty for pools with an answer.
	// FaultReason is the reason for it, a constant of the API.
	Fault       string `json:"fault,omitempty"`
	FaultReason string `json:"faultReason,omitempty"`
	// Refused says why the pool is not scaled, whatever the mode: it follows a profile
	// of a namespace that does not allow it. Empty if it may be.
	Refused string `json:"refused,omitempty"`
	// Bounds is the result within the bounds of the plan's pool; absent where the plan lists no
	// pools.
	Bounds *Bounds `json:"bounds,omitempty"`
}

// Faults say why pools have no answer; empty if all have one.
func (a *Answer) Faults() []string {
	var all []string
	for i := range a.Pools {
		if p := &a.Pools[i]; p.Fault != "" {
			all = append(all, fmt.Sprintf("pool %q: %s", p.Name, p.Fault))
		}
	}
	return all
}

// Bounds is a pool in whole replicas, within its bounds.
type Bounds struct {
	// Replicas is the number to scale to; ReplicasToKeep is the number below which not to scale
	// down, enough for arrivals that are higher by the tolerance. They are within bounds.
	Replicas       int `json:"replicas"`
	ReplicasToKeep int `json:"replicasToKeep"`
	// Servers is how many servers Replicas have.
	Servers int `json:"servers"`
	// Limited reports whether the pool may not have the servers that it needs,
	// Unstable whether those it may have cannot keep up with the arrivals.
	Limited  bool `json:"limited,omitempty"`
	Unstable bool `json:"unstable,omitempty"`
	// Attained has, for each class of a pool that is limited but stable, the
	// probability with which it keeps within the time of its SLA.
	Attained []float64 `json:"attained,omitempty"`
}

// Class is the result of a class in its pool.
type Class struct {
	Name string `json:"name"`
	// WithinSeconds and Probability are its SLA.
	WithinSeconds float64 `json:"withinSeconds"`
	Probability   float64 `json:"probability"`
	// Attained is the probability with which it keeps within the time, with the
	// pool's servers, with one fewer (absent if these could not keep up with the
	// arrivals) and with one more.
	Attained     float64  `json:"attained"`
	WithOneFewer *float64 `json:"withOneFewer,omitempty"`
	WithOneMore  *float64 `json:"withOneMore,omitempty"`
	// HalfWidth is half the width of the confidence interval of Attained; absent
	// unless simulated.
	HalfWidth *float64 `json:"halfWidth,omitempty"`
	// MaxArrival is up to how many arrivals per second of this class the servers
	// are enough. Absent where not computed, or where there are none.
	MaxArrival *float64 `json:"maxArrival,omitempty"`
}

// Alternative is another way to share pools.
type Alternative struct {
	// Strategy is shared, dedicated or partitioned.
	Strategy string  `json:"strategy"`
	Servers  int     `json:"servers"`
	Cost     float64 `json:"cost"`
	// Pools are the pools that it has.
	Pools []AlternativePool `json:"pools"`
}

// AlternativePool is a pool of an alternative.
type AlternativePool struct {
	Name    string   `json:"name"`
	Classes []string `json:"classes"`
	Servers int      `json:"servers"`
	// Binding, Error, FewerMayDo and MoreMayBeNeeded are as in [PoolAnswer].
	Binding         string  `json:"binding,omitempty"`
	Error           float64 `json:"error,omitempty"`
	FewerMayDo      bool    `json:"fewerMayDo,omitempty"`
	MoreMayBeNeeded bool    `json:"moreMayBeNeeded,omitempty"`
}

// ClassInput is the input about the jobs of a class, with its sources: the constants SourceSpec,
// SourceProfile and SourceQuery of the API. AgeSeconds is the age of a query's answer.
type ClassInput struct {
	Class   string      `json:"class"`
	Arrival *InputValue `json:"arrival,omitempty"` // per second
	Service *InputValue `json:"service,omitempty"` // mean, in seconds
	// SCV is the squared coefficient of variation of the service time.
	SCV float64 `json:"scv"`
}

// InputValue is a number and where it is from.
type InputValue struct {
	Value      float64  `json:"value"`
	Source     string   `json:"source"`
	AgeSeconds *float64 `json:"ageSeconds,omitempty"`
}
