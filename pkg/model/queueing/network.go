package queueing

import (
	"fmt"
	"math"
)

// MaxServers is the largest number of servers of a station, and MaxJobs the
// largest number of jobs of a network, threads counted. They bound the memory
// and time of a solution; no machine comes near.
const (
	MaxServers = 1 << 14
	MaxJobs    = 1 << 16
)

// Network is a closed network: jobs that never leave and go round and round its
// stations.
type Network struct {
	// Servers holds the number of servers of each station, from 1 to
	// [MaxServers].
	Servers []int
	// Classes are the jobs. The order matters to nothing but the order of the
	// answers.
	Classes []Class
}

// Class is a job, or several that are alike.
type Class struct {
	// Demands holds the service demand at each station: the job's service time there in one round,
	// in any unit of time, finite and at least 0. It may be shorter than the list of stations:
	// missing demands are 0.
	Demands []float64
	// Idle is the time of a round that the job spends at no station, in the
	// unit of Demands. It does not wait then.
	Idle float64
	// Copies is the number of such jobs. Zero means one. Copies cost the
	// approximate solvers nothing.
	Copies int
	// Pressures holds, for each station, how long the job would stand in the
	// way of others there in one round if it were alone, in the unit of Demands.
	// Nil means Demands, as in the standard theory.
	Pressures []float64
	// Sensitivities holds, for each station, the job's wait there in one round beside a job that is
	// always there, in the unit of Demands. Nil means Demands, as in the standard theory, where it
	// waits as long as it is served. It counts at a station with a demand.
	Sensitivities []float64
	// Threads holds, for each station, as how many jobs the job counts there,
	// to others and to itself. Nil, and zero, mean one.
	Threads []int
}

// neutral returns the time of one round without other jobs.
func (c *Class) neutral() float64 {
	sum := c.Idle
	for _, d := range c.Demands {
		sum += d
	}
	return sum
}

// copies returns the number of jobs of the class.
func (c *Class) copies() int { return max(c.Copies, 1) }

// demand, pressure and threads return those of the class at station i.
func (c *Class) demand(i int) float64 {
	if i < len(c.Demands) {
		return c.Demands[i]
	}
	return 0
}

func (c *Class) pressure(i int) float64 {
	if c.Pressures == nil {
		return c.demand(i)
	}
	if i < len(c.Pressures) {
		return c.Pressures[i]
	}
	return 0
}

// exposure returns how long the class waits at station i for each that it finds, as a
// multiple of its service there.
func (c *Class) exposure(i int) float64 {
	switch demand := c.demand(i); {
	case c.Sensitivities == nil || demand == 0:
		return 1
	case i < len(c.Sensitivities):
		return c.Sensitivities[i] / demand
	default:
		return 0
	}
}

func (c *Class) threads(i int) int {
	if i < len(c.Threads) {
		return max(c.Threads[i], 1)
	}
	return 1
}

// A ValueError says which value of a network is invalid and why.
type ValueError struct {
	Field string  // such as classes[2].demands[0]
	Value float64 // the value found
	Rule  string  // the rule that it breaks
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s: %v %s", e.Field, e.Value, e.Rule) }

// Validate returns nil, or a [ValueError] for the first rule that the network
// breaks.
func (n *Network) Validate() error {
	for i, c := range n.Servers {
		if c < 1 || c > MaxServers {
			return &ValueError{fmt.Sprintf("servers[%d]", i), float64(c), fmt.Sprintf("is not between 1 and %d", MaxServers)}
		}
	}
	jobs := 0
	for k := range n.Classes {
		c := &n.Classes[k]
		field := fmt.Sprintf("classes[%d]", k)
		if err := c.validate(field, len(n.Servers)); err != nil {
			return err
		}
		largest := 1
		for i := range n.Servers {
			largest = max(largest, c.threads(i))
		}
		if jobs += c.copies() * largest; jobs > MaxJobs {
			return &ValueError{field, float64(jobs), fmt.Sprintf("jobs with those before it, are more than %d", MaxJobs)}
		}
	}
	return nil
}

func (c *Class) validate(field string, stations int) error {
	lists := []struct {
		name   string
		length int
	}{{"demands", len(c.Demands)}, {"pressures", len(c.Pressures)}, {"sensitivities", len(c.Sensitivities)}, {"threads", len(c.Threads)}}
	for _, list := range lists {
		if list.length > stations {
			return &ValueError{field + "." + list.name, float64(list.length), fmt.Sprintf("values for %d stations", stations)}
		}
	}
	if !isTime(c.Idle) {
		return &ValueError{field + ".idle", c.Idle, "is not a finite time of at least 0"}
	}
	for i, d := range c.Demands {
		if !isTime(d) {
			return &ValueError{fmt.Sprintf("%s.demands[%d]", field, i), d, "is not a finite time of at least 0"}
		}
	}
	for i, q := range c.Pressures {
		if !isTime(q) {
			return &ValueError{fmt.Sprintf("%s.pressures[%d]", field, i), q, "is not a finite time of at least 0"}
		}
	}
	for i, s := range c.Sensitivities {
		if !isTime(s) || math.IsInf(c.exposure(i), 0) {
			return &ValueError{fmt.Sprintf("%s.sensitivities[%d]", field, i), s, "is not a finite time of at least 0, or too many times the demand"}
		}
	}
	for i, t := range c.Threads {
		if t < 0 || t > MaxJobs {
			return &ValueError{fmt.Sprintf("%s.threads[%d]", field, i), float64(t), fmt.Sprintf("is not between 0 and %d", MaxJobs)}
		}
	}
	if c.Copies < 0 || c.Copies > MaxJobs {
		return &ValueError{field + ".copies", float64(c.Copies), fmt.Sprintf("is not between 0 and %d", MaxJobs)}
	}
	if round := c.neutral(); round == 0 || math.IsInf(round, 0) {
		return &ValueError{field, round, "is how long a round takes: demands and idle time must add up to a finite time above 0"}
	}
	return nil
}

// isTime reports whether x is a finite time of at least 0.
func isTime(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
