package contention

import (
	"fmt"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// Margins are the half widths of the 95 % confidence intervals of a measured [loading.Demand],
// at least 0. Zero is exact.
type Margins struct {
	Loading, Pressure, Sensitivity float64
}

// Unsure is one component of a vector that is known to within margins only.
type Unsure struct {
	// Jobs are those whose vectors have the component from one and the same
	// measurement, so that it is off for all of them alike.
	Jobs []int
	// Resource is the component, an index into the vectors.
	Resource int
	Margins
}

// negligible bounds the rounding error of a fraction that is 0.
const negligible = 1e-12

// Margins returns the half widths of the 95 % confidence intervals of the dilations,
// from those of the vectors, at least 0.
//
// The error of each component is propagated by finite differences: the node is solved
// with the component at both ends of its interval, and the larger change of a dilation
// counts. (The delta method takes the derivative times the margin; the ends say the same
// to first order, and more where a dilation bends, or a fraction can go no further
// than 0 or 1.) Loading, pressure and sensitivity of a component come from the same runs
// and are moved together; the errors of different components are independent, and add
// up by squares. The error of the model is not in it.
//
// It takes two solutions per component. The error is that of [Predict].
func (p *Prediction) Margins(components []Unsure, options queueing.Options) ([]float64, error) {
	squares := make([]float64, len(p.jobs))
	options.Start = p.Solution
	for c, u := range components {
		if err := u.validate(); err != nil {
			return nil, fmt.Errorf("component %d: %w", c, err)
		}
		changes := make([]float64, len(p.jobs))
		for _, sign := range []float64{-1, 1} {
			moved, err := p.again(u.move(p.given, sign), options)
			if err != nil {
				return nil, fmt.Errorf("component %d: %w", c, err)
			}
			for j := range changes {
				changes[j] = max(changes[j], math.Abs(moved.Dilations[j]-p.Dilations[j]))
			}
		}
		for j, change := range changes {
			squares[j] += change * change
		}
	}
	for j := range squares {
		squares[j] = math.Sqrt(squares[j])
	}
	return squares, nil
}

// validate returns an error for a margin that is none.
// again predicts other vectors of the same jobs, which share the node as before.
func (p *Prediction) again(jobs []loading.Vector, options queueing.Options) (*Prediction, error) {
	if p.sharing == nil {
		return Predict(jobs, p.givenServers, options)
	}
	return PredictSharing(jobs, p.givenServers, *p.sharing, options)
}

func (m Margins) validate() error {
	for _, margin := range []float64{m.Loading, m.Pressure, m.Sensitivity} {
		if !(margin >= 0) || math.IsInf(margin, 1) {
			return fmt.Errorf("margin: %v is not a finite number of at least 0", margin)
		}
	}
	return nil
}

// move returns the jobs with the component at one end of its interval, or where a
// fraction ends. Loadings that then add up to more than 1 are all scaled down.
func (u *Unsure) move(jobs []loading.Vector, sign float64) []loading.Vector {
	moved := slices.Clone(jobs)
	for _, j := range u.Jobs {
		v := slices.Clone(jobs[j])
		d := &v[u.Resource]
		sensitivity := d.EffectiveSensitivity()
		end := func(x, margin float64) float64 {
			if x += sign * margin; x < negligible {
				return 0
			}
			return min(1, x)
		}
		d.Loading, d.Pressure = end(d.Loading, u.Loading), end(d.Pressure, u.Pressure)
		if d.Sensitivity != 0 { // else it is the loading
			d.Sensitivity = max(math.SmallestNonzeroFloat32, end(sensitivity, u.Sensitivity))
		}
		sum := 0.0
		for _, d := range v {
			sum += d.Loading
		}
		for i := range v {
			v[i].Loading /= max(1, sum)
		}
		moved[j] = v
	}
	return moved
}
