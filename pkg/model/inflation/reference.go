package inflation

import (
	"fmt"
	"math"
)

const (
	// tuning is the residual, in standard deviations, from which on an interval counts for nothing: 95 % efficient where errors are normal.
	tuning = 4.685
	// normalMedian is the median of |x| of a normal x with standard deviation 1.
	normalMedian = 0.6745
	// leastSpread is the standard deviation of relative errors below which none counts less: clocks tick.
	leastSpread = 1e-6
	// iterations bound those of each of the two steps of a fit.
	iterations = 25
	// varies is the least coefficient of variation of the rate with which overhead and work are told apart.
	varies = 0.05
)

// reference is what CPU time a rate takes without neighbours.
type reference struct {
	overhead, perUnit float64
	effects           []float64 // of the named groups
	// expected is E of each interval, and weights are those of a regression on it.
	expected, weights []float64

	last *regression
	// enlarged is by how much the errors of the last fit are larger than it says, since it was a robust one.
	enlarged float64
	withOne  bool // whether the first coefficient is the overhead
	// before is the part of what was before the series in it, from 0 to 1.
	before float64
}

// fit fits the reference with the effects of the named groups: by least absolute residuals, of which the scale of the errors is, and from there
// by Tukey's biweight with that scale.
func (r *reference) fit(s *series, named []*group) error {
	if r.expected == nil {
		if err := r.start(s); err != nil {
			return err
		}
	}
	r.effects = make([]float64, len(named))
	robust := make([]float64, len(s.cpu))
	for i := range robust {
		robust[i] = 1
	}
	scale := 0.0
	for _, biweight := range []bool{false, true} {
		if biweight {
			r.reweigh(s, named, robust, scale, biweight)
		}
		for range iterations {
			was := r.perUnit
			if err := r.step(s, named, robust); err != nil {
				return err
			}
			r.expect(s)
			if !biweight {
				scale = r.scale(s, named)
			}
			r.reweigh(s, named, robust, scale, biweight)
			if math.Abs(r.perUnit-was) <= 1e-6*r.perUnit {
				break
			}
		}
	}
	r.before = s.partBefore(r.weights, robust)
	return nil
}

// start sets a first reference: without overhead, the median interval.
func (r *reference) start(s *series) error {
	var ratios []float64
	for i, rate := range s.rate {
		if rate > 0 {
			ratios = append(ratios, s.cpu[i]/rate)
		}
	}
	if r.perUnit = median(ratios); len(ratios) < MinSlots || !(r.perUnit > 0) || math.IsInf(r.perUnit, 0) {
		return fmt.Errorf("%w: %d intervals with work and CPU time, of at least %d", ErrTooFew, len(ratios), MinSlots)
	}
	r.expect(s)
	return nil
}

// expect computes E of each interval and its weight.
func (r *reference) expect(s *series) {
	r.expected, r.weights = make([]float64, len(s.cpu)), make([]float64, len(s.cpu))
	for i, rate := range s.rate {
		r.expected[i] = r.overhead + r.perUnit*rate
	}
	middle := median(r.expected)
	if middle == 0 { // mostly idle, without overhead
		for _, e := range r.expected {
			middle = max(middle, e)
		}
	}
	for i, e := range r.expected {
		r.weights[i] = s.seconds[i] / (e*e + middle*middle) * middle * middle
	}
}

// step fits once, given what each interval counts for. Overhead and effects below 0 are left out.
func (r *reference) step(s *series, named []*group, robust []float64) error {
	weights := make([]float64, len(robust))
	for i := range weights {
		weights[i] = r.weights[i] * robust[i]
	}
	ones := make([]float64, len(s.cpu))
	for i := range ones {
		ones[i] = 1
	}
	for _, withOverhead := range []bool{s.varies(), false} {
		columns := [][]float64{s.rate}
		if withOverhead {
			columns = [][]float64{ones, s.rate}
		}
		first := len(columns)
		for _, g := range named {
			columns = append(columns, append(r.regressor(g.cpus), make([]float64, s.before)...))
		}
		fitted, is := regress(columns, s.cpu, weights, s.slot, s.slots)
		if !is || withOverhead && fitted.coefficients[0] < 0 {
			continue
		}
		r.last, r.withOne, r.overhead = fitted, withOverhead, 0
		if withOverhead {
			r.overhead = fitted.coefficients[0]
		}
		r.perUnit = fitted.coefficients[first-1]
		r.effects = fitted.coefficients[first:]
		if !(r.perUnit > 0) {
			return ErrUnrelated
		}
		return nil
	}
	return fmt.Errorf("%w: nothing changes", ErrTooFew)
}

// varies reports whether the rate varies enough to tell overhead and work apart.
func (s *series) varies() bool {
	mean, square := 0.0, 0.0
	for _, r := range s.rate {
		mean += r / float64(len(s.rate))
	}
	for _, r := range s.rate {
		square += (r - mean) * (r - mean) / float64(len(s.rate))
	}
	return math.Sqrt(square) > varies*mean
}

// residual returns that of an interval, weighted so that all have about the same spread.
func (r *reference) residual(s *series, named []*group, i int) float64 {
	return math.Sqrt(r.weights[i]/s.count(i)) * (s.cpu[i] - r.with(named, i))
}

// scale returns the standard deviation of the residuals, by the median of their absolute values.
func (r *reference) scale(s *series, named []*group) float64 {
	least := leastSpread * median(r.expected)
	if s.before > 0 {
		return max(r.scatter(s, named), least)
	}
	sizes := make([]float64, len(s.cpu))
	for i := range sizes {
		sizes[i] = math.Abs(r.residual(s, named, i))
	}
	return max(median(sizes)/normalMedian, least)
}

// reweigh has intervals count less the further they are from the reference. It takes note of by how much the errors of the fit are larger
// than those of least squares with such weights: Huber, "Robust Statistics", 1981, Sec. 7.6.
func (r *reference) reweigh(s *series, named []*group, robust []float64, scale float64, biweight bool) {
	const leastPart = 1e-2 // of the scale, so that weights of least absolute residuals are bounded
	weights, slopes := 0.0, 0.0
	for i := range robust {
		e := r.residual(s, named, i)
		if !biweight {
			robust[i] = scale / max(math.Abs(e), leastPart*scale)
			continue
		}
		u := min(1, math.Abs(e)/scale/tuning)
		robust[i] = (1 - u*u) * (1 - u*u)
		weights, slopes = weights+robust[i], slopes+(1-u*u)*(1-5*u*u)
	}
	r.enlarged = 1
	if slopes > 0 {
		r.enlarged = max(1, weights/slopes)
	}
}

// with returns what is expected of an interval with the effects of the named groups.
func (r *reference) with(named []*group, i int) float64 {
	factor := 1.0
	for k, g := range named {
		if i < len(g.cpus) {
			factor += max(0, r.effects[k]) * g.cpus[i]
		}
	}
	return r.expected[i] * factor
}

// spreadAt returns the standard error of E at a rate.
func (r *reference) spreadAt(rate float64) float64 {
	if !r.withOne {
		return r.enlarged * rate * r.last.spread(0)
	}
	c := r.last.covariance
	return r.enlarged * math.Sqrt(max(0, c.At(0, 0)+2*rate*c.At(0, 1)+rate*rate*c.At(1, 1)))
}
