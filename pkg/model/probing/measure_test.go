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

	"loadline.dev/loadline/pkg/model/probing"
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
func rounds(n, servers, targets int, loadings []float64, duration float64) []probing.Dilations {
	stations := append([]int{servers}, slices.Repeat([]int{targets}, len(loadings)-1)...)
	all := make([]probing.Dilations, n)
	for k := range all {
		threads := append(crowd(servers, 1), crowd(targets, loadings...)...)
		dilations := simulate(stations, threads, duration, rand.New(rand.NewPCG(uint64(k), uint64(servers*100+targets))))
		all[k] = probing.Dilations{Probe: mean(dilations[:servers]), Target: mean(dilations[servers:])}
	}
	return all
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
			setting := probing.Setting{Servers: test.servers, Threads: test.threads}
			got, err := probing.Measure(setting, rounds(6, test.servers, test.threads, test.loadings, test.duration))
			if err != nil {
				t.Fatal(err)
			}
			expect(t, "pressure", got.Pressure, test.loadings[0])
			expect(t, "sensitivity", got.Sensitivity, test.loadings[0])
			expect(t, "work", got.Work, test.loadings[0])
			if got.Loading != got.Sensitivity {
				t.Errorf("got %+v, want the loading to be the sensitivity", got)
			}
		})
	}
}

// Four threads on one server wait for each other, alone too: the probe's slowdown measures their
// pressure, but their own slowdown beside it says nothing.
func TestThreadsThatCrowdTheServerTellTheirPressureOnly(t *testing.T) {
	t.Parallel()
	got, err := probing.Measure(probing.Setting{Servers: 1, Threads: 4, Conserving: true}, rounds(6, 1, 4, []float64{0.3}, 2e5))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "pressure", got.Pressure, 0.3)
	if got.Sensitivity.Taken() || got.Loading != got.Pressure {
		t.Errorf("got %+v, want the loading to be the pressure", got)
	}
}

// A kernel that favours those who sleep serves the target at once, nearly: it waits
// less than its share and presses more. Work is conserved all the same.
func TestWorkIsConservedWhoeverIsFavoured(t *testing.T) {
	t.Parallel()
	for _, weight := range []float64{0.2, 5} {
		threads := []thread{{[]float64{1}, 1}, {[]float64{0.6}, weight}}
		var dilations []probing.Dilations
		for k := range 6 {
			d := simulate([]int{1}, threads, 2e5, rand.New(rand.NewPCG(uint64(k), 1)))
			dilations = append(dilations, probing.Dilations{Probe: d[0], Target: d[1]})
		}
		got, err := probing.Measure(probing.Setting{Servers: 1, Conserving: true}, dilations)
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

func TestNoiseAroundOneAveragesOutBeforeItIsClamped(t *testing.T) {
	t.Parallel()
	measure := func(dilations ...float64) probing.Estimate {
		all := make([]probing.Dilations, len(dilations))
		for k, d := range dilations {
			all[k].Probe = d
		}
		got, err := probing.Measure(probing.Setting{Servers: 1}, all)
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
		name      string
		setting   probing.Setting
		dilations probing.Dilations
		want      string
	}{
		{
			"a target that has more threads than said",
			probing.Setting{Servers: 1},
			probing.Dilations{Probe: 3},
			"pressure: the dilation of the probe is 3.00",
		},
		{
			"two threads that press like four",
			probing.Setting{Servers: 2, Threads: 2},
			probing.Dilations{Probe: 3},
			"no more than 2.000 if the target has that many threads",
		},
		{
			"a probe that speeds up",
			probing.Setting{Servers: 1},
			probing.Dilations{Probe: 0.9},
			"clearly below 1: it is faster in company",
		},
		{
			"a target that has more to do than time",
			probing.Setting{Servers: 1},
			probing.Dilations{Probe: 4, Target: 1.5},
			"work: each thread of the target is served for 1.125",
		},
		{
			"a target that suffers more than its share",
			probing.Setting{Servers: 4},
			probing.Dilations{Target: 1.8},
			"sensitivity: the dilation of the target is 1.800",
		},
	} {
		all := slices.Repeat([]probing.Dilations{test.dilations}, 4)
		all[0].Probe *= 1.001
		got, err := probing.Measure(test.setting, all)
		if !errors.Is(err, probing.ErrUnexplained) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if got.Loading.Value < 0 || got.Loading.Value > 1 {
			t.Errorf("%s: loading %v", test.name, got.Loading)
		}
	}
}

func TestBadDilationsAreRefusedByName(t *testing.T) {
	t.Parallel()
	good := probing.Dilations{Probe: 1.5, Target: 1.5}
	for want, bad := range map[string]probing.Dilations{
		"rounds[1]: probe: NaN is not between 0.8":   {Probe: math.NaN()},
		"rounds[1]: probe: +Inf is not between 0.8":  {Probe: math.Inf(1)},
		"rounds[1]: probe: -1 is not between 0.8":    {Probe: -1},
		"rounds[1]: probe: 0.5 is not between 0.8":   {Probe: 0.5},
		"rounds[1]: target: NaN is not between 0.8":  {Target: math.NaN()},
		"rounds[1]: target: +Inf is not between 0.8": {Target: math.Inf(1)},
		"rounds[1]: target: -1 is not between 0.8":   {Target: -1},
		"rounds[1]: target: 0.5 is not between 0.8":  {Target: 0.5},
	} {
		if _, err := probing.Measure(probing.Setting{Servers: 1}, []probing.Dilations{good, bad}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for want, setting := range map[string]probing.Setting{
		"servers: 0 is not between 1 and 16384":  {},
		"threads: -1 is not between 1 and 16384": {Servers: 1, Threads: -1},
	} {
		if _, err := probing.Measure(setting, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestNothingMeasuredIsNothingTaken(t *testing.T) {
	t.Parallel()
	got, err := probing.Measure(probing.Setting{Servers: 1}, []probing.Dilations{{}})
	if err != nil || got != (probing.Resource{}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whatever was measured, the answer is a number, and between 0 and 1.
func TestResultsAreFractions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		setting := probing.Setting{Servers: rapid.IntRange(1, 12).Draw(t, "servers"), Threads: rapid.IntRange(0, 12).Draw(t, "threads")}
		dilation := rapid.Float64Range(probing.MinDilation, 20)
		all := make([]probing.Dilations, rapid.IntRange(1, 12).Draw(t, "rounds"))
		for k := range all {
			all[k] = probing.Dilations{Probe: dilation.Draw(t, "probe"), Target: dilation.Draw(t, "target")}
		}
		got, err := probing.Measure(setting, all)
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
