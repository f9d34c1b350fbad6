package inflation

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// regression is a weighted least squares fit with the covariance of its coefficients, robust to what successive slots have in common.
type regression struct {
	coefficients []float64
	covariance   *mat.SymDense
	freedom      float64
	residuals    []float64
}

// singular is the condition number, of columns of one length, from which on coefficients cannot be told apart.
const singular = 1e8

// regress fits y by columns, given the weights and the slots of the rows. It reports whether the columns can be told apart.
func regress(columns [][]float64, y, weights []float64, slot []int, slots int) (*regression, bool) {
	p := len(columns)
	if p == 0 || len(y) <= p {
		return nil, false
	}
	scale := make([]float64, p)
	for j, c := range columns {
		if scale[j] = math.Sqrt(dot(c, c, weights)); !(scale[j] > 0) || math.IsInf(scale[j], 0) {
			return nil, false
		}
	}
	normal, right := mat.NewSymDense(p, nil), mat.NewVecDense(p, nil)
	for j := range columns {
		for k := j; k < p; k++ {
			normal.SetSym(j, k, dot(columns[j], columns[k], weights)/scale[j]/scale[k])
		}
		right.SetVec(j, dot(columns[j], y, weights)/scale[j])
	}
	var factors mat.Cholesky
	if !factors.Factorize(normal) || !(factors.Cond() < singular) {
		return nil, false
	}
	var solution mat.VecDense
	var inverse mat.SymDense
	if factors.SolveVecTo(&solution, right) != nil || factors.InverseTo(&inverse) != nil {
		return nil, false
	}
	r := &regression{coefficients: make([]float64, p), residuals: make([]float64, len(y))}
	for j := range columns {
		r.coefficients[j] = solution.AtVec(j) / scale[j]
	}
	for i := range y {
		r.residuals[i] = y[i]
		for j := range columns {
			r.residuals[i] -= r.coefficients[j] * columns[j][i]
		}
	}
	scores := make([][]float64, p) // sums of a slot
	for j := range columns {
		scores[j] = make([]float64, slots)
		for i, e := range r.residuals {
			scores[j][slot[i]] += weights[i] * columns[j][i] / scale[j] * e
		}
	}
	var meat *mat.SymDense
	meat, r.freedom = longRun(scores, float64(len(y))/float64(len(y)-p))
	var half, full mat.Dense
	half.Mul(&inverse, meat)
	full.Mul(&half, &inverse)
	r.covariance = mat.NewSymDense(p, nil)
	for j := range columns {
		for k := j; k < p; k++ {
			r.covariance.SetSym(j, k, full.At(j, k)/scale[j]/scale[k])
		}
	}
	return r, true
}

// longRun returns the covariance of the sums of series, whose means are 0, by the equally weighted cosine estimator, times a factor, and its
// degrees of freedom: Lazarus, Lewis, Stock and Watson (2018), Eqs. (3) and (4).
func longRun(series [][]float64, factor float64) (*mat.SymDense, float64) {
	slots := len(series[0])
	freedom := max(1, math.Floor(0.4*math.Pow(float64(slots), 2./3)))
	sums := mat.NewSymDense(len(series), nil)
	projected := make([]float64, len(series))
	for f := 1.0; f <= freedom; f++ {
		for j, z := range series {
			projected[j] = 0
			for t, v := range z {
				projected[j] += v * math.Cos(math.Pi*f*(float64(t)+0.5)/float64(slots))
			}
		}
		for j := range series {
			for k := j; k < len(series); k++ {
				sums.SetSym(j, k, sums.At(j, k)+2*factor/freedom*projected[j]*projected[k])
			}
		}
	}
	return sums, freedom
}

// margin returns the half width of the interval of a coefficient of which others are tested too.
func (r *regression) margin(of int, confidence float64, tested int) float64 {
	return r.spread(of) * student(1-(1-confidence)/float64(tested), r.freedom)
}

// spread returns the standard error of a coefficient.
func (r *regression) spread(of int) float64 { return math.Sqrt(max(0, r.covariance.At(of, of))) }

// student returns the quantile that bounds the middle part of Student's t.
func student(confidence, freedom float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile((1 + confidence) / 2)
}

func dot(a, b, weights []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += weights[i] * a[i] * b[i]
	}
	return sum
}
