package price_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/test/modeltest"
	"loadline.dev/loadline/test/oracle"
)

func loadOf(servers []int, jobs []loading.Vector) *price.Load {
	load := price.NewLoad(servers)
	for _, v := range jobs {
		load.Add(v)
	}
	return load
}

// totalWait returns W: the wait of each thread for the threads of other jobs, summed over the jobs of a load.
func totalWait(load *price.Load, jobs []loading.Vector) float64 {
	w := 0.0
	for _, v := range jobs {
		for i, d := range v {
			w += float64(max(1, d.Threads)) * load.Delay(v, i)
		}
	}
	return w
}

func TestOneServerGivesEquation5AndDefinition2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		n := rapid.IntRange(1, 30).Draw(t, "n")
		jobs := make([]loading.Vector, n)
		var total [m]float64
		for j := range jobs {
			p := make([]float64, m)
			for i := range p {
				p[i] = rapid.Float64Range(0, 1.0/m).Draw(t, "p")
				total[i] += p[i]
			}
			jobs[j] = loading.Loadings(p...)
		}
		load := loadOf([]int{1, 1, 1}, jobs)
		totalDilation, squares := 0.0, 0.0
		for _, v := range jobs {
			want := 1.0
			for i, d := range v {
				want += d.Loading*total[i] - d.Loading*d.Loading
				squares += d.Loading * d.Loading
			}
			got := load.Dilation(v)
			if !modeltest.Close(got, want) {
				t.Fatalf("dilation %v, Eq. (5) gives %v", got, want)
			}
			totalDilation += got
		}
		norm := total[0]*total[0] + total[1]*total[1] + total[2]*total[2]
		if want := float64(n) + norm - squares; !modeltest.Close(totalDilation, want) {
			t.Fatalf("total dilation %v, Eq. (14) gives %v", totalDilation, want)
		}

		candidate := jobs[0]
		want := 0.0
		for i, d := range candidate {
			want += 2 * d.Loading * load.TotalLoading(i)
		}
		if got := load.Prices().Of(price.NewCandidate(candidate)); !modeltest.Close(got, want) {
			t.Fatalf("price %v, twice Eq. (15) gives %v", got, want)
		}
	})
}

func TestTwoJobsAreDilatedAlike(t *testing.T) { // Property 2
	rapid.Check(t, func(t *rapid.T) {
		draw := func() loading.Vector {
			a := rapid.Float64Range(0, 1).Draw(t, "a")
			return loading.Loadings(a, rapid.Float64Range(0, 1-a).Draw(t, "b"))
		}
		one, other := draw(), draw()
		load := loadOf([]int{1, 1}, []loading.Vector{one, other})
		want := 1 + one[0].Loading*other[0].Loading + one[1].Loading*other[1].Loading
		if a, b := load.Dilation(one), load.Dilation(other); !modeltest.Close(a, want) || !modeltest.Close(b, want) {
			t.Fatalf("dilations %v and %v, want 1 + p1·p2 = %v", a, b, want)
		}
	})
}

func TestWaitsAndPricesEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		servers := modeltest.DrawServers(t, m, 5)
		jobs := modeltest.DrawVectors(t, m, 3, 4)
		load := loadOf(servers, jobs)

		before := oracle.TotalWait(servers, jobs)
		for j, v := range jobs {
			for i := range v {
				if got, want := load.Delay(v, i), oracle.Delay(servers, jobs, j, i); !modeltest.Close(got, want) {
					t.Fatalf("job %d is delayed by %v at resource %d, brute force %v", j, got, i, want)
				}
			}
		}

		candidate := modeltest.DrawVector(t, m, 3)
		want := oracle.TotalWait(servers, append(slices.Clone(jobs), candidate)) - before
		if got := load.Prices().Of(price.NewCandidate(candidate)); !modeltest.Close(got, want) {
			t.Fatalf("price %v, brute force ΔW = %v", got, want)
		}
	})
}

func TestThePriceIsWhatTheTotalWaitGrowsBy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { // at sizes that brute force cannot reach
		const m = 3
		servers := modeltest.DrawServers(t, m, 96)
		jobs := modeltest.DrawVectors(t, m, loading.MinThreadsInEffect, 30) // all of them count
		load := loadOf(servers, jobs)
		candidate := modeltest.DrawVector(t, m, 20) // the maximum for exact prices
		before := totalWait(load, jobs)
		cost := load.Prices().Of(price.NewCandidate(candidate))
		load.Add(candidate)
		after := totalWait(load, append(jobs, candidate))
		if grown := after - before; math.Abs(cost-grown) > 1e-9*max(1, after) {
			t.Fatalf("price %v, but the total wait grew by %v", cost, grown)
		}
	})
}

func TestMoreLoadNeverLowersAPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		load := loadOf(modeltest.DrawServers(t, m, 32), modeltest.DrawVectors(t, m, 6, 12))
		candidate := price.NewCandidate(modeltest.DrawVector(t, m, 8))
		before := load.Prices().Of(candidate)
		load.Add(modeltest.DrawVector(t, m, 6))
		if after := load.Prices().Of(candidate); after < before-1e-12*max(1, before) {
			t.Fatalf("price fell from %v to %v when a job was added", before, after)
		}
	})
}

func TestTheOrderOfJobsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		servers := modeltest.DrawServers(t, m, 32)
		jobs := modeltest.DrawVectors(t, m, 8, 20)
		candidate := price.NewCandidate(modeltest.DrawVector(t, m, 8))
		one := loadOf(servers, jobs)
		other := loadOf(servers, rapid.Permutation(jobs).Draw(t, "order"))
		if a, b := totalWait(one, jobs), totalWait(other, jobs); math.Abs(a-b) > 1e-10*max(1, a) {
			t.Fatalf("total waits %v and %v", a, b)
		}
		if a, b := one.Prices().Of(candidate), other.Prices().Of(candidate); math.Abs(a-b) > 1e-10*max(1, a) {
			t.Fatalf("prices %v and %v", a, b)
		}
	})
}

// Dilations, waits and prices have no jump where a demand begins.
func TestALoadingThatGoesToZeroVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const (
			m    = 3
			tiny = 1e-9
		)
		servers := modeltest.DrawServers(t, m, 8)
		jobs := modeltest.DrawVectors(t, m, 4, 12)
		candidate := price.NewCandidate(modeltest.DrawVector(t, m, 4))
		filled := make([]loading.Vector, len(jobs))
		for j, v := range jobs {
			filled[j] = slices.Clone(v)
			for i := range v {
				if v[i].Loading == 0 && v[i].Pressure == 0 {
					filled[j][i] = loading.Symmetric(tiny)
				}
			}
		}
		// Each tiny loading costs at most itself times all threads, and adds as much to them.
		threads := 0
		for _, v := range jobs {
			for _, d := range v {
				threads += max(1, d.Threads)
			}
		}
		within := 4 * tiny * float64(1+threads) * float64(1+threads)
		without, with := loadOf(servers, jobs), loadOf(servers, filled)
		if a, b := totalWait(without, jobs), totalWait(with, filled); math.Abs(a-b) > within {
			t.Fatalf("total wait %v, with tiny loadings %v", a, b)
		}
		if a, b := without.Prices().Of(candidate), with.Prices().Of(candidate); math.Abs(a-b) > within {
			t.Fatalf("price %v, with tiny loadings %v", a, b)
		}
		for j := range jobs {
			if a, b := without.Dilation(jobs[j]), with.Dilation(filled[j]); math.Abs(a-b) > within {
				t.Fatalf("dilation %v of job %d, with tiny loadings %v", a, j, b)
			}
		}
	})
}

func TestToFirstOrderAJobAloneIsNotDilatedAndCostsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		servers := modeltest.DrawServers(t, m, 8)
		v := modeltest.DrawVector(t, m, 40)
		load := price.NewLoad(servers)
		if got := load.Prices().Of(price.NewCandidate(v)); got != 0 {
			t.Fatalf("price %v on an empty node", got)
		}
		load.Add(v)
		if got := load.Dilation(v); math.Abs(got-1) > 1e-9 {
			t.Fatalf("dilation %v alone", got)
		}
	})
}

func TestJobsShareServersThatTheirThreadsCrowd(t *testing.T) {
	for _, test := range []struct {
		threads, servers int
		want             float64
	}{{16, 16, 2}, {32, 16, 2}, {8, 16, 1}, {4, 1, 2}} {
		v := loading.Vector{{Loading: 1, Pressure: 1, Threads: test.threads}}
		load := loadOf([]int{test.servers}, []loading.Vector{v, v})
		if got := load.Dilation(v); !modeltest.Close(got, test.want) {
			t.Errorf("twice %d busy threads on %d cores: dilation %v, want %v", test.threads, test.servers, got, test.want)
		}
	}
}

