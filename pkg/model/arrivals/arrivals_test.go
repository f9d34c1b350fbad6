package arrivals_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"

	"loadline.dev/loadline/pkg/model/arrivals"
)

// family is a process with what theory says about its gaps.
type family struct {
	name string
	open func(source rand.Source) (arrivals.Process, error)
	mean float64
	scv  float64
	// kurtosis is E[(X − mean)⁴] / variance².
	kurtosis float64
	// skewness is E[(X − mean)³] / σ³.
	skewness float64
	cdf      func(x float64) float64
}

// families have closed forms that the package does not use. Their kurtosis is
// small enough for the sample variance of 200,000 gaps to be about normal.
func families() []family {
	const mean = 6.0
	gamma := func(scv float64) family {
		return family{
			name:     fmt.Sprintf("gamma of scv %v", scv),
			open:     func(s rand.Source) (arrivals.Process, error) { return arrivals.Gamma(mean, scv, s) },
			mean:     mean,
			scv:      scv,
			kurtosis: 3 + 6*scv,
			skewness: 2 * math.Sqrt(scv),
			cdf:      func(x float64) float64 { return mathext.GammaIncReg(1/scv, x/(mean*scv)) },
		}
	}
	logNormal := func(scv float64) family {
		w := 1 + scv
		sigma := math.Sqrt(math.Log(w))
		return family{
			name:     fmt.Sprintf("log-normal of scv %v", scv),
			open:     func(s rand.Source) (arrivals.Process, error) { return arrivals.LogNormal(mean, scv, s) },
			mean:     mean,
			scv:      scv,
			kurtosis: w*w*(w*w+2*w+3) - 3,
			skewness: (w + 2) * math.Sqrt(w-1),
			cdf: func(x float64) float64 {
				return math.Erfc(-(math.Log(x/mean)+sigma*sigma/2)/(sigma*math.Sqrt2)) / 2
			},
		}
	}
	hyper := func(scv float64) family {
		// The phases from the definition: equal shares of the mean, and p from
		// the second moment, 2·Σ p·m² = mean²·(1 + scv).
		p := 0.5 + 0.5*math.Sqrt((scv-1)/(scv+1))
		phases := [][2]float64{{p, mean / (2 * p)}, {1 - p, mean / (2 * (1 - p))}}
		moment := func(n int) (sum float64) {
			for _, phase := range phases {
				sum += phase[0] * math.Pow(phase[1], float64(n)) * math.Gamma(float64(n+1))
			}
			return sum
		}
		m1, m2, m3, m4 := moment(1), moment(2), moment(3), moment(4)
		variance := m2 - m1*m1
		return family{
			name:     fmt.Sprintf("hyperexponential of scv %v", scv),
			open:     func(s rand.Source) (arrivals.Process, error) { return arrivals.Hyperexponential(mean, scv, s) },
			mean:     mean,
			scv:      scv,
			skewness: (m3 - 3*m1*m2 + 2*m1*m1*m1) / math.Pow(variance, 1.5),
			kurtosis: (m4 - 4*m1*m3 + 6*m1*m1*m2 - 3*m1*m1*m1*m1) / (variance * variance),
			cdf: func(x float64) (sum float64) {
				for _, phase := range phases {
					sum += phase[0] * -math.Expm1(-x/phase[1])
				}
				return sum
			},
		}
	}
	exponential := family{
		name: "exponential", mean: mean, scv: 1, kurtosis: 9, skewness: 2,
		open: func(s rand.Source) (arrivals.Process, error) { return arrivals.Exponential(mean, s) },
		cdf:  func(x float64) float64 { return -math.Expm1(-x / mean) },
	}
	return []family{
		exponential, gamma(0.04), gamma(0.5), gamma(1), gamma(4), gamma(9),
		logNormal(0.1), logNormal(0.5), logNormal(1), hyper(1), hyper(1.5), hyper(4), hyper(25),
	}
}

const samples = 200_000

func (f *family) draw(t *testing.T, seed uint64, n int) []float64 {
	t.Helper()
	process, err := f.open(arrivals.Source(seed, arrivals.Gaps))
	if err != nil {
		t.Fatal(err)
	}
	gaps := make([]float64, n)
	for i := range gaps {
		gaps[i] = process()
	}
	return gaps
}

func TestGapsHaveTheMeanAndVariationAskedFor(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			mean, variance := stat.MeanVariance(f.draw(t, 1, samples), nil)
			// Standard errors of the sample mean and, by the delta method, of
			// variance/mean². Five of them are exceeded by chance once in two
			// million tests.
			n, c := float64(samples), math.Sqrt(f.scv)
			meanError := f.mean * c / math.Sqrt(n)
			scvError := f.scv * math.Sqrt((f.kurtosis-1+4*f.scv-4*f.skewness*c)/n)
			if math.Abs(mean-f.mean) > 5*meanError {
				t.Errorf("mean = %v, want %v ± %v", mean, f.mean, 5*meanError)
			}
			if scv := variance / (mean * mean); math.Abs(scv-f.scv) > 5*scvError {
				t.Errorf("scv = %v, want %v ± %v", scv, f.scv, 5*scvError)
			}
		})
	}
}

func TestGapsHaveTheDistributionAskedFor(t *testing.T) {
	t.Parallel()
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			gaps := f.draw(t, 2, samples)
			slices.Sort(gaps)
			distance := 0.0
			for i, gap := range gaps {
				p := f.cdf(gap)
				distance = max(distance, p-float64(i)/samples, float64(i+1)/samples-p)
			}
			// Kolmogorov–Smirnov: √n·D exceeds 2.7 with probability 2e^(−2·2.7²),
			// once in a million tests.
			if got := distance * math.Sqrt(samples); got > 2.7 {
				t.Errorf("√n·D = %v, want at most 2.7", got)
			}
		})
	}
}

