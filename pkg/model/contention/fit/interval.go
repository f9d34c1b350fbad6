package fit

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// mostJoint is the largest number of unknowns whose covariance is computed as a
// whole, in a second or two. Beyond it what one job's sensitivities, or
// pressures, tell of another's is left out, and intervals are a little too
// narrow.
const mostJoint = 1200

// term is one entry of a sparse vector over the unknowns: all sensitivities job
// by job, then all pressures.
type term struct {
	at    int
	value float64
}

// information is the second derivative of the loss, linearized, at the fit: the
// inverse of a covariance but for the variance of the noise.
type information struct {
	*alternation
	size   int
	block  int             // unknowns per block where it is not joint
	joint  *mat.SymDense   // nil where it is too large
	blocks []*mat.SymDense // then one per job and side
}

func informationOf(a *alternation) *information {
	m := a.resources
	in := &information{alternation: a, block: m}
	in.size, _ = a.unknowns()
	if in.size <= mostJoint {
		in.joint = mat.NewSymDense(in.size, nil)
	} else {
		in.blocks = make([]*mat.SymDense, in.size/m)
		for b := range in.blocks {
			in.blocks[b] = mat.NewSymDense(m, nil)
		}
	}
	for o, s := range a.samples {
		g := a.gradient(a.members[s.run], s.member, a.predicted(o))
		weight := a.trust[o] * s.weight
		for _, u := range g {
			for _, v := range g {
				if u.at <= v.at {
					in.add(u.at, v.at, weight*u.value*v.value)
				}
			}
		}
	}
	for x := range in.size {
		in.add(x, x, a.unit*a.strength(x/m%len(a.jobs)))
	}
	return in
}

// add adds to a place of the symmetric matrix; each pair is added once.
func (in *information) add(row, column int, value float64) {
	if in.joint != nil {
		in.joint.SetSym(row, column, in.joint.At(row, column)+value)
		return
	}
	if row/in.block == column/in.block {
		b := in.blocks[row/in.block]
		r, c := row%in.block, column%in.block
		b.SetSym(r, c, b.At(r, c)+value)
	}
}

// gradient returns how a member's dilation changes with each unknown, to first
// order in the contention; other predictors scale it.
func (f *factors) gradient(members []int, member int, dilation float64) []term {
	m, job := f.resources, members[member]
	_, half := f.unknowns()
	own := f.sensitivityOf(job)
	others := othersOf(members, member)
	load := make([]float64, m)
	for _, c := range others {
		floats.AddScaled(load, float64(c.copies), f.pressureOf(c.job))
	}
	gain := 1.0
	if first := floats.Dot(own, load); first > 0 {
		gain = (dilation - 1) / first
	}
	terms := make([]term, 0, m*(1+len(others)))
	for i, x := range load {
		terms = append(terms, term{job*m + i, gain * x})
	}
	for _, c := range others {
		for i, s := range own {
			terms = append(terms, term{half + c.job*m + i, gain * s * float64(c.copies)})
		}
	}
	return terms
}

// covariance is that of the unknowns.
type covariance struct {
	size    int
	block   int
	joint   *mat.SymDense
	blocks  []*mat.SymDense
	noise   float64 // standard deviation of the relative error
	freedom float64 // degrees of freedom of the noise
	scale   float64 // the variance that turns the inverse information into a covariance
}

