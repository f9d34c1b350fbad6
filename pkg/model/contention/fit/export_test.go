package fit

import (
	"math"
	"math/rand/v2"
)

// CrossValidateAlone returns the mean absolute relative errors of [CrossValidate] for our
// model with its correction and, on the same folds, for the vectors alone.
func CrossValidateAlone(runs []Run, options Options) (corrected, alone float64, err error) {
	p, base, o, err := prepare(runs, options)
	if err != nil {
		return 0, 0, err
	}
	p = newProblem(p.table, informative(p))
	random := rand.New(rand.NewPCG(o.Seed, 1))
	for _, fold := range foldsOf(p, o.Folds, random) {
		choice := choose(fold.train, base, o, random)
		c := choice.best()
		model := rival{train(fold.train, c, o, full(), random), c.settings.predictor}
		correction := chooseCorrection(fold.train, choice, o).fit(fold.train, model.factors, o, apart(o))
		for _, s := range fold.test.samples {
			members, baseline := p.members[s.run], model.baseline[s.job]
			n := float64(len(p.samples))
			corrected += math.Abs(baseline*correction.dilation(model, members, s.member)/s.dilation-1) / n
			alone += math.Abs(baseline*model.dilations(members, model.predictor)[s.member]/s.dilation-1) / n
		}
	}
	return corrected, alone, nil
}
