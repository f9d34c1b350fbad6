package probing

import (
	"errors"
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/loading"
)

// Level is a measurement beside a bubble, a standard job at an interference resource, at one pressure.
type Level struct {
	// Pressure of the bubble, above 0 and at most [contention.MaxPressure].
	Pressure float64
	// Inflations are processor times per work beside the bubble over those without it, one of each round, from
	// [MinDilation] to [MaxDilation].
	Inflations []float64
}

// Sensitivity is a measured sensitivity curve. It is 1 without pressure.
type Sensitivity struct {
	// Pressures are those of the levels, ascending.
	Pressures []float64
	// Inflations are those at the pressures, at least 1 and never falling.
	Inflations []Estimate
}

// FitSensitivity fits the curve of a job beside a bubble: the one that is nearest to the mean logarithm of each level, by
// squares weighted with the rounds, among those that start at 1 and never fall (isotonic regression by pooling adjacent
// violators: Barlow et al., "Statistical Inference under Order Restrictions", 1972). Levels that noise has in the wrong
// order get their weighted mean.
//
// The error names the level, the value and the rule.
func FitSensitivity(levels []Level) (Sensitivity, error) {
	if len(levels) == 0 {
		return Sensitivity{}, errors.New("levels: there is none")
	}
	var blocks []block
	before := 0.0
	s := Sensitivity{}
	for k, level := range levels {
		if !(level.Pressure > before && level.Pressure <= loading.MaxPressure) {
			return Sensitivity{}, fmt.Errorf("levels[%d].pressure: %v is not above %v, that of the level before, and at most %d",
				k, level.Pressure, before, loading.MaxPressure)
		}
		before = level.Pressure
		for i, inflation := range level.Inflations {
			if rule := dilationRule(inflation); rule != "" {
				return Sensitivity{}, fmt.Errorf("levels[%d].inflations[%d]: %v %s", k, i, inflation, rule)
			}
		}
		logs, err := logarithms(level.Inflations)
		if err != nil {
			return Sensitivity{}, fmt.Errorf("levels[%d].inflations: %w", k, err)
		}
		s.Pressures = append(s.Pressures, level.Pressure)
		center, margin := mean(logs)
		blocks = append(blocks, block{center, margin, float64(len(logs)), len(logs), 1})
		for last := len(blocks) - 1; last > 0 && blocks[last-1].center >= blocks[last].center; last-- {
			blocks = append(blocks[:last-1], blocks[last-1].join(blocks[last]))
		}
	}
	for _, b := range blocks {
		for range b.levels {
			s.Inflations = append(s.Inflations, through(max(0, b.center), b.margin, b.samples, math.Exp))
		}
	}
	return s, nil
}

// block is levels that have a value in common: the mean of logarithms, and the half width of its interval.
type block struct {
	center, margin, weight float64
	samples, levels        int
}

// join returns two blocks as one.
func (b block) join(c block) block {
	all := b.weight + c.weight
	return block{
		center:  (b.weight*b.center + c.weight*c.center) / all,
		margin:  math.Hypot(b.weight*b.margin, c.weight*c.margin) / all,
		weight:  all,
		samples: b.samples + c.samples,
		levels:  b.levels + c.levels,
	}
}

// Curve returns the curve without its errors.
func (s Sensitivity) Curve() loading.Curve {
	curve := make(loading.Curve, 0, len(s.Pressures))
	for k, pressure := range s.Pressures {
		curve = append(curve, loading.Point{Pressure: pressure, Inflation: min(loading.MaxInflation, s.Inflations[k].Value)})
	}
	return curve
}

// Largest returns the inflation at the highest level.
func (s Sensitivity) Largest() Estimate {
	if len(s.Inflations) == 0 {
		return Estimate{}
	}
	return s.Inflations[len(s.Inflations)-1]
}

// Shows reports whether the bubble slows the job down by more than the error of the measurement at its highest level:
// then the job can measure the pressure of others.
func (s Sensitivity) Shows() bool {
	largest := s.Largest()
	return largest.Taken() && largest.Value-largest.Error > 1
}

// Pressure returns the pressure of a target beside which a job of this curve, the reporter, has an inflation: where the
// curve first reaches it. Beyond the last level it goes on with the average slope. The error has that of the inflation
// and that of the curve.
//
// The error wraps [ErrAmbiguous] if the curve does not show anything, and names an inflation that cannot be.
func (s Sensitivity) Pressure(inflation Estimate) (Estimate, error) {
	if !s.Shows() {
		return Estimate{}, fmt.Errorf("the bubble slows its reporter down by %v at most: %w", s.Largest(), ErrAmbiguous)
	}
	if rule := dilationRule(inflation.Value); rule != "" || !inflation.Taken() {
		return Estimate{}, fmt.Errorf("inflation: %v %s", inflation, rule)
	}
	center := s.pressure(inflation.Value)
	e := Estimate{Value: min(loading.MaxPressure, max(0, center)), Error: math.Inf(1), Samples: inflation.Samples}
	if !math.IsInf(inflation.Error, 1) {
		own := (s.pressure(inflation.Value+inflation.Error) - s.pressure(inflation.Value-inflation.Error)) / 2
		e.Error = math.Hypot(own, s.margin(center))
	}
	return e, nil
}

// average returns the slope of the curve from end to end.
func (s Sensitivity) average() float64 {
	return (s.Largest().Value - 1) / s.Pressures[len(s.Pressures)-1]
}

// pressure returns the least pressure at which the curve reaches an inflation. Beyond its ends the curve goes on with its
// average slope, so that noise averages out.
func (s Sensitivity) pressure(inflation float64) float64 {
	if inflation <= 1 {
		return (inflation - 1) / s.average()
	}
	from, at := 0.0, 1.0
	for k, to := range s.Pressures {
		if next := s.Inflations[k].Value; next >= inflation {
			return from + (to-from)*(inflation-at)/(next-at)
		}
		from, at = to, s.Inflations[k].Value
	}
	return from + (inflation-at)/s.average()
}

// margin returns by how much the curve's own error moves a pressure.
func (s Sensitivity) margin(pressure float64) float64 {
	from, at := 0.0, 1.0
	for k, to := range s.Pressures {
		if pressure <= to || k == len(s.Pressures)-1 {
			slope := max(s.average()/10, (s.Inflations[k].Value-at)/(to-from))
			return s.Inflations[k].Error / slope * min(1, max(0, pressure)/to)
		}
		from, at = to, s.Inflations[k].Value
	}
	return 0
}
