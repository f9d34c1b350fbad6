package loading

import (
	"fmt"
)

// Effect is a job's demand at an interference resource: one that is shared without a queue, such as a last-level cache,
// memory bandwidth or the units of a core. A job that presses there makes the service of others at the processor slower;
// none waits.
//
// An effect slows service at one resource of a node, commonly the processor. A job presses while it runs there, on the
// jobs that run at the same time in the same domain; see [contention.Predict]. The number of servers of an interference resource is
// that of its domains: a node with two last-level caches has 2.
//
// Pressure and sensitivity are measured as in Mars et al., "Bubble-Up", MICRO 2011: beside a standard job whose
// pressure at full intensity is 1.
type Effect struct {
	// Pressure is the pressure of each thread of the job while it runs, in units of the standard job, from 0 to
	// [MaxPressure].
	Pressure float64
	// Curve is the slowdown of service under pressure. Nil is a job that nothing slows down.
	Curve Curve
	// Of is the index of the resource whose service the effect slows, one with a queue: by default the first, by
	// convention the processor. Only jobs that agree on it press on each other there.
	Of int
	// Exclusive is the fraction of its own time, from 0 to 1, that each thread is served there on a server that no other
	// job uses, such as a core of its own: it does not wait there, so that it is no loading of the resource, but presses and
	// is pressed on all the same.
	Exclusive float64
}

// MaxPressure is the largest pressure, and MaxInflation the largest inflation of a curve.
const (
	// MaxPressure bounds the pressure of one thread: a thousand standard jobs.
	MaxPressure = 1000
	// MaxInflation bounds the slowdown of service under pressure.
	MaxInflation = 1000
)

// Curve is a sensitivity curve: the inflation (processor time under pressure over processor time without, at least 1)
// of a job's service, as a function of the summed pressure of the threads that run beside it. It is linear between its
// points, 1 without pressure, and constant beyond the last point: caches that are lost cannot be lost twice.
type Curve []Point

// Point is one of a curve.
type Point struct {
	Pressure  float64 // above 0
	Inflation float64 // at least 1
}

// At returns the inflation under a pressure of at least 0, in O(log n) time for n points.
func (c Curve) At(pressure float64) float64 { return 1 + c.Increase(pressure) }

// Increase returns the inflation less 1, the relative growth of service time, under a pressure of at least 0.
func (c Curve) Increase(pressure float64) float64 {
	if len(c) == 0 || pressure <= 0 {
		return 0
	}
	at := 0
	for above := len(c); at < above; { // as sort.Search, without a call for each point
		if middle := (at + above) / 2; c[middle].Pressure < pressure {
			at = middle + 1
		} else {
			above = middle
		}
	}
	if at == len(c) {
		return c[at-1].Inflation - 1
	}
	low := Point{0, 1}
	if at > 0 {
		low = c[at-1]
	}
	part := (pressure - low.Pressure) / (c[at].Pressure - low.Pressure)
	return low.Inflation - 1 + part*(c[at].Inflation-low.Inflation)
}

// A CurveError says which point of a curve is invalid and why.
type CurveError struct {
	Point int     // index into the curve
	Field string  // "pressure" or "inflation"
	Value float64 // the value found
	Rule  string  // the rule that it breaks
}

func (e *CurveError) Error() string {
	return fmt.Sprintf("curve[%d].%s: %v %s", e.Point, e.Field, e.Value, e.Rule)
}

// Validate returns nil, or a [CurveError] for the first rule that the curve breaks: pressures are above 0, at most
// [MaxPressure] and ascending, inflations at least 1, at most [MaxInflation] and never falling.
func (c Curve) Validate() error {
	last := Point{0, 1}
	for k, p := range c {
		switch {
		case !(p.Pressure > last.Pressure && p.Pressure <= MaxPressure):
			return &CurveError{k, "pressure", p.Pressure, fmt.Sprintf("is not above %v, that of the point before, and at most %d", last.Pressure, MaxPressure)}
		case !(p.Inflation >= last.Inflation && p.Inflation <= MaxInflation):
			return &CurveError{k, "inflation", p.Inflation, fmt.Sprintf("is not at least %v, that of the point before, and at most %d", last.Inflation, MaxInflation)}
		}
		last = p
	}
	return nil
}

// validate returns the field, the value and the rule that an effect breaks; an empty rule is none.
func (e *Effect) validate() (field string, value float64, rule string) {
	if !(e.Pressure >= 0 && e.Pressure <= MaxPressure) {
		return "pressure", e.Pressure, fmt.Sprintf("is not between 0 and %d", MaxPressure)
	}
	if !(e.Exclusive >= 0 && e.Exclusive <= 1) {
		return "exclusive", e.Exclusive, "is not a fraction from 0 to 1"
	}
	if err, is := e.Curve.Validate().(*CurveError); is { //nolint:errorlint // Validate returns no other, unwrapped
		return fmt.Sprintf("curve[%d].%s", err.Point, err.Field), err.Value, err.Rule
	}
	return "", 0, ""
}