// covariance inverts the information and estimates the noise. The pull makes
// every block positive definite.
func (in *information) covariance() *covariance {
	c := &covariance{size: in.size, block: in.block, scale: 1}
	if in.joint != nil {
		c.joint = inverse(in.joint)
	} else {
		c.blocks = make([]*mat.SymDense, len(in.blocks))
		for b, block := range in.blocks {
			c.blocks[b] = inverse(block)
		}
	}
	in.estimateNoise(c)
	return c
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

// estimateNoise sets the noise from the residuals e with their influence
// ψ(e) = trust·e: the variance of an M-estimate is E[ψ²]/E[ψ']² times the
// inverse of the plain information (Huber, Robust Statistics, 1981, §7.6), and
// ours is weighted by the trust. The unknowns cost degrees of freedom, as many
// as the information that comes from the data.
func (in *information) estimateNoise(c *covariance) {
	n := float64(len(in.samples))
	spent, psi, slope, trust := 0.0, 0.0, 0.0, 0.0
	spread := in.spreadOfErrors()
	for o, s := range in.samples {
		g := in.gradient(in.members[s.run], s.member, in.predicted(o))
		spent += in.trust[o] * s.weight * c.variance(g)
		e := in.relativeError(o)
		u := e / (cauchyWidth * spread)
		psi += in.trust[o] * in.trust[o] * e * e
		slope += (1 - u*u) / ((1 + u*u) * (1 + u*u))
		trust += in.trust[o]
	}
	c.freedom = max(1, n-spent)
	slope, trust = max(0.1, slope/n), trust/n
	c.scale = max(leastNoise*leastNoise, psi/c.freedom*trust/(slope*slope))
	c.noise = math.Sqrt(max(leastNoise*leastNoise, psi/c.freedom/(slope*slope)))
}

// times returns the product with a sparse vector.
func (c *covariance) times(g []term) []float64 {
	product := make([]float64, c.size)
	for _, t := range g {
		if c.joint != nil {
			for i := range product {
				product[i] += c.joint.At(i, t.at) * t.value
			}
			continue
		}
		b := c.blocks[t.at/c.block]
		first := t.at - t.at%c.block
		for i := range c.block {
			product[first+i] += b.At(i, t.at%c.block) * t.value
		}
	}
	return product
}

// variance returns gᵀCg, before scaling by the noise when that is not known.
func (c *covariance) variance(g []term) float64 {
	total := 0.0
	for _, u := range g {
		for _, v := range g {
			switch {
			case c.joint != nil:
				total += u.value * v.value * c.joint.At(u.at, v.at)
			case u.at/c.block == v.at/c.block:
				total += u.value * v.value * c.blocks[u.at/c.block].At(u.at%c.block, v.at%c.block)
			}
		}
	}
	return c.scale * max(0, total)
}

// deviation returns the standard deviation of a function with that gradient.
func (c *covariance) deviation(g []term) float64 { return math.Sqrt(c.variance(g)) }

// quantile returns how many standard deviations a two-sided interval extends.
func (c *covariance) quantile(confidence float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: c.freedom}.Quantile((1 + confidence) / 2)
}

// freedom is what hidden resources can do without changing a dilation: with any
// invertible E, s → sE and q → E⁻ᵀq; a rotation, where pressures are
// sensitivities. Its directions, made orthonormal, are taken out of the variance
// of single sensitivities and pressures.
type freedom struct {
	directions [][]float64
	products   [][]float64 // covariance times direction, made when first needed
}

func newFreedom(f *factors, hidden bool) *freedom {
	free := &freedom{}
	if !hidden {
		return free
	}
	m := f.resources
	count, half := f.unknowns()
	for a := range m {
		for b := range m {
			d := make([]float64, count)
			for x := 0; x < len(f.sensitivity); x += m {
				d[x+b] += f.sensitivity[x+a]
				d[half+x+a] -= f.pressure[x+b]
			}
			size := floats.Norm(d, 2)
			for _, e := range free.directions {
				floats.AddScaled(d, -floats.Dot(d, e), e)
			}
			if left := floats.Norm(d, 2); left > 1e-9*max(size, math.SmallestNonzeroFloat32) {
				floats.Scale(1/left, d)
				free.directions = append(free.directions, d)
			}
		}
	}
	return free
}

// deviation returns the standard deviation of one unknown, orthogonally to the
// freedom.
func (f *freedom) deviation(c *covariance, unknown int) float64 {
	if f.products == nil {
		for _, d := range f.directions {
			var terms []term
			for at, v := range d {
				if v != 0 {
					terms = append(terms, term{at, v})
				}
			}
			f.products = append(f.products, c.times(terms))
		}
	}
	variance := c.variance([]term{{unknown, 1}}) / c.scale
	for a, d := range f.directions {
		variance -= 2 * d[unknown] * f.products[a][unknown]
		for b, e := range f.directions {
			variance += d[unknown] * e[unknown] * floats.Dot(d, f.products[b])
		}
	}
	return math.Sqrt(c.scale * max(0, variance))
}
