package observed

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

const (
	// minNamed is the smallest share of findings in which the culprit comes first, and minLimits that in which the own limit does.
	minNamed, minLimits = 0.95, 1
	// maxFalse is the largest share of judgements about pods of a quiet node that are findings.
	maxFalse = 0.02
	// maxWinError is the largest median of the relative errors of what a remedy wins.
	maxWinError = 0.20
	// maxMeanDilation and maxWorstDilation are the largest relative errors of a dilation, on average and of one pod, and maxLoading the
	// largest error of a loading. Of pods with short-lived children that on average counts alone.
	maxMeanDilation, maxWorstDilation, maxLoading = 0.02, 0.06, 0.03
	// maxMisplaced is the largest mean share of the blame among neighbours that falls on the wrong ones in findings, on one processor,
	// and minFirst the smallest share of findings in which the right neighbour comes first, or one that is as good as that.
	maxMisplaced, minFirst = 0.08, 0.9
	// maxThrottled is for how much of the time that a pod runs it may be throttled by the limit that is proposed, and maxExcess how
	// many times the smallest limit of which that is so that may be.
	maxThrottled, maxExcess = 0.01, 1.5
)

var errNothing = errors.New("there is nothing to judge: run it longer, or more often")

// checkShare returns an error if a part is a smaller share of all than least, or if there are none.
func checkShare(part, all int, least float64) error {
	if all == 0 {
		return errNothing
	}
	if share := float64(part) / float64(all); share < least {
		return fmt.Errorf("%d of %d is %.1f %%, less than %.1f %%", part, all, 100*share, 100*least)
	}
	return nil
}

// checkFalse returns an error if too many judgements about pods that nothing slows down are findings, or if there are none.
func checkFalse(findings, judgements int) error {
	if judgements == 0 {
		return errNothing
	}
	if share := float64(findings) / float64(judgements); share > maxFalse {
		return fmt.Errorf("%d of %d is %.1f %%, more than %.1f %%", findings, judgements, 100*share, 100*maxFalse)
	}
	return nil
}

// checkWins returns an error if the median of relative errors is too large, if one is no number, or if there are none.
func checkWins(off []float64) error {
	if len(off) == 0 {
		return errNothing
	}
	if slices.ContainsFunc(off, math.IsNaN) {
		return fmt.Errorf("a pod was not observed with its remedy: %v", off)
	}
	if m := median(off); m > maxWinError {
		return fmt.Errorf("the win is off by %.1f %% in the median, more than %.1f %%", 100*m, 100*maxWinError)
	}
	return nil
}

// median returns the median, of an even number the mean of the two in the middle.
func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// checkMean returns an error if dilations miss the bound on average. That there are none is no error.
func checkMean(all []deviation) error {
	mean := 0.0
	for _, d := range all {
		mean += math.Abs(d.dilation) / float64(len(all))
	}
	if !(mean <= maxMeanDilation) {
		return fmt.Errorf("dilations are off by %.3f on average, more than %.3f", mean, maxMeanDilation)
	}
	return nil
}

// checkDeviations returns an error that has each bound that deviations miss, or says that there are none.
func checkDeviations(all []deviation) error {
	if len(all) == 0 {
		return errNothing
	}
	var worst, loading float64
	for _, d := range all {
		worst = max(worst, math.Abs(d.dilation))
		loading = max(loading, math.Abs(d.loading))
	}
	errs := []error{checkMean(all)}
	for _, b := range []struct {
		what       string
		value, max float64
	}{
		{"a dilation is off by %.3f, more than %.3f", worst, maxWorstDilation},
		{"a CPU loading is off by %.3f, more than %.3f", loading, maxLoading},
	} {
		if !(b.value <= b.max) {
			errs = append(errs, fmt.Errorf(b.what, b.value, b.max))
		}
	}
	return errors.Join(errs...)
}

