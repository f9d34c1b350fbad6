package sizing

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"loadline.dev/loadline/pkg/model/queueing"
)

// SLA promises that a response takes at most Within seconds with at least the given
// Probability: the paper's SLA(x, y).
type SLA struct {
	Within      float64 // x, above 0
	Probability float64 // y, between 0 and 1, both excluded
}

// String returns "95% within 3s".
func (s SLA) String() string {
	return fmt.Sprintf("%s within %ss", percent(s.Probability), strconv.FormatFloat(s.Within, 'g', -1, 64))
}

// Class is a class of jobs.
type Class struct {
	Name    string
	Arrival float64 // rate λ in jobs per second, at least 0
	Service float64 // rate μ of one server in jobs per second, above 0
	// SCV is the squared coefficient of variation of the service time: variance over
	// squared mean. 1 is exponential, and so is 0, the zero value; [Constant] is for
	// times that are all the same.
	SCV  float64
	SLA  SLA
	Cost float64 // of a server that can serve the class; 0 means 1
}

// Constant is the squared coefficient of variation of service times that are all the
// same.
const Constant = 1e-12

func (c Class) scv() float64 {
	if c.SCV == 0 {
		return 1
	}
	return c.SCV
}

func (c Class) cost() float64 {
	if c.Cost == 0 {
		return 1
	}
	return c.Cost
}

func (c Class) load() float64 { return c.Arrival / c.Service }

func (c Class) stream() queueing.Stream {
	return queueing.Stream{Arrival: c.Arrival, Service: c.Service, SCV: c.scv()}
}

// Bound returns the probability with which even an idle server answers within the time
// of the SLA: 1 − e^(−μx) for exponential service times. The SLA can be met by some
// number of servers if its probability is below that.
func (c Class) Bound() float64 { return c.stream().ServiceWithin(c.SLA.Within) }

// An InfeasibleError says that no number of servers meets an SLA.
type InfeasibleError struct {
	Class string  // its name
	Index int     // among the classes given
	SLA   SLA     // that cannot be met
	Mean  float64 // service time in seconds
	Bound float64 // the probability that even an idle server does not reach
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("class %q: %v cannot be met by any number of servers: with a mean service time of %ss even an idle server "+
		"answers only %s in time. Relax the SLA or make the service faster", e.Class, e.SLA, strconv.FormatFloat(e.Mean, 'g', 4, 64), percent(e.Bound))
}

// percent returns a probability in percent with four significant digits, or with the number of
// digits that distinguishes it from 100 %.
func percent(p float64) string {
	for digits := 4; digits < 16; digits++ {
		text := strconv.FormatFloat(100*p, 'g', digits, 64)
		if text != "100" && text != "1e+02" || p >= 1 {
			return text + "%"
		}
	}
	return "100%"
}

// Validate returns nil, a [queueing.ValueError] for the first value that is out of
// range, or an [InfeasibleError] for the first SLA that cannot be met.
func Validate(classes []Class) error {
	if len(classes) == 0 {
		return errors.New("classes: there must be at least one")
	}
	for i, c := range classes {
		if err := c.validate(fmt.Sprintf("classes[%d]", i)); err != nil {
			return err
		}
	}
	for i, c := range classes {
		if bound := c.Bound(); !(c.SLA.Probability < bound) {
			return &InfeasibleError{c.Name, i, c.SLA, 1 / c.Service, bound}
		}
	}
	return nil
}

func (c Class) validate(field string) error {
	for _, value := range []struct {
		name  string
		value float64
		ok    bool
		rule  string
	}{
		{"arrival", c.Arrival, c.Arrival >= 0, "is not a finite rate of at least 0"},
		{"service", c.Service, c.Service > 0, "is not a finite rate above 0"},
		{"scv", c.SCV, c.SCV >= 0 && c.SCV <= queueing.MaxSCV, fmt.Sprintf("is not between 0 and %g", float64(queueing.MaxSCV))},
		{"sla.within", c.SLA.Within, c.SLA.Within > 0, "is not a finite time above 0"},
		{"sla.probability", c.SLA.Probability, c.SLA.Probability > 0 && c.SLA.Probability < 1, "is not between 0 and 1"},
		{"cost", c.Cost, c.Cost >= 0, "is not a finite number of at least 0"},
		{"arrival / service", c.load(), c.load() < queueing.MaxQueueServers, fmt.Sprintf("is more than %d servers can serve", queueing.MaxQueueServers)},
	} {
		if !value.ok || math.IsInf(value.value, 0) {
			return &queueing.ValueError{Field: field + "." + value.name, Value: value.value, Rule: value.rule}
		}
	}
	return nil
}
