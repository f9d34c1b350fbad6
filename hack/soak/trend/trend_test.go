package trend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// rule is that of the tests: 40 cycles of a minute with 6 samples, of which 4 are the warm-up.
var rule = Rule{Period: time.Minute, WarmUp: 4 * time.Minute, Length: cycles * time.Minute, Day: 24 * time.Hour, Tolerance: 0.02, Floor: 0.1}

const (
	cycles   = 40
	interval = 10 * time.Second
)

// sampled returns what a function of the number of the sample is at each of the samples.
func sampled(value func(i int) float64) []Point {
	points := make([]Point, cycles*int(time.Minute/interval))
	for i := range points {
		points[i] = Point{At: time.Duration(i) * interval, Value: value(i)}
	}
	return points
}

// perSample returns how much a growth a day is from a sample to the next.
func perSample(perDay float64) float64 { return perDay * float64(interval) / float64(24*time.Hour) }

func TestSeriesOfKnownShapesAreJudgedByThem(t *testing.T) {
	t.Parallel()
	var noise func() float64 // the same in every run: one series in twenty of pure noise is judged to have a slope, by construction
	walk := 0.0
	for name, test := range map[string]struct {
		value func(i int) float64
		want  Kind
	}{
		"constant":                  {func(int) float64 { return 7 }, Steady},
		"zero":                      {func(int) float64 { return 0 }, Steady},
		"noise":                     {func(int) float64 { return 100 + noise() }, Steady},
		"the load's turns":          {func(i int) float64 { return 100 + 50*math.Sin(2*math.Pi*float64(i)/6) }, Steady},
		"slow turns":                {func(i int) float64 { return 100 + 10*math.Sin(2*math.Pi*float64(i)/37) }, Steady},
		"autocorrelated noise":      {func(int) float64 { walk = 0.9*walk + noise(); return 100 + walk }, Steady},
		"garbage collection":        {func(i int) float64 { return 20 + 20*float64(i%17)/17 + noise() }, Steady},
		"slow leak":                 {func(i int) float64 { return 100 + perSample(400)*float64(i) + noise() }, Grows},
		"leak below the collection": {func(i int) float64 { return 100 + perSample(2000)*float64(i) + 20*float64(i%17)/17 }, Grows},
		"leak without noise":        {func(i int) float64 { return 100 + perSample(10)*float64(i) }, Grows},
		"leak too small to matter":  {func(i int) float64 { return 100 + perSample(1)*float64(i) }, Small},
		"falls":                     {func(i int) float64 { return 100 - perSample(400)*float64(i) + noise() }, Falls},
		"step in the middle":        {func(i int) float64 { return 100 + 10*float64(i/120) + noise() }, Stepped},
		"step down in the middle":   {func(i int) float64 { return 100 - 10*float64(i/120) + noise() }, Steady},
		"step in the warm-up":       {func(i int) float64 { return 100 + 10*float64(min(i/20, 1)) + noise() }, Steady},
		"a few outliers":            {func(i int) float64 { return 100 + noise() + 1e6*float64(btoi(i%60 == 59)) }, Steady},
		"NaN in between":            {func(i int) float64 { return 100 + noise() + nanIf(i%5 == 0) }, Steady},
		"NaN for half of the run":   {func(i int) float64 { return 100 + noise() + nanIf(i > 120) }, Steady},
		"nothing but NaN":           {func(int) float64 { return math.NaN() }, Short},
		"few":                       {func(i int) float64 { return 100 + nanIf(i >= 6*11) }, Short},
	} {
		noise = rand.New(rand.NewPCG(1, 2)).NormFloat64
		got := Judge(sampled(test.value), rule)
		if got.Kind != test.want {
			t.Errorf("%s: %s, want %s: %+v", name, got.Kind, test.want, got)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func nanIf(b bool) float64 {
	if b {
		return math.NaN()
	}
	return 0
}

func TestABoundThatWasNamedExcusesGrowthUpToIt(t *testing.T) {
	t.Parallel()
	points := sampled(func(i int) float64 { return 100 + perSample(2000)*float64(i) })
	for bound, want := range map[float64]Kind{0: Grows, 150: Grows, 200: Bounded} {
		r := rule
		r.Bound = bound
		if got := Judge(points, r); got.Kind != want {
			t.Errorf("with a bound of %g it is %s, want %s: %+v", bound, got.Kind, want, got)
		}
	}
}

// A line without noise is found exactly, at any slope and level.
func TestTheSlopeOfALineIsThatOfTheLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		level, perDay := rapid.Float64Range(-1e6, 1e6).Draw(t, "level"), rapid.Float64Range(-1e6, 1e6).Draw(t, "a day")
		got := Judge(sampled(func(i int) float64 { return level + perSample(perDay)*float64(i) }), rule)
		tolerance := 1e-6 * (1 + math.Abs(perDay) + math.Abs(level)) // of differences of numbers of that size, over 1/1440 of a day
		for what, slope := range map[string]float64{"slope": got.PerDay, "low": got.Low, "high": got.High} {
			if math.Abs(slope-perDay) > tolerance {
				t.Errorf("the %s is %g a day, want %g", what, slope, perDay)
			}
		}
	})
}

