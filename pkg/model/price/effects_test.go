package price_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// cacheNode draws jobs that interfere at two resources, on a node with the given number of cores.
func cacheNode(r *rand.Rand, jobs int) []loading.Vector {
	all := make([]loading.Vector, jobs)
	for j := range all {
		all[j] = loading.Vector{loading.Symmetric(0.1 + 0.9*r.Float64())}
		for range 2 {
			e := &loading.Effect{Pressure: r.Float64() * r.Float64()}
			last := 1.0
			for k := range 4 {
				last += 0.3 * r.Float64()
				e.Curve = append(e.Curve, loading.Point{Pressure: 0.25 * float64(k+1), Inflation: last})
			}
			all[j] = append(all[j], loading.Demand{Effect: e})
		}
	}
	return all
}

func priceOf(servers []int, jobs []loading.Vector, candidate loading.Vector) float64 {
	return loadOf(servers, jobs).Prices().Of(price.NewCandidate(candidate))
}

// waits returns the predicted total wait of all jobs of a node.
func waits(t *testing.T, servers []int, jobs []loading.Vector) float64 {
	sum := 0.0
	for _, dilation := range modeltest.Predict(t, jobs, servers, queueing.Options{}).Dilations {
		sum += dilation - 1
	}
	return sum
}

func TestThePriceOfInterferenceBetweenTwoJobsIsWhatItCosts(t *testing.T) {
	t.Parallel()
	servers := []int{2, 1}
	steep := loading.Curve{{Pressure: 0.5, Inflation: 1.2}, {Pressure: 1, Inflation: 2}}
	pressing := func(pressure float64) loading.Vector {
		return loading.Vector{loading.Symmetric(1), {Effect: &loading.Effect{Pressure: pressure, Curve: steep}}}
	}
	resident, candidate := pressing(0.75), pressing(0.5)
	want := 0.6 + 0.2 // beside 0.75 and 0.5
	if got := priceOf(servers, []loading.Vector{resident}, candidate); math.Abs(got-want) > 1e-12 {
		t.Errorf("it is %v, want %v", got, want)
	}
	if got := priceOf(servers, nil, candidate); got != 0 {
		t.Errorf("an empty node costs %v", got)
	}
	if got := priceOf([]int{1, 1}, []loading.Vector{resident}, candidate); got != 2 {
		t.Errorf("where the two take turns it is %v, want 2, as without caches", got)
	}
}

func TestWhatACandidateWaitsIsTheSumOverResources(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 3))
	for range 50 {
		servers := []int{1 + r.IntN(4), 1, 2}
		load := price.NewSharedLoad(servers, 0)
		for _, v := range cacheNode(r, r.IntN(6)) {
			v[0].Threads = 1 + r.IntN(2)
			load.AddShare(v, loading.Share{Weight: 1 + 10*r.Float64()})
		}
		candidate := price.NewShareCandidate(cacheNode(r, 1)[0], 0, loading.Share{Weight: 5})
		prices, sum := load.Prices(), 0.0
		for _, wait := range prices.WaitsAt(candidate) {
			sum += wait
		}
		if waits, _ := prices.Parts(candidate); math.Abs(sum-waits) > 1e-9*(1+waits) {
			t.Fatalf("the waits add up to %v, not %v", sum, waits)
		}
	}
}

// On nodes with free cores, where interference decides, prices order the nodes by the cost of a candidate there.
func TestPricesOrderNodesByInterference(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 2))
	servers := []int{8, 1, 2}
	var with, without, best, chosen, blind float64
	const worlds, nodes = 60, 8
	for range worlds {
		candidate := cacheNode(r, 1)[0]
		var costs, prices, plain []float64
		for range nodes {
			jobs := cacheNode(r, 2+r.IntN(6))
			costs = append(costs, waits(t, servers, append(jobs, candidate))-waits(t, servers, jobs))
			prices = append(prices, priceOf(servers, jobs, candidate))
			queues := make([]loading.Vector, len(jobs))
			for j := range jobs {
				queues[j] = jobs[j][:1]
			}
			plain = append(plain, priceOf(servers, queues, candidate[:1]))
		}
		with += rankCorrelation(costs, prices) / worlds
		without += rankCorrelation(costs, plain) / worlds
		best += costs[indexOfMin(costs)]
		chosen += costs[indexOfMin(prices)]
		blind += costs[indexOfMin(plain)]
	}
	t.Logf("rank correlation %.3f, without interference %.3f; the chosen node costs %.1f %% more than the best, without interference %.0f %%",
		with, without, 100*(chosen/best-1), 100*(blind/best-1))
	if with < 0.9 || chosen > 1.05*best {
		t.Errorf("rank correlation %v, the chosen node costs %v, the best %v", with, chosen, best)
	}
}

func indexOfMin(values []float64) int { return slices.Index(values, slices.Min(values)) }

// BenchmarkInterference compares the time that effects add to a prediction and to a price.
func BenchmarkInterference(b *testing.B) {
	for _, n := range []int{2, 8, 30, 100} {
		jobs := cacheNode(rand.New(rand.NewPCG(1, 8)), n)
		for j := range jobs {
			jobs[j] = append(jobs[j], loading.Symmetric(0))
			jobs[j][0] = loading.Symmetric(0.9 * jobs[j][0].Loading)
			jobs[j][3] = loading.Symmetric(0.1 * jobs[j][0].Loading)
		}
		servers := []int{max(2, n/4), 1, 2, 1}
		plain := make([]loading.Vector, n)
		for j, v := range jobs {
			plain[j] = loading.Vector{v[0], {}, {}, v[3]}
		}
		for name, vectors := range map[string][]loading.Vector{"plain": plain, "effects": jobs} {
			b.Run(fmt.Sprintf("predict/%d jobs/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					modeltest.Predict(b, vectors, servers, queueing.Options{})
				}
			})
			b.Run(fmt.Sprintf("node/%d jobs/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					loadOf(servers, vectors).Prices()
				}
			})
			b.Run(fmt.Sprintf("candidate/%d jobs/%s", n, name), func(b *testing.B) {
				prices, candidate := loadOf(servers, vectors).Prices(), price.NewCandidate(vectors[0])
				b.ReportAllocs()
				for b.Loop() {
					prices.Of(candidate)
				}
			})
		}
	}
}
