package probing

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/contention"
)

// CopiesTime is how long each of some identical copies of a job took, started
// together on a node of their own.
type CopiesTime struct {
	// Copies is their number, at least 1.
	Copies int
	// Time is the completion time of a copy, or the mean of all, above 0, in any
	// unit.
	Time float64
}

// CopiesLoading is the estimate from the times of identical copies of a job that is always busy at
// one of two resources with one server each, with the loading p at one and 1 − p at the other.
type CopiesLoading struct {
	// Neutral is the time of one copy, in the unit of the times.
	Neutral Estimate
	// Square is p·p, by how much each further copy dilates a job.
	Square Estimate
	// Low and High are the candidates for p: Low ≤ ½ ≤ High = 1 − Low. Copies look
	// the same with the two resources exchanged. Their errors are those of the
	// scatter, or by how much they move when the dilations do by ±1 %, whichever is
	// more: near ½ that is a lot. At p = 0.58, two copies, it is 0.06.
	Low, High Estimate
	// Busy is false when copies dilate each other so little that the job must idle
	// or use more than two resources: then the candidates are not its loadings.
	Busy bool
}

// Copies finds the loading of a job from the completion times of n = 1, 2, … of its
// copies: Algorithm 1 of Lim et al., "D-factor", SIGMETRICS 2012. There must be a time
// of one copy and one of several; more of them, of the same or other numbers, are
// combined by least squares, relative to the dilations.
//
// Property 1 of the paper, which it rests on, is exact for two copies. More of them
// dilate each other by more than it says (four of (0.9, 0.1) to 3.60, not 3.46), so
// that p comes out too far from ½, by about 0.01 with three copies and 0.02 with four:
// repeat two rather than adding a fourth.
func Copies(times []CopiesTime) (CopiesLoading, error) {
	var alone []float64
	for k, t := range times {
		if t.Copies < 1 {
			return CopiesLoading{}, fmt.Errorf("times[%d]: copies: %d is less than 1", k, t.Copies)
		}
		if !(t.Time > 0) || math.IsInf(t.Time, 1) {
			return CopiesLoading{}, fmt.Errorf("times[%d]: time: %v is not a positive, finite number", k, t.Time)
		}
		if t.Copies == 1 {
			alone = append(alone, t.Time)
		}
	}
	if len(alone) == 0 {
		return CopiesLoading{}, errors.New("times: none is of one copy: the neutral time is needed")
	}
	neutral, err := GeometricMean(alone)
	if err != nil {
		return CopiesLoading{}, err
	}
	several := len(times) - len(alone)
	if several == 0 {
		return CopiesLoading{}, errors.New("times: none is of several copies: a job alone is not dilated")
	}
	var excess slope
	for k, t := range times {
		dilation := t.Time / neutral.Value
		if rule := dilationRule(dilation); rule != "" {
			return CopiesLoading{}, fmt.Errorf("times[%d]: time: %v is %.4g times the neutral time, which %s", k, t.Time, dilation, rule)
		}
		if t.Copies > 1 {
			excess.add(float64(t.Copies-1), dilation)
		}
	}
	square, least, greatest := excess.interval()
	low, high := rootsOf(2, 1+square)
	innerLow, innerHigh := rootsOf(2, 1+least)
	outerLow, outerHigh := rootsOf(2, 1+greatest)
	loading := CopiesLoading{
		Neutral: neutral,
		Square:  Estimate{square, (greatest - least) / 2, several},
		Low:     Estimate{low, (innerLow - outerLow) / 2, several},
		High:    Estimate{high, (outerHigh - innerHigh) / 2, several},
		Busy:    greatest >= 0.5,
	}
	largest := slices.MaxFunc(times, func(a, b CopiesTime) int { return a.Copies - b.Copies }).Copies
	condition := conditioning(largest, square)
	loading.Low.Error, loading.High.Error = max(loading.Low.Error, condition), max(loading.High.Error, condition)
	return loading, nil
}

// conditioning returns by how much the roots move when the dilation of n copies with
// that p·p does by ±1 %: half the way.
func conditioning(n int, square float64) float64 {
	dilation := 1 + float64(n-1)*square
	_, above := rootsOf(n, 1.01*dilation)
	_, below := rootsOf(n, 0.99*dilation)
	return (above - below) / 2
}

// rootsOf returns the roots p and 1 − p of [contention.LoadingOfCopies], of the nearest
// dilation that has any.
func rootsOf(copies int, dilation float64) (low, high float64) {
	low, high, err := contention.LoadingOfCopies(copies, dilation)
	if err != nil && !errors.Is(err, contention.ErrNoRoot) {
		panic(err) // two copies of a finite dilation always have nearest roots
	}
	return low, high
}

// Decide returns the candidate that the dilation of the job beside a probe of its
// first resource speaks for, such as [Dilations] has it. The error wraps
// [contention.ErrUndecided], with the nearer candidate, when the dilation with its
// error allows for both.
func (c CopiesLoading) Decide(dilation Estimate) (Estimate, error) {
	if rule := dilationRule(dilation.Value); rule != "" {
		return Estimate{}, fmt.Errorf("dilation: %v %s", dilation.Value, rule)
	}
	if !(dilation.Error >= 0) {
		return Estimate{}, fmt.Errorf("dilation: error: %v is not a number of at least 0", dilation.Error)
	}
	p, err := contention.DecideRoot(c.Low.Value, c.High.Value, [2]float64{1, 0}, dilation.Value, dilation.Error)
	if p < 0.5 {
		return c.Low, err
	}
	return c.High, err
}
