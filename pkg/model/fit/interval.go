package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// mostJoint is the largest number of unknowns whose covariance is computed as a whole, in a second
// or two. Beyond it the information of one job's sensitivities, or pressures, about another's is
// left out, and intervals are a little too narrow.
const mostJoint = 1200

// leastFreedom is how many observations there must be beyond those that the
// unknowns take up for the noise to be known.
const leastFreedom = 2

// manyTerms is from how many terms on a sparse vector is multiplied as a full one.
const manyTerms = 32

// mostLeverage bounds how much of an observation its own prediction may be made
// of, where residuals are divided by the rest.
const mostLeverage = 0.99

// leastMean is from how large an average job on it has a direction.
const leastMean = 1e-12

// term is one entry of a sparse vector over the unknowns, see [factors.place].
type term struct {
	at    int
	value float64
}

// along returns the product of a sparse vector and a full one.
func along(g []term, x []float64) float64 {
	total := 0.0
	for _, t := range g {
		total += t.value * x[t.at]
	}
	return total
}

// place returns where a job's sensitivities, and then the logarithm of its
// baseline, stand among the unknowns, and where its pressures do.
func (f *factors) place(job int) (own, theirs int) {
	own = job * (f.resources + 1)
	if f.symmetric() {
		return own, own
	}
	return own, len(f.baseline)*(f.resources+1) + job*f.resources
}

// gradient returns the derivatives of a member's dilation by each unknown. In pairs, and to first
// order, it is exact; the dilation, which includes the effect of weights, scales it.
func (v rival) gradient(members []int, member int, dilation float64) []term {
	if len(members) > 2 && !isFirstOrder(v.predictor) {
		return v.differences(members, member, dilation)
	}
	m, job := v.resources, members[member]
	own := v.sensitivityOf(job)
	others := othersOf(members, member)
	load := make([]float64, m)
	for _, c := range others {
		floats.AddScaled(load, float64(c.copies), v.pressureOf(c.job))
	}
	gain := 1.0
	if first := floats.Dot(own, load); first > 0 {
		gain = (dilation - 1) / first
	}
	terms := make([]term, 0, m*(1+len(others))+1)
	at, _ := v.place(job)
	for i, x := range load {
		terms = append(terms, term{at + i, gain * x})
	}
	for _, c := range others {
		_, at := v.place(c.job)
		for i, s := range own {
			terms = append(terms, term{at + i, gain * s * float64(c.copies)})
		}
	}
	return terms
}

// finite is the relative step of a finite difference, and leastStep the smallest one.
const finite, leastStep = 1e-5, 1e-7

// differences returns the gradient by finite differences, of all members' unknowns.
func (v rival) differences(members []int, member int, dilation float64) []term {
	sensitivity, pressure := v.of(members)
	for a := range members {
		sensitivity[a], pressure[a] = slices.Clone(sensitivity[a]), slices.Clone(pressure[a])
	}
	dilations := make([]float64, len(members))
	v.predictor.Dilations(sensitivity, pressure, dilations)
	base, gain := dilations[member], 1.0
	if base > 1 {
		gain = (dilation - 1) / (base - 1)
	}
	var terms []term
	// slope adds how the dilation changes with one value of a job, by which all its
	// copies have it.
	slope := func(at, job, resource int, sides ...[][]float64) {
		step := 0.0
		shift := func(by float64) {
			for _, side := range sides {
				for a, other := range members {
					if other == job {
						side[a][resource] += by
					}
				}
			}
		}
		for _, side := range sides {
			step = max(leastStep, finite*side[slices.Index(members, job)][resource])
		}
		shift(step)
		v.predictor.Dilations(sensitivity, pressure, dilations)
		shift(-step)
		if change := dilations[member] - base; change != 0 {
			terms = append(terms, term{at, gain * change / step})
		}
	}
	for _, c := range slices.Concat([]company{{job: members[member]}}, othersOf(members, member)) {
		if c.copies > 0 && c.job == members[member] {
			continue // a copy of it, which it begins with
		}
		own, theirs := v.place(c.job)
		for i := range v.resources {
			if v.symmetric() {
				slope(own+i, c.job, i, sensitivity, pressure)
				continue
			}
			slope(own+i, c.job, i, sensitivity)
			slope(theirs+i, c.job, i, pressure)
		}
	}
	return terms
}

