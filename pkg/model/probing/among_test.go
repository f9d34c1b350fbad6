package probing_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/probing"
	"loadline.dev/loadline/pkg/model/queueing"
)

// A probe of the first of two resources, which has two servers, and neighbours at
// both.
func TestATargetIsRecoveredAmongNeighbours(t *testing.T) {
	t.Parallel()
	servers, target := []int{2, 1}, []float64{0.5, 0.2}
	neighbours := [][]float64{{0.6, 0.3}, {0.2, 0.7}}
	among := probing.Among{Servers: servers, Target: loading.Loadings(0, 0.2)}
	var others []thread
	for _, n := range neighbours {
		among.Neighbours = append(among.Neighbours, loading.Loadings(n...))
		others = append(others, thread{n, 1})
	}
	seed := uint64(0)
	run := func(threads ...[]thread) []float64 {
		seed++
		return simulate(servers, slices.Concat(threads...), 6e5, rand.New(rand.NewPCG(seed, 1)))
	}
	own, probe := crowd(1, target...), crowd(2, 1)
	const repetitions = 4
	meanPressure, meanSensitivity := 0.0, 0.0
	for range repetitions {
		without, alone, beside := run(probe, others), run(own, others), run(probe, own, others)
		ratio := mean(beside[:2]) / mean(without[:2])
		pressure, err := among.Pressure(ratio)
		if err != nil || math.Abs(pressure-0.5) > 2*recovered {
			t.Errorf("pressure: got %v, %v, want 0.5", pressure, err)
		}
		sensitivity, err := among.Sensitivity(beside[2] / alone[0])
		if err != nil || math.Abs(sensitivity-0.5) > 2*recovered {
			t.Errorf("sensitivity: got %v, %v, want 0.5", sensitivity, err)
		}
		meanPressure += pressure / repetitions
		meanSensitivity += sensitivity / repetitions
	}
	if math.Abs(meanPressure-0.5) > recovered || math.Abs(meanSensitivity-0.5) > recovered {
		t.Errorf("on average: a pressure of %v and a sensitivity of %v, want 0.5", meanPressure, meanSensitivity)
	}
}

func TestAloneOnTheNodeThePairFormulasHold(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 32).Draw(t, "servers")
		dilation := rapid.Float64Range(0.9, 1+1/float64(servers)).Draw(t, "dilation")
		among := probing.Among{Servers: []int{1, servers}, Resource: 1, Target: loading.Loadings(0.2)}
		q, err := among.Pressure(dilation)
		want := pairLoading(dilation, servers, 1)
		if err != nil || math.Abs(q-want) > 1e-9 {
			t.Fatalf("pressure %v, %v, want %v", q, err, want)
		}
		s, err := among.Sensitivity(dilation)
		if err != nil || math.Abs(s-want) > 1e-9 {
			t.Fatalf("sensitivity %v, %v, want %v", s, err, want)
		}
	})
}

// node draws a node with a probe, a target and neighbours.
func node(t *rapid.T) probing.Among {
	a := probing.Among{Servers: []int{rapid.IntRange(1, 4).Draw(t, "servers"), 1}, Target: loading.Loadings(0, rapid.Float64Range(0, 0.4).Draw(t, "elsewhere"))}
	if rapid.Bool().Draw(t, "threads") {
		for i := range a.Target {
			a.Target[i].Threads = a.Servers[0]
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "neighbours") {
		p := rapid.Float64Range(0, 1).Draw(t, "first")
		a.Neighbours = append(a.Neighbours, loading.Loadings(p, (1-p)*rapid.Float64Range(0, 1).Draw(t, "second")))
	}
	return a
}

// withLoading returns the ratios that package contention predicts.
func withLoading(t *rapid.T, a probing.Among, p float64) (probe, target float64) {
	job := slices.Clone(a.Target)
	job[0].Loading, job[0].Pressure = p, p
	standard := loading.Vector{{Loading: 1, Pressure: 1, Threads: a.Servers[0]}}
	predict := func(jobs ...loading.Vector) *contention.Prediction {
		return predicted(t, append(jobs, a.Neighbours...), a.Servers)
	}
	both, probeOnly, targetOnly := predict(standard, job), predict(standard), predict(job)
	return both.Dilations[0] / probeOnly.Dilations[0], both.Dilations[1] / targetOnly.Dilations[0]
}

func TestPredictionsAreInverted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := node(t)
		want := rapid.Float64Range(0, 1-a.Target[1].Loading).Draw(t, "loading")
		probe, target := withLoading(t, a, want)
		q, err := a.Pressure(probe)
		if errors.Is(err, probing.ErrAmbiguous) && a.Target[0].Threads > 1 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		// Where a ratio hardly depends on the loading, another loading will do.
		if again, _ := withLoading(t, a, min(1-a.Target[1].Loading, max(0, q))); math.Abs(again-probe) > 2*queueing.DefaultTolerance {
			t.Fatalf("a pressure of %v gives a ratio of %v, not %v as %v does", q, again, probe, want)
		}
		s, err := a.Sensitivity(target)
		if errors.Is(err, probing.ErrAmbiguous) && a.Target[0].Threads > 1 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, again := withLoading(t, a, min(1-a.Target[1].Loading, max(0, s))); math.Abs(again-target) > 2*queueing.DefaultTolerance {
			t.Fatalf("a sensitivity of %v gives a ratio of %v, not %v as %v does", s, again, target, want)
		}
	})
}

