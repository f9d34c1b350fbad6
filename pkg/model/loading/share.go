package loading

// Share is a job's entitlement to a resource that is shared by weights and limits. The zero value is one of weight 1.
type Share struct {
	// Weight is the job's weight among its siblings: it gets a part in proportion to it. Finite and above 0; 0 means 1.
	// Its threads share it.
	Weight float64
	// Limit is the number of servers that the job may use on average, finite and at least 0; 0 means no limit. It is a
	// quota for periods that are long in relation to bursts: a job that would use less is not held back, and one that
	// would use more is throttled until it does not.
	Limit float64
	// Quota is the number of servers that the job may use in each period of [throttling.Period], where its bursts are known
	// ([Demand.Burst]) and Limit is what of that holds on average; 0 where Limit holds on average only. See [Share.Under].
	Quota float64
	// Burst is the mean service time of a visit there, in a unit that is the same for all jobs; 0 means 1. It matters
	// where weights are unequal.
	Burst float64
	// Group is the job's group in the tree of shares.
	Group int
}

// EffectiveWeight returns the weight of the job.
func (s Share) EffectiveWeight() float64 {
	if s.Weight == 0 {
		return 1
	}
	return s.Weight
}

// ThreadWeight returns the weight of one thread of a job of some weight, which shares it with the siblings that it finds.
func (d Demand) ThreadWeight(weight float64) float64 {
	return weight / (1 + float64(d.ThreadCount()-1)*d.Pressure)
}

// MinLimit is the smallest limit that counts, so that no time is infinite.
const MinLimit = 1e-9

// Limited returns the vector under a limit at a resource, where the threads of one job do not wait for each other, and
// the fraction of its time alone for which the job is throttled.
func (v Vector) Limited(resource int, limit float64) (limited Vector, throttled float64) {
	if limit == 0 || resource < 0 || resource >= len(v) {
		return v, 0
	}
	needs := v[resource].Loading * float64(v[resource].ThreadCount())
	if limit = max(limit, MinLimit); needs <= limit {
		return v, 0
	}
	stretch := needs / limit
	return v.Stretched(stretch), 1 - 1/stretch
}

// Stretched returns the vector of a job whose own time is stretched by idle time.
func (v Vector) Stretched(stretch float64) Vector {
	w := make(Vector, len(v))
	for i, d := range v {
		w[i] = Demand{Loading: d.Loading / stretch, Pressure: d.Pressure / stretch, Sensitivity: d.Sensitivity / stretch, Threads: d.Threads, Effect: d.Effect, Burst: d.Burst}
	}
	return w
}
