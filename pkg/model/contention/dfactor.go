package contention

import (
	"errors"
	"fmt"
	"math"
)

// This file inverts closed forms of the D-factor paper (Lim et al., SIGMETRICS 2012),
// which turns measured dilations of identical jobs into loading vectors. Eq. (5)
// itself is [price.Load.Dilation], Definition 2 is [price.Prices.Of].

// ErrNoRoot is wrapped by the error of [LoadingOfCopies] when no busy job of two resources has so
// small, or so large, a dilation beside its copies.
var ErrNoRoot = errors.New("no loading vector of two resources explains the dilation")

// ErrUndecided is wrapped by the error of [DecideRoot] when a second measurement
// fits both roots.
var ErrUndecided = errors.New("the measurement does not tell the roots apart")

// LoadingOfCopies returns the loading p of each of n identical jobs that are always
// busy at one of two resources, with loading vector (p, 1 − p), from their dilation λ =
// 1 + (n − 1)(p² + (1 − p)²), Eq. (12):
//
//	p = ½ (1 ± √(1 − 2 (n − λ)/(n − 1)))    (13)
//
// It returns both roots, low ≤ ½ ≤ high = 1 − low: copies look the same with the resources
// exchanged, so only another measurement can decide between the roots, see [DecideRoot]. Near p = ½
// the roots are ill-conditioned: at p = 0.58 and n = 2, 1 % of λ moves p over 0.50 to 0.62. A
// dilation beside a probe, p = λ − 1 by Property 3, is not.
//
// n must be at least 2, or an error says so. λ must lie between (n + 1)/2, for
// p = ½, and n, for p = 0 or 1; beyond them the error wraps [ErrNoRoot] and the
// roots are those of the nearest λ that has any: a smaller one means that the
// job idles (Remark 5), or noise.
func LoadingOfCopies(n int, dilation float64) (low, high float64, err error) {
	if n < 2 {
		return 0, 1, fmt.Errorf("copies: %d is less than 2: a job alone is not dilated", n)
	}
	least, most := float64(n+1)/2, float64(n)
	if !(dilation >= least && dilation <= most) { // also catches NaN
		err = fmt.Errorf("dilation of %d copies: %v is not between %v and %d: %w", n, dilation, least, n, ErrNoRoot)
		if math.IsNaN(dilation) {
			return 0, 1, err
		}
		dilation = min(most, max(least, dilation))
	}
	// At λ = least the radicand is 0 except for rounding.
	half := math.Sqrt(max(0, 1-2*(most-dilation)/(most-1))) / 2
	return 0.5 - half, 0.5 + half, err
}

// DecideRoot returns the root of [LoadingOfCopies] that a second measurement
// speaks for: the dilation, within ± tolerance ≥ 0, of the job with loading
// vector (p, 1 − p) beside one job with loading vector other, by Property 2
// λ = 1 + p·other₁ + (1 − p)·other₂. A probe of the first resource is (1, 0).
//
// When the two roots predict dilations within twice the tolerance of each other,
// because other is nearly as much at one resource as at the other or because p
// is near ½, the error wraps [ErrUndecided], and the root is the nearer one.
func DecideRoot(low, high float64, other [2]float64, dilation, tolerance float64) (float64, error) {
	beside := func(p float64) float64 { return 1 + p*other[0] + (1-p)*other[1] }
	atLow, atHigh := beside(low), beside(high)
	p := low
	if math.Abs(atHigh-dilation) < math.Abs(atLow-dilation) {
		p = high
	}
	if math.IsNaN(dilation) || math.Abs(atHigh-atLow) <= 2*tolerance {
		return p, fmt.Errorf("p = %.3g gives %.4g and p = %.3g gives %.4g where %.4g ± %.2g was measured: %w",
			low, atLow, high, atHigh, dilation, tolerance, ErrUndecided)
	}
	return p, nil
}