func TestASlopeIsADayOfTheRule(t *testing.T) {
	t.Parallel()
	points := sampled(func(i int) float64 { return perSample(240) * float64(i) })
	r := rule
	r.Day = 144 * time.Minute
	if got := Judge(points, r).PerDay; math.Abs(got-24) > 1e-6 {
		t.Errorf("240 a day are %g in a tenth of one, want 24", got)
	}
}

// Intervals of noise without a slope hold 0 in about 95 % of all series, whether or not values depend on those before. 3,000 draws say the
// share within 0.8 %, at two standard errors. For strong dependence in short series, the estimate of which is itself uncertain, it is less.
func TestIntervalsHoldTheTruthAsOftenAsTheySay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n             int
		correlation   float64
		least, atMost float64
	}{
		{10, 0, 0.94, 0.99},
		{24, 0, 0.94, 0.99},
		{60, 0, 0.94, 0.99},
		{24, 0.3, 0.93, 0.98},
		{24, 0.6, 0.90, 0.97},
		{60, 0.6, 0.92, 0.97},
		{60, 0.8, 0.89, 0.97},
	} {
		t.Run(fmt.Sprintf("%d values, correlation %g", test.n, test.correlation), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(test.n), 7))
			const draws = 3000
			held := 0
			for range draws {
				points := make([]Point, test.n)
				value := random.NormFloat64() / math.Sqrt(1-test.correlation*test.correlation)
				for i := range points {
					value = test.correlation*value + random.NormFloat64()
					points[i] = Point{At: time.Duration(i) * time.Minute, Value: value}
				}
				if s := slope(points, 24*time.Hour); s.Low <= 0 && s.High >= 0 {
					held++
				}
			}
			if share := float64(held) / draws; share < test.least || share > test.atMost {
				t.Errorf("%.3f of the intervals hold 0, want %g to %g", share, test.least, test.atMost)
			}
		})
	}
}

// The example of Gilbert, Statistical Methods for Environmental Pollution Monitoring (1987), 16.5 shows how ranks become an interval: with
// 8 values and a variance of S of 65.33, ranks are (28 ∓ 1.96·8.08)/2, the upper one plus 1.
func TestTheIntervalOfIndependentValuesIsSens(t *testing.T) {
	t.Parallel()
	values := []float64{10, 22, 21, 30, 22, 30, 40, 40}
	points := make([]Point, len(values))
	for i, v := range values {
		points[i] = Point{At: time.Duration(i) * 24 * time.Hour, Value: v}
	}
	if got, want := variance(points), (8*7*21-3*(2*1*9))/18.0; math.Abs(got-want) > 1e-12 {
		t.Errorf("the variance of S with three ties is %g, want %g", got, want)
	}
	if got := slope(points, 24*time.Hour); math.Abs(got.PerDay-4) > 0.5 || got.Low <= 0 || got.High >= 10 {
		t.Errorf("%+v, want about 4 a day and an interval around it", got)
	}
}

func TestACounterThatIsResetHasCountedFromZero(t *testing.T) {
	t.Parallel()
	counter := []Point{{0, 10}, {time.Minute, 16}, {2 * time.Minute, 4}, {2 * time.Minute, 4}, {3 * time.Minute, math.NaN()}, {4 * time.Minute, 8}}
	rates, resets := PerMinute(counter)
	want := []Point{{time.Minute, 6}, {2 * time.Minute, 4}, {4 * time.Minute, 2}}
	if diff := cmp.Diff(want, rates); diff != "" || resets != 1 {
		t.Errorf("%d resets, want 1; rates (-want +got):\n%s", resets, diff)
	}
}

func TestAPeriodWithFewSamplesIsLeftOut(t *testing.T) {
	t.Parallel()
	points := []Point{
		{0, 1},
		{30 * time.Second, 3},
		{60 * time.Second, 5},
		{90 * time.Second, 7},
		{100 * time.Second, 9},
		{110 * time.Second, 11},
		{130 * time.Second, 100}, // one of four
		{200 * time.Second, 2},
		{210 * time.Second, 4},
		{220 * time.Second, math.Inf(1)},
	}
	got := Cycles(points, time.Minute, 0, 4*time.Minute)
	want := []Point{{30 * time.Second, 2}, {90 * time.Second, 8}, {210 * time.Second, 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Cycles(points, time.Minute, time.Minute, 4*time.Minute); len(got) != 2 {
		t.Errorf("%d periods begin after the warm-up, want 2: %v", len(got), got)
	}
	if got := Cycles(points, time.Minute, 0, 4*time.Minute-1); len(got) != 2 {
		t.Errorf("%d periods end before the run, want 2: %v", len(got), got)
	}
}
