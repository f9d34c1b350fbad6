package fit

import "math/rand/v2"

// rival is another model that predicts unseen runs as well as the chosen one. The runs do not
// decide which is true, so that the disagreement of rivals is part of the answer's uncertainty. One
// with a weaker pull also shows the part of the answer that is due to the pull.
type rival struct {
	*factors
	predictor Predictor
}

// equals returns the places of the candidates, other than the chosen one, that are as
// good as the best, and as a correction by crossed effects, if there is one. One with
// more numbers for each job must be better than the chosen one, or it differs by its own
// noise only.
func (c choice) equals(correction *chosenCorrection) []int {
	limit, best := asGood(c.candidates), c.best()
	if correction != nil && correction.share > 0 {
		limit = min(limit, correction.error*(1+thrift)+leastGain)
	}
	var equals []int
	for i, other := range c.candidates {
		larger := other.perJob() > best.perJob()
		if i != c.chosen && other.Error <= limit && !(larger && other.Error >= best.Error) {
			equals = append(equals, i)
		}
	}
	return equals
}

// rivalsOf fits the candidates that are as good as the chosen one.
func rivalsOf(p *problem, c choice, correction *chosenCorrection, o Options, random *rand.Rand) []rival {
	var rivals []rival
	for _, i := range c.equals(correction) {
		of := c.candidates[i]
		f := train(p, of, o, brief(), random)
		if len(o.Resources) == 0 {
			f.arrange(of.settings.scaleFree())
		}
		rivals = append(rivals, rival{f, of.settings.predictor})
	}
	return rivals
}

// disagreement returns the mean squared distance of a value from those of the models that predict
// equally well, of returning a rival's value: the variance of not knowing the model (Buckland,
// Burnham and Augustin, Biometrics 53, 1997, with equal weights).
func disagreement(rivals []rival, value float64, of func(rival) float64) float64 {
	total := 0.0
	for _, v := range rivals {
		d := of(v) - value
		total += d * d
	}
	return total / float64(len(rivals)+1)
}

// comparable returns the rivals whose resources are those of the result: named
// ones, or as with it a single hidden one.
func (r *Result) comparable() []rival {
	var same []rival
	for _, v := range r.rivals {
		if !r.Hidden || v.resources == 1 {
			same = append(same, v)
		}
	}
	return same
}

// meanDilation returns that of pairs of a job with each other one: of its own
// dilations, if which is 0, or of the others', if it is 1.
func (v rival) meanDilation(job, which int) float64 {
	total, others := 0.0, 0
	for other := range v.baseline {
		if other != job {
			total += v.dilations([]int{job, other}, v.predictor)[which]
			others++
		}
	}
	return total / float64(others)
}
