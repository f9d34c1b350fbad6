package linuxsched_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"loadline.dev/loadline/test/oracle/linuxsched"
)

// BenchmarkRun simulates a second of a machine that is loaded by 90 %.
func BenchmarkRun(b *testing.B) {
	for _, cpus := range []int{1, 4, 16, 64, 128} {
		b.Run(fmt.Sprintf("%d processors", cpus), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 0))
			pods := randomPods(r, cpus, 0.9)
			m := linuxsched.Machine{Kernel: linuxsched.Linux6_12(), CPUs: cpus, Caches: max(1, cpus/16)}
			events := 0
			for b.Loop() {
				result, err := m.Run(pods, 0, time.Second)
				if err != nil {
					b.Fatal(err)
				}
				events += result.Events
			}
			elapsed := b.Elapsed().Seconds()
			b.ReportMetric(float64(events)/elapsed, "events/s")
			b.ReportMetric(float64(len(pods)*b.N)/elapsed, "pod·s/s")
		})
	}
}

// randomPods draws pods that would use a part of the processors if they did not wait.
func randomPods(r *rand.Rand, cpus int, load float64) []linuxsched.Pod {
	weights, bursts := []int{1, 2, 4, 8, 20, 39, 79, 157, 313}, []float64{0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200}
	var pods []linuxsched.Pod
	for used := 0.0; used < load*float64(cpus); {
		loading, threads := 0.05+0.95*r.Float64()*r.Float64(), 1<<r.IntN(3)
		burst := time.Duration(bursts[r.IntN(len(bursts))] * float64(time.Millisecond))
		p := linuxsched.Pod{Group: linuxsched.Group{Weight: weights[r.IntN(len(weights))]}}
		for range threads {
			p.Threads = append(p.Threads, linuxsched.Bursts(burst, loading, linuxsched.Exponential, r.Uint64()))
		}
		used += loading * float64(threads)
		pods = append(pods, p)
	}
	return pods
}
