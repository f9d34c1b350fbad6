package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"loadline.dev/loadline/pkg/model/loading"
)

func TestBurstsAreRelativeToThoseThatAreKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ bursts, want []float64 }{
		"none is known":             {[]float64{0, 0}, []float64{0, 0}},
		"one is known":              {[]float64{0, 0.003}, []float64{0, 1}},
		"two and one that is not":   {[]float64{0.001, 0, 0.1}, []float64{0.1, 0, 10}},
		"far more than a thousand":  {[]float64{1e-9, 1e9}, []float64{1e-3, 1e3}},
		"all are alike, and longer": {[]float64{2, 2, 2}, []float64{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vectors, shares := []loading.Vector{nil}, make([]loading.Share, len(test.bursts)+1) // the first has no demand
			for _, b := range test.bursts {
				vectors = append(vectors, loading.Vector{{Loading: 0.1, Burst: b}})
			}
			shareBursts(vectors, 0, shares)
			got := make([]float64, len(test.bursts))
			for j := range got {
				got[j] = shares[j+1].Burst
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" || shares[0].Burst != 0 {
				t.Errorf("bursts (-want +got):\n%s", diff)
			}
		})
	}
}
