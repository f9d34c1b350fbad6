package epochs_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime/metrics"
	"syscall"
	"testing"

	"loadline.dev/loadline/pkg/model/epochs"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/placement"
)

// load is a synthetic load: n jobs of some types that arrive at a rate at which about
// running jobs run on each node if they do not wait for each other.
func load(n, nodes, types int, running float64) iter.Seq2[epochs.Job, error] {
	return func(yield func(epochs.Job, error) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		kinds := make([]*mix.JobType, types)
		for k := range kinds {
			disk := 0.05 + 0.3*float64(k)/float64(types)
			kinds[k] = &mix.JobType{Name: fmt.Sprint("type ", k), Vector: loading.Loadings(0.9-disk, disk, 0.05)}
		}
		now, mean := 0.0, 100.0
		rate := float64(nodes) * running / (mean * 1.5)
		for range n {
			now += r.ExpFloat64() / rate
			job := epochs.Job{Name: "j", Arrival: now, Job: placement.Job{Type: kinds[r.IntN(types)], Neutral: mean * (0.5 + r.Float64()), Requests: []float64{0.5}}}
			if !yield(job, nil) {
				return
			}
		}
	}
}

// benchmark replays a load on nodes of 8 cores, 2 disks and one link, and reports
// jobs per second, and per second of processor time, which varies less on a machine
// that is shared; how many run on a node on average; and the largest heap.
func benchmark(b *testing.B, policy string, jobs, nodes int, of iter.Seq2[epochs.Job, error]) {
	b.Helper()
	running, peak := 0.0, 0.0
	before := cpuSeconds(b)
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	for b.Loop() {
		busy, done := 0.0, 0
		result, err := epochs.Replay(b.Context(), of, []epochs.NodeClass{
			{Count: nodes, NodeClass: mix.NodeClass{Servers: []int{8, 2, 1}}, Allocatable: []float64{8}},
		}, newPolicy(policy), epochs.Options{Done: func(o *epochs.Outcome) error {
			busy += o.Execution()
			if done++; done%1000 == 0 {
				metrics.Read(heap)
				peak = max(peak, float64(heap[0].Value.Uint64()))
			}
			return nil
		}})
		if err != nil || result.Completed != jobs {
			b.Fatal(result.Completed, err)
		}
		running = busy / result.Makespan() / float64(nodes)
	}
	b.ReportMetric(float64(jobs*b.N)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(jobs*b.N)/(cpuSeconds(b)-before), "jobs/cpu-s")
	b.ReportMetric(running, "running/node")
	b.ReportMetric(peak/1e6, "peak-MB")
}

// cpuSeconds returns the processor time of the process so far.
func cpuSeconds(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

// A million jobs of 4 types on 100 nodes, 6 on each.
func BenchmarkMillionJobs(b *testing.B) {
	for _, policy := range placement.Names() {
		b.Run(policy, func(b *testing.B) { benchmark(b, policy, 1_000_000, 100, load(1_000_000, 100, 4, 8.7)) })
	}
}

func BenchmarkReplay(b *testing.B) {
	for _, policy := range placement.Names() {
		b.Run(policy, func(b *testing.B) { benchmark(b, policy, 100_000, 100, load(100_000, 100, 4, 8.7)) })
	}
}

// weighted gives the jobs of a load weights from 1 to 39, those of pods that request nothing to a core, by type.
func weighted(jobs iter.Seq2[epochs.Job, error]) iter.Seq2[epochs.Job, error] {
	return func(yield func(epochs.Job, error) bool) {
		types := map[*mix.JobType]*mix.JobType{}
		for job, err := range jobs {
			kind := types[job.Type]
			if kind == nil {
				shared := *job.Type
				shared.Weight = []float64{1, 4, 20, 39}[len(types)%4]
				kind = &shared
				types[job.Type] = kind
			}
			job.Type = kind
			if !yield(job, err) {
				return
			}
		}
	}
}

func BenchmarkReplayWithWeights(b *testing.B) {
	for _, policy := range placement.Names() {
		b.Run(policy, func(b *testing.B) { benchmark(b, policy, 100_000, 100, weighted(load(100_000, 100, 4, 8.7))) })
	}
}

// Policies that ignore running jobs, use the mix of each node, and predict completions.
var growing = []string{"round-robin", "lmuf", "least-dilation", "lrt"}

func BenchmarkGrowthWithNodes(b *testing.B) {
	for _, policy := range growing {
		for _, nodes := range []int{10, 100, 1000} {
			jobs := max(20_000, 50*nodes) // enough that it does not matter how the nodes fill up
			b.Run(fmt.Sprintf("%s/%d nodes", policy, nodes), func(b *testing.B) { benchmark(b, policy, jobs, nodes, load(jobs, nodes, 4, 8.7)) })
		}
	}
}

func BenchmarkGrowthWithConcurrency(b *testing.B) {
	for _, policy := range growing {
		for _, c := range []struct{ running, offered float64 }{{3, 4.5}, {6, 8.7}, {12, 14.2}, {24, 16.0}} {
			jobs := 20_000
			b.Run(fmt.Sprintf("%s/%v running", policy, c.running), func(b *testing.B) { benchmark(b, policy, jobs, 20, load(jobs, 20, 4, c.offered)) })
		}
	}
}

func BenchmarkGrowthWithTypes(b *testing.B) {
	for _, policy := range growing {
		for _, types := range []int{2, 4, 8, 16} {
			jobs := 20_000
			b.Run(fmt.Sprintf("%s/%d types", policy, types), func(b *testing.B) { benchmark(b, policy, jobs, 100, load(jobs, 100, types, 8.7)) })
		}
	}
}

// The worst case: no mix occurs twice.
func BenchmarkAllDifferent(b *testing.B) {
	for _, policy := range growing {
		jobs := 2_000
		b.Run(policy, func(b *testing.B) { benchmark(b, policy, jobs, 10, unique(load(jobs, 10, 4, 8.7))) })
	}
}

func BenchmarkAllDifferentWithWeights(b *testing.B) {
	for _, policy := range growing {
		jobs := 2_000
		b.Run(policy, func(b *testing.B) { benchmark(b, policy, jobs, 10, unique(weighted(load(jobs, 10, 4, 8.7)))) })
	}
}
