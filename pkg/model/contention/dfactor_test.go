package contention_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/test/oracle"
)

// Section 5.2 and Fig. 7(a): four copies of each MapReduce job.
func TestCopiesReproduceThePaper(t *testing.T) {
	for _, test := range []struct {
		name             string
		p, neutral, want float64
	}{{"Sort", 0.9, 56, 193.8}, {"Grep", 0.5, 95, 237.5}, {"Pi", 0.5, 90, 225}} {
		if got := test.neutral * oracle.DilationOfCopies(4, test.p, 1-test.p); math.Abs(got-test.want) > 0.05 {
			t.Errorf("4 × %s take %.2f s, the paper's formula gives %.1f", test.name, got, test.want)
		}
	}
}

func TestBothRootsExplainTheCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.IntRange(2, 50).Draw(t, "n")
		dilation := oracle.DilationOfCopies(n, p, 1-p)
		low, high, err := contention.LoadingOfCopies(n, dilation)
		if err != nil && !errors.Is(err, contention.ErrNoRoot) { // by rounding, at p = ½ and 0
			t.Fatal(err)
		}
		for _, root := range []float64{low, high} {
			if got := oracle.DilationOfCopies(n, root, 1-root); math.Abs(got-dilation) > 1e-12*dilation {
				t.Fatalf("root %v gives %v, not %v", root, got, dilation)
			}
		}
		if math.Abs(low+high-1) > 1e-15 || math.Min(math.Abs(low-p), math.Abs(high-p)) > 1e-7 {
			t.Fatalf("roots %v and %v of p = %v", low, high, p)
		}
	})
}

func TestCopiesThatNoVectorExplainsHaveTheNearestRoots(t *testing.T) {
	for _, test := range []struct {
		n         int
		dilation  float64
		low, high float64
		want      string
	}{
		{2, 1.3, 0.5, 0.5, "dilation of 2 copies: 1.3 is not between 1.5 and 2: no loading vector of two resources explains the dilation"},
		{3, 3.2, 0, 1, "dilation of 3 copies: 3.2 is not between 2 and 3: no loading vector of two resources explains the dilation"},
		{4, math.NaN(), 0, 1, "dilation of 4 copies: NaN is not between 2.5 and 4: no loading vector of two resources explains the dilation"},
		{1, 1, 0, 1, "copies: 1 is less than 2: a job alone is not dilated"},
	} {
		low, high, err := contention.LoadingOfCopies(test.n, test.dilation)
		if err == nil || err.Error() != test.want || low != test.low || high != test.high {
			t.Errorf("LoadingOfCopies(%d, %v) = %v, %v, %v; want %v, %v, %q", test.n, test.dilation, low, high, err, test.low, test.high, test.want)
		}
	}
}

func TestASecondMeasurementPicksTheRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		other := rapid.Float64Range(0, 1).Draw(t, "other")
		low, high, _ := contention.LoadingOfCopies(2, oracle.DilationOfCopies(2, p, 1-p))
		dilation := 1 + p*other + (1-p)*(1-other)
		got, err := contention.DecideRoot(low, high, [2]float64{other, 1 - other}, dilation, 1e-6)
		if err == nil && math.Abs(got-p) > 1e-6 {
			t.Fatalf("picked %v, want %v", got, p)
		}
		if apart := math.Abs((high - low) * (2*other - 1)); (apart <= 2e-6) != errors.Is(err, contention.ErrUndecided) {
			t.Fatalf("the roots' dilations are %v apart: %v", apart, err)
		}
	})
}

func TestAnEvenNeighbourDecidesNothing(t *testing.T) {
	_, err := contention.DecideRoot(0.3, 0.7, [2]float64{0.5, 0.5}, 1.5, 0.01)
	want := "p = 0.3 gives 1.5 and p = 0.7 gives 1.5 where 1.5 ± 0.01 was measured: the measurement does not tell the roots apart"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

func ExampleLoadingOfCopies() {
	// Three copies of a job take 2.16 times as long each. Beside a job that only
	// computes, it takes 1.3 times as long.
	low, high, err := contention.LoadingOfCopies(3, 2.16)
	fmt.Printf("p is %.2f or %.2f (%v)\n", low, high, err)
	p, err := contention.DecideRoot(low, high, [2]float64{1, 0}, 1.3, 0.02)
	fmt.Printf("p is %.2f (%v)\n", p, err)
	// Output:
	// p is 0.30 or 0.70 (<nil>)
	// p is 0.30 (<nil>)
}
