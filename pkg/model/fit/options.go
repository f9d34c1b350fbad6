package fit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Options are the prior knowledge of a fit and its settings. The zero value finds hidden resources with nothing known.
type Options struct {
	// Resources names the resources, where they are known. Beliefs distinguish them, so there must be some. Empty: they
	// are hidden, called r1, r2, …, and found.
	Resources []string
	// MaxResources is the largest number of hidden resources tried, from 1 to
	// [MostResources]. Zero means 5.
	MaxResources int
	// Beliefs hold the prior knowledge of some jobs at the named Resources: declared vectors, the result of an earlier
	// fit, probes.
	Beliefs map[string]Belief
	// Fractions says that sensitivities are fractions of the neutral time, which
	// add up to at most 1 for each job, and that pressures are at most 1. It
	// makes sense for named resources, and does not hold on accelerators.
	Fractions bool
	// Predictors are the solvers to choose from. Empty: [FirstOrder] and, where
	// some run has more than two jobs, [SecondOrder].
	Predictors []Predictor
	// Weight returns the weight of a job with the given request in cores, above 0. Nil is the request itself, and 0.002
	// cores for less.
	Weight func(request float64) float64
	// Folds is how many parts cross-validation makes of the runs, at least 2.
	// Zero means 5.
	Folds int
	// Confidence is the coverage of the intervals, between 0 and 1. Zero means
	// [DefaultConfidence].
	Confidence float64
	// Seed makes the random starts and folds. The same seed gives the same
	// answer.
	Seed uint64
	// Progress, if it is set, is called now and then with the share of the work
	// that is done, from 0 to 1, never by two goroutines at once.
	Progress func(done float64)
}

// tell reports the completed share of the work.
func (o Options) tell(done float64) {
	if o.Progress != nil {
		o.Progress(done)
	}
}

// portion returns the options for a part of the work, from one share of it to
// another.
func (o Options) portion(from, to float64) Options {
	if all := o.Progress; all != nil {
		o.Progress = func(done float64) { all(from + done*(to-from)) }
	}
	return o
}

// DefaultConfidence is the coverage of confidence intervals unless one asks for
// another.
const DefaultConfidence = 0.95

// MostResources bounds the number of resources, and with it the time and memory
// of a fit.
const MostResources = 16

// Belief is the prior knowledge of a job.
type Belief struct {
	// Sensitivity and Pressure are at each of the named resources, at least 0.
	// A nil Pressure equals the Sensitivity, as in the D-factor paper.
	Sensitivity, Pressure []float64
	// Weight is how many typical observations the belief is worth. Zero means
	// 1; +Inf holds the job where it is, as one does with a calibrated probe.
	Weight float64
}

// sumTolerance is how far above 1 fractions may add up: decimal fractions are
// not exact in binary.
const sumTolerance = 1e-9

// withDefaults returns the options with the defaults filled in, or an error
// that names the field, the value and the rule.
func (o Options) withDefaults() (Options, error) {
	if o.MaxResources == 0 {
		o.MaxResources = 5
	}
	if o.MaxResources < 1 || o.MaxResources > MostResources {
		return o, fmt.Errorf("maxResources: %d is not between 1 and %d", o.MaxResources, MostResources)
	}
	if len(o.Resources) > MostResources {
		return o, fmt.Errorf("resources: %d are more than %d", len(o.Resources), MostResources)
	}
	seen := map[string]bool{}
	for _, name := range o.Resources {
		if name == "" || seen[name] {
			return o, fmt.Errorf("resources: %q is empty or appears twice", name)
		}
		seen[name] = true
	}
	if len(o.Resources) > 0 && len(o.Beliefs) == 0 {
		return o, fmt.Errorf("resources: nothing is believed of any job at %s, so they cannot be told apart; give beliefs, or leave the names out",
			strings.Join(o.Resources, ", "))
	}
	if o.Weight == nil {
		o.Weight = proportional
	}
	if o.Folds == 0 {
		o.Folds = 5
	}
	if o.Folds < 2 {
		return o, fmt.Errorf("folds: %d is less than 2", o.Folds)
	}
	if o.Confidence == 0 {
		o.Confidence = DefaultConfidence
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return o, fmt.Errorf("confidence: %v is not between 0 and 1", o.Confidence)
	}
	for _, job := range slices.Sorted(maps.Keys(o.Beliefs)) {
		if err := o.Beliefs[job].validate(len(o.Resources), o.Fractions); err != nil {
			return o, fmt.Errorf("beliefs[%q]: %w", job, err)
		}
	}
	return o, nil
}

func (b Belief) validate(resources int, fractions bool) error {
	if resources == 0 {
		return errors.New("a belief needs named resources: hidden ones have no meaning before the fit")
	}
	if len(b.Sensitivity) != resources {
		return fmt.Errorf("sensitivity: %d values for %d resources", len(b.Sensitivity), resources)
	}
	if b.Pressure != nil && len(b.Pressure) != resources {
		return fmt.Errorf("pressure: %d values for %d resources", len(b.Pressure), resources)
	}
	for i, v := range b.Sensitivity {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("sensitivity[%d]: %v is not a finite number of at least 0", i, v)
		}
	}
	for i, v := range b.Pressure {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("pressure[%d]: %v is not a finite number of at least 0", i, v)
		}
	}
	if total := sum(b.Sensitivity); fractions && total > 1+sumTolerance {
		return fmt.Errorf("sensitivity: %v in all is more than 1: they are fractions of the neutral time", total)
	}
	if !(b.Weight >= 0) {
		return fmt.Errorf("weight: %v is not a number of at least 0", b.Weight)
	}
	return nil
}

// pressure returns the believed pressures of a job.
func (b Belief) pressure() []float64 {
	if b.Pressure == nil {
		return b.Sensitivity
	}
	return b.Pressure
}
