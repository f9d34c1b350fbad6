package experiment

import (
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/probing"
)

// Levels are the pressures, in percent of the standard job at full intensity, beside which a target runs to find its
// sensitivity curve at an interference resource. Full intensity comes first: it gives the pressure of the target, and
// whether the resource can be measured on the node at all.
func Levels() []int { return []int{100, 25, 50, 75} }

// Pressing returns the step in which the standard job of an interference resource runs beside a copy of the target, with
// the given percentage of its full intensity.
func Pressing(resource string, percent int) Step {
	return Step(fmt.Sprintf("pressing-%s-%d", resource, percent))
}

// Interference is the result for the target at one interference resource.
type Interference struct {
	Name string
	// Pressure is how hard the target presses.
	Pressure probing.Estimate
	// Sensitivity is its sensitivity curve.
	Sensitivity probing.Sensitivity
}

// MinSelfDilation is by how much two standard jobs of an interference resource slow each other down at least where the
// resource can be measured: what noise makes of a few seconds is less.
const MinSelfDilation = 1.03

// Imperceptible reports whether one of the first rounds found that two standard jobs of an interference resource hardly
// slow each other down, so that nothing is measured there.
func Imperceptible(samples []Sample, resource string, rounds int) (self float64, imperceptible bool) {
	for _, s := range samples {
		if s.Step == Pressing(resource, Levels()[0]) && s.Round <= rounds && s.SelfDilation > 0 {
			return s.SelfDilation, s.SelfDilation < MinSelfDilation
		}
	}
	return 0, false
}

// estimateInterference combines the samples of the first rounds at interference resources, as for [Experiment.Estimate];
// [Imperceptible] ones are left out.
func estimateInterference(resources []string, samples []Sample, rounds int) ([]Interference, error) {
	var all []Interference
	for _, name := range resources {
		self, imperceptible := Imperceptible(samples, name, rounds)
		if imperceptible {
			continue
		}
		levels, beside := []probing.Level{}, []float64{}
		for _, percent := range slices.Sorted(slices.Values(Levels())) {
			level := probing.Level{Pressure: float64(percent) / 100}
			for round := 1; round <= rounds; round++ {
				s := Find(samples, round, Pressing(name, percent))
				if inflation := inflationOf(samples, s); inflation > 0 {
					level.Inflations = append(level.Inflations, inflation)
				}
				if s.ProbeDilation > 0 && percent == Levels()[0] {
					beside = append(beside, whileComputing(s))
				}
			}
			if len(level.Inflations) > 0 {
				levels = append(levels, level)
			}
		}
		if len(levels) == 0 || len(beside) == 0 {
			return nil, fmt.Errorf("%s: no round tells how the target and the standard job slow each other down", name)
		}
		found := Interference{Name: name}
		mean, err := probing.GeometricMean(beside)
		if err != nil {
			return nil, fmt.Errorf("%s: the standard job: %w", name, err)
		}
		standard := probing.Sensitivity{Pressures: []float64{1}, Inflations: []probing.Estimate{{Value: self, Samples: 1}}}
		if found.Pressure, err = standard.Pressure(mean); err != nil {
			return nil, fmt.Errorf("%s: the standard job: %w", name, err)
		}
		if found.Sensitivity, err = probing.FitSensitivity(levels); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, found)
	}
	return all, nil
}

// inflationOf returns by how much longer the target computed in a step than alone, before and maybe after, 0 if that is
// not known. What it computed is the time of its threads, or where that is not known the time that it took: the standard
// job leaves it a core.
func inflationOf(samples []Sample, s Sample) float64 {
	before, after := Find(samples, s.Round, Alone), Find(samples, s.Round+1, Alone)
	ratio := func(of func(Sample) float64) float64 {
		alone, beside := of(before), of(s)
		if alone <= 0 || beside <= 0 {
			return 0
		}
		if next := of(after); next > 0 {
			alone = math.Sqrt(alone * next)
		}
		return beside / alone
	}
	if computed := ratio(func(s Sample) float64 { return s.TargetCPUNanos }); computed > 0 {
		return computed
	}
	return ratio(func(s Sample) float64 { return s.TargetNanos })
}

// whileComputing returns how much slower the standard job was while one thread of the target computed, from how much
// slower it was on average. Where it is not known for how long the target computed it is taken to have done so always.
func whileComputing(s Sample) float64 {
	if s.TargetCPUNanos <= 0 || s.TargetNanos <= 0 || s.ProbeDilation <= 1 {
		return s.ProbeDilation
	}
	computing := s.TargetCPUNanos / s.TargetNanos // by several threads, it may be more than 1
	if computing >= 1 {
		return 1 + (s.ProbeDilation-1)/computing
	}
	// The standard job advances at 1/d of its speed for that fraction of the time, and else at full speed.
	lost := (1 - 1/s.ProbeDilation) / computing
	return 1 / (1 - min(lost, mostLost))
}

// mostLost bounds by how much a standard job may be slowed down, so that noise of a target that hardly computes gives no
// infinite pressure.
const mostLost = 0.9
