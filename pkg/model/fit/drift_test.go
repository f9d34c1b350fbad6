package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The covariance is the sum over all numbers of the model, each with an error of the root mean
// square of its kind, of the products of its effects on the two cells: here by differences of the
// logarithms of dilations.
func TestDriftIsWhatVectorsThatAreOffDoToDilations(t *testing.T) {
	t.Parallel()
	const jobs, resources = 4, 3
	f := scatter(jobs, resources, false, rand.New(rand.NewPCG(1, 2)))
	logarithm := func(c cell) float64 {
		return math.Log(f.baseline[c.job] * f.dilations([]int{c.job, c.other}, FirstOrder{})[0])
	}
	// changes returns how the logarithm changes with each number.
	changes := func(c cell, fitted bool) []float64 {
		var all []float64
		const step = 1e-6
		for _, numbers := range [][]float64{f.sensitivity, f.pressure} {
			for x := range numbers {
				square := 0.0
				for y := x % resources; y < len(numbers); y += resources {
					square += numbers[y] * numbers[y] / jobs
				}
				was := numbers[x]
				numbers[x] = was + step
				above := logarithm(c)
				numbers[x] = was - step
				below := logarithm(c)
				numbers[x] = was
				all = append(all, math.Sqrt(square)*(above-below)/(2*step))
			}
		}
		for j := range jobs {
			if fitted && j == c.job {
				all = append(all, baselineOff)
				continue
			}
			all = append(all, 0)
		}
		return all
	}
	for _, fitted := range []bool{false, true} {
		if fitted {
			f.baseline[2] = 1.3
		}
		d := newDrift(f)
		for _, a := range []cell{{0, 1}, {2, 2}} {
			for _, b := range []cell{{0, 1}, {0, 3}, {3, 1}, {1, 0}, {2, 2}, {2, 1}, {3, 3}} {
				want := dot(changes(a, fitted), changes(b, fitted))
				if got := d.covariance(a, b, d.of(a), d.of(b)); math.Abs(got-want) > 1e-7 { // the differences' error
					t.Errorf("%v and %v, fitted alone times %t: %v, want %v", a, b, fitted, got, want)
				}
			}
		}
	}
}

// Scaling sensitivities up and pressures down changes no dilation, and no covariance.
func TestDriftDoesNotDependOnTheScaleOfHiddenResources(t *testing.T) {
	t.Parallel()
	f := scatter(3, 2, false, rand.New(rand.NewPCG(3, 4)))
	g := newFactors(3, 2, false)
	g.set(f)
	for x := range g.sensitivity {
		g.sensitivity[x] *= 7
		g.pressure[x] /= 7
	}
	d, e := newDrift(f), newDrift(g)
	a, b := cell{0, 1}, cell{0, 2}
	got, want := e.covariance(a, b, e.of(a), e.of(b)), d.covariance(a, b, d.of(a), d.of(b))
	if want == 0 || math.Abs(got/want-1) > 1e-12 { // rounding
		t.Errorf("%v, want %v", got, want)
	}
}

// A model that nothing dilates has no drift, rather than none that is a number.
func TestDriftOfVectorsOfZeroIsZero(t *testing.T) {
	t.Parallel()
	d := newDrift(newFactors(2, 1, false))
	c := cell{0, 1}
	if got := d.covariance(c, c, d.of(c), d.of(c)); got != 0 {
		t.Errorf("%v, want 0", got)
	}
	var none *drift
	if got := none.covariance(c, c, none.of(c), none.of(c)); got != 0 {
		t.Errorf("of exact vectors: %v, want 0", got)
	}
}
