package arrivals_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/arrivals"
)

// gapsOf draws times between arrivals.
func gapsOf(t *testing.T, n int, open func(rand.Source) (arrivals.Process, error)) []float64 {
	t.Helper()
	process, err := open(arrivals.Source(7, arrivals.Gaps))
	if err != nil {
		t.Fatal(err)
	}
	gaps := make([]float64, n)
	for i := range gaps {
		gaps[i] = process()
	}
	return gaps
}

// The index of dispersion of a renewal process tends to the scv of its gaps as windows get longer, that of batches of b at random times is
// b, and that of a Poisson process 1 in windows of any length. A tolerance of a tenth is four standard errors, √(2/n), of n = 5,000 windows
// and more, and leaves room for windows that are not without end.
func TestTheVariationOfKnownProcesses(t *testing.T) {
	t.Parallel()
	const n = 200_000
	poisson := func(s rand.Source) (arrivals.Process, error) { return arrivals.Exponential(2, s) }
	batches := gapsOf(t, n/4, func(s rand.Source) (arrivals.Process, error) { return arrivals.Exponential(8, s) })
	var inFours []float64
	for _, gap := range batches {
		inFours = append(inFours, gap, 0, 0, 0)
	}
	regular := gapsOf(t, n, func(rand.Source) (arrivals.Process, error) { return arrivals.Constant(2) })
	for name, test := range map[string]struct {
		gaps            []float64
		window          float64
		scv, dispersion float64
		bursty          bool
	}{
		"Poisson, in short windows":   {gapsOf(t, n, poisson), 0, 1, 1, false},
		"Poisson, in long windows":    {gapsOf(t, n, poisson), 60, 1, 1, false},
		"batches of four":             {inFours, 60, 7, 4, true}, // E[gap²] is that of one gap in four: 4·2·(8/4)²/(2²) − 1 = 7
		"hyperexponential":            {gapsOf(t, n, func(s rand.Source) (arrivals.Process, error) { return arrivals.Hyperexponential(2, 4, s) }), 80, 4, 4, true},
		"more regular than by chance": {gapsOf(t, n, func(s rand.Source) (arrivals.Process, error) { return arrivals.Gamma(2, 0.25, s) }), 80, 0.25, 0.25, false},
		"one after the other":         {regular, 40, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := arrivals.VariationOf(test.gaps, test.window)
			if err != nil {
				t.Fatal(err)
			}
			off := func(got, want float64) bool { return math.Abs(got-want) > 0.1*max(want, 0.1) }
			if off(v.Rate, 0.5) || off(v.SCV, test.scv) || off(v.Dispersion, test.dispersion) || v.Bursty() != test.bursty {
				t.Errorf("got %+v, bursty %v; want scv %v, dispersion %v", v, v.Bursty(), test.scv, test.dispersion)
			}
		})
	}
}

// One Poisson process in a thousand looks bursty by chance: of two hundred short ones hardly any.
func TestShortPoissonProcessesAreHardlyEverBursty(t *testing.T) {
	t.Parallel()
	bursty := 0
	for seed := range uint64(200) {
		process, err := arrivals.Exponential(1, arrivals.Source(seed+1, arrivals.Gaps))
		if err != nil {
			t.Fatal(err)
		}
		gaps := make([]float64, 40)
		for i := range gaps {
			gaps[i] = process()
		}
		v, err := arrivals.VariationOf(gaps, 2)
		if err != nil {
			t.Fatal(err)
		}
		if v.Bursty() {
			bursty++
		}
	}
	if bursty > 3 {
		t.Errorf("%d of 200 are said to be bursty", bursty)
	}
}

func TestTooFewArrivalsSayNothing(t *testing.T) {
	t.Parallel()
	for name, gaps := range map[string][]float64{"none": nil, "a few": {1, 2, 3}, "all at once": make([]float64, 100)} {
		if v, err := arrivals.VariationOf(gaps, 1); err == nil {
			t.Errorf("%s: got %+v", name, v)
		}
	}
}
