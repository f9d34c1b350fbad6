package contention_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/queueing"
)

// busyNode is a node with eight resources that are all in demand.
func busyNode(n int) (jobs []contention.Vector, servers []int) {
	r := rand.New(rand.NewPCG(1, 8))
	servers = []int{1, 1, 1, 1, 1, 1, 1, 1}
	for range n {
		v := make(contention.Vector, len(servers))
		for i := range v {
			v[i] = contention.Symmetric(r.Float64() / float64(n))
		}
		jobs = append(jobs, v)
	}
	return jobs, servers
}

// Once the load is known, a first-order dilation takes the same time on a crowded
// node as on an empty one.
func BenchmarkFirstOrderDilationOfOneJob(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		jobs, servers := busyNode(n)
		load := loadOf(servers, jobs)
		b.Run(fmt.Sprintf("%d jobs", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				load.Dilation(jobs[0])
			}
		})
	}
}

func BenchmarkPredict(b *testing.B) {
	for _, solver := range []queueing.Solver{queueing.FirstOrder, queueing.Schweitzer, queueing.Linearizer} {
		for _, n := range []int{10, 100} {
			jobs, servers := busyNode(n)
			b.Run(fmt.Sprintf("%v/%d jobs", solver, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					predict(b, jobs, servers, queueing.Options{Solver: solver})
				}
			})
		}
	}
}