// equation is an observation, linearized at the fit: a sample, or the logarithm
// of a stated alone time.
type equation struct {
	terms    []term  // how its prediction changes with the unknowns
	weight   float64 // trust included
	residual float64 // times √weight it is relative
	leverage float64 // the share of it in its own prediction
	stretch  float64 // its influence over that of its weight, see [influence.stretch]
}

// covariance holds the covariance of the unknowns' errors. The inverse of the information is joint,
// or else in blocks: of each job's own unknowns, then of each job's pressures.
type covariance struct {
	m, own    int // resources, and own unknowns of all jobs
	equations []equation
	pull      []float64 // per unknown, the information of the assumptions about it
	released  []equation
	joint     *mat.SymDense
	blocks    []*mat.SymDense

	noise   float64 // standard deviation of the relative error
	freedom float64 // degrees of freedom of the noise
	scale   float64 // the variance that turns the inverse information into a covariance
}

func covarianceOf(a *alternation) *covariance {
	c := &covariance{m: a.resources, own: len(a.jobs) * (a.resources + 1)}
	c.assume(a)
	if a.baselines {
		stretch := influenceOf(a.robustWeight).stretch()
		for j := range a.jobs {
			own, _ := a.place(j)
			c.equations = append(c.equations, equation{
				terms: []term{{own + c.m, 1}}, weight: a.stated[j], residual: -math.Log(a.baseline[j]), stretch: stretch,
			})
		}
	}
	stretches := a.stretches()
	for o, s := range a.samples {
		c.equations = append(c.equations, equation{
			terms: a.sampleGradient(o), weight: a.trust[o] * s.weight, residual: s.dilation - a.predicted(o), stretch: stretches[s.job],
		})
	}
	c.invert()
	c.estimateNoise(a)
	return c
}

// sampleGradient returns the derivatives of an observation by each unknown.
func (a *alternation) sampleGradient(o int) []term {
	s := &a.samples[o]
	baseline, predicted := a.baseline[s.job], a.predicted(o)
	terms := rival{a.factors, a.predictor}.gradient(a.members[s.run], s.member, predicted/baseline)
	for i := range terms {
		terms[i].value *= baseline
	}
	if a.baselines {
		at, _ := a.place(s.job)
		terms = append(terms, term{at + a.resources, predicted})
	}
	return terms
}

// assume sets the information in the pull.
func (c *covariance) assume(a *alternation) {
	size := c.own
	if !a.symmetric() {
		size += len(a.jobs) * c.m
	}
	c.pull = make([]float64, size)
	for j := range a.jobs {
		own, theirs := a.place(j)
		for i := range c.m {
			c.pull[own+i], c.pull[theirs+i] = a.unit*a.strength(j), a.unit*a.strength(j)
		}
		if !a.baselines {
			c.pull[own+c.m] = 1 // it is held, and nothing depends on it
		}
	}
	a.average(&a.own, a.sensitivityOf, a.suffersAtAll)
	a.average(&a.theirs, a.pressureOf, a.inflictsAtAll)
	var own, theirs []pulled
	for j := range a.jobs {
		if a.belief(j) != nil {
			continue
		}
		ownAt, theirsAt := a.place(j)
		suffered, inflicted := len(a.suffers[j]), len(a.inflicts[j])
		if a.symmetric() {
			suffered += inflicted
		}
		own = append(own, pulled{ownAt, a.unit * a.strength(j), a.sensitivityOf(j), suffered})
		theirs = append(theirs, pulled{theirsAt, a.unit * a.strength(j), a.pressureOf(j), inflicted})
	}
	c.release(own, a.own, a.pull)
	if !a.symmetric() {
		c.release(theirs, a.theirs, a.pull)
	}
}

// pulled is a job's half of the model that is pulled towards the average job.
type pulled struct {
	at           int // place of its first unknown
	strength     float64
	values       []float64
	observations int
}

// release removes from the information of a side's pull the directions that it does not hold. The
// average job is scaled to each job's own size ([side.typical]), so along it the pull is the weaker
// the more was observed; and it is the average of these jobs, so nothing pulls at their common
// part.
func (c *covariance) release(jobs []pulled, s side, pull float64) {
	if floats.Max(s.mean) < leastMean {
		return
	}
	for d, direction := range basisFrom(s.mean) {
		common, total := equation{}, 0.0
		for _, j := range jobs {
			n := float64(j.observations)
			held, scale := j.strength, s.scale(j.values, j.observations, pull)
			if d == 0 { // along the average job
				held, scale = j.strength*pull/(pull+n), 1
				c.released = append(c.released, equation{weight: held - j.strength, terms: j.along(direction, 1)})
			}
			common.terms = append(common.terms, j.along(direction, held*scale)...)
			total += held * scale * scale
		}
		if c.whole() && total > 0 {
			common.weight = -1 / total
			c.released = append(c.released, common)
		}
	}
}

