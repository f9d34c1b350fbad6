package fit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// ProbeRun is one run of a job beside a probe: copies of a job that does nothing
// but use one resource.
type ProbeRun struct {
	// Resource is the index of the probe's resource.
	Resource int
	// Copies is how many probes ran, at least 1. Zero means 1.
	Copies int
	// Dilation is the job's, from [MinDilation] to [MaxDilation].
	Dilation float64
	// ProbeDilation is the mean of the probes', less what they do to each other;
	// 0 where it was not measured. With one probe it is that of the probe.
	ProbeDilation float64
}

// Loading is a loading vector learnt from probes.
type Loading struct {
	// Sensitivity holds the loading p_i at each resource, from the dilations of
	// the job: between 0 and 1, and adding up to at most 1. Pressure holds it
	// from the dilations of the probes; where they were not measured it is the
	// sensitivity.
	Sensitivity, Pressure []Estimate
	// Sum is that of the sensitivities before they were made to add up to at
	// most 1. Above 1 by more than noise, the probes' resources overlap, or a
	// probe is more than one job's load.
	Sum float64
	// Unidentified holds the resources of which there was no probe.
	Unidentified []int
}

// Probe returns the loading vector of a job over that many resources from its
// runs beside probes. Property 3 of the D-factor paper: beside one probe
// p_i = λ − 1, beside c of them p_i = (λ − 1)/c. Any number of runs is reduced
// by least squares over c, the slope of λ − 1 through the origin.
//
// Confidence, between 0 and 1, is the coverage of the intervals, from the
// scatter of all runs about their resources' slopes with Student's distribution.
// With no more than one run per resource the scatter is unknown, and taken to be
// 2 % of a dilation.
func Probe(resources int, runs []ProbeRun, confidence float64) (Loading, error) {
	if resources < 1 || resources > MostResources {
		return Loading{}, fmt.Errorf("resources: %d is not between 1 and %d", resources, MostResources)
	}
	if !(confidence > 0 && confidence < 1) {
		return Loading{}, fmt.Errorf("confidence: %v is not between 0 and 1", confidence)
	}
	own, theirs := newSlopes(resources), newSlopes(resources)
	for r, run := range runs {
		if run.Resource < 0 || run.Resource >= resources {
			return Loading{}, fmt.Errorf("runs[%d]: resource: %d is not between 0 and %d", r, run.Resource, resources-1)
		}
		if run.Copies < 0 {
			return Loading{}, fmt.Errorf("runs[%d]: copies: %d is less than 1", r, run.Copies)
		}
		if rule := dilationRule(run.Dilation); rule != "" {
			return Loading{}, fmt.Errorf("runs[%d]: dilation: %v %s", r, run.Dilation, rule)
		}
		own.add(run.Resource, float64(max(1, run.Copies)), run.Dilation)
		if run.ProbeDilation == 0 {
			continue
		}
		if rule := dilationRule(run.ProbeDilation); rule != "" {
			return Loading{}, fmt.Errorf("runs[%d]: probeDilation: %v %s", r, run.ProbeDilation, rule)
		}
		theirs.add(run.Resource, 1, run.ProbeDilation)
	}
	loading := Loading{Sensitivity: own.estimates(confidence), Pressure: theirs.estimates(confidence)}
	for i := range resources {
		if own.weights[i] == 0 {
			loading.Unidentified = append(loading.Unidentified, i)
		}
	}
	loading.Sum = shareOut(loading.Sensitivity, own.weights)
	for i := range resources {
		if theirs.weights[i] == 0 {
			loading.Pressure[i] = loading.Sensitivity[i]
		}
	}
	return loading, nil
}

// slopes fits excess dilation = slope · copies for each resource, by squares
// relative to the dilation.
type slopes struct {
	weights  []float64 // Σ c²/λ²
	products []float64 // Σ c (λ − 1)/λ²
	squares  []float64 // Σ (λ − 1)²/λ²
	runs     float64
}

// assumedNoise is the relative noise of a dilation where it cannot be told from
// the runs.
const assumedNoise = 0.02

func newSlopes(resources int) *slopes {
	return &slopes{weights: make([]float64, resources), products: make([]float64, resources), squares: make([]float64, resources)}
}

func (s *slopes) add(resource int, copies, dilation float64) {
	w := 1 / (dilation * dilation)
	s.weights[resource] += w * copies * copies
	s.products[resource] += w * copies * (dilation - 1)
	s.squares[resource] += w * (dilation - 1) * (dilation - 1)
	s.runs++
}

// estimates returns the slopes, kept between 0 and 1, with their intervals; from
// 0 to 1 where nothing was measured.
func (s *slopes) estimates(confidence float64) []Estimate {
	residual, left := 0.0, s.runs
	for i, w := range s.weights {
		if w > 0 {
			residual += max(0, s.squares[i]-s.products[i]*s.products[i]/w)
			left--
		}
	}
	noise, quantile := assumedNoise, distuv.UnitNormal.Quantile((1+confidence)/2)
	if left > 0 {
		noise = max(leastNoise, math.Sqrt(residual/left))
		quantile = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: left}.Quantile((1 + confidence) / 2)
	}
	estimates := make([]Estimate, len(s.weights))
	for i, w := range s.weights {
		if w == 0 {
			estimates[i] = Estimate{High: 1}
			continue
		}
		slope, margin := s.products[i]/w, quantile*noise/math.Sqrt(w)
		estimates[i] = Estimate{Value: fraction(slope), Low: fraction(slope - margin), High: fraction(slope + margin)}
	}
	return estimates
}

func fraction(x float64) float64 { return min(1, max(0, x)) }

// shareOut makes the estimates add up to at most 1 and returns what they added up
// to. Each counts by how well it is known.
func shareOut(estimates []Estimate, weights []float64) float64 {
	values, variances := make([]float64, len(estimates)), make([]float64, len(estimates))
	total := 0.0
	for i, e := range estimates {
		values[i] = e.Value
		total += e.Value
		if e.Value > 0 {
			variances[i] = 1 / weights[i]
		}
	}
	WithinOne(values, variances)
	for i := range estimates {
		estimates[i].Value = values[i]
		estimates[i].Low = min(estimates[i].Low, values[i])
	}
	return total
}
