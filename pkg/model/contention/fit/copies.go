package fit

import (
	"errors"
	"fmt"
	"math"

	"loadline.dev/loadline/pkg/model/contention"
)

// CopyRun is one run of identical copies of a job.
type CopyRun struct {
	// Copies is how many ran together, at least 1. A run of one tells nothing.
	Copies int
	// Dilation is that of a copy, from [MinDilation] to [MaxDilation].
	Dilation float64
}

// CopiesLoading is what runs of identical copies tell of a job that is always
// busy at one of two resources, with loading vector (p, 1 − p).
type CopiesLoading struct {
	// Square is p·p, by how much each further copy dilates a job: the slope of
	// λ − 1 over n − 1 by least squares (Property 1 of the D-factor paper). It
	// means this for any number of resources and with idle time.
	Square Estimate
	// Low and High are the two roots of Eq. (13), with intervals from that of
	// the slope: Low ≤ ½ ≤ High = 1 − Low. Which of them p is, copies cannot
	// tell; see [CopiesLoading.Decide].
	Low, High Estimate
	// Busy is false when copies dilate each other so little, a Square below ½ by
	// more than noise, that the job must idle or use more than two resources;
	// the roots are then those of ½. Above 1 it cannot be, either.
	Busy bool
}

// Copies returns what runs of identical copies tell of a job: Algorithm 1 of the
// D-factor paper, with any number of runs. At least one must have two copies.
// Confidence, between 0 and 1, is the coverage of the intervals, from the scatter of the
// runs about the slope; with one run it is taken to be 2 % of a dilation.
func Copies(runs []CopyRun, confidence float64) (CopiesLoading, error) {
	if !(confidence > 0 && confidence < 1) {
		return CopiesLoading{}, fmt.Errorf("confidence: %v is not between 0 and 1", confidence)
	}
	var excess slope
	for r, run := range runs {
		if run.Copies < 1 {
			return CopiesLoading{}, fmt.Errorf("runs[%d]: copies: %d is less than 1", r, run.Copies)
		}
		if rule := dilationRule(run.Dilation); rule != "" {
			return CopiesLoading{}, fmt.Errorf("runs[%d]: dilation: %v %s", r, run.Dilation, rule)
		}
		if run.Copies > 1 {
			excess.add(float64(run.Copies-1), run.Dilation)
		}
	}
	if excess.runs == 0 {
		return CopiesLoading{}, errors.New("runs: none has two or more copies: a job alone tells nothing of its loading")
	}
	c := CopiesLoading{Square: excess.estimate(confidence)}
	low, high := rootsOf(c.Square.Value)
	innerLow, innerHigh := rootsOf(c.Square.Low)
	outerLow, outerHigh := rootsOf(c.Square.High)
	c.Low = Estimate{Value: low, Low: outerLow, High: innerLow}
	c.High = Estimate{Value: high, Low: innerHigh, High: outerHigh}
	c.Busy = c.Square.High >= 0.5
	return c, nil
}

// rootsOf returns the roots p and 1 − p of p² + (1 − p)² = square, or of the
// nearest square that has any: Eq. (13) for two copies.
func rootsOf(square float64) (low, high float64) {
	low, high, err := contention.LoadingOfCopies(2, 1+square)
	if err != nil && !errors.Is(err, contention.ErrNoRoot) {
		panic(err) // two copies of a finite dilation always have nearest roots
	}
	return low, high
}

// Decide returns the root that the dilation of the job beside one other job with
// loading vector other speaks for, or an error that wraps
// [contention.ErrUndecided] when the two predict dilations within 4 % of each
// other, which noise covers.
func (c CopiesLoading) Decide(other [2]float64, dilation float64) (Estimate, error) {
	if rule := dilationRule(dilation); rule != "" {
		return Estimate{}, fmt.Errorf("dilation: %v %s", dilation, rule)
	}
	for i, v := range other {
		if !(v >= 0 && v <= 1) {
			return Estimate{}, fmt.Errorf("other[%d]: %v is not a fraction from 0 to 1", i, v)
		}
	}
	p, err := contention.DecideRoot(c.Low.Value, c.High.Value, other, dilation, assumedNoise*dilation)
	if math.Abs(p-c.Low.Value) <= math.Abs(p-c.High.Value) {
		return c.Low, err
	}
	return c.High, err
}
