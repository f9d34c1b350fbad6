package probing

import (
	"fmt"
	"math"
)

// Level is what was measured of a job beside a standard job of an interference resource at one pressure.
type Level struct {
	// Pressure is that of the standard job, above 0: 1 at full intensity.
	Pressure float64
	// Inflations hold, for each time it was measured, by how much longer the job computed than alone.
	Inflations []float64
}

// Sensitivity is one point of a measured sensitivity curve.
type Sensitivity struct {
	Pressure  float64
	Inflation Estimate
}

// SensitivityCurve returns the sensitivity curve that levels of ascending pressure tell of a job: the geometric mean of
// the inflations at each, and of these the nearest curve that never falls and is at least 1 (isotonic regression by
// pooling adjacent violators, Barlow et al. 1972, in logarithms). Levels weigh as the squares of their errors say, once
// all are known. Levels that are pooled have one value, with the error of their mean.
//
// The error names a level without inflations, or out of order, or one that [GeometricMean] refuses.
func SensitivityCurve(levels []Level) ([]Sensitivity, error) {
	type pool struct {
		log, weight float64
		levels      int
	}
	var pools []pool
	curve := make([]Sensitivity, len(levels))
	weighted := true
	for k, l := range levels {
		if k > 0 && !(l.Pressure > levels[k-1].Pressure) {
			return nil, fmt.Errorf("levels[%d].pressure: %v is not above %v, that of the level before", k, l.Pressure, levels[k-1].Pressure)
		}
		if !(l.Pressure > 0) || math.IsInf(l.Pressure, 1) {
			return nil, fmt.Errorf("levels[%d].pressure: %v is not a finite number above 0", k, l.Pressure)
		}
		mean, err := GeometricMean(l.Inflations)
		if err != nil {
			return nil, fmt.Errorf("levels[%d]: %w", k, err)
		}
		curve[k] = Sensitivity{l.Pressure, mean}
		weighted = weighted && mean.Error > 0 && !math.IsInf(mean.Error, 1)
	}
	for k := range curve {
		e := curve[k].Inflation
		next := pool{math.Log(e.Value), 1, 1}
		if weighted {
			next.weight = e.Value * e.Value / (e.Error * e.Error)
		}
		for len(pools) > 0 && pools[len(pools)-1].log >= next.log {
			before := pools[len(pools)-1]
			pools = pools[:len(pools)-1]
			weight := before.weight + next.weight
			next = pool{(before.log*before.weight + next.log*next.weight) / weight, weight, before.levels + next.levels}
		}
		pools = append(pools, next)
	}
	k := 0
	for _, p := range pools {
		value := max(1, math.Exp(p.log))
		for range p.levels {
			e := &curve[k].Inflation
			e.Value = value
			if weighted && p.levels > 1 {
				e.Error = value / math.Sqrt(p.weight)
			}
			k++
		}
	}
	return curve, nil
}

// ErrNoPressure is wrapped by the error of [PressureBeside] where two standard jobs do not slow each other down enough to
// compare a job with them.
var ErrNoPressure = fmt.Errorf("two standard jobs slow each other down by less than %v times", MinSelfInflation)

// MinSelfInflation is by how much two standard jobs of an interference resource slow each other down at least where the
// resource can be measured: what noise makes of a few seconds is less.
const MinSelfInflation = 1.03

// PressureBeside returns how hard a job presses, from how much slower the standard job was beside it and how much slower
// each of two standard jobs is: the pressure grows in proportion to the slowdown, and is 1 where the job slows the
// standard job down as much as another standard job does. A single run tells no error.
//
// The error wraps [ErrNoPressure], or names a dilation that is not positive and finite.
func PressureBeside(standard []float64, self float64) (Estimate, error) {
	if !(self >= MinSelfInflation) || math.IsInf(self, 1) {
		return Estimate{}, fmt.Errorf("self-dilation: %.3g: %w", self, ErrNoPressure)
	}
	e, err := GeometricMean(standard)
	if err != nil {
		return Estimate{}, err
	}
	e.Value = max(0, e.Value-1) / (self - 1)
	e.Error /= self - 1
	return e, nil
}
