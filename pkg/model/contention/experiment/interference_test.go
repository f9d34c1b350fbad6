package experiment_test

import (
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/contention/experiment"
)

// pressed are the samples of some rounds of a target that computes for a second, and whose inflation at a percentage of
// the standard job's intensity is as given.
func pressed(rounds int, self, probe float64, inflation func(percent int) float64) []experiment.Sample {
	var samples []experiment.Sample
	for round := 1; round <= rounds; round++ {
		drift := math.Pow(1.02, float64(round)) // the processor gets slower from round to round
		samples = append(samples, experiment.Sample{Round: round, Step: experiment.Alone, TargetNanos: 3e9, TargetCPUNanos: 1e9 * drift})
		for _, percent := range experiment.Levels() {
			samples = append(samples, experiment.Sample{
				Round: round, Step: experiment.Pressing("llc", percent), TargetNanos: 3.5e9, TargetCPUNanos: 1e9 * drift * math.Sqrt(1.02) * inflation(percent),
				ProbeDilation: probe, SelfDilation: self,
			})
		}
	}
	return append(samples, experiment.Sample{Round: rounds + 1, Step: experiment.Alone, TargetNanos: 3e9, TargetCPUNanos: 1e9 * math.Pow(1.02, float64(rounds+1))})
}

func TestInterferenceIsEstimatedLevelByLevel(t *testing.T) {
	t.Parallel()
	curve := func(percent int) float64 { return 1 + float64(min(percent, 75))/100 }
	found, err := experiment.EstimateInterference([]string{"llc"}, pressed(4, 1.5, 1.25, curve), 4)
	if err != nil || len(found) != 1 || len(found[0].Curve) != 4 {
		t.Fatalf("%+v, %v", found, err)
	}
	if got := found[0].Pressure.Value; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("the pressure is %v, want 0.5", got)
	}
	for k, percent := range []int{25, 50, 75, 100} {
		s := found[0].Curve[k]
		if s.Pressure != float64(percent)/100 || math.Abs(s.Inflation.Value-curve(percent)) > 1e-9 || s.Inflation.Samples != 4 {
			t.Errorf("at %d %% it is %+v, want %v of 4 samples", percent, s, curve(percent))
		}
	}
}

// Where the time of the threads is not known, the time that the target took stands for it.
func TestTheTimeThatATargetTookStandsForWhatItComputed(t *testing.T) {
	t.Parallel()
	samples := pressed(2, 1.5, 1.25, func(int) float64 { return 1 })
	for i := range samples {
		samples[i].TargetCPUNanos = 0
	}
	found, err := experiment.EstimateInterference([]string{"llc"}, samples, 2)
	if err != nil || math.Abs(found[0].Curve[3].Inflation.Value-3.5/3) > 1e-9 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestWhereStandardJobsDoNotNoticeEachOtherNothingIsEstimated(t *testing.T) {
	t.Parallel()
	samples := pressed(2, 1.01, 1, func(int) float64 { return 1 })
	if self, is := experiment.Imperceptible(samples, "llc", 2); !is || self != 1.01 {
		t.Errorf("imperceptible: %v, self-dilation %v", is, self)
	}
	if _, is := experiment.Imperceptible(samples, "llc", 0); is {
		t.Error("before the first round nothing is known")
	}
	if found, err := experiment.EstimateInterference([]string{"llc"}, samples, 2); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestRoundsThatTellNothingOfInterferenceAreAnError(t *testing.T) {
	t.Parallel()
	samples := pressed(1, 1.5, 1.25, func(int) float64 { return 1 })
	for i := range samples {
		samples[i].TargetCPUNanos, samples[i].TargetNanos = 0, 0
	}
	if _, err := experiment.EstimateInterference([]string{"llc"}, samples, 1); err == nil || !strings.HasPrefix(err.Error(), "llc: no round tells") {
		t.Errorf("got %v", err)
	}
}
