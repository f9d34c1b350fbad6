package probing

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// slope fits excess dilation = slope · copies by squares relative to the dilation, a
// line through the origin.
type slope struct {
	weight  float64 // Σ c²/λ²
	product float64 // Σ c (λ − 1)/λ²
	square  float64 // Σ (λ − 1)²/λ²
	runs    float64
}

// The relative noise of a dilation where the runs do not determine it, and its lower bound.
const (
	assumedNoise = 0.02
	leastNoise   = 1e-4
)

func (s *slope) add(copies, dilation float64) {
	w := 1 / (dilation * dilation)
	s.weight += w * copies * copies
	s.product += w * copies * (dilation - 1)
	s.square += w * (dilation - 1) * (dilation - 1)
	s.runs++
}

// interval returns the slope and its 95 % confidence interval, kept between 0 and 1: from
// the scatter of the runs about it with Student's distribution. With one run the scatter
// is unknown, and taken to be [assumedNoise].
func (s *slope) interval() (value, low, high float64) {
	residual, left := max(0, s.square-s.product*s.product/s.weight), s.runs-1
	noise, extent := assumedNoise, distuv.UnitNormal.Quantile((1+confidence)/2)
	if left > 0 {
		noise = max(leastNoise, math.Sqrt(residual/left))
		extent = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: left}.Quantile((1 + confidence) / 2)
	}
	value = s.product / s.weight
	margin := extent * noise / math.Sqrt(s.weight)
	fraction := func(x float64) float64 { return min(1, max(0, x)) }
	return fraction(value), fraction(value - margin), fraction(value + margin)
}
