package probing_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention/probing"
)

// recovered is how far a loading may be from the truth. The simulations last long
// enough for a standard error of a third of it.
const recovered = 0.01

func expect(t *testing.T, what string, got probing.Estimate, want float64) {
	t.Helper()
	if !got.Taken() || !(math.Abs(got.Value-want) <= recovered) {
		t.Errorf("%s: got %v from %d samples, want %.3f", what, got, got.Samples, want)
	}
}

// rounds simulates a probe of the first station and a target beside each other. The
// target is fast enough for its time alone to be known exactly.
func rounds(n, servers, targets int, loadings []float64, duration float64) []probing.Sample {
	stations := append([]int{servers}, slices.Repeat([]int{targets}, len(loadings)-1)...)
	samples := make([]probing.Sample, n)
	for k := range samples {
		threads := append(crowd(servers, 1), crowd(targets, loadings...)...)
		dilations := simulate(stations, threads, duration, rand.New(rand.NewPCG(uint64(k), uint64(servers*100+targets))))
		samples[k] = probing.Sample{Probe: mean(dilations[:servers]), Neutral: 60, Beside: 60 * mean(dilations[servers:])}
	}
	return samples
}

func TestSimulatedTargetsAreRecovered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		servers, threads int
		loadings         []float64
		duration         float64 // noise is multiplied by the number of servers
	}{
		{1, 1, []float64{0.58, 0.42}, 2e5},
		{1, 1, []float64{1}, 1e4},
		{1, 1, []float64{0.05, 0.5}, 2e5},
		{1, 1, []float64{0, 0.5}, 1e4},
		{2, 1, []float64{0.7, 0.1, 0.1}, 4e5},
		{4, 1, []float64{0.4}, 1e6},
		{4, 3, []float64{0.4, 0.3}, 2e5},
		{8, 8, []float64{0.25}, 1e5},
	} {
		t.Run(fmt.Sprintf("%v with %d threads on %d servers", test.loadings, test.threads, test.servers), func(t *testing.T) {
			t.Parallel()
			setting := probing.Setting{Servers: test.servers, Threads: test.threads, SelfDilation: 2}
			got, err := probing.Measure(setting, rounds(6, test.servers, test.threads, test.loadings, test.duration))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, "pressure", got.Pressure, test.loadings[0])
			expect(t, "sensitivity", got.Sensitivity, test.loadings[0])
			expect(t, "work", got.Work, test.loadings[0])
			if got.Loading != got.Sensitivity || got.Saturation != probing.Saturated {
				t.Errorf("got %+v, want the loading to be the sensitivity, saturated", got)
			}
		})
	}
}

// Four threads on one server wait for each other, alone too: what the probe loses
// tells how much they press, but how much longer they take beside it tells nothing.
func TestThreadsThatCrowdTheServerTellTheirPressureOnly(t *testing.T) {
	t.Parallel()
	got, err := probing.Measure(probing.Setting{Servers: 1, Threads: 4, Conserving: true}, rounds(6, 1, 4, []float64{0.3}, 2e5))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "pressure", got.Pressure, 0.3)
	if got.Sensitivity.Taken() || got.Loading != got.Pressure || got.Saturation != probing.Saturated {
		t.Errorf("got %+v, want the loading to be the pressure", got)
	}
}

// A kernel that favours those who sleep serves the target at once, nearly: it waits
// less than its share and presses more. Work is conserved all the same.
func TestWorkIsConservedWhoeverIsFavoured(t *testing.T) {
	t.Parallel()
	for _, weight := range []float64{0.2, 5} {
		threads := []thread{{[]float64{1}, 1}, {[]float64{0.6}, weight}}
		var samples []probing.Sample
		for k := range 6 {
			d := simulate([]int{1}, threads, 2e5, rand.New(rand.NewPCG(uint64(k), 1)))
			samples = append(samples, probing.Sample{Probe: d[0], Neutral: 1, Beside: d[1]})
		}
		got, err := probing.Measure(probing.Setting{Servers: 1, Conserving: true}, samples)
		if err != nil {
			t.Fatal(err)
		}
		if got.Loading != got.Work {
			t.Errorf("weight %v: loading %v, want the work, %v", weight, got.Loading, got.Work)
		}
		favoured := weight > 1
		expect(t, "work", got.Work, 0.6)
		if (got.Sensitivity.Value < 0.5) != favoured || (got.Pressure.Value > 0.7) != favoured {
			t.Errorf("weight %v: got sensitivity %v and pressure %v", weight, got.Sensitivity, got.Pressure)
		}
	}
}

func TestAProbeThatIsTooWeakIsToldFromAnIdleTarget(t *testing.T) {
	t.Parallel()
	noise := func(dilation float64) []probing.Sample {
		return []probing.Sample{{Probe: dilation * 1.01}, {Probe: dilation * 0.99}, {Probe: dilation}}
	}
	for _, test := range []struct {
		dilation, self float64
		want           probing.Saturation
		name           string
	}{
		{1, 2.01, probing.Saturated, "saturated"},
		{1, 1.05, probing.Unsaturated, "unsaturated"},
		{1, 0, probing.Unknown, "unknown"},
		{1.5, 0, probing.Saturated, "saturated"},
		{1.5, 1.05, probing.Saturated, "saturated"},
	} {
		got, err := probing.Measure(probing.Setting{Servers: 1, SelfDilation: test.self}, noise(test.dilation))
		if err != nil {
			t.Fatal(err)
		}
		if got.Saturation != test.want || got.Saturation.String() != test.name {
			t.Errorf("dilation %v, self dilation %v: %v, want %v", test.dilation, test.self, got.Saturation, test.want)
		}
		if got.Sensitivity.Taken() || got.Work.Taken() || got.Loading != got.Pressure {
			t.Errorf("without a time of the target: %+v", got)
		}
	}
}

