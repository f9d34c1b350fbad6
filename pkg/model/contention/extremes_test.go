package contention_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// extremeJobs draws jobs that are nearly always, or next to never, at one of two resources, with many threads, and how they share the first one.
func extremeJobs(t *rapid.T) (jobs []loading.Vector, servers []int, sharing contention.Sharing) {
	little := rapid.SampledFrom([]float64{0, 1e-300, 1e-10, 1e-7, 1.1e-7, 1e-3, 0.5})
	servers = []int{rapid.SampledFrom([]int{1, 2, 64}).Draw(t, "cores"), rapid.SampledFrom([]int{1, 8}).Draw(t, "disk")}
	sharing = contention.Sharing{Groups: []gps.Group{{}}}
	for range rapid.IntRange(1, 3).Draw(t, "jobs") {
		rest, part := little.Draw(t, "rest"), little.Draw(t, "part")
		first, second := 1-rest, rest*part
		if rapid.Bool().Draw(t, "at the disk") {
			first, second = second, first
		}
		threads := rapid.SampledFrom([]int{1, 2, 33, 64}).Draw(t, "threads")
		jobs = append(jobs, loading.Vector{
			{Loading: first, Pressure: first, Threads: threads, Burst: rapid.SampledFrom([]float64{0, 1e-4, 1}).Draw(t, "burst")},
			{Loading: second, Pressure: second, Threads: threads},
		})
		sharing.Shares = append(sharing.Shares, loading.Share{
			Weight: rapid.SampledFrom([]float64{0, 0, 1e-3}).Draw(t, "weight"), Limit: rapid.SampledFrom([]float64{0, 0, 0.01, 2}).Draw(t, "limit"),
		})
	}
	return jobs, servers, sharing
}

// checkDilations fails unless dilations are finite and at least 1.
func checkDilations(t *rapid.T, of string, dilations []float64) {
	t.Helper()
	for j, d := range dilations {
		if !(d >= 1-1e-9) || math.IsInf(d, 0) {
			t.Fatalf("%s: the dilations are %v, of job %d %v", of, dilations, j, d)
		}
	}
}

func TestDilationsOfExtremesAreNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs, servers, sharing := extremeJobs(t)
		bounds, err := contention.BoundSharing(jobs, servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		checkDilations(t, "bounds", bounds)
		estimates, err := mix.EstimateSharing(jobs, servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		checkDilations(t, "estimates", estimates)
		p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if errors.Is(err, gps.ErrUnsettled) {
			return // it says so
		}
		if err != nil {
			t.Fatal(err)
		}
		checkDilations(t, "predictions", p.Dilations)
		for j, d := range p.Dilations {
			if throttling := p.Throttling(j); !(throttling >= 1) || math.IsInf(throttling, 0) {
				t.Fatalf("the limit of job %d makes it %v times as long", j, throttling)
			}
			if d > 1.02*bounds[j] { // predictions are approximations
				t.Fatalf("job %d is dilated to %v, above its bound of %v", j, d, bounds[j])
			}
			total := 0.0
			for i := range servers {
				total += p.Delay(j, i)
			}
			if math.Abs(total-(d-1)) > 1e-6*d {
				t.Fatalf("the delays of job %d add up to %v, not %v", j, total, d-1)
			}
		}
	})
}

// Jobs of more threads than count, beside one of a single thread that waits for them at the processor, against the exact chain of all of their
// threads.
func TestJobsOfMoreThreadsThanCountFareAsTheyDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		servers []int
		threads int
		many    []float64
		one     []float64
	}{
		"at two bottlenecks": {[]int{1, 1}, 64, []float64{0.25, 0.5}, []float64{1, 0}},
		"at the processor":   {[]int{2, 1}, 50, []float64{0.7, 0.1}, []float64{0.6, 0.4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := func(demands []float64, threads int) loading.Vector {
				v := loading.Loadings(demands...)
				for i := range v {
					v[i].Threads = threads
				}
				return v
			}
			n := &gps.Network{Servers: c.servers, Jobs: []gps.Job{{Demands: c.many, Threads: c.threads}, {Demands: c.one}}}
			exact, err := gps.Exact(n, 1<<14)
			if err != nil {
				t.Fatal(err)
			}
			p, err := contention.PredictSharing([]loading.Vector{job(c.many, c.threads), job(c.one, 1)}, c.servers, contention.EqualShares(0, 2), queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got, want := p.Dilations[1], exact.Responses[1]
			t.Logf("a dilation of %.3f, exactly %.3f", got, want)
			if math.Abs(got/want-1) > 0.05 {
				t.Errorf("the job of one thread is dilated to %v, exactly to %v", got, want)
			}
		})
	}
}

// On 64 cores of which each of three jobs is due a third, one of a single thread does not wait, wherever more threads of another one wait than count.
func TestFewerThreadsAtTheDiskThanAtTheProcessorSlowNoOther(t *testing.T) {
	t.Parallel()
	jobs := []loading.Vector{
		{{Loading: 1, Pressure: 1}, {}},
		{{Loading: 1, Pressure: 1, Threads: 64}, {}},
		{{Loading: 0.5, Pressure: 0.5, Threads: 64}, {Loading: 0.25, Pressure: 0.25, Threads: 64}},
	}
	p, err := contention.PredictSharing(jobs, []int{64, 8}, contention.EqualShares(0, 3), queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Dilations[0]; d > 1.01 {
		t.Errorf("the job of one thread is dilated to %v", d)
	}
}
