package trend

import (
	"math"
	"time"
)

// Kind is what a verdict says.
type Kind string

// What verdicts say, from the best on.
const (
	// Steady: the interval of the slope includes 0.
	Steady Kind = "steady"
	// Falls: all of it is below 0.
	Falls Kind = "falls"
	// Small: all of it is above 0, and below what matters.
	Small Kind = "small"
	// Bounded: all of it is above 0, and a bound that was named before the run holds.
	Bounded Kind = "bounded"
	// Short: there are too few values to say.
	Short Kind = "too short"
	// Stepped: the interval includes 0, but all of the last third is above all of the first one by what matters. So does a step, whose
	// values depend on each other as much as those of a random walk, and it has a reason to be named.
	Stepped Kind = "steps up"
	// Grows: all of it is above 0, and some of it is what matters.
	Grows Kind = "grows"
)

// MinCycles is the fewest values that a series is judged by.
const MinCycles = 8

// Rule says how a series is judged.
type Rule struct {
	// Period is that of the load, whose samples become one value, WarmUp what is left out, and Length the end of the run.
	Period, WarmUp, Length time.Duration
	// Day is how long a day is.
	Day time.Duration
	// Tolerance is what growth a day matters, as a fraction of the series' mean, and Floor what always may grow: the larger one counts.
	Tolerance, Floor float64
	// Bound is a value that the series may grow to, for a reason that was given before the run; 0 for none.
	Bound float64
}

// Verdict is what a series does.
type Verdict struct {
	Kind Kind
	Slope
	// Cycles is how many values it was judged by, and Mean, Max and Last are of these.
	Cycles          int
	Mean, Max, Last float64
	// Matters is the growth a day from which on it matters.
	Matters float64
}

// Judge returns what the points of a series do by a rule.
func Judge(points []Point, rule Rule) Verdict {
	values := Cycles(points, rule.Period, rule.WarmUp, rule.Length)
	v := Verdict{Kind: Short, Cycles: len(values)}
	for i, p := range values {
		v.Mean += p.Value / float64(len(values))
		v.Last = p.Value
		if i == 0 || p.Value > v.Max {
			v.Max = p.Value
		}
	}
	v.Matters = max(rule.Tolerance*v.Mean, rule.Floor)
	if len(values) < MinCycles {
		return v
	}
	v.Slope = slope(values, rule.Day)
	switch {
	case v.High < 0:
		v.Kind = Falls
	case v.Low <= 0 && stepped(values, v.Matters):
		v.Kind = Stepped
	case v.Low <= 0:
		v.Kind = Steady
	case v.High <= v.Matters:
		v.Kind = Small
	case rule.Bound > 0 && v.Max <= rule.Bound:
		v.Kind = Bounded
	default:
		v.Kind = Grows
	}
	return v
}

// stepped reports whether all of the last third of values is above all of the first one, and its mean by more than some difference.
func stepped(values []Point, difference float64) bool {
	third := len(values) / 3
	highest, lowest, first, last := math.Inf(-1), math.Inf(1), 0.0, 0.0
	for i := range third {
		before, after := values[i].Value, values[len(values)-1-i].Value
		highest, lowest = max(highest, before), min(lowest, after)
		first += before / float64(third)
		last += after / float64(third)
	}
	return lowest > highest && last-first > difference
}
