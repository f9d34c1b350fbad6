package fit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// With one cell the regression is a shrunk measurement: the covariance over itself
// plus the noise. Of another cell it is the covariance of the two.
func TestKrigingShrinksASingleMeasurement(t *testing.T) {
	t.Parallel()
	likeness := mat.NewSymDense(3, []float64{1, 0.5, 0, 0.5, 1, 0, 0, 0, 1})
	const noise = 0.25
	k := newKriging(kinship{likeness: likeness}, nil, []cell{{0, 2}}, []float64{1}, []float64{0.01}, noise)
	// An error of 0.0149 standard deviations of the least spread, 1.4826 times
	// itself, is distrusted by its square over that of Cauchy's width.
	trusted := k.at(cell{0, 2}, 1) / 0.01
	if want := 1 / (1 + noise); math.Abs(trusted/want-1) > 0.03 {
		t.Errorf("the measured cell: %v of the measurement, want about %v", trusted, want)
	}
	for _, test := range []struct {
		cell
		want float64 // over that of the measured cell
	}{
		{cell{1, 2}, 0.6*0.5 + 0.2*0.5 + 0.2}, // half alike beside the same
		{cell{2, 2}, 0.2},                     // unlike, beside the same
		{cell{2, 0}, 0},                       // nothing in common
	} {
		if got := k.at(test.cell, 1) / k.at(cell{0, 2}, 1); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v: %v of the measured cell, want %v", test.cell, got, test.want)
		}
	}
	if less, more := k.at(cell{0, 2}, 0.1), k.at(cell{0, 2}, 2); less >= more/4 {
		t.Errorf("%v where hardly dilated, %v where much", less, more)
	}
}

// Half of the variance is that of pairs, half that of the families: of two unlike jobs
// of one family beside the same other job, ½·0.2 + ½.
func TestKrigingSharesWhatFamiliesHaveInCommon(t *testing.T) {
	t.Parallel()
	likeness := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	alike := kinship{likeness, []string{"a", "a", "b"}}
	for _, test := range []struct {
		a, b cell
		want float64
	}{
		{cell{0, 2}, cell{0, 2}, 1},
		{cell{0, 2}, cell{1, 2}, 0.5*0.2 + 0.5},
		{cell{0, 1}, cell{1, 0}, 0.5},
		{cell{0, 2}, cell{2, 0}, 0},
		{cell{0, 2}, cell{0, 1}, 0.5 * 0.2},
	} {
		if got := alike.alike(test.a, test.b); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", test.a, test.b, got, test.want)
		}
	}
}

func TestKrigingDistrustsAnOutlier(t *testing.T) {
	t.Parallel()
	likeness := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	var cells []cell
	var predicted, unexplained []float64
	for i := range 9 {
		cells = append(cells, cell{0, 1})
		predicted = append(predicted, 1)
		unexplained = append(unexplained, 0.1+0.01*float64(i%3))
	}
	unexplained[0] = 3
	// The mean of the others is 0.1113, that of all 0.43.
	if got := newKriging(kinship{likeness: likeness}, nil, cells, predicted, unexplained, 0.05).at(cell{0, 1}, 1); math.Abs(got-0.11) > 0.02 {
		t.Errorf("%v, want about 0.11", got)
	}
}