func Example() {
	// A node with 4 cores and one disk, and two jobs on it.
	load := price.NewLoad([]int{4, 1})
	fileComp, sort := loading.Loadings(0.58, 0.42), loading.Loadings(0.90, 0.10)
	load.Add(fileComp)
	load.Add(sort)
	fmt.Printf("filecomp runs %.3f times slower than alone\n", load.Dilation(fileComp))

	// What would a third cost here?
	grep := price.NewCandidate(loading.Loadings(0.5, 0.5))
	fmt.Printf("grep would cost %.3f\n", load.Prices().Of(grep))
	// Output:
	// filecomp runs 1.042 times slower than alone
	// grep would cost 0.520
}

// A candidate inflicts on others the extra wait of each thread, times the importance of its job.
func TestWaitsCountAsManyTimesAsJobsAreImportant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		jobs, candidate := modeltest.DrawVectors(t, 2, 3, 5), modeltest.DrawVector(t, 2, 3)
		load, before, after := price.NewSharedLoad(servers, 0), price.NewLoad(servers), price.NewLoad(servers)
		importance := make([]float64, len(jobs))
		for j, v := range jobs {
			v[0].Threads = 1 // so that all have the same share
			importance[j] = rapid.SampledFrom([]float64{0.01, 1, 1, 7, 100}).Draw(t, "importance")
			load.AddImportant(v, loading.Share{}, importance[j])
			before.Add(v)
			after.Add(v)
		}
		candidate[0].Threads = 1
		after.Add(candidate)
		waited := func(l *price.Load, v loading.Vector) (by float64) { // over all threads
			for i := range v {
				by += float64(max(1, v[i].Threads)) * l.Delay(v, i)
			}
			return by
		}
		inflicts := 0.0
		for j, v := range jobs {
			inflicts += importance[j] * (waited(after, v) - waited(before, v))
		}
		waits := waited(after, candidate)
		const own = 3
		prices := load.Prices()
		got := prices.Of(price.NewShareCandidate(candidate, 0, loading.Share{}).Important(own))
		if want := own*waits + inflicts; math.Abs(got-want) > 1e-9*(1+want) {
			t.Fatalf("the price is %v, want %d × %v + %v", got, own, waits, inflicts)
		}
	})
}

// Where weights differ, and where jobs share caches, all jobs as important as each other are as important as none.
func TestEqualImportanceScalesWhatANewcomerInflicts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(22, 4))
	for range 50 {
		servers := []int{1 + r.IntN(4), 1, 2}
		once, often := price.NewSharedLoad(servers, 0), price.NewSharedLoad(servers, 0)
		for _, v := range cacheNode(r, 1+r.IntN(6)) {
			share := loading.Share{Weight: 1 + 10*r.Float64()}
			once.AddShare(v, share)
			often.AddImportant(v, share, 5)
		}
		candidate := price.NewShareCandidate(cacheNode(r, 1)[0], 0, loading.Share{Weight: 5})
		waits, inflicts := once.Prices().Parts(candidate)
		waitsToo, fiveTimes := often.Prices().Parts(candidate)
		if waitsToo != waits || math.Abs(fiveTimes-5*inflicts) > 1e-9*(1+fiveTimes) {
			t.Fatalf("waits %v and %v, inflicts %v and %v", waits, waitsToo, inflicts, fiveTimes)
		}
	}
}

// Prices of jobs with more threads than a price looks up are near the growth of the total wait.
func TestPricesOfManyThreadsAreNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		servers := []int{rapid.IntRange(64, 200).Draw(t, "servers")}
		jobs := modeltest.DrawVectors(t, 1, loading.MinThreadsInEffect, 20)
		load := loadOf(servers, jobs)
		candidate := modeltest.DrawVector(t, 1, loading.ThreadsPerServer*servers[0])
		before := totalWait(load, jobs)
		cost := load.Prices().Of(price.NewCandidate(candidate))
		load.Add(candidate)
		after := totalWait(load, append(jobs, candidate))
		if grown := after - before; math.Abs(cost-grown) > 1e-3*max(1, grown) {
			t.Fatalf("price %v, but the total wait grew by %v", cost, grown)
		}
	})
}

func TestTheSizeOfPricesIsWhatTheyTake(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 46))
	for _, servers := range []int{1, 16, 256} {
		load := price.NewSharedLoad([]int{servers, 1, 2}, 0)
		for k, v := range cacheNode(r, 12) {
			load.AddShare(v, loading.Share{Weight: float64(1 + k)})
		}
		const many = 2000
		kept := make([]*price.Prices, many)
		allocated := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := allocated()
		for i := range kept {
			kept[i] = load.Prices()
		}
		took := float64(allocated()-before) / many
		if size := float64(kept[0].Size()); size < 0.7*took || size > 1.3*took {
			t.Errorf("prices at %d servers take %v bytes, and say %v", servers, took, size)
		}
		runtime.KeepAlive(kept)
	}
}
