package fit

import (
	"math"
	"testing"
)

// crossing is a table of dilations whose logarithms of costs are sums of effects of six
// jobs, but for what was not measured.
func crossing(missing cell) (cells []cell, dilations []float64, truth func(cell) float64) {
	truth = func(c cell) float64 { return 1 + math.Exp(0.3*float64(c.job)-0.2*float64(c.other)) }
	for job := range 6 {
		for other := range 6 {
			if one := (cell{job, other}); one != missing {
				cells = append(cells, one)
				dilations = append(dilations, truth(one))
			}
		}
	}
	return cells, dilations, truth
}

// The noise that is assumed draws an effect by some 1 % of it towards the average.
func TestCrossedEffectsPredictAMissingCell(t *testing.T) {
	t.Parallel()
	missing := cell{5, 2}
	cells, dilations, truth := crossing(missing)
	e := newEffects(nil, cells, dilations)
	if got := math.Exp(e.at(missing)); math.Abs(got/truth(missing)-1) > 0.03 {
		t.Errorf("%v, want %v", got, truth(missing))
	}
	if off := e.deviation(missing); !(off > 0 && off < 0.2) {
		t.Errorf("a standard deviation of %v", off)
	}
}

func TestCrossedEffectsDistrustAnOutlier(t *testing.T) {
	t.Parallel()
	missing := cell{5, 2}
	cells, dilations, truth := crossing(missing)
	dilations[3] *= 10
	if got := math.Exp(newEffects(nil, cells, dilations).at(missing)); math.Abs(got/truth(missing)-1) > 0.05 {
		t.Errorf("%v, want %v", got, truth(missing))
	}
}

// A job that was never measured is taken for one of its family, drawn towards the average
// of both by a quarter of what sets them apart, and is known less well than one that was.
func TestCrossedEffectsTakeAnUnknownJobForOneOfItsFamily(t *testing.T) {
	t.Parallel()
	families := []string{"slow", "slow", "slow", "fast", "fast", "fast"}
	var cells []cell
	var dilations []float64
	for job := range 5 {
		for other := range 5 {
			cells = append(cells, cell{job, other})
			dilations = append(dilations, map[string]float64{"slow": 3, "fast": 1.2}[families[job]])
		}
	}
	e := newEffects(families, cells, dilations)
	if got := math.Exp(e.at(cell{5, 0})); math.Abs(got-1.2) > 0.1 {
		t.Errorf("%v, want near to what its family is dilated by, 1.2", got)
	}
	if unknown, known := e.deviation(cell{5, 0}), e.deviation(cell{4, 0}); unknown <= known {
		t.Errorf("standard deviations %v of the unknown job and %v of a known one", unknown, known)
	}
}

func TestCrossedEffectsNeedSomeDilations(t *testing.T) {
	t.Parallel()
	cells, dilations, _ := crossing(cell{})
	if newEffects(nil, cells[:fewestEffects-1], dilations[:fewestEffects-1]) != nil {
		t.Error("effects of too few")
	}
	for i := range dilations {
		dilations[i] = MinDilation // as if company made them faster
	}
	if got := newEffects(nil, cells, dilations).at(cell{0, 1}); math.Abs(got) > 1e-6 {
		t.Errorf("the logarithm of a dilation is %v, want 0", got) // rounding of a large mean
	}
}
