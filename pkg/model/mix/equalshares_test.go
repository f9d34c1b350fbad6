package mix_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// busyThreads is a job of some threads that never rest.
func busyThreads(threads int) loading.Vector {
	return loading.Vector{{Loading: 1, Pressure: 1, Threads: threads}}
}

// equalParts returns the dilations of jobs that never rest and share some servers equally: each gets an equal part, except jobs
// that cannot use theirs, whose rest goes to the others.
func equalParts(threads []int, servers int) []float64 {
	dilations := make([]float64, len(threads))
	left, wanting := float64(servers), len(threads)
	for wanting > 0 {
		part, satisfied := left/float64(wanting), false
		for j, t := range threads {
			if dilations[j] == 0 && float64(t) <= part {
				dilations[j], satisfied = 1, true
				left, wanting = left-float64(t), wanting-1
			}
		}
		if satisfied {
			continue
		}
		for j, t := range threads {
			if dilations[j] == 0 {
				dilations[j] = float64(min(t, servers)) / part
			}
		}
		break
	}
	return dilations
}

// equalDilations returns, by method, the dilations of jobs that share the first resource equally.
func equalDilations(t fataler, jobs []loading.Vector, servers []int) map[string][]float64 {
	t.Helper()
	sharing := contention.EqualShares(0, len(jobs))
	p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	estimates, err := mix.EstimateSharing(jobs, servers, sharing)
	if err != nil {
		t.Fatal(err)
	}
	types := make([]mix.JobType, len(jobs))
	runs := make([]mix.Run, len(jobs))
	for j, v := range jobs {
		types[j].Vector, runs[j] = v, mix.Run{Neutral: 1, Vector: v}
	}
	return map[string][]float64{"predicted": p.Dilations, "estimated": estimates, "in a mix": weightedDilations(t, servers, types...)}
}

func TestEqualJobsShareByJobAndNotByThread(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		servers int
		threads []int
		want    []float64
	}{
		{2, []int{1, 15}, []float64{1, 2}},
		{1, []int{1, 15}, []float64{2, 2}},
		{4, []int{1, 1, 8}, []float64{1, 1, 2}},
		{4, []int{3, 8}, []float64{1.5, 2}},
		{8, []int{1, 15}, []float64{1, 8. / 7}},
		{8, []int{4, 4}, []float64{1, 1}},
		{2, []int{15}, []float64{1}},
	} {
		var jobs []loading.Vector
		for _, n := range test.threads {
			jobs = append(jobs, busyThreads(n))
		}
		for how, dilations := range equalDilations(t, jobs, []int{test.servers}) {
			for j, want := range test.want {
				if math.Abs(dilations[j]/want-1) > 0.01 {
					t.Errorf("%v threads on %d servers, %s: %v, want %v", test.threads, test.servers, how, dilations, test.want)
					break
				}
			}
		}
	}
}

// Of jobs that never rest the answer is simple whatever their threads, and all that is in between is below it.
func TestEqualJobsThatNeverRestGetEqualParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := rapid.IntRange(1, 8).Draw(t, "servers")
		threads := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 5).Draw(t, "threads")
		jobs := make([]loading.Vector, len(threads))
		for j, n := range threads {
			jobs[j] = busyThreads(n)
		}
		want := equalParts(threads, servers)
		for how, dilations := range equalDilations(t, jobs, []int{servers}) {
			for j, got := range dilations {
				if math.Abs(got/want[j]-1) > 0.02 {
					t.Fatalf("%v threads on %d servers, %s: %v, want %v", threads, servers, how, dilations, want)
				}
			}
		}
		bounds, err := contention.BoundSharing(jobs, []int{servers}, contention.EqualShares(0, len(jobs)))
		if err != nil {
			t.Fatal(err)
		}
		for j := range bounds {
			if bounds[j] < want[j]*(1-1e-9) {
				t.Fatalf("%v threads on %d servers: bounds of %v, want no less than %v", threads, servers, bounds, want)
			}
		}
	})
}

// With equal shares of threads the small job would wait while the large job's fifteen threads need half of two servers. With equal
// shares of jobs it has a server, and the price is the extra wait of the fifteen: 15 if all is exact.
func TestAPriceOfEqualJobsIsByJob(t *testing.T) {
	t.Parallel()
	one, many := price.NewShareCandidate(busyThreads(1), 0, loading.Share{}), price.NewSharedLoad([]int{2}, 0)
	many.AddShare(busyThreads(15), loading.Share{})
	waits, inflicts := many.Prices().Parts(one)
	if waits > 0.1 || inflicts < 13 {
		t.Errorf("it waits %v and makes others wait %v, want 0 and 15", waits, inflicts)
	}
	if sum := many.Prices().WaitsAt(one); math.Abs(sum[0]-waits) > 1e-9 {
		t.Errorf("explained are %v, want %v", sum[0], waits)
	}
}

// Jobs complete at the times that equal parts give: the small one after 10 s on its own server, the large one on the rest.
func TestEqualJobsAreDoneByJob(t *testing.T) {
	t.Parallel()
	runs := []mix.Run{{Neutral: 10, Vector: busyThreads(1)}, {Neutral: 75, Vector: busyThreads(15)}}
	ends, err := mix.CompletionsSharing(runs, []int{2}, contention.EqualShares(0, 2), queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// In 10 s beside the small job the large one completes 5 s of its work alone.
	for j, want := range []float64{10, 80} {
		if math.Abs(ends[j]/want-1) > 0.01 {
			t.Errorf("done at %v, want 10 and 80", ends)
			break
		}
	}
}

// Jobs of one thread share as in the papers, by threads, to the last digit.
func TestEqualJobsOfOneThreadAreDoneAsWithoutShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		var runs []mix.Run
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			runs = append(runs, mix.Run{
				Start: rapid.Float64Range(0, 5).Draw(t, "start"), Neutral: rapid.Float64Range(1, 10).Draw(t, "neutral"), Vector: modeltest.DrawVector(t, 2, 1),
			})
		}
		want, err := mix.CompletionsBy(runs, servers, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := mix.CompletionsSharing(runs, servers, contention.EqualShares(0, len(runs)), queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for j := range want {
			if got[j] != want[j] {
				t.Fatalf("run %d is done at %v, without shares at %v", j, got[j], want[j])
			}
		}
	})
}
