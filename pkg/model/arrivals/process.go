package arrivals

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Process returns the gap to the next arrival in seconds, finite and ≥ 0, anew
// with each call. Gaps are independent of each other.
type Process func() float64

// The longest mean gap, some 30,000 years, and the largest squared coefficient
// of variation. They keep every gap finite.
const (
	MaxMean = 1e12
	MaxSCV  = 1e6
)

// Constant returns a process whose gaps are all mean seconds, which must be above
// 0 and at most [MaxMean].
func Constant(mean float64) (Process, error) {
	if err := checkMean(mean); err != nil {
		return nil, err
	}
	return func() float64 { return mean }, nil
}

// Exponential returns a process with exponential gaps of the given mean in
// seconds, above 0 and at most [MaxMean]: Poisson arrivals.
func Exponential(mean float64, source rand.Source) (Process, error) {
	if err := checkMean(mean); err != nil {
		return nil, err
	}
	unit := distuv.Exponential{Rate: 1, Src: source}
	return func() float64 { return mean * unit.Rand() }, nil
}

// Gamma returns a process with gamma-distributed gaps: shape 1/scv, scale
// mean·scv. The mean in seconds is above 0 and at most [MaxMean], the squared
// coefficient of variation scv from 0, which makes the gaps constant, to
// [MaxSCV].
func Gamma(mean, scv float64, source rand.Source) (Process, error) {
	if err := check(mean, scv, 0); err != nil {
		return nil, err
	}
	if constant(scv) {
		return Constant(mean)
	}
	unit := distuv.Gamma{Alpha: 1 / scv, Beta: 1, Src: source}
	return func() float64 { return mean * (scv * unit.Rand()) }, nil
}

// LogNormal returns a process with log-normal gaps: σ² = ln(1 + scv), μ =
// ln(mean) − σ²/2. The mean in seconds is above 0 and at most [MaxMean], the
// squared coefficient of variation scv from 0, which makes the gaps constant, to
// [MaxSCV].
func LogNormal(mean, scv float64, source rand.Source) (Process, error) {
	if err := check(mean, scv, 0); err != nil {
		return nil, err
	}
	if constant(scv) {
		return Constant(mean)
	}
	variance := math.Log1p(scv)
	unit := distuv.LogNormal{Mu: -variance / 2, Sigma: math.Sqrt(variance), Src: source}
	return func() float64 { return mean * unit.Rand() }, nil
}

// Hyperexponential returns a process with gaps that are exponential with one of
// two means: short ones with probability p, long ones with 1 − p. The means are
// balanced, which means that both phases take half of the time:
//
//	p = (1 + √((scv − 1) / (scv + 1))) / 2, means mean/2p and mean/2(1 − p)
//
// The mean in seconds is above 0 and at most [MaxMean], the squared coefficient
// of variation scv from 1, where the gaps are exponential, to [MaxSCV].
func Hyperexponential(mean, scv float64, source rand.Source) (Process, error) {
	if err := check(mean, scv, 1); err != nil {
		return nil, err
	}
	root := math.Sqrt((scv - 1) / (scv + 1))
	short, long := (1+root)/2, 1/((scv+1)*(1+root)) // long is (1 − root) / 2 without cancellation
	phase, unit := rand.New(source), distuv.Exponential{Rate: 1, Src: source}
	return func() float64 {
		if phase.Float64() < long {
			return mean / (2 * long) * unit.Rand()
		}
		return mean / (2 * short) * unit.Rand()
	}, nil
}

// Empirical returns a process whose gaps are drawn from observed ones, each as
// likely as any other, with replacement. Gaps are in seconds, finite and ≥ 0;
// there must be one, and one above 0.
func Empirical(gaps []float64, source rand.Source) (Process, error) {
	if len(gaps) == 0 {
		return nil, fmt.Errorf("gaps: there must be at least one")
	}
	for i, gap := range gaps {
		if !(gap >= 0) || math.IsInf(gap, 0) {
			return nil, fmt.Errorf("gaps[%d]: %v is not a number ≥ 0", i, gap)
		}
	}
	if floats.Max(gaps) == 0 {
		return nil, fmt.Errorf("gaps: all %d are 0; time would not pass", len(gaps))
	}
	gaps, random := slices.Clone(gaps), rand.New(source)
	return func() float64 { return gaps[random.IntN(len(gaps))] }, nil
}

// Times returns the first n arrival times of a process, in seconds from the start
// and in ascending order. The first comes one gap after the start. The process
// goes on where it stands: ranging twice gives other times.
func Times(process Process, n int) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		now := 0.0
		for range n {
			now += process()
			if !yield(now) {
				return
			}
		}
	}
}

func checkMean(mean float64) error {
	if !(mean > 0 && mean <= MaxMean) {
		return fmt.Errorf("mean: %v is not a number above 0 and at most %g", mean, float64(MaxMean))
	}
	return nil
}

func check(mean, scv, least float64) error {
	if err := checkMean(mean); err != nil {
		return err
	}
	if !(scv >= least && scv <= MaxSCV) {
		return fmt.Errorf("scv: %v is not a number from %g to %g", scv, least, float64(MaxSCV))
	}
	return nil
}

// constant reports whether gaps vary by less than a float64 can tell.
func constant(scv float64) bool { return scv < 1e-32 }
