package contention_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// The bounds hold for every subset of the other jobs: by the Markov chain of the jobs' positions, to the tolerance of the solution
// of one resource, and by predictions, whose own error may be a tenth of the dilation less 1. No bound is much above the dilation
// that it bounds.
func TestNoJobIsDilatedMoreThanItsBoundOnceOthersAreGone(t *testing.T) {
	t.Parallel()
	loose, jobsAtAll := 0.0, 0.0
	for seed := range 150 {
		jobs, servers, sharing := filledNode(rand.New(rand.NewPCG(40, uint64(seed))))
		jobs = jobs[:min(len(jobs), 4)]
		sharing.Shares = sharing.Shares[:len(jobs)]
		bounds, err := contention.BoundDepartures(jobs, servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		most := make([]float64, len(jobs))
		for set := 1; set < 1<<len(jobs); set++ {
			var who []int
			for j := range jobs {
				if set>>j&1 == 1 {
					who = append(who, j)
				}
			}
			predicted, exact := someOf(t, jobs, servers, sharing, who)
			for k, j := range who {
				most[j] = max(most[j], predicted[k])
				if predicted[k] > 1+(bounds[j]-1)*1.1+1e-3 || len(exact) > 0 && exact[k] > bounds[j]*(1+1e-3) {
					t.Errorf("set %d: with %v job %d is dilated %v times, exactly %v, and its bound is %v", seed, who, j, predicted[k], exact, bounds[j])
				}
			}
		}
		for j := range jobs {
			if most[j] > 1.001 {
				loose, jobsAtAll = loose+bounds[j]/most[j], jobsAtAll+1
			}
		}
	}
	t.Logf("bounds of %v jobs are %.1f %% above the most that they are dilated, on average", jobsAtAll, 100*(loose/jobsAtAll-1))
	if loose/jobsAtAll > 1.05 {
		t.Errorf("bounds are above by %v", loose/jobsAtAll)
	}
}

// someOf returns the dilations of some of the jobs without the others, as predicted, and by the chain where that is small and no
// job has a limit.
func someOf(t *testing.T, jobs []loading.Vector, servers []int, sharing contention.Sharing, who []int) (predicted, exact []float64) {
	t.Helper()
	var some []loading.Vector
	n, s, limited := &gps.Network{Servers: servers}, contention.Sharing{}, false
	for _, j := range who {
		demands := make([]float64, len(servers))
		for i, d := range jobs[j] {
			demands[i] = d.Loading
		}
		some, s.Shares = append(some, jobs[j]), append(s.Shares, sharing.Shares[j])
		n.Jobs = append(n.Jobs, gps.Job{Demands: demands, Threads: jobs[j][0].Threads, Weight: sharing.Shares[j].Weight})
		limited = limited || sharing.Shares[j].Limit > 0
	}
	p, err := contention.PredictSharing(some, servers, s, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if limited {
		return p.Dilations, nil
	}
	together, err := gps.Exact(n, 1<<9)
	if err != nil {
		return p.Dilations, nil // it has too many states
	}
	for k := range who {
		alone, err := gps.Exact(n.Alone(k), 1<<9)
		if err != nil {
			t.Fatal(err)
		}
		exact = append(exact, together.Responses[k]/alone.Responses[0])
	}
	return p.Dilations, exact
}

// Two jobs at a core and a disk: the bounds equal the dilations. With a third job that delays the second at the core, the first is
// dilated less, and its bound stays.
func TestABoundOfDeparturesStaysWhereAJobIsHeldUp(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{loading.Loadings(0, 1), loading.Loadings(0.5, 0.5), loading.Loadings(1)}
	shares := []loading.Share{{Weight: 1}, {Weight: 1}, {Weight: 100}}
	for n := 2; n <= 3; n++ {
		bounds, err := contention.BoundDepartures(jobs[:n], []int{1, 1}, contention.Sharing{Shares: shares[:n]})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(bounds[0]-1.5) > 1e-6 {
			t.Errorf("of %d: %v", n, bounds)
		}
	}
	if _, err := contention.BoundDepartures(jobs, []int{1}, contention.Sharing{Shares: shares}); err == nil {
		t.Error("a resource too many is taken")
	}
}
