package contention_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// A solution is an approximation, and the ceiling bounds the exact solution.
const solutionError = 0.02

// No job is dilated more than its ceiling says: by the solver that predictions use, jobs of one thread and several, of
// equal weights and unequal, with limits and without, of bursts that are known and not, on one server and many.
func TestCeilingIsAboveWhatIsPredicted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const cpu, resources = 0, 3
		servers := modeltest.DrawServers(t, resources, 8)
		jobs := modeltest.DrawVectors(t, resources, 3, 10)
		sharing := contention.Sharing{Resource: cpu}
		weights := rapid.SampledFrom([][]float64{{1}, {1, 100}, {0.25, 4, 39}}).Draw(t, "weights")
		ceiling := contention.NewCeiling(servers, cpu)
		for j, v := range jobs {
			share := loading.Share{Weight: rapid.SampledFrom(weights).Draw(t, "weight")}
			v[cpu].Burst = rapid.SampledFrom([]float64{0, 2e-4, 0.01}).Draw(t, "burst")
			if limit := rapid.SampledFrom([]float64{0, 0, 0.5}).Draw(t, "limit"); limit > 0 {
				share = share.Under(limit, v[cpu])
			}
			sharing.Shares = append(sharing.Shares, share)
			if j == len(jobs)-1 {
				ceiling = ceiling.With(v, share)
			} else {
				ceiling.Add(v, share, 1)
			}
		}
		p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range jobs {
			if most := ceiling.Dilation(v); p.Dilations[j] > 1+(most-1)*(1+solutionError)+solutionError {
				t.Errorf("job %d of %v on %v, shares %v: dilated %v times, and at most %v", j, jobs, servers, sharing.Shares, p.Dilations[j], most)
			}
		}
	})
}

// With two equal jobs at one server that are there for a tenth of their time, the bound is 1 + 0.1·0.1/0.9 and the exact
// dilation 1.01; a job alone is not dilated.
func TestCeilingOfTwoJobs(t *testing.T) {
	v := loading.Loadings(0.1)
	c := contention.NewCeiling([]int{1}, 0)
	c.Add(v, loading.Share{}, 1)
	if d := c.Dilation(v); d != 1 {
		t.Errorf("alone: %v", d)
	}
	if d, want := c.With(v, loading.Share{}).Dilation(v), 1+0.1*0.1/0.9; math.Abs(d-want) > 1e-12 {
		t.Errorf("two jobs: %v, want %v", d, want)
	}
	if d := c.Dilation(v); d != 1 {
		t.Errorf("With changed the ceiling: %v", d)
	}
}

func TestCeilingKnowsNothingOfOverloadedResources(t *testing.T) {
	busy := loading.Loadings(0, 0.6)
	c := contention.NewCeiling([]int{4, 1}, 0)
	c.Add(busy, loading.Share{}, 3)
	if d := c.Dilation(busy); !math.IsInf(d, 1) {
		t.Errorf("at a resource that the others keep busy for 1.2 of the time: %v", d)
	}
	elsewhere := loading.Loadings(0.5)
	if d := c.With(elsewhere, loading.Share{}).Dilation(elsewhere); d != 1 {
		t.Errorf("at a resource where no other is: %v", d)
	}
	curve := loading.Vector{{Loading: 1}, {Effect: &loading.Effect{Curve: loading.Curve{}}}}
	if d := c.With(curve, loading.Share{}).Dilation(slices.Clone(curve)); !math.IsInf(d, 1) {
		t.Errorf("beside a job that is slowed by caches: %v", d)
	}
}

// Three jobs that are alike are added at once as one after the other, to equal jobs and to one of another weight.
func TestCeilingOfJobsThatAreAlike(t *testing.T) {
	v, other := loading.Loadings(0.125, 0.25), loading.Loadings(0.5, 0.0625)
	for _, weight := range []float64{1, 4} {
		together, apart := contention.NewCeiling([]int{4, 4}, 0), contention.NewCeiling([]int{4, 4}, 0)
		together.Add(v, loading.Share{Weight: weight}, 3)
		for range 3 {
			apart.Add(v, loading.Share{Weight: weight}, 1)
		}
		for _, c := range []*contention.Ceiling{together, apart} {
			c.Add(other, loading.Share{Weight: 1}, 1)
		}
		if a, b := together.Dilation(other), apart.Dilation(other); a != b || a <= 1 {
			t.Errorf("weight %v: added at once %v, one after the other %v", weight, a, b)
		}
	}
}