func TestNoiseGoesALittleBeyondTheEnds(t *testing.T) {
	t.Parallel()
	a := probing.Among{Servers: []int{1}, Neighbours: []loading.Vector{loading.Loadings(0.5)}}
	low, err := a.Pressure(0.99)
	if err != nil || low >= 0 || low < -0.05 {
		t.Errorf("below the least ratio: %v, %v", low, err)
	}
	// A busy target and the probe dilate the neighbour to 2, and share three quarters
	// of the server: the probe goes from 1.5 to 8/3.
	ends, err := a.Pressure(8. / 3 / 1.5 * 1.01)
	if err != nil || ends <= 1 || ends > 1.05 {
		t.Errorf("near the largest ratio: %v, %v", ends, err)
	}
}

func TestRatiosThatNoTargetLeadsToAreUnexplained(t *testing.T) {
	t.Parallel()
	a := probing.Among{Servers: []int{1}, Neighbours: []loading.Vector{loading.Loadings(0.5)}}
	for _, ratio := range []float64{0.85 * 0.9, 2.6, 30} {
		_, err := a.Pressure(ratio)
		if ratio < probing.MinDilation {
			if err == nil || !strings.Contains(err.Error(), "ratio of the probe's rates: 0.765 is not between 0.8") {
				t.Errorf("%v: %v", ratio, err)
			}
			continue
		}
		if !errors.Is(err, probing.ErrUnexplained) {
			t.Errorf("%v: %v", ratio, err)
		}
	}
	if _, err := a.Sensitivity(3); !errors.Is(err, probing.ErrUnexplained) {
		t.Errorf("got %v", err)
	}
}

func TestWhatCannotBeToldIsAmbiguous(t *testing.T) {
	t.Parallel()
	crowd := probing.Among{Servers: []int{1}, Target: loading.Vector{{Threads: 4}}}
	if _, err := crowd.Sensitivity(1.27); !errors.Is(err, probing.ErrAmbiguous) {
		t.Errorf("four threads on one server: %v", err)
	}
	full := probing.Among{Servers: []int{1, 1}, Target: loading.Loadings(0, 1), Neighbours: []loading.Vector{loading.Loadings(0.5)}}
	if _, err := full.Pressure(1.2); !errors.Is(err, probing.ErrAmbiguous) {
		t.Errorf("a target with no time left: %v", err)
	}
}

func TestANodeThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]probing.Among{
		"resource: 0 is not between 0 and -1":                          {},
		"resource: 2 is not between 0 and 1":                           {Servers: []int{1, 1}, Resource: 2},
		"resource 0: invalid number of servers: 0":                     {Servers: []int{0}},
		"target: 2 demands for 1 resources":                            {Servers: []int{1}, Target: loading.Loadings(0, 0.1)},
		"target: resource 1: loading: 1.5 is not a fraction":           {Servers: []int{1, 1}, Target: loading.Loadings(0, 1.5)},
		"job 1: resource 0: loading: -1 is not a fraction from 0 to 1": {Servers: []int{1}, Neighbours: []loading.Vector{loading.Loadings(-1)}},
	} {
		_, pressure := a.Pressure(1.5)
		_, sensitivity := a.Sensitivity(1.5)
		for _, err := range []error{pressure, sensitivity} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	}
}
