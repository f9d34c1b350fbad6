package probing_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/probing"
	"loadline.dev/loadline/pkg/model/queueing"
)

// onNode is a probe and a target with one thread on a node without neighbours.
func onNode(servers int) probing.Among { return probing.Among{Servers: []int{servers}} }

// pairLoading is q = c (λ − 1)/t: see the package's documentation.
func pairLoading(dilation float64, servers, threads int) float64 {
	return float64(servers) * (dilation - 1) / float64(threads)
}

// Section 5 of the D-factor paper: FileComp took 78.08 s alone and 123.67 s beside
// STD-CPU; its loading is given as 0.58.
func TestTheProbedLoadingOfFileCompIsThatOfThePaper(t *testing.T) {
	t.Parallel()
	got, err := onNode(1).Sensitivity(123.67 / 78.08)
	if err != nil || math.Abs(got-0.58) > 0.005 { // half of its last digit
		t.Errorf("got %v, %v, want 0.58", got, err)
	}
}

func TestOneServerIsPropertyThree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dilation := rapid.Float64Range(1, 2).Draw(t, "dilation")
		got, err := onNode(1).Sensitivity(dilation)
		if want := dilation - 1; err != nil || math.Abs(got-want) > 1e-12 {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	})
}

// pair returns the exact dilations of a probe that saturates c servers, and of a
// target with t threads.
func pair(t interface{ Fatal(args ...any) }, servers, threads int, fraction float64) (probe, target float64) {
	jobs := []loading.Vector{{{Loading: 1, Pressure: 1, Threads: servers}}, {{Loading: fraction, Pressure: fraction, Threads: threads}}}
	p, err := contention.Predict(jobs, []int{servers}, queueing.Options{Solver: queueing.Exact})
	if err != nil {
		t.Fatal(err)
	}
	return p.Dilations[0], p.Dilations[1]
}

func TestFormulasForOneThreadAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers, p := rapid.IntRange(1, 64).Draw(t, "servers"), rapid.Float64Range(0, 1).Draw(t, "loading")
		probe, target := pair(t, servers, 1, p)
		q, err := onNode(servers).Pressure(probe)
		if err != nil || math.Abs(q-p) > 1e-9 {
			t.Fatalf("pressure %v, %v, want %v", q, err, p)
		}
		s, err := onNode(servers).Sensitivity(target)
		if err != nil || math.Abs(s-p) > 1e-9 {
			t.Fatalf("sensitivity %v, %v, want %v", s, err, p)
		}
	})
}

func TestConservationOfWorkIsExactForAnyNumberOfThreads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 16).Draw(t, "servers")
		threads := rapid.IntRange(1, servers).Draw(t, "threads") // alone none waits
		p := rapid.Float64Range(0, 1).Draw(t, "loading")
		probe, target := pair(t, servers, threads, p)
		got, err := probing.Loading(target, probe, servers, threads)
		if err != nil || math.Abs(got-p) > 1e-9 {
			t.Fatalf("got %v, %v, want %v", got, err, p)
		}
	})
}

// For several threads the formula for the pressure is true to first order: at half
// the loading it is off by a quarter as much.
func TestTheFormulaForSeveralThreadsIsTrueToFirstOrder(t *testing.T) {
	t.Parallel()
	off := func(p float64) float64 {
		probe, _ := pair(t, 2, 2, p)
		return math.Abs(pairLoading(probe, 2, 2) - p)
	}
	if ratio := off(0.02) / off(0.01); math.Abs(ratio-4) > 0.2 {
		t.Errorf("the error at 0.02 is %v times that at 0.01, want about 4", ratio)
	}
}

func TestADilationALittleBelowOneIsASmallNegativeLoading(t *testing.T) {
	t.Parallel()
	if got, err := onNode(1).Pressure(0.99); err != nil || math.Abs(got+0.01) > 1e-12 {
		t.Errorf("pressure: %v, %v", got, err)
	}
	if got, err := onNode(2).Sensitivity(0.99); err != nil || math.Abs(got+0.02) > 1e-12 {
		t.Errorf("sensitivity: %v, %v", got, err)
	}
}

func TestImpossiblePairsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, dilation := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 0.5, 1e7} {
		_, pressure := onNode(1).Pressure(dilation)
		_, sensitivity := onNode(1).Sensitivity(dilation)
		_, target := probing.Loading(dilation, 1.5, 1, 1)
		_, probe := probing.Loading(1.5, dilation, 1, 1)
		for _, err := range []error{pressure, sensitivity, target, probe} {
			if err == nil || !strings.Contains(err.Error(), " of the ") || !strings.Contains(err.Error(), "is not between 0.8 and 1e+06") {
				t.Errorf("%v: %v", dilation, err)
			}
		}
	}
	_, servers := probing.Loading(1.5, 1.5, 0, 1)
	_, threads := probing.Loading(1.5, 1.5, 1, -1)
	_, both := probing.Loading(1.5, 1.5, 1<<15, 1)
	for _, err := range []error{servers, threads, both} {
		if err == nil || !strings.Contains(err.Error(), "is not between 1 and 16384") {
			t.Errorf("got %v", err)
		}
	}
}
