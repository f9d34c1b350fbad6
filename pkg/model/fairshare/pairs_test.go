package fairshare_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// The error of the race is an estimate from the difference between two grids, and that may vanish where the error does not.
func TestRaceIsAsGoodAsItSaysForPairs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	decades := func(from, to float64) float64 { return math.Pow(10, from+r.Float64()*(to-from)) }
	draw := func(name string, utilization, variation float64) *fairshare.Group {
		w := workload(name, decades(-3, 3), utilization)
		w.Service = decades(-2, 1)
		w.SecondMoment = variation * w.Service * w.Service
		return w
	}
	for range 2000 {
		agree(t, build(t, draw("rare", 0.1*r.Float64()*float64(r.IntN(2)), 1), draw("busy", 0.8*r.Float64(), 1+19*r.Float64())),
			fairshare.Options{}, fairshare.Subsets)
	}
}
