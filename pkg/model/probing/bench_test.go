package probing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/probing"
	"loadline.dev/loadline/pkg/model/queueing"
)

func predicted(t interface{ Fatal(args ...any) }, jobs []loading.Vector, servers []int) *contention.Prediction {
	p, err := contention.Predict(jobs, servers, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func BenchmarkPressureAmongNeighbours(b *testing.B) {
	for _, n := range []int{0, 3, 30} {
		rng := rand.New(rand.NewPCG(1, 1))
		a := probing.Among{Servers: []int{16, 1, 1}, Target: loading.Vector{{Threads: 4}}}
		for range n {
			a.Neighbours = append(a.Neighbours, loading.Loadings(0.5*rng.Float64(), 0.3*rng.Float64(), 0.2*rng.Float64()))
		}
		b.Run(fmt.Sprintf("%d neighbours", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Pressure(1.05); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMeasure(b *testing.B) {
	for _, n := range []int{3, 10, 100} {
		rng := rand.New(rand.NewPCG(1, 1))
		samples := make([]probing.Dilations, n)
		for k := range samples {
			samples[k] = probing.Dilations{Probe: 1.58 * math.Exp(0.01*rng.NormFloat64()), Target: 1.58 * math.Exp(0.01*rng.NormFloat64())}
		}
		b.Run(fmt.Sprintf("%d rounds", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := probing.Measure(probing.Setting{Servers: 1}, samples); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
