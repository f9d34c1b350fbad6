package loading_test

import (
	"errors"
	"math"
	"testing"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
)

func TestValidateNamesTheFieldTheValueAndTheRule(t *testing.T) {
	tests := map[string]struct {
		vector loading.Vector
		want   string
	}{
		"a negative loading":         {loading.Loadings(0.2, -0.1), "resource 1: loading: -0.1 is not a fraction from 0 to 1"},
		"a loading above one":        {loading.Loadings(1.2), "resource 0: loading: 1.2 is not a fraction from 0 to 1"},
		"a loading that is NaN":      {loading.Loadings(math.NaN()), "resource 0: loading: NaN is not a fraction from 0 to 1"},
		"an infinite pressure":       {loading.Vector{{Loading: 0.1, Pressure: math.Inf(1)}}, "resource 0: pressure: +Inf is not a fraction from 0 to 1"},
		"a negative number threads":  {loading.Vector{{Threads: -1}}, "resource 0: threads: -1 is not between 1 and 16384"},
		"far too many threads":       {loading.Vector{{Threads: 1 << 20}}, "resource 0: threads: 1.048576e+06 is not between 1 and 16384"},
		"loadings that exceed one":   {loading.Loadings(0.72, 0.42), "loading: 1.14 in all is more than 1: loadings are fractions of the neutral time"},
		"an empty vector":            {nil, ""},
		"decimal fractions up to 1":  {loading.Loadings(0.58, 0.42), ""},
		"a pressure beyond the rest": {loading.Vector{{Loading: 0.5, Pressure: 1}, {Loading: 0.5, Pressure: 1}}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := test.vector.Validate()
			got := ""
			if err != nil {
				got = err.Error()
				if _, ok := errors.AsType[*loading.DemandError](err); !ok {
					t.Errorf("error is a %T, want a *DemandError", err)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestServersMustBePositive(t *testing.T) {
	for _, servers := range [][]int{{0}, {1, -3}, {loading.MaxServers + 1}} {
		if err := loading.ValidateServers(servers); !errors.Is(err, loading.ErrServers) {
			t.Errorf("ValidateServers(%v) = %v, want ErrServers", servers, err)
		}
	}
	if err := loading.ValidateServers([]int{1, 64}); err != nil {
		t.Errorf("valid servers are refused: %v", err)
	}
}

// The printed figures of the D-factor paper, section 5: dilations are exact,
// times are rounded there to a tenth of a second.
func TestDilationReproducesThePaper(t *testing.T) {
	sort, grep, pi := loading.Loadings(0.9, 0.1), loading.Loadings(0.5, 0.5), loading.Loadings(0.5, 0.5)
	fileserver, varmail := loading.Loadings(0.02, 0.98), loading.Loadings(0.10, 0.90)
	tests := map[string]struct {
		jobs    []loading.Vector
		neutral []float64
		want    []float64
		within  float64
	}{
		"FileComp beside the standard I/O job": {
			[]loading.Vector{loading.Loadings(0.58, 0.42), loading.Loadings(0, 1)},
			[]float64{78.1, 200},
			[]float64{110.9, 284},
			0.05,
		},
		"three MapReduce jobs together": {
			[]loading.Vector{sort, grep, pi}, []float64{56, 95, 90}, []float64{112, 190, 180}, 1e-9,
		},
		"four of Sort": {
			[]loading.Vector{sort, sort, sort, sort},
			[]float64{56, 56, 56, 56},
			[]float64{193.8, 193.8, 193.8, 193.8},
			0.05,
		},
		"fileserver and varmail": {
			[]loading.Vector{fileserver, varmail}, []float64{1, 1}, []float64{1.884, 1.884}, 1e-9,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			load := price.NewLoad([]int{1, 1})
			for _, v := range test.jobs {
				load.Add(v)
			}
			for j, v := range test.jobs {
				got := test.neutral[j] * load.Dilation(v)
				if math.Abs(got-test.want[j]) > test.within {
					t.Errorf("job %d: completion time %.4f, want %.4f", j, got, test.want[j])
				}
			}
		})
	}
}
