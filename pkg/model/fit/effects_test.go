package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// crossing is a table of dilations whose logarithms of costs are sums of effects of six jobs,
// without the cell that was not measured.
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
	e := newEffects(nil, expectedVariances(), cells, dilations)
	if got := math.Exp(e.at(missing).log); math.Abs(got/truth(missing)-1) > 0.03 {
		t.Errorf("%v, want %v", got, truth(missing))
	}
	if off := e.at(missing).deviation; !(off > 0 && off < 0.2) {
		t.Errorf("a standard deviation of %v", off)
	}
}

func TestCrossedEffectsDistrustAnOutlier(t *testing.T) {
	t.Parallel()
	missing := cell{5, 2}
	cells, dilations, truth := crossing(missing)
	dilations[3] *= 10
	if got := math.Exp(newEffects(nil, expectedVariances(), cells, dilations).at(missing).log); math.Abs(got/truth(missing)-1) > 0.05 {
		t.Errorf("%v, want %v", got, truth(missing))
	}
}

// A job that was never measured is predicted as one of its family, drawn towards the average of
// both by a quarter of their difference, with a larger standard deviation than one that was.
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
	e := newEffects(families, expectedVariances(), cells, dilations)
	if got := math.Exp(e.at(cell{5, 0}).log); math.Abs(got-1.2) > 0.1 {
		t.Errorf("%v, want near to what its family is dilated by, 1.2", got)
	}
	if unknown, known := e.at(cell{5, 0}).deviation, e.at(cell{4, 0}).deviation; unknown <= known {
		t.Errorf("standard deviations %v of the unknown job and %v of a known one", unknown, known)
	}
}

func TestCrossedEffectsNeedSomeDilations(t *testing.T) {
	t.Parallel()
	cells, dilations, _ := crossing(cell{})
	if newEffects(nil, expectedVariances(), cells[:fewestEffects-1], dilations[:fewestEffects-1]) != nil {
		t.Error("effects of too few")
	}
	for i := range dilations {
		dilations[i] = MinDilation // as if company made them faster
	}
	if got := newEffects(nil, expectedVariances(), cells, dilations).at(cell{0, 1}).log; math.Abs(got) > 1e-6 {
		t.Errorf("the logarithm of a dilation is %v, want 0", got) // rounding of a large mean
	}
}

// Members of a family differ by nothing here, so that the variances say to take one for another.
func TestVariancesAreEstimatedFromTheCells(t *testing.T) {
	t.Parallel()
	families := []string{"slow", "slow", "slow", "fast", "fast", "fast"}
	var cells []cell
	var alike, unlike []float64
	for job := range 6 {
		for other := range 6 {
			cells = append(cells, cell{job, other})
			alike = append(alike, map[string]float64{"slow": 3, "fast": 1.2}[families[job]])
			unlike = append(unlike, 1+math.Exp(float64(job%3)-1))
		}
	}
	first, second := estimateVariances(families, cells, alike), estimateVariances(families, cells, unlike)
	if jobs, families := first.job/first.families, second.job/second.families; jobs > families/10 {
		t.Errorf("of jobs over that of two families: %v where they are alike, %v where they are not", jobs, families)
	}
	if got := estimateVariances(families, cells[:fewestEffects-1], alike[:fewestEffects-1]); got != expectedVariances() {
		t.Errorf("of too few: %+v", got)
	}
}

// Of the predictions near it none has a smaller expected relative error, by simulation.
func TestCrossedEffectsPredictTheLeastRelativeError(t *testing.T) {
	t.Parallel()
	var cells []cell
	var dilations []float64
	for other := range 10 {
		cells = append(cells, cell{0, other})
		dilations = append(dilations, 1+20*math.Exp(0.5*math.Sin(float64(other))))
	}
	e := newEffects(nil, expectedVariances(), cells, dilations)
	one := e.at(cell{1, 0})
	median := one.log + one.deviation*one.deviation // nearly all of the dilation is cost
	random := rand.New(rand.NewPCG(1, 2))
	total := map[float64]float64{}
	for range 20000 {
		truth := median + one.deviation*random.NormFloat64()
		for _, shift := range []float64{-0.3, 0, 0.3} {
			total[shift] += math.Abs(math.Exp(one.log+shift-truth) - 1)
		}
	}
	if total[0] >= total[-0.3] || total[0] >= total[0.3] {
		t.Errorf("errors %v with a deviation of %v", total, one.deviation)
	}
}
