package probing

import (
	"fmt"
	"math"
	"strings"

	"loadline.dev/loadline/pkg/model/loading"
)

// maxSum bounds the sum of loadings without error. A disturbance of all rounds alike (a probe's
// cache misses, a kernel's favours) is not in their errors.
const maxSum = 1.05

// Vector is the loadings of a target at several resources, made to agree.
type Vector struct {
	// Loadings add up to at most 1. They have the samples and errors they were
	// measured with.
	Loadings []Estimate
	// Sum is that of the loadings as measured. The errors of measurements that have
	// nothing to do with each other add up by squares.
	Sum Estimate
	// Moved holds how much was taken from each.
	Moved []float64
}

// OverlapError says that measured loadings add up to more than 1.05, by more than their
// errors.
//
// Fractions of one thread's time cannot. The target is at several of the resources
// at the same time: it reads ahead, it writes behind, or it has several threads at
// work in different places. Waiting at one resource is then hidden behind another,
// and dilations are less than the sum that the model predicts.
type OverlapError struct {
	// Resources are the indices of the resources with a loading that is clearly above 0.
	Resources []int
	// Loadings are the measured ones, of all resources.
	Loadings []Estimate
	// Sum is that of all loadings.
	Sum Estimate
}

func (e *OverlapError) Error() string {
	parts := make([]string, len(e.Resources))
	for k, i := range e.Resources {
		parts[k] = fmt.Sprintf("resource %d (%v)", i, e.Loadings[i])
	}
	return fmt.Sprintf("the loadings add up to %v, clearly more than 1: %s overlap in time, as with asynchronous I/O or several threads", e.Sum, strings.Join(parts, ", "))
}

// AddUp makes the measured loadings of one target add up to at most 1, as fractions
// of its neutral time do: the nearest such loadings, where each counts by how well it
// is known (weighted least squares). Loadings that were not taken count as 0.
//
// The error is an [OverlapError] if they add up to more than 1.05 by more than their
// errors, with the adjusted vector. Otherwise it names a loading that is no fraction
// from 0 to 1, or one whose error is not known.
func AddUp(loadings []Estimate) (Vector, error) {
	v := Vector{Loadings: make([]Estimate, len(loadings)), Moved: make([]float64, len(loadings))}
	copy(v.Loadings, loadings)
	variance := 0.0
	for i, e := range loadings {
		if !e.Taken() {
			v.Loadings[i] = Estimate{}
			continue
		}
		if !(e.Value >= 0 && e.Value <= 1) {
			return Vector{}, fmt.Errorf("loadings[%d]: %v is not a fraction from 0 to 1", i, e.Value)
		}
		if !(e.Error >= 0) || math.IsInf(e.Error, 1) {
			return Vector{}, fmt.Errorf("loadings[%d]: error: %v is not a finite number of at least 0: take more samples than %d", i, e.Error, e.Samples)
		}
		v.Sum.Value += e.Value
		variance += e.Error * e.Error
		if v.Sum.Samples == 0 || e.Samples < v.Sum.Samples {
			v.Sum.Samples = e.Samples
		}
	}
	v.Sum.Error = math.Sqrt(variance)
	if v.Sum.Value <= 1 {
		return v, nil
	}
	values, variances := make([]float64, len(loadings)), make([]float64, len(loadings))
	for i, e := range v.Loadings {
		values[i], variances[i] = e.Value, max(e.Error*e.Error, math.SmallestNonzeroFloat32)
	}
	loading.ProjectOntoSimplex(values, variances)
	for i := range loadings {
		v.Moved[i] = v.Loadings[i].Value - values[i]
		v.Loadings[i].Value = values[i]
	}
	if v.Sum.Value-v.Sum.Error <= maxSum {
		return v, nil
	}
	overlap := &OverlapError{Loadings: loadings, Sum: v.Sum}
	for i, e := range loadings {
		if e.Taken() && e.Value > e.Error {
			overlap.Resources = append(overlap.Resources, i)
		}
	}
	return v, overlap
}
