package loading_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/test/modeltest"
)

func TestAllThreadsOfOrdinaryJobsCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 3, 96)
		jobs := modeltest.DrawVectors(t, 3, loading.MinThreadsInEffect, 30)
		if got := loading.InEffect(jobs, servers); len(got) > 0 && &got[0] != &jobs[0] {
			t.Fatalf("some of the threads of %v do not count on %v servers", jobs, servers)
		}
	})
}

// The threads that count press as hard as all threads do, up to all of their time, and the sensitivity is no less;
// vectors stay valid, and no job loses its last thread.
func TestThreadsThatCountStandForTheOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 3, 2000)
		jobs := modeltest.DrawVectors(t, 3, loading.MaxThreads, 40)
		inEffect := loading.InEffect(jobs, servers)
		squares := 0.0
		for i, c := range servers {
			there := 0
			for j, all := range jobs {
				if i >= len(all) || all[i].Loading == 0 && all[i].Pressure == 0 {
					continue
				}
				before, now := all[i], inEffect[j][i]
				threads := max(1, before.Threads)
				counted := max(1, now.Threads)
				there += counted
				if counted > threads || counted > max(loading.MinThreadsInEffect, loading.ThreadsPerServer*c) {
					t.Fatalf("%d of %d threads count at %d servers", counted, threads, c)
				}
				if counted == threads && (now.Loading != before.Loading || now.Sensitivity != before.Sensitivity) {
					t.Fatalf("all threads count, yet %+v became %+v", before, now)
				}
				want := math.Min(float64(counted), float64(threads)*before.Pressure*within(all, inEffect[j]))
				if got := float64(counted) * now.Pressure; math.Abs(got-want) > 1e-9*want {
					t.Fatalf("%+v presses with %v, want %v", before, got, want)
				}
				if now.Loading < before.Loading || now.Sensitivity < before.Sensitivity*(1-1e-12) {
					t.Fatalf("%+v asks for less: %+v", before, now)
				}
			}
			squares += float64(there) * float64(there)
		}
		if all := float64(3 * len(jobs) * len(jobs)); squares > max(1<<21, all) {
			t.Fatalf("%v squares of threads", squares)
		}
		for j, v := range inEffect {
			if err := v.Validate(); err != nil {
				t.Fatalf("job %d: %v", j, err)
			}
		}
	})
}

// within returns for which part of the time that threads which count would be present to press as hard as all of a job do they can be: together for
// all of their time at most, or for as long as all were.
func within(all, counted loading.Vector) float64 {
	each, present := 0.0, 0.0
	for i, d := range all {
		each += d.Pressure
		present += d.Pressure * float64(max(1, d.Threads)) / float64(max(1, counted[i].Threads))
	}
	return min(1, max(1, each)/present)
}

// The threads that count are at two resources for all of their time at most together, in the proportion in which all are there.
func TestThreadsThatCountAreAtOneResourceAtATime(t *testing.T) {
	t.Parallel()
	job := loading.Vector{{Loading: 0.25, Pressure: 0.25, Threads: 64}, {Loading: 0.5, Pressure: 0.5, Threads: 64}}
	want := loading.Vector{{Loading: 1. / 3, Pressure: 1. / 3, Threads: 32}, {Loading: 2. / 3, Pressure: 2. / 3, Threads: 32}}
	got := loading.InEffect([]loading.Vector{job}, []int{1, 1})[0]
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Error(diff)
	}
}

// A job's dilation by the threads that count is near that by all: it does not jump where there is one thread too many.
func TestDilationsHardlyChangeWithTheThreadsThatCount(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 39))
	for range 200 {
		c := 1 + r.IntN(32)
		most := max(loading.MinThreadsInEffect, loading.ThreadsPerServer*c)
		p := 0.3 * float64(c) / float64(most)
		job := func(threads int) loading.Vector {
			return loading.Vector{{Loading: p, Pressure: p, Threads: threads}}
		}
		other := loading.Vector{{Loading: 0.5, Pressure: 0.5, Threads: 1 + r.IntN(2*c)}}
		dilation := func(threads int) float64 {
			load := price.NewLoad([]int{c})
			load.Add(job(threads))
			load.Add(other)
			return load.Dilation(other)
		}
		if before, after := dilation(most), dilation(most+1); after < before*(1-1e-3) || after > before*1.05 {
			t.Errorf("%d servers: a job is dilated by %v beside %d threads, and by %v beside one more", c, before, most, after)
		}
	}
}
