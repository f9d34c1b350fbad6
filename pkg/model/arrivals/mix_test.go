package arrivals_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/pkg/model/arrivals"
)

func mixOf(t *testing.T, seed uint64, weights ...float64) *arrivals.Mix {
	t.Helper()
	mix, err := arrivals.NewMix(weights, arrivals.Source(seed, arrivals.Types))
	if err != nil {
		t.Fatal(err)
	}
	return mix
}

func TestAMixChoosesByWeight(t *testing.T) {
	t.Parallel()
	for name, weights := range map[string][]float64{
		"one":     {3},
		"two":     {2, 1},
		"many":    {1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		"a rare":  {1, 1e-3, 1},
		"large":   {1e300, 3e300},
		"tenths":  {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
		"unequal": {1, 1e-300},
	} {
		mix := mixOf(t, 1, weights...)
		counts := make([]float64, len(weights))
		for range samples {
			counts[mix.Choose()]++
		}
		sum := 0.0
		for _, weight := range weights {
			sum += weight
		}
		for i, weight := range weights {
			// Five standard deviations of a binomial count, and one choice.
			p := weight / sum
			if d := math.Abs(counts[i] - samples*p); d > 5*math.Sqrt(samples*p*(1-p))+1 {
				t.Errorf("%s: %d was chosen %v times, want %v", name, i, counts[i], samples*p)
			}
		}
	}
}

func TestWhatMakesNoMixIsRefused(t *testing.T) {
	t.Parallel()
	for want, weights := range map[string][]float64{
		"weights: there must be at least one":          nil,
		"weights[1]: 0 is not a number above 0":        {1, 0},
		"weights[0]: -1 is not a number above 0":       {-1, 1},
		"weights[0]: NaN is not a number above 0":      {math.NaN()},
		"weights[2]: +Inf is not a number above 0":     {1, 1, math.Inf(1)},
		"weights: their sum is too large for a number": {math.MaxFloat64, math.MaxFloat64},
	} {
		if _, err := arrivals.NewMix(weights, arrivals.Source(1, arrivals.Types)); err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
}

func TestTheSameSeedGivesTheSameSequence(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		if !slices.Equal(f.draw(t, 7, 1000), f.draw(t, 7, 1000)) {
			t.Errorf("%s: the same seed gives other gaps", f.name)
		}
		if slices.Equal(f.draw(t, 7, 1000), f.draw(t, 8, 1000)) {
			t.Errorf("%s: another seed gives the same gaps", f.name)
		}
	}
}

func TestOtherTypesLeaveTheArrivalsAlone(t *testing.T) {
	t.Parallel()
	timesBeside := func(mix *arrivals.Mix) (times []float64) {
		process, err := arrivals.Exponential(6, arrivals.Source(1, arrivals.Gaps))
		if err != nil {
			t.Fatal(err)
		}
		for time := range arrivals.Times(process, 1000) {
			times = append(times, time)
			mix.Choose()
		}
		return times
	}
	if !slices.Equal(timesBeside(mixOf(t, 1, 1)), timesBeside(mixOf(t, 1, 2, 3, 5))) {
		t.Error("jobs arrive at other times when there are more types")
	}
}

func TestStreamsAndSeedsAreUncorrelated(t *testing.T) {
	t.Parallel()
	uniform := func(seed uint64, stream arrivals.Stream) []float64 {
		source := arrivals.Source(seed, stream)
		values := make([]float64, samples)
		for i := range values {
			values[i] = float64(source.Uint64()>>11) / (1 << 53)
		}
		return values
	}
	base := uniform(1, arrivals.Gaps)
	for name, other := range map[string][]float64{
		"another stream": uniform(1, arrivals.Types), "another seed": uniform(2, arrivals.Gaps),
	} {
		// Five standard errors of the correlation of independent samples, 1/√n.
		if r := stat.Correlation(base, other, nil); math.Abs(r) > 5/math.Sqrt(samples) {
			t.Errorf("%s: correlation %v", name, r)
		}
	}
}
