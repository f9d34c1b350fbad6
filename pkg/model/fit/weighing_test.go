package fit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
)

// unequalRuns are pairs and threes of jobs with these loadings at the cpu, and a probe of 1, each with a request that is drawn
// from 0.05 to 1 core, as the model of unequal shares has their dilations, but for 1 % of noise.
func unequalRuns(t *testing.T, loadings []float64, limits bool) []fit.Run {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	var runs []fit.Run
	for n := range 40 {
		members := random.Perm(len(loadings) + 1)[:2+n%2]
		r := fit.Run{Name: fmt.Sprint(n)}
		var vectors []loading.Vector
		sharing := contention.Sharing{}
		for _, j := range members {
			p, name := 1.0, "probe"
			if j < len(loadings) {
				p, name = loadings[j], fmt.Sprint("job", j)
			}
			request := 0.05 * math.Pow(20, random.Float64())
			share := loading.Share{Weight: request}
			if limits && random.IntN(3) == 0 {
				share.Limit = max(request, 0.5*p)
			}
			vectors = append(vectors, loading.Vector{{Loading: p, Pressure: p}})
			sharing.Shares = append(sharing.Shares, share)
			r.Members = append(r.Members, fit.Member{Job: name, Request: &request, Limit: share.Limit})
		}
		p, err := contention.PredictSharing(vectors, []int{1}, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for a := range r.Members {
			r.Members[a].Dilation = p.Dilations[a] * math.Exp(0.01*random.NormFloat64())
		}
		runs = append(runs, r)
	}
	return runs
}

func withoutClaims(runs []fit.Run) []fit.Run {
	var plain []fit.Run
	for _, r := range runs {
		p := fit.Run{Name: r.Name}
		for _, m := range r.Members {
			p.Members = append(p.Members, fit.Member{Job: m.Job, Dilation: m.Dilation})
		}
		plain = append(plain, p)
	}
	return plain
}

// The tolerances are what 1 % of noise and some ten dilations of each job leave; a limit that holds a job back leaves less to
// see of it.
func TestRequestsAndLimitsAreNoPartOfAVector(t *testing.T) {
	t.Parallel()
	loadings := []float64{0.2, 0.35, 0.5, 0.65, 0.8, 0.95}
	options := fit.Options{
		Resources: []string{"cpu"}, Fractions: true,
		Beliefs: map[string]fit.Belief{"probe": {Sensitivity: []float64{1}, Weight: math.Inf(1)}},
	}
	for name, tolerance := range map[string]float64{"requests": 0.01, "requests and limits": 0.04} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := unequalRuns(t, loadings, name != "requests")
			mean, worst := sensitivityErrors(t, runs, options, loadings)
			plain, _ := sensitivityErrors(t, withoutClaims(runs), options, loadings)
			t.Logf("off by %.3f on average, %.3f at worst; %.3f without", mean, worst, plain)
			if mean > tolerance || worst > 3*tolerance || plain < 5*mean {
				t.Errorf("off by %v on average, %v at worst; %v without", mean, worst, plain)
			}
		})
	}
}

func TestUnseenRunsArePredictedWithTheirRequests(t *testing.T) {
	t.Parallel()
	runs := unequalRuns(t, []float64{0.3, 0.6, 0.9}, false)
	options := fit.Options{
		Resources: []string{"cpu"}, Fractions: true, Folds: 2,
		Beliefs: map[string]fit.Belief{"probe": {Sensitivity: []float64{1}, Weight: math.Inf(1)}},
	}
	with, err := fit.CrossValidate(runs, options)
	if err != nil {
		t.Fatal(err)
	}
	without, err := fit.CrossValidate(withoutClaims(runs), options)
	if err != nil {
		t.Fatal(err)
	}
	ours, plain := with.Models[0].Mean, without.Models[0].Mean
	t.Logf("off by %.3f, %.3f without", ours, plain)
	if ours > 0.03 || plain < 5*ours {
		t.Errorf("off by %v, %v without", ours, plain)
	}
}

func sensitivityErrors(t *testing.T, runs []fit.Run, options fit.Options, loadings []float64) (mean, worst float64) {
	t.Helper()
	r, err := fit.Fit(runs, options)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range loadings { // job0, job1, …, probe in alphabetical order
		off := math.Abs(r.Jobs[j].Sensitivity[0].Value - want)
		mean += off / float64(len(loadings))
		worst = max(worst, off)
	}
	return mean, worst
}

func TestEqualRequestsChangeNothing(t *testing.T) {
	t.Parallel()
	plain := truth{jobs: 6, resources: 1, noise: 0.02, pairs: 1}.world(3).runs()
	var equal []fit.Run
	for _, r := range plain {
		e := fit.Run{Name: r.Name}
		for _, m := range r.Members {
			m.Request = new(0.25)
			e.Members = append(e.Members, m)
		}
		equal = append(equal, e)
	}
	want, err := fit.Fit(plain, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := fit.Fit(equal, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Jobs, got.Jobs); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsAndLimitsMustMakeSense(t *testing.T) {
	t.Parallel()
	member := func(job string, request *float64, limit float64) fit.Member {
		return fit.Member{Job: job, Dilation: 1.5, Request: request, Limit: limit}
	}
	cpu := fit.Options{Resources: []string{"cpu"}, Beliefs: map[string]fit.Belief{"a": {Sensitivity: []float64{1}}}}
	for want, members := range map[string][]fit.Member{
		`run "1": job "a": request: -1 is not a number of cores from 0 to 16384`:                                              {member("a", new(-1.0), 0), member("b", new(1.0), 0)},
		`run "1": job "b": request: NaN is not a number of cores from 0 to 16384`:                                             {member("a", new(1.0), 0), member("b", new(math.NaN()), 0)},
		`run "1": job "a": limit: +Inf is not a number of cores above 0 and up to 16384 (leave it empty where there is none)`: {member("a", nil, math.Inf(1)), member("b", nil, 0)},
		`run "1": job "a": request: 2 is more than the limit, 1`:                                                              {member("a", new(2.0), 1), member("b", new(1.0), 0)},
		`run "1": request: it is known of some of the jobs that ran together: give that of each, 0 for none, or of none`:      {member("a", new(1.0), 0), member("b", nil, 0)},
	} {
		if _, err := fit.Fit([]fit.Run{{Name: "1", Members: members}}, cpu); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	unequal := []fit.Run{{Name: "1", Members: []fit.Member{member("a", new(1.0), 0), member("b", new(2.0), 0)}}}
	if _, err := fit.Fit(unequal, fit.Options{}); !errors.Is(err, fit.ErrNoProcessor) {
		t.Errorf("got %v", err)
	}
}