func TestGapsWithoutVariationAreConstant(t *testing.T) {
	t.Parallel()
	for name, process := range map[string]func() (arrivals.Process, error){
		"constant":   func() (arrivals.Process, error) { return arrivals.Constant(3) },
		"gamma":      func() (arrivals.Process, error) { return arrivals.Gamma(3, 0, arrivals.Source(1, arrivals.Gaps)) },
		"log-normal": func() (arrivals.Process, error) { return arrivals.LogNormal(3, 0, arrivals.Source(1, arrivals.Gaps)) },
		"empirical": func() (arrivals.Process, error) {
			return arrivals.Empirical([]float64{3}, arrivals.Source(1, arrivals.Gaps))
		},
	} {
		p, err := process()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(arrivals.Times(p, 3)); !slices.Equal(got, []float64{3, 6, 9}) {
			t.Errorf("%s: times = %v, want 3, 6, 9", name, got)
		}
	}
}

func TestObservedGapsAreDrawnEquallyOften(t *testing.T) {
	t.Parallel()
	observed := []float64{0, 1, 2.5, 40}
	process, err := arrivals.Empirical(observed, arrivals.Source(1, arrivals.Gaps))
	if err != nil {
		t.Fatal(err)
	}
	observed[3] = -1 // the process keeps a copy
	count := map[float64]int{}
	for range samples {
		count[process()]++
	}
	for _, gap := range []float64{0, 1, 2.5, 40} {
		// Five standard deviations of a binomial count.
		if d := math.Abs(float64(count[gap]) - samples/4); d > 5*math.Sqrt(samples*0.25*0.75) {
			t.Errorf("%v was drawn %d times of %d, want about a quarter", gap, count[gap], samples)
		}
	}
}

func TestTheMostExtremeGapsAreFinite(t *testing.T) {
	t.Parallel()
	source := arrivals.Source(1, arrivals.Gaps)
	for name, open := range map[string]func(mean, scv float64, source rand.Source) (arrivals.Process, error){
		"gamma": arrivals.Gamma, "log-normal": arrivals.LogNormal, "hyperexponential": arrivals.Hyperexponential,
	} {
		for _, mean := range []float64{math.SmallestNonzeroFloat64, 1e-300, 1, arrivals.MaxMean} {
			for _, scv := range []float64{1e-300, 1e-31, 1e-9, 1, 1.000001, arrivals.MaxSCV} {
				if name == "hyperexponential" && scv < 1 {
					continue
				}
				process, err := open(mean, scv, source)
				if err != nil {
					t.Fatal(err)
				}
				for range 1000 {
					if gap := process(); !(gap >= 0) || math.IsInf(gap, 0) {
						t.Fatalf("%s(%v, %v): gap %v", name, mean, scv, gap)
					}
				}
			}
		}
	}
}

func TestWhatMakesNoProcessIsRefused(t *testing.T) {
	t.Parallel()
	source := arrivals.Source(1, arrivals.Gaps)
	constant := func(mean, _ float64) (arrivals.Process, error) { return arrivals.Constant(mean) }
	exponential := func(mean, _ float64) (arrivals.Process, error) { return arrivals.Exponential(mean, source) }
	gamma := func(mean, scv float64) (arrivals.Process, error) { return arrivals.Gamma(mean, scv, source) }
	logNormal := func(mean, scv float64) (arrivals.Process, error) { return arrivals.LogNormal(mean, scv, source) }
	hyper := func(mean, scv float64) (arrivals.Process, error) { return arrivals.Hyperexponential(mean, scv, source) }
	for name, open := range map[string]func(mean, scv float64) (arrivals.Process, error){
		"constant": constant, "exponential": exponential, "gamma": gamma, "log-normal": logNormal, "hyperexponential": hyper,
	} {
		for _, mean := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 2e12} {
			_, err := open(mean, 2)
			if want := fmt.Sprintf("mean: %v is not a number above 0 and at most 1e+12", mean); err == nil || err.Error() != want {
				t.Errorf("%s: error = %v, want %s", name, err, want)
			}
		}
		if name == "constant" || name == "exponential" {
			continue
		}
		for _, scv := range []float64{-1, math.NaN(), math.Inf(1), 2e6} {
			if _, err := open(1, scv); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("scv: %v is not a number from ", scv)) {
				t.Errorf("%s: error = %v, want one about scv %v", name, err, scv)
			}
		}
	}
	if _, err := hyper(1, 0.99); err == nil || err.Error() != "scv: 0.99 is not a number from 1 to 1e+06" {
		t.Errorf("hyperexponential with scv 0.99: error = %v", err)
	}
	for want, gaps := range map[string][]float64{
		"gaps: there must be at least one":       nil,
		"gaps[1]: -1 is not a number ≥ 0":        {1, -1},
		"gaps[0]: NaN is not a number ≥ 0":       {math.NaN()},
		"gaps[0]: +Inf is not a number ≥ 0":      {math.Inf(1)},
		"gaps: all 2 are 0; time would not pass": {0, 0},
	} {
		if _, err := arrivals.Empirical(gaps, source); err == nil || err.Error() != want {
			t.Errorf("error = %v, want %s", err, want)
		}
	}
}

func TestTimesMayBeLeftEarlyAndGoOn(t *testing.T) {
	t.Parallel()
	process, err := arrivals.Constant(1)
	if err != nil {
		t.Fatal(err)
	}
	for time := range arrivals.Times(process, math.MaxInt) {
		if time == 5 {
			break
		}
	}
	if got := slices.Collect(arrivals.Times(process, 0)); got != nil {
		t.Errorf("no times are %v", got)
	}
}
