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

// drawSharing draws the tree of a node with two classes, and a share for each job.
func drawSharing(r *rand.Rand, jobs int) contention.Sharing {
	s := contention.Sharing{Groups: []gps.Group{{}, {Weight: 1 + 100*r.Float64()}, {Weight: 1}}}
	for range jobs {
		s.Shares = append(s.Shares, loading.Share{Weight: math.Pow(100, r.Float64()), Group: r.IntN(3)})
	}
	return s
}

// exactDilations returns the exact dilations of jobs at two resources, the first of them shared, by the Markov chain of the
// jobs' positions.
func exactDilations(t *testing.T, jobs []loading.Vector, servers []int, sharing *contention.Sharing) []float64 {
	t.Helper()
	n := &gps.Network{Servers: servers, Groups: sharing.Groups}
	for j, v := range jobs {
		n.Jobs = append(n.Jobs, gps.Job{
			Demands: []float64{v[0].Loading, v[1].Loading}, Threads: v[0].Threads, Weight: sharing.Shares[j].Weight, Group: sharing.Shares[j].Group,
		})
	}
	response := func(n *gps.Network) []float64 {
		s, err := gps.Exact(n, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		return s.Responses
	}
	dilations := response(n)
	for j := range dilations {
		dilations[j] /= response(n.Alone(j))[0]
	}
	return dilations
}

// Random nodes that are small enough for a chain; some jobs are always at the cores, some never.
func TestNoJobIsDilatedMoreThanItsBound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(39, 1))
	tight, jobs := 0, 0
	for range 150 {
		servers := []int{1 + r.IntN(3), 1 + r.IntN(2)}
		all := make([]loading.Vector, 1+r.IntN(4))
		for j := range all {
			p := []float64{0, 1, r.Float64(), r.Float64()}[r.IntN(4)]
			q, threads := (1-p)*r.Float64(), 1+r.IntN(2)
			all[j] = loading.Vector{{Loading: p, Pressure: p, Threads: threads}, {Loading: q, Pressure: q, Threads: threads}}
		}
		sharing := drawSharing(r, len(all))
		bounds, err := contention.BoundSharing(all, servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		for j, dilation := range exactDilations(t, all, servers, &sharing) {
			jobs++
			if dilation > bounds[j]*(1+1e-6) { // the tolerance of the chain
				t.Errorf("%v on %v by %+v: job %d is dilated %v times, its bound is %v", all, servers, sharing, j, dilation, bounds[j])
			}
			if bounds[j] < dilation*1.05 {
				tight++
			}
		}
	}
	if tight < jobs/4 {
		t.Errorf("only %d of %d bounds are within 5 %% of what they bound", tight, jobs)
	}
}

// Where all jobs want the processor all the time, a job gets exactly its due: the bound is exact.
func TestABoundIsExactWhereAllWantTheProcessorAllTheTime(t *testing.T) {
	t.Parallel()
	busy := loading.Loadings(1)
	sharing := contention.Sharing{Groups: []gps.Group{{}, {Weight: 3}}, Shares: []loading.Share{{Weight: 1}, {Weight: 1, Group: 1}, {Weight: 2, Group: 1}}}
	bounds, err := contention.BoundSharing([]loading.Vector{busy, busy, busy}, []int{1}, sharing)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{4, 4, 2} {
		if math.Abs(bounds[j]-want) > 1e-12 {
			t.Errorf("job %d: %v, want %v", j, bounds[j], want)
		}
	}
}