// along returns the terms of a direction of the job's values, times a factor.
func (j pulled) along(direction []float64, factor float64) []term {
	terms := make([]term, len(direction))
	for i, v := range direction {
		terms[i] = term{j.at + i, factor * v}
	}
	return terms
}

// basisFrom returns orthogonal directions of length 1, the first that of a vector.
func basisFrom(v []float64) [][]float64 {
	var qr mat.QR
	qr.Factorize(mat.NewDense(len(v), 1, slices.Clone(v)))
	var q mat.Dense
	qr.QTo(&q)
	directions := make([][]float64, len(v))
	for d := range directions {
		directions[d] = mat.Col(nil, d, &q)
	}
	return directions
}

// whole reports whether the covariance of all unknowns is computed together.
func (c *covariance) whole() bool { return len(c.pull) <= mostJoint }

// block returns in which block of a large covariance an unknown stands, and
// where.
func (c *covariance) block(at int) (block, place int) {
	if at < c.own {
		return at / (c.m + 1), at % (c.m + 1)
	}
	return c.own/(c.m+1) + (at-c.own)/c.m, (at - c.own) % c.m
}

// invert inverts the information. The pull makes the information positive definite.
func (c *covariance) invert() {
	if size := len(c.pull); c.whole() {
		c.joint = mat.NewSymDense(size, nil)
	} else {
		for at := 0; at < size; {
			n := c.m
			if at < c.own {
				n++
			}
			c.blocks = append(c.blocks, mat.NewSymDense(n, nil))
			at += n
		}
	}
	for _, equations := range [][]equation{c.equations, c.released} {
		for _, e := range equations {
			for _, u := range e.terms {
				for _, v := range e.terms {
					if u.at <= v.at {
						c.add(u.at, v.at, e.weight*u.value*v.value)
					}
				}
			}
		}
	}
	for x, v := range c.pull {
		c.add(x, x, v)
	}
	if c.joint != nil {
		c.joint = inverse(c.joint)
	}
	for b, block := range c.blocks {
		c.blocks[b] = inverse(block)
	}
}

// add adds to a place of the symmetric matrix; each pair is added once.
func (c *covariance) add(row, column int, value float64) {
	into := c.joint
	if into == nil {
		b, r := c.block(row)
		other, k := c.block(column)
		if b != other {
			return
		}
		into, row, column = c.blocks[b], r, k
	}
	into.SetSym(row, column, into.At(row, column)+value)
}

// inverse returns the inverse of a positive definite matrix, made so by a
// diagonal of the size of rounding where it only just is not.
func inverse(a *mat.SymDense) *mat.SymDense {
	n := a.SymmetricDim()
	var factor mat.Cholesky
	largest := 0.0
	for i := range n {
		largest = max(largest, a.At(i, i))
	}
	for ridge := 1e-14; !factor.Factorize(a); ridge *= 10 {
		for i := range n {
			a.SetSym(i, i, a.At(i, i)+ridge*max(largest, math.SmallestNonzeroFloat32))
		}
	}
	result := mat.NewSymDense(n, nil)
	// The error is a warning that the matrix is ill-conditioned: the pull is weak
	// by intent, and then the variances are large, as they should be.
	_ = factor.InverseTo(result)
	return result
}

// estimateNoise sets the leverages, and the noise from the residuals e with their influence ψ(e) =
// trust·e: the variance of an M-estimate is E[ψ²]/E[ψ']² times the inverse of the plain information
// (Huber, Robust Statistics, 1981, §7.6), and ours is weighted by the trust. The unknowns cost
// degrees of freedom, in the proportion of the information that comes from the data.
func (c *covariance) estimateNoise(a *alternation) {
	c.freedom = float64(len(a.samples)) // less those of the unknowns
	for i := range c.equations {
		e := &c.equations[i]
		leverage := e.weight * along(e.terms, c.times(e.terms))
		c.freedom -= leverage
		e.leverage = min(mostLeverage, leverage)
	}
	if a.baselines {
		c.freedom += sum(a.stated)
	}
	psi := 0.0
	for o, trust := range a.trust {
		e := trust * a.relativeError(o)
		psi += e * e
	}
	variance := psi / max(1, c.freedom)
	trust, slope := influenceOf(a.trust).means()
	c.scale = max(leastNoise*leastNoise, variance*trust/(slope*slope))
	c.noise = max(leastNoise, math.Sqrt(variance)/slope)
}