// checkCauses returns an error if the causes in findings are not what ran meanwhile, or if there are none. On several processors it
// depends on which pods share one, which no gauge sees, and there is no bound.
func checkCauses(all verdicts, cpus int) error {
	if len(all) == 0 {
		return errNothing
	}
	if cpus > 1 {
		return nil
	}
	if m := all.misplaced(); !(m <= maxMisplaced) {
		return fmt.Errorf("%.3f of the blame is misplaced on average, more than %.3f", m, maxMisplaced)
	}
	if err := checkShare(all.firsts(), len(all), minFirst); err != nil {
		return fmt.Errorf("findings with the right neighbour first: %w", err)
	}
	return nil
}

// throttling is what a limit did to a pod that is throttled in bursts.
type throttling struct {
	// before and after are for how long the pod was throttled with its limit and with the one that is proposed, in parts of the time
	// that it ran, and simulated is that with its limit on a simulated kernel.
	before, after, simulated float64
	// smallest is the smallest limit that ends the throttling on a simulated kernel, and regular reports whether the bursts are at
	// regular times.
	proposed, smallest float64
	regular            bool
}

// near reports whether the proposed limit is near the smallest one.
func (o *throttling) near() bool { return o.proposed <= maxExcess*o.smallest }

func (o *throttling) String() string {
	return fmt.Sprintf("throttled for %.3f of its run time (simulated %.3f), with the proposed %.2f for %.4f; smallest %.2f, ratio %.2f",
		o.before, o.simulated, o.proposed, o.after, o.smallest, o.proposed/o.smallest)
}

type throttlings []throttling

func (all throttlings) String() string {
	ended, near, random, off := 0, 0, 0, 0.0
	for _, o := range all {
		if o.after <= maxThrottled {
			ended++
		}
		if !o.regular {
			random++
			if o.near() {
				near++
			}
		}
		off += (o.simulated/o.before - 1) / float64(len(all))
	}
	return fmt.Sprintf("throttling ended in %d of %d, with at most %.1f times the smallest limit in %d of %d of irregular bursts; simulated throttling is %+.0f %% on average",
		ended, len(all), maxExcess, near, random, 100*off)
}

// checkThrottling returns an error if limits that are proposed do not end the throttling of some pods, or are too large.
func checkThrottling(all throttlings, pods int) error {
	if pods == 0 {
		return errNothing
	}
	var errs []error
	if len(all) < pods {
		errs = append(errs, fmt.Errorf("a limit is proposed for %d of %d", len(all), pods))
	}
	for _, o := range all {
		if !(o.after <= maxThrottled) {
			errs = append(errs, fmt.Errorf("throttled for %.4f of its run time, more than %.4f", o.after, maxThrottled))
		}
		if !o.regular && !o.near() {
			errs = append(errs, fmt.Errorf("a limit of %.2f is more than %.1f times %.2f", o.proposed, maxExcess, o.smallest))
		}
	}
	return errors.Join(errs...)
}

