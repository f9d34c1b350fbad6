package pools_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/evaluate/pools"
)

func TestAnAnswerListsTheSLAsThatPoolsCannotKeepWithinTheirBounds(t *testing.T) {
	t.Parallel()
	checkout := pools.Class{Name: "checkout", WithinSeconds: 3, Probability: 0.95, Attained: 0.95014}
	search := pools.Class{Name: "search", WithinSeconds: 5, Probability: 0.8, Attained: 0.8244}
	a := &pools.Answer{Given: true, Pools: []pools.PoolAnswer{
		{Name: "checkout", Servers: 4, Classes: []pools.Class{checkout}, Bounds: &pools.Bounds{Servers: 3, Limited: true, Attained: []float64{0.94934}}},
		{Name: "search", Servers: 4, Classes: []pools.Class{search}, Bounds: &pools.Bounds{Servers: 1, Limited: true, Unstable: true}},
	}}
	want := []string{
		`pool "checkout" may have at most 3 servers and needs 4: checkout is answered within 3.0s only 94.9% of the time, not 95.0%`,
		`pool "search" may have at most 1 server and needs 4: too few to keep up with the arrivals`,
	}
	if diff := cmp.Diff(want, a.Unmet()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	a.Pools[0].Bounds, a.Pools[1].Bounds.Limited = nil, false
	if got := a.Unmet(); len(got) > 0 {
		t.Errorf("it says %q where nothing is missing", got)
	}
}