// influence sums, over a number of observations, the trust, 1/(1 + u²), and the
// derivative of trust·u, (1 − u²)/(1 + u²)².
type influence struct{ count, trust, slope float64 }

func influenceOf(trusts []float64) influence {
	var f influence
	for _, t := range trusts {
		f.add(t)
	}
	return f
}

func (f *influence) add(trust float64) {
	f.count++
	f.trust += trust
	f.slope += trust * (2*trust - 1)
}

// means returns the mean trust and derivative.
func (f influence) means() (trust, slope float64) {
	n := max(1, f.count)
	return f.trust / n, max(0.1, f.slope/n)
}

// stretch returns by which factor such observations move the fit more than their
// weights say, because it trusts the nearer ones more.
func (f influence) stretch() float64 {
	trust, slope := f.means()
	return trust / slope
}

// lent is how many observations of the average job those of one job are taken
// together with where their stretch is estimated.
const lent = 2

// stretches returns the stretch of each job's dilations: that of a job noisier
// than others is larger, because more of its errors are where trust falls off.
func (a *alternation) stretches() []float64 {
	all := influenceOf(a.trust)
	trust, slope := all.means()
	stretches := make([]float64, len(a.jobs))
	for j := range a.jobs {
		own := influence{count: lent, trust: lent * trust, slope: lent * slope}
		for _, o := range a.suffers[j] {
			own.add(a.trust[o])
		}
		stretches[j] = own.stretch()
	}
	return stretches
}

// times returns the product with a sparse vector.
func (c *covariance) times(g []term) []float64 {
	product := make([]float64, len(c.pull))
	if c.joint != nil && len(g) > manyTerms {
		full := mat.NewVecDense(len(product), nil)
		for _, t := range g {
			full.SetVec(t.at, full.AtVec(t.at)+t.value)
		}
		mat.NewVecDense(len(product), product).MulVec(c.joint, full)
		return product
	}
	for _, t := range g {
		if c.joint != nil {
			for i := range product {
				product[i] += c.joint.At(i, t.at) * t.value
			}
			continue
		}
		b, place := c.block(t.at)
		for i := range c.blocks[b].SymmetricDim() {
			product[t.at-place+i] += c.blocks[b].At(i, place) * t.value
		}
	}
	return product
}

// margin returns the half width of the interval of a function of the unknowns at that confidence,
// or why it is not known. Reach is the covariance times its gradient, plain the gradient times
// reach, and models the variance of not knowing the model.
//
// It is the larger of two, as recommended by Angrist and Pischke, Mostly Harmless Econometrics,
// 2009, §8.1. One takes the noise to be the same everywhere. The other takes it from the residuals
// of just those observations that matter to the function, divided by the part that leverage leaves
// of them (HC2 of MacKinnon and White, Journal of Econometrics 29, 1985), with the degrees of
// freedom of [covariance.worth]. Assumptions have the variance that the pull gives them.
func (c *covariance) margin(plain float64, reach []float64, models, confidence float64) (margin float64, unknown string) {
	if c.freedom < leastFreedom {
		return 0, "there are too few observations to tell how noisy they are"
	}
	if plain == 0 {
		return 0, "it is at its bound, where the runs tell nothing of how far it may be off"
	}
	assumed := 0.0
	for x, v := range c.pull {
		assumed += v * reach[x] * reach[x]
	}
	for _, e := range c.released {
		r := along(e.terms, reach)
		assumed += e.weight * r * r
	}
	if assumed > plain/2 {
		return 0, "the runs tell less of it than is assumed"
	}
	variance := c.scale*assumed + models
	share := make([]float64, len(c.equations))
	for i, e := range c.equations {
		r := along(e.terms, reach)
		moved := e.weight * r * e.stretch * e.residual
		variance += moved * moved / (1 - e.leverage)
		share[i] = e.weight * r * r
	}
	freedom := min(c.freedom, max(1, c.worth(share)))
	return max(studentQuantile(c.freedom, confidence)*math.Sqrt(c.scale*plain+models), studentQuantile(freedom, confidence)*math.Sqrt(variance)), ""
}

// studentQuantile returns how many standard deviations a two-sided interval
// extends.
func studentQuantile(freedom, confidence float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
}
