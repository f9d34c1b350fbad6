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

// FactorizedPairs returns the dilations of pairs that a factorization of dilations says.
func FactorizedPairs(pairs [][]float64, resources int) [][]float64 {
	f := factorize(pairs, newFactors(len(pairs), 1, false), resources)
	found := make([][]float64, len(pairs))
	for j := range pairs {
		for k := range pairs {
			found[j] = append(found[j], 1+dot(f.sensitivityOf(j), f.pressureOf(k)))
		}
	}
	return found
}

// CorrectAlone makes the result one whose correction multiplies the alone time of a job by a
// factor.
func (r *Result) CorrectAlone(job int, factor float64) {
	other := newFactors(len(r.Jobs), r.factors.resources, false)
	other.set(r.factors)
	other.baseline[job] *= factor
	r.correction = &correction{models: []rival{{other, r.predictor}}}
}
