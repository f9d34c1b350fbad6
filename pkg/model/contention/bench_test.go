package contention_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

func BenchmarkPredict(b *testing.B) {
	for _, solver := range []queueing.Solver{queueing.FirstOrder, queueing.Schweitzer, queueing.Linearizer} {
		for _, n := range []int{10, 100} {
			jobs, servers := modeltest.BusyNode(n)
			b.Run(fmt.Sprintf("%v/%d jobs", solver, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					modeltest.Predict(b, jobs, servers, queueing.Options{Solver: solver})
				}
			})
		}
	}
}

// What a prediction takes on a node with eight devices, with curves and without.
func BenchmarkPredictDevices(b *testing.B) {
	for _, n := range []int{8, 30} {
		for name, sharing := range map[string]loading.DeviceSharing{"turns": loading.TimeSliced, "curves": loading.Concurrent} {
			r := rand.New(rand.NewPCG(1, 8))
			assigned := loading.NewAssignments([]loading.Devices{{Count: 8, Sharing: sharing, Resource: 1, Effects: []int{2}}})
			jobs := make([]loading.Vector, n)
			for j := range jobs {
				var err error
				if jobs[j], err = assigned.Assign(loading.Vector{loading.Symmetric(0.3 * r.Float64()), loading.Symmetric(0.7 * r.Float64()), {Effect: &loading.Effect{
					Pressure: r.Float64(), Curve: loading.Curve{{Pressure: 1, Inflation: 1 + r.Float64()}}, Of: 1,
				}}}, []int{assigned.LeastUsed(0)}); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("%d jobs/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					modeltest.Predict(b, jobs, []int{16, 1, 1}, queueing.Options{})
				}
			})
		}
	}
}
