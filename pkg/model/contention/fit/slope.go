package fit

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

// assumedNoise is the relative noise of a dilation where it cannot be told from the runs.
const assumedNoise = 0.02

func (s *slope) add(copies, dilation float64) {
	w := 1 / (dilation * dilation)
	s.weight += w * copies * copies
	s.product += w * copies * (dilation - 1)
	s.square += w * (dilation - 1) * (dilation - 1)
	s.runs++
}

// estimate returns the slope, kept between 0 and 1, with its interval: from the scatter
// of the runs about it with Student's distribution. With one run the scatter is unknown,
// and taken to be [assumedNoise].
func (s *slope) estimate(confidence float64) Estimate {
	residual, left := max(0, s.square-s.product*s.product/s.weight), s.runs-1
	noise, quantile := assumedNoise, distuv.UnitNormal.Quantile((1+confidence)/2)
	if left > 0 {
		noise = max(leastNoise, math.Sqrt(residual/left))
		quantile = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: left}.Quantile((1 + confidence) / 2)
	}
	value, margin := s.product/s.weight, quantile*noise/math.Sqrt(s.weight)
	fraction := func(x float64) float64 { return min(1, max(0, x)) }
	return Estimate{Value: fraction(value), Low: fraction(value - margin), High: fraction(value + margin)}
}
