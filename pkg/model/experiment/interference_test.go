package experiment_test

import (
	"math"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/model/experiment"
)

// pressed are the samples of some rounds of a target that computes for a second, and whose inflation at a percentage of
// the standard job's intensity is as given.
func pressed(rounds int, self float64, probe func(experiment.Sample) float64, inflation func(percent int) float64) []experiment.Sample {
	var samples []experiment.Sample
	for round := 1; round <= rounds; round++ {
		drift := math.Pow(1.02, float64(round)) // the processor gets slower from round to round
		samples = append(samples, experiment.Sample{Round: round, Step: experiment.Alone, TargetNanos: 3e9, TargetCPUNanos: 1e9 * drift})
		for _, percent := range experiment.Levels() {
			s := experiment.Sample{
				Round: round, Step: experiment.Pressing("llc", percent), SelfDilation: self,
				TargetNanos: 3.5e9, TargetCPUNanos: 1e9 * drift * math.Sqrt(1.02) * inflation(percent),
			}
			s.ProbeDilation = probe(s)
			samples = append(samples, s)
		}
	}
	return append(samples, experiment.Sample{Round: rounds + 1, Step: experiment.Alone, TargetNanos: 3e9, TargetCPUNanos: 1e9 * math.Pow(1.02, float64(rounds+1))})
}

func twice(experiment.Sample) float64 { return 2 }

// A target of two threads that compute all the time presses with each of them half as hard as both.
func TestThePressureIsThatOfOneThread(t *testing.T) {
	t.Parallel()
	samples := pressed(2, 1.5, twice, func(int) float64 { return 1 })
	for i := range samples {
		samples[i].TargetCPUNanos = 2 * samples[i].TargetNanos
	}
	found, err := estimate(samples, 2)
	if err != nil || math.Abs(found[0].Pressure.Value-1) > 1e-9 {
		t.Errorf("%+v, %v", found, err)
	}
}

// estimate returns the interference at the last-level cache from some rounds.
func estimate(samples []experiment.Sample, rounds int) ([]experiment.Interference, error) {
	result, err := experiment.Experiment{Interference: []string{"llc"}}.Estimate(samples, rounds)
	return result.Interference, err
}

func TestInterferenceIsEstimatedLevelByLevel(t *testing.T) {
	t.Parallel()
	// The target computes for a third of the 3.5 s, or longer: for that time the standard job is dilated by 1.25.
	curve := func(percent int) float64 { return 1 + float64(min(percent, 75))/100 }
	found, err := estimate(pressed(4, 1.5, func(s experiment.Sample) float64 { f := s.TargetCPUNanos / s.TargetNanos; return 1 / (1 - f + f/1.25) }, curve), 4)
	if err != nil || len(found) != 1 || len(found[0].Sensitivity.Pressures) != 4 {
		t.Fatalf("%+v, %v", found, err)
	}
	if got := found[0].Pressure.Value; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("the pressure is %v, want 0.5", got)
	}
	for k, percent := range []int{25, 50, 75, 100} {
		pressure, inflation := found[0].Sensitivity.Pressures[k], found[0].Sensitivity.Inflations[k]
		if pressure != float64(percent)/100 || math.Abs(inflation.Value-curve(percent)) > 1e-9 {
			t.Errorf("at %d %% it is %+v, want %v", percent, inflation, curve(percent))
		}
	}
}

// Where the time of the threads is not known, the time that the target took stands for it.
func TestTheTimeThatATargetTookStandsForWhatItComputed(t *testing.T) {
	t.Parallel()
	samples := pressed(2, 1.5, twice, func(int) float64 { return 1 })
	for i := range samples {
		samples[i].TargetCPUNanos = 0
	}
	found, err := estimate(samples, 2)
	if err != nil || math.Abs(found[0].Sensitivity.Inflations[3].Value-3.5/3) > 1e-9 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestWhereStandardJobsDoNotNoticeEachOtherNothingIsEstimated(t *testing.T) {
	t.Parallel()
	samples := pressed(2, 1.01, twice, func(int) float64 { return 1 })
	if self, is := experiment.Imperceptible(samples, "llc", 2); !is || self != 1.01 {
		t.Errorf("imperceptible: %v, self-dilation %v", is, self)
	}
	if _, is := experiment.Imperceptible(samples, "llc", 0); is {
		t.Error("before the first round nothing is known")
	}
	if found, err := estimate(samples, 2); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestRoundsThatTellNothingOfInterferenceAreAnError(t *testing.T) {
	t.Parallel()
	samples := pressed(1, 1.5, twice, func(int) float64 { return 1 })
	for i := range samples {
		if samples[i].Step != experiment.Alone {
			samples[i].TargetCPUNanos, samples[i].TargetNanos = 0, 0
		}
	}
	if _, err := estimate(samples, 1); err == nil || !strings.HasPrefix(err.Error(), "llc: no round tells") {
		t.Errorf("got %v", err)
	}
}
