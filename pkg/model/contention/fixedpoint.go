package contention

import (
	"fmt"
	"math"
)

const (
	// fixedPointTolerance ends the iteration of [FixedPoint] when no dilation
	// changes by more than this fraction of itself: far below the model's own
	// error, far above rounding.
	fixedPointTolerance = 1e-10
	// fixedPointIterations bounds the iteration. Heavily loaded nodes with
	// hundreds of jobs take a few dozen.
	fixedPointIterations = 10_000
)

// FixedPoint returns the dilation of each of the jobs that share a node whose
// i-th resource has servers[i] servers. Where the first-order model takes each
// job to be where it would be if it were alone, this one takes it to be where
// it is when it is dilated by the others: thread k is at resource i for the
// fraction q_ik·(1 + w_ik)/λ_k of its time, w_ik its wait there, iterated to
// the fixed point. For one server per resource this is Schweitzer's approximate
// mean value analysis with one job per class, as used by the Epochs paper.
//
// It takes O(m·n²) time per iteration for m resources and n threads, O(m·n)
// for resources with one server. The vectors and servers must be valid and no
// vector longer than servers; the first offence is returned as an error.
func FixedPoint(jobs []Vector, servers []int) ([]float64, error) {
	if err := ValidateServers(servers); err != nil {
		return nil, err
	}
	for j, v := range jobs {
		if err := v.Validate(); err != nil {
			return nil, fmt.Errorf("job %d: %w", j, err)
		}
		if len(v) > len(servers) {
			return nil, fmt.Errorf("job %d: %d demands for %d resources", j, len(v), len(servers))
		}
	}
	dilations := make([]float64, len(jobs))
	dilated := make([]Vector, len(jobs)) // where each job is, dilated
	for j, v := range jobs {
		dilations[j] = 1
		dilated[j] = append(Vector(nil), v...)
	}
	load := NewLoad(servers)
	for range fixedPointIterations {
		load.Reset()
		for _, v := range dilated {
			load.Add(v)
		}
		change := 0.0
		for j, v := range jobs {
			dilation := 1.0
			for i, d := range v {
				wait := load.Wait(i, dilated[j][i])
				dilation += d.Loading * wait
				dilated[j][i].Loading = wait // kept until λ is known
			}
			for i, d := range v {
				wait := dilated[j][i].Loading
				dilated[j][i].Loading = d.Loading
				dilated[j][i].Pressure = min(1, d.Pressure*(1+wait)/dilation)
			}
			change = max(change, math.Abs(dilation-dilations[j])/dilation)
			dilations[j] = dilation
		}
		if change <= fixedPointTolerance {
			return dilations, nil
		}
	}
	return nil, fmt.Errorf("the dilations of %d jobs do not settle within %d iterations", len(jobs), fixedPointIterations)
}