// The experiments themselves take root and minutes. When they fail is tested here.
func TestAnExperimentFailsWhenItsBoundIsMissed(t *testing.T) {
	t.Parallel()
	repeated := func(n int, d deviation) []deviation { return slices.Repeat([]deviation{d}, n) }
	for name, test := range map[string]struct {
		err  error
		want []string // in the error; none: there is no error
	}{
		"enough culprits":              {checkShare(19, 20, minNamed), nil},
		"too few culprits":             {checkShare(18, 20, minNamed), []string{"18 of 20 is 90.0 %, less than 95.0 %"}},
		"no culprit to name":           {checkShare(0, 0, minNamed), []string{"nothing to judge"}},
		"all limits":                   {checkShare(10, 10, minLimits), nil},
		"all limits but one":           {checkShare(99, 100, minLimits), []string{"99 of 100 is 99.0 %, less than 100.0 %"}},
		"quiet":                        {checkFalse(20, 1000), nil},
		"hardly quiet":                 {checkFalse(21, 1000), []string{"21 of 1000 is 2.1 %, more than 2.0 %"}},
		"quiet for too short":          {checkFalse(0, 0), []string{"nothing to judge"}},
		"remedies":                     {checkWins([]float64{0.9, 0.1, 0.2}), nil},
		"remedies of an even number":   {checkWins([]float64{0.9, 0.1}), []string{"50.0 % in the median, more than 20.0 %"}},
		"a remedy that wins no number": {checkWins([]float64{0.1, math.NaN(), 0.1}), []string{"NaN"}},
		"no remedies":                  {checkWins(nil), []string{"nothing to judge"}},
		"mixes":                        {checkDeviations(append(repeated(5, deviation{-0.01, 0}), deviation{0.06, -0.03})), nil},
		"mixes that are off":           {checkDeviations(repeated(3, deviation{-0.021, 0.01})), []string{"off by 0.021 on average, more than 0.020"}},
		"a pod that is off":            {checkDeviations(append(repeated(9, deviation{}), deviation{-0.07, 0.04})), []string{"a dilation is off by 0.070, more", "a CPU loading is off by 0.040, more"}},
		"a pod without a number":       {checkDeviations([]deviation{{math.NaN(), 0}}), []string{"NaN"}},
		"no mixes":                     {checkDeviations(nil), []string{"nothing to judge"}},
		"children, one of them off":    {checkMean(append(repeated(9, deviation{}), deviation{-0.09, 0.04})), nil},
		"children that are off":        {checkMean(repeated(3, deviation{-0.021, 0})), []string{"off by 0.021 on average, more than 0.020"}},
		"children without a number":    {checkMean(repeated(1, deviation{math.NaN(), 0})), []string{"NaN"}},
		"no children":                  {checkMean(nil), nil},
		"causes":                       {checkCauses(slices.Repeat(verdicts{{misplaced: 0.08}}, 3), 1), nil},
		"causes that are off":          {checkCauses(slices.Repeat(verdicts{{misplaced: 0.09}}, 3), 1), []string{"0.090 of the blame is misplaced on average, more than 0.080"}},
		"wrong first causes":           {checkCauses(verdicts{{behind: 0.05}, {behind: 0.06}}, 1), []string{"1 of 2 is 50.0 %, less than 90.0 %"}},
		"causes without a number":      {checkCauses(verdicts{{misplaced: math.NaN()}}, 1), []string{"NaN"}},
		"causes on two processors":     {checkCauses(verdicts{{misplaced: 0.5}}, 2), nil},
		"no causes":                    {checkCauses(nil, 2), []string{"nothing to judge"}},
		"limits that end throttling":   {checkThrottling(throttlings{{after: 0.01, proposed: 1.5, smallest: 1}, {proposed: 2, smallest: 1, regular: true}}, 2), nil},
		"a limit that does not end it": {checkThrottling(throttlings{{after: 0.011, proposed: 1, smallest: 1}}, 1), []string{"throttled for 0.0110 of its run time, more than 0.0100"}},
		"a limit that is too large":    {checkThrottling(throttlings{{proposed: 1.6, smallest: 1}}, 1), []string{"a limit of 1.60 is more than 1.5 times 1.00"}},
		"a limit that is not proposed": {checkThrottling(throttlings{{proposed: 1, smallest: 1}}, 2), []string{"a limit is proposed for 1 of 2"}},
		"throttling without a number":  {checkThrottling(throttlings{{after: math.NaN(), proposed: 1, smallest: 1}}, 1), []string{"NaN"}},
		"no throttling":                {checkThrottling(nil, 0), []string{"nothing to judge"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if (test.err != nil) != (test.want != nil) {
				t.Fatalf("got %v, want %q", test.err, test.want)
			}
			for _, want := range test.want {
				if !strings.Contains(test.err.Error(), want) {
					t.Errorf("got %v, want %q", test.err, want)
				}
			}
		})
	}
}
