package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// baselineOff is the largest relative error of a fitted alone time.
const baselineOff = 0.1

// drift is the covariance of the logarithms of dilations that comes from errors of the vectors.
// Sensitivities and pressures are fitted to the same cells as the correction and have taken up a
// part of the residuals, so residuals there are smaller than elsewhere. With this covariance beside
// that of similar pairs the regression shifts the vectors as it explains the pairs, which is
// universal kriging (Matheron, 1969; Cressie, Statistics for Spatial Data, 1993, §3.4) with a
// prior: the standard deviation of each number is the root mean square of its kind at its resource,
// which is hardly a limit. A nil drift takes the vectors as exact.
type drift struct {
	*factors
	fitted      bool      // whether alone times are fitted, too
	own, theirs []float64 // per resource, the root mean squares of sensitivities and pressures
}

// newDrift returns the drift of the vectors of a model, and of its alone times if some
// are not as stated.
func newDrift(f *factors) *drift {
	fitted := slices.ContainsFunc(f.baseline, func(b float64) bool { return b != 1 })
	d := &drift{f, fitted, make([]float64, f.resources), make([]float64, f.resources)}
	for j := range f.baseline {
		for i := range f.resources {
			d.own[i] = math.Hypot(d.own[i], f.sensitivityOf(j)[i])
			d.theirs[i] = math.Hypot(d.theirs[i], f.pressureOf(j)[i])
		}
	}
	root := math.Sqrt(1 / float64(len(f.baseline)))
	floats.Scale(root, d.own)
	floats.Scale(root, d.theirs)
	return d
}

// slopes are how the logarithm of a cell's dilation changes with the sensitivities of
// the job and with the pressures of the other, per resource, in units of how far these
// may be off.
type slopes struct{ own, theirs []float64 }

// of returns the slopes of a cell.
func (d *drift) of(c cell) slopes {
	if d == nil {
		return slopes{}
	}
	s, q := d.sensitivityOf(c.job), d.pressureOf(c.other)
	dilation := 1 + floats.Dot(s, q)
	v := slopes{make([]float64, d.resources), make([]float64, d.resources)}
	for i := range d.resources {
		v.own[i] = d.own[i] * q[i] / dilation
		v.theirs[i] = d.theirs[i] * s[i] / dilation
	}
	return v
}

// covariance returns the covariance of two cells, given their slopes.
func (d *drift) covariance(a, b cell, u, v slopes) float64 {
	if d == nil {
		return 0
	}
	total := 0.0
	if a.job == b.job {
		total += floats.Dot(u.own, v.own)
		if d.fitted {
			total += baselineOff * baselineOff
		}
	}
	if a.other == b.other {
		total += floats.Dot(u.theirs, v.theirs)
	}
	return total
}
