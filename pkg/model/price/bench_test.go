package price_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/test/modeltest"
)

// Once the load is known, a first-order dilation takes the same time on a crowded
// node as on an empty one.
func BenchmarkFirstOrderDilationOfOneJob(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		jobs, servers := modeltest.BusyNode(n)
		load := loadOf(servers, jobs)
		b.Run(fmt.Sprintf("%d jobs", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				load.Dilation(jobs[0])
			}
		})
	}
}

// What it takes to price a node whose jobs have changed, and to ask for a price.
func BenchmarkPrices(b *testing.B) {
	for _, servers := range []int{1, 16} {
		for _, weights := range []string{"none", "equal", "unequal"} {
			r := rand.New(rand.NewPCG(1, 8))
			node := []int{servers, 1, 1, 1}
			var jobs []loading.Vector
			var shares []loading.Share
			for range 30 {
				jobs = append(jobs, loading.Loadings(0.8*r.Float64(), 0.05, 0.05, 0.05))
				share := loading.Share{Weight: 4}
				if weights == "unequal" {
					share.Weight = float64(1 + r.IntN(40))
				}
				shares = append(shares, share)
			}
			prices := func() *price.Prices {
				load := price.NewSharedLoad(node, 0)
				if weights == "none" {
					load = price.NewLoad(node)
				}
				for j, v := range jobs {
					if weights == "none" {
						load.Add(v)
					} else {
						load.AddShare(v, shares[j])
					}
				}
				return load.Prices()
			}
			name := fmt.Sprintf("%d servers/%s", servers, weights)
			b.Run("node/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					prices()
				}
			})
			b.Run("candidate/"+name, func(b *testing.B) {
				list, candidate := prices(), price.NewShareCandidate(jobs[0], 0, loading.Share{Weight: 4})
				b.ReportAllocs()
				for b.Loop() {
					list.Of(candidate)
				}
			})
		}
	}
}

// longestCurve returns a curve of as many points as a profile may have.
func longestCurve() (curve loading.Curve) {
	for k := 1.0; k <= 16; k++ {
		curve = append(curve, loading.Point{Pressure: 8 * k, Inflation: 1 + k/20})
	}
	return curve
}

// What a node takes to price, and a price, whatever its jobs say: as many jobs as a kubelet allows, with as many threads as a vector
// may have at as many resources, with queues or, but for four, without, all of them different.
func BenchmarkHostilePrices(b *testing.B) {
	for _, servers := range []int{1, 64, loading.MaxServers} {
		for name, of := range map[string]struct{ resources, effects int }{"1 resource": {1, 0}, "16 resources": {16, 0}, "4 resources, 16 effects": {4, 16}} {
			r := rand.New(rand.NewPCG(1, 39))
			node := slices.Repeat([]int{servers}, of.resources+of.effects)
			vector := func() loading.Vector {
				v := make(loading.Vector, of.resources, len(node))
				for i := range v {
					v[i] = loading.Demand{Loading: r.Float64() / float64(of.resources), Pressure: r.Float64(), Threads: loading.MaxThreads - r.IntN(9)}
				}
				for range of.effects {
					v = append(v, loading.Demand{Effect: &loading.Effect{Pressure: 1000 * r.Float64(), Curve: longestCurve()}})
				}
				return v
			}
			share := func() loading.Share { return loading.Share{Weight: 1 + 9999*r.Float64()} }
			var vectors []loading.Vector
			for range 250 {
				vectors = append(vectors, vector())
			}
			load := func() *price.Load {
				load := price.NewSharedLoad(node, 0)
				for _, v := range vectors {
					load.AddShare(v, share())
				}
				return load
			}
			name = fmt.Sprintf("%d servers/%s", servers, name)
			b.Run("node/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					load().Prices()
				}
			})
			b.Run("candidate/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					price.NewShareCandidate(vector(), 0, share())
				}
			})
			b.Run("score/"+name, func(b *testing.B) {
				prices, candidate := load().Prices(), price.NewShareCandidate(vector(), 0, share())
				b.ReportAllocs()
				for b.Loop() {
					prices.Of(candidate)
				}
			})
		}
	}
}
