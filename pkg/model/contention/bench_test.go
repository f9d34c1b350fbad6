package contention_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
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

// What a step of [contention.Sharing.Steps] takes: how long a prediction for a node of 16 cores and 2 disks takes, over its steps.
func BenchmarkSteps(b *testing.B) {
	for _, mix := range []struct {
		name                string
		jobs, kinds         int
		load, disk, limited float64
		threads             int
	}{
		{"alike", 30, 1, 0.4, 0, 0, 1},
		{"few", 10, 3, 0.8, 0.1, 0, 1},
		{"kinds", 30, 3, 0.4, 0.1, 0, 1},
		{"chain", 12, 12, 0.6, 0, 0, 1},
		{"chain and disk", 11, 11, 0.5, 0.1, 0, 1},
		{"different", 30, 30, 0.6, 0, 0, 1},
		{"different and disk", 30, 30, 0.5, 0.1, 0, 1},
		{"idle", 60, 60, 0.1, 0, 0, 1},
		{"full", 60, 60, 0.4, 0, 0, 1},
		{"full and disk", 60, 60, 0.4, 0.05, 0, 1},
		{"large limits", 30, 30, 0.6, 0, 2, 1},
		{"small limits", 30, 30, 0.6, 0, 0.5, 1},
		{"crowd", 110, 110, 0.3, 0, 0, 1},
		{"crowd and disk", 110, 110, 0.3, 0.05, 0, 1},
		{"threads", 20, 20, 0.3, 0, 0, 8},
		{"hostile", 60, 60, 0.2, 0.2, 0, 4},
	} {
		b.Run(mix.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(3, 7))
			sharing := contention.Sharing{Groups: []gps.Group{{}}}
			var kinds []loading.Vector
			for range mix.kinds {
				v := loading.Vector{loading.Symmetric(mix.load * (0.5 + r.Float64())), loading.Symmetric(mix.disk * (0.5 + r.Float64()))}
				v[0].Threads = mix.threads
				kinds = append(kinds, v)
			}
			jobs := make([]loading.Vector, mix.jobs)
			for j := range jobs {
				jobs[j] = kinds[j%mix.kinds]
				sharing.Shares = append(sharing.Shares, loading.Share{Weight: float64(10 + 7*(j%mix.kinds)), Limit: mix.limited})
			}
			servers := []int{16, 2}
			steps := sharing.Steps(jobs, servers)
			for b.Loop() {
				if _, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(steps, "steps")
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/steps, "ns/step")
		})
	}
}
