package experiment

import (
	"errors"
	"fmt"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/probing"
)

// estimateCopies adds to a result the loadings of a target at two resources, from how
// long copies of it take at once and one sample beside the probe of the first resource.
func (e Experiment) estimateCopies(r *Result, samples []Sample, rounds int) error {
	var times []probing.CopiesTime
	for _, s := range samples {
		if n := copiesIn(s.Step); n > 0 && s.Round <= rounds && s.TargetNanos > 0 {
			times = append(times, probing.CopiesTime{Copies: n, Time: s.TargetNanos})
		}
	}
	copied, err := probing.Copies(times)
	if err != nil {
		return fmt.Errorf("the times of the copies: %w", err)
	}
	if !copied.Busy {
		r.Contradiction = errors.New("the copies slow each other down less than a job does that keeps these two resources busy by turns: it idles, or uses others; measure it by probes")
	}
	first := e.Resources[0].Name
	if Unsaturated(samples, first, rounds) {
		r.Unsaturated = append(r.Unsaturated, 0)
	}
	beside := Find(samples, 1, Beside(first))
	if beside.ProbeDilation == 0 {
		return errors.New("the step beside the probe is missing")
	}
	loading, err := copied.Decide(probing.Estimate{Value: beside.ProbeDilation, Samples: 1})
	if err != nil && !errors.Is(err, contention.ErrUndecided) {
		return fmt.Errorf("%s: %w", first, err)
	}
	other := loading
	other.Value = 1 - loading.Value
	for i, l := range []probing.Estimate{loading, other} {
		r.Components = append(r.Components, Component{i, probing.Resource{Loading: l, Pressure: l}})
	}
	return nil
}

// copiesIn returns how many copies of the target run alone in a step, 0 for other steps.
func copiesIn(step Step) int {
	switch step {
	case Alone:
		return 1
	case CopiesOf(2):
		return 2
	case CopiesOf(3):
		return 3
	default:
		return 0
	}
}