// The threads of other jobs are declared by others; its own weight is not. So a job that declares thousands of threads does
// not raise the bound of a job that has its due.
func TestABoundDoesNotGrowWithWhatOthersClaim(t *testing.T) {
	t.Parallel()
	bound := func(threads int) float64 {
		jobs := []loading.Vector{loading.Loadings(1), {{Loading: 1, Pressure: 1, Threads: threads}}}
		bounds, err := contention.BoundSharing(jobs, []int{4}, contention.Sharing{Groups: []gps.Group{{}}, Shares: []loading.Share{{Weight: 20}, {Weight: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		return bounds[0]
	}
	if few, many := bound(1), bound(loading.MaxThreads); few != 1 || many != 1 {
		t.Errorf("a job with 20 of 21 shares of 4 cores is bounded by %v and %v", few, many)
	}
}

func TestInterferenceIsBoundedByTheCurveOfWhoSuffers(t *testing.T) {
	t.Parallel()
	job := loading.Vector{loading.Symmetric(0.5), {Effect: &loading.Effect{Pressure: 1, Curve: loading.Curve{{Pressure: 1, Inflation: 1.5}, {Pressure: 4, Inflation: 3}}}}}
	sharing := contention.Sharing{Groups: []gps.Group{{}}, Shares: []loading.Share{{Weight: 1}, {Weight: 1}}}
	jobs, servers := []loading.Vector{job, job}, []int{4, 1}
	bounds, err := contention.BoundSharing(jobs, servers, sharing)
	if err != nil {
		t.Fatal(err)
	}
	p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if bounds[0] != 2 || p.Dilations[0] > bounds[0] || p.Dilations[0] == 1 {
		t.Errorf("bounded by %v, want 2, and dilated %v times", bounds[0], p.Dilations[0])
	}
}

func BenchmarkHostileBound(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 39))
	jobs := make([]loading.Vector, 250)
	for j := range jobs {
		jobs[j] = loading.Vector{{Loading: r.Float64(), Pressure: r.Float64(), Threads: loading.MaxThreads}}
	}
	sharing := drawSharing(r, len(jobs))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := contention.BoundSharing(jobs, []int{64}, sharing); err != nil {
			b.Fatal(err)
		}
	}
}

// What a prediction takes grows with the resources that jobs need, and so do the steps that are counted for it.
func TestStepsCountAllResources(t *testing.T) {
	t.Parallel()
	steps := func(resources int) float64 {
		var jobs []loading.Vector
		sharing := contention.Sharing{Groups: []gps.Group{{}}}
		for j := range 65 {
			v := make(loading.Vector, 16)
			for i := range resources {
				v[i] = loading.Symmetric(float64(1+j) / 65 / 16)
			}
			jobs, sharing.Shares = append(jobs, v), append(sharing.Shares, loading.Share{Weight: 1})
		}
		return sharing.Steps(jobs, []int{8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	}
	if one, five, all := steps(1), steps(5), steps(16); five <= one || all <= five {
		t.Errorf("%v steps for one resource, %v for five and %v for sixteen", one, five, all)
	}
}

// Limits cost steps only where they may hold jobs back: not those that are as large as what the jobs can use at once, unless
// interference makes their service longer.
func TestStepsCountLimitsThatMayThrottle(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{{loading.Symmetric(0.5)}, {loading.Symmetric(0.3)}}
	steps := func(limit float64) float64 {
		share := loading.Share{Weight: 1, Limit: limit}
		sharing := contention.Sharing{Groups: []gps.Group{{}}, Shares: []loading.Share{share, share}}
		return sharing.Steps(jobs, []int{2, 1})
	}
	if none, large, small := steps(0), steps(0.5), steps(0.4); large != none || small <= none {
		t.Errorf("%v steps without limits, %v with large and %v with small ones", none, large, small)
	}
	jobs[0] = append(jobs[0], loading.Demand{Effect: &loading.Effect{Pressure: 1, Curve: loading.Curve{{Pressure: 1, Inflation: 1.5}}, Of: 0}})
	if none, inflated, large := steps(0), steps(0.5), steps(1); inflated <= none || large != none {
		t.Errorf("where service may take longer, %v steps without limits, %v with limits that are exceeded then and %v with others", none, inflated, large)
	}
}

// Jobs of several threads are solved one by one, however equal they are, and those of one thread together.
func TestStepsCountJobsOfSeveralThreadsOneByOne(t *testing.T) {
	t.Parallel()
	steps := func(jobs, threads int) float64 {
		sharing := contention.Sharing{Groups: []gps.Group{{}}}
		var all []loading.Vector
		for range jobs {
			v := loading.Vector{loading.Symmetric(0.2)}
			v[0].Threads = threads
			all, sharing.Shares = append(all, v), append(sharing.Shares, loading.Share{Weight: 1})
		}
		return sharing.Steps(all, []int{4})
	}
	if some, more := steps(100, 4), steps(200, 4); more < 3.5*some {
		t.Errorf("%v steps for 100 jobs of several threads and %v for 200", some, more)
	}
	if some, more := steps(100, 1), steps(200, 1); more > 2.5*some {
		t.Errorf("%v steps for 100 jobs of one thread and %v for 200", some, more)
	}
}