func TestNoiseAroundOneAveragesOutBeforeItIsClamped(t *testing.T) {
	t.Parallel()
	measure := func(dilations ...float64) probing.Estimate {
		samples := make([]probing.Sample, len(dilations))
		for k, d := range dilations {
			samples[k].Probe = d
		}
		got, err := probing.Measure(probing.Setting{Servers: 1}, samples)
		if err != nil {
			t.Fatal(err)
		}
		return got.Pressure
	}
	// Clamped one by one they would average 0.02.
	if got := measure(1.06, 1/1.06, 1.0); math.Abs(got.Value) > 1e-12 {
		t.Errorf("got %v, want 0", got)
	}
	if got := measure(0.98, 0.97, 0.99); got.Value != 0 || got.Error == 0 {
		t.Errorf("got %v, want 0 with an error", got)
	}
	if got := measure(1.3); got.Samples != 1 || !math.IsInf(got.Error, 1) {
		t.Errorf("got %v, want an error that is not known", got)
	}
}

func TestDilationsOfAnotherKindOfTargetAreUnexplained(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		setting probing.Setting
		sample  probing.Sample
		want    string
	}{
		{
			"a target that has more threads than said",
			probing.Setting{Servers: 1},
			probing.Sample{Probe: 3},
			"pressure: the dilation of the probe is 3.00",
		},
		{
			"two threads that press like four",
			probing.Setting{Servers: 2, Threads: 2},
			probing.Sample{Probe: 3},
			"no more than 2.000 if the target has that many threads",
		},
		{
			"a probe that speeds up",
			probing.Setting{Servers: 1},
			probing.Sample{Probe: 0.9},
			"clearly below 1: it is faster in company",
		},
		{
			"a target that has more to do than time",
			probing.Setting{Servers: 1},
			probing.Sample{Probe: 4, Neutral: 10, Beside: 15},
			"work: each thread of the target is served for 1.125",
		},
		{
			"a target that suffers more than its share",
			probing.Setting{Servers: 4},
			probing.Sample{Neutral: 10, Beside: 18},
			"sensitivity: the dilation of the target is 1.800",
		},
	} {
		samples := slices.Repeat([]probing.Sample{test.sample}, 4)
		samples[0].Probe *= 1.001
		got, err := probing.Measure(test.setting, samples)
		if !errors.Is(err, probing.ErrUnexplained) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if got.Loading.Value < 0 || got.Loading.Value > 1 {
			t.Errorf("%s: loading %v", test.name, got.Loading)
		}
	}
}

func TestBadSamplesAreRefusedByName(t *testing.T) {
	t.Parallel()
	good := probing.Sample{Probe: 1.5, Neutral: 60, Beside: 90}
	for want, bad := range map[string]probing.Sample{
		"samples[1]: probe: NaN is not between 0.8":                      {Probe: math.NaN()},
		"samples[1]: probe: +Inf is not between 0.8":                     {Probe: math.Inf(1)},
		"samples[1]: probe: -1 is not between 0.8":                       {Probe: -1},
		"samples[1]: probe: 0.5 is not between 0.8":                      {Probe: 0.5},
		"samples[1]: neutral: NaN is not a completion time":              {Neutral: math.NaN(), Beside: 1},
		"samples[1]: neutral: -60 is not a completion time":              {Neutral: -60, Beside: 90},
		"samples[1]: beside: +Inf is not a completion time":              {Neutral: 60, Beside: math.Inf(1)},
		"samples[1]: beside: 30 over neutral 60: 0.5 is not between 0.8": {Neutral: 60, Beside: 30},
	} {
		if _, err := probing.Measure(probing.Setting{Servers: 1}, []probing.Sample{good, bad}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for want, setting := range map[string]probing.Setting{
		"servers: 0 is not between 1 and 16384":  {},
		"threads: -1 is not between 1 and 16384": {Servers: 1, Threads: -1},
		"selfDilation: NaN is not a dilation":    {Servers: 1, SelfDilation: math.NaN()},
	} {
		if _, err := probing.Measure(setting, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestNothingMeasuredIsNothingTaken(t *testing.T) {
	t.Parallel()
	got, err := probing.Measure(probing.Setting{Servers: 1}, []probing.Sample{{}, {Neutral: 60}})
	if err != nil || got != (probing.Resource{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whatever was measured, the answer is a number, and between 0 and 1.
func TestResultsAreFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		setting := probing.Setting{Servers: rapid.IntRange(1, 12).Draw(t, "servers"), Threads: rapid.IntRange(0, 12).Draw(t, "threads")}
		dilation := rapid.Float64Range(probing.LeastDilation, 20)
		samples := make([]probing.Sample, rapid.IntRange(1, 12).Draw(t, "rounds"))
		for k := range samples {
			samples[k] = probing.Sample{Probe: dilation.Draw(t, "probe"), Neutral: 10, Beside: 10 * dilation.Draw(t, "target")}
		}
		got, err := probing.Measure(setting, samples)
		if err != nil && !errors.Is(err, probing.ErrUnexplained) {
			t.Fatal(err)
		}
		for _, e := range []probing.Estimate{got.Loading, got.Pressure, got.Sensitivity, got.Work} {
			if !(e.Value >= 0 && e.Value <= 1 && e.Error >= 0) {
				t.Fatalf("got %+v", got)
			}
		}
	})
}
