package fit

import "math"

// settings are the settings of a single fit.
type settings struct {
	pull      float64 // how many typical observations the average job counts
	predictor Predictor
	tied      bool      // q = s: the D-factor
	baselines bool      // alone times may be wrong
	fractions bool      // Σ s ≤ 1, q ≤ 1
	beliefs   []*Belief // per job, nil where nothing is known; may be empty
}

// belief returns the belief about a job, or nil.
func (s settings) belief(job int) *Belief {
	if job >= len(s.beliefs) {
		return nil
	}
	return s.beliefs[job]
}

// strength returns the number of observations that the assumption about a job counts for.
func (s settings) strength(job int) float64 {
	switch b := s.belief(job); {
	case b == nil:
		return s.pull
	case b.Weight > 0:
		return min(pinned, b.Weight)
	}
	return 1
}

// scaleFree reports whether hidden resources may be scaled without changing
// anything.
func (s settings) scaleFree() bool { return scaleFree(s.predictor) && !s.fractions }

// pinned is the weight, in observations, of a belief that must not move.
const pinned = 1e8

// bounds returns the largest value of one sensitivity or pressure, and of the
// sum of a job's sensitivities.
func (s settings) bounds() (most, total float64) {
	if s.fractions {
		return 1, 1
	}
	return math.Inf(1), math.Inf(1)
}

// patience is how long an alternation goes on: at most this many rounds, ended
// early when checkedRounds change the loss by no more than that fraction.
type patience struct {
	rounds  int
	settled float64
	starts  int     // how many random starts each number of hidden resources gets
	grid    float64 // of vectors at which the effect of weights is computed
}

// brief is for comparing models: a fit only has to be good enough to rank them, and the remaining
// gain is far below the noise of the data.
func brief() patience { return patience{rounds: 80, settled: 5e-4, starts: 2, grid: coarse} }

// full is for the fit that is kept.
func full() patience { return patience{rounds: 600, settled: 1e-6, starts: 6, grid: fine} }
