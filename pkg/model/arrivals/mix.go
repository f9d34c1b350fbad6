package arrivals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
)

// Mix chooses among a few things, such as types of jobs, by weight.
type Mix struct {
	cumulative []float64 // the last is the sum of the weights
	random     *rand.Rand
}

// NewMix returns a mix of len(weights) things. Weights are above 0 and finite,
// and so is their sum; they need not add up to 1.
func NewMix(weights []float64, source rand.Source) (*Mix, error) {
	if len(weights) == 0 {
		return nil, fmt.Errorf("weights: there must be at least one")
	}
	m := &Mix{cumulative: make([]float64, len(weights)), random: rand.New(source)}
	sum := 0.0
	for i, weight := range weights {
		if !(weight > 0) || math.IsInf(weight, 0) {
			return nil, fmt.Errorf("weights[%d]: %v is not a number above 0", i, weight)
		}
		sum += weight
		m.cumulative[i] = sum
	}
	if math.IsInf(sum, 0) {
		return nil, fmt.Errorf("weights: their sum is too large for a number")
	}
	return m, nil
}

// Choose returns the index of one thing. Each call draws one random number,
// however many things there are.
func (m *Mix) Choose() int {
	last := len(m.cumulative) - 1
	x := m.random.Float64() * m.cumulative[last]
	return min(last, sort.Search(last, func(i int) bool { return m.cumulative[i] > x }))
}
