package contention_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/test/oracle"
)

// drawVector draws the vector of a job at m resources. Loadings add up to at
// most 1; pressures may be anything; some demands are idle, some certain.
func drawVector(t *rapid.T, m, maxThreads int) contention.Vector {
	v := make(contention.Vector, m)
	left := 1.0
	for i := range v {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0: // leaves the resource alone
			continue
		case 1: // is always there
			v[i].Loading = left
		default:
			v[i].Loading = left * rapid.Float64Range(0, 1).Draw(t, "loading")
		}
		left = max(0, left-v[i].Loading)
		v[i].Pressure = v[i].Loading
		if rapid.Bool().Draw(t, "asymmetric") {
			v[i].Pressure = rapid.Float64Range(0, 1).Draw(t, "pressure")
		}
		if rapid.IntRange(0, 2).Draw(t, "waits otherwise") == 0 {
			v[i].Sensitivity = min(1, v[i].Loading*rapid.Float64Range(0, 2).Draw(t, "exposure"))
		}
		v[i].Threads = rapid.IntRange(0, maxThreads).Draw(t, "threads")
	}
	return v
}

func drawVectors(t *rapid.T, m, maxThreads, maxJobs int) []contention.Vector {
	jobs := make([]contention.Vector, rapid.IntRange(0, maxJobs).Draw(t, "jobs"))
	for j := range jobs {
		jobs[j] = drawVector(t, m, maxThreads)
		switch rapid.IntRange(0, 9).Draw(t, "job") {
		case 0: // idle
			clear(jobs[j])
		case 1: // uses one resource
			one := rapid.IntRange(0, m-1).Draw(t, "one")
			clear(jobs[j][:one])
			clear(jobs[j][one+1:])
		case 2: // equals another
			jobs[j] = slices.Clone(jobs[rapid.IntRange(0, j).Draw(t, "equal")])
		}
	}
	return jobs
}

func drawServers(t *rapid.T, m, maxServers int) []int {
	return rapid.SliceOfN(rapid.IntRange(1, maxServers), m, m).Draw(t, "servers")
}

func loadOf(servers []int, jobs []contention.Vector) *contention.Load {
	load := contention.NewLoad(servers)
	for _, v := range jobs {
		load.Add(v)
	}
	return load
}

// totalWait returns W, the sum over the threads of the jobs that a load is made of, of
// what each waits for those of other jobs.
func totalWait(load *contention.Load, jobs []contention.Vector) float64 {
	w := 0.0
	for _, v := range jobs {
		for i, d := range v {
			w += float64(max(1, d.Threads)) * load.Delay(v, i)
		}
	}
	return w
}

// closeTo allows for the rounding of sums of a few hundred products of fractions.
func closeTo(got, want float64) bool { return math.Abs(got-want) <= 1e-11*max(1, math.Abs(want)) }

func TestOneServerGivesEquation5AndDefinition2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		n := rapid.IntRange(1, 30).Draw(t, "n")
		jobs := make([]contention.Vector, n)
		var total [m]float64
		for j := range jobs {
			p := make([]float64, m)
			for i := range p {
				p[i] = rapid.Float64Range(0, 1.0/m).Draw(t, "p")
				total[i] += p[i]
			}
			jobs[j] = contention.Loadings(p...)
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
			if !closeTo(got, want) {
				t.Fatalf("dilation %v, Eq. (5) gives %v", got, want)
			}
			totalDilation += got
		}
		norm := total[0]*total[0] + total[1]*total[1] + total[2]*total[2]
		if want := float64(n) + norm - squares; !closeTo(totalDilation, want) {
			t.Fatalf("total dilation %v, Eq. (14) gives %v", totalDilation, want)
		}

		candidate := jobs[0]
		want := 0.0
		for i, d := range candidate {
			want += 2 * d.Loading * load.TotalLoading(i)
		}
		if got := load.Prices().Of(contention.NewCandidate(candidate)); !closeTo(got, want) {
			t.Fatalf("price %v, twice Eq. (15) gives %v", got, want)
		}
	})
}

func TestTwoJobsAreDilatedAlike(t *testing.T) { // Property 2
	rapid.Check(t, func(t *rapid.T) {
		draw := func() contention.Vector {
			a := rapid.Float64Range(0, 1).Draw(t, "a")
			return contention.Loadings(a, rapid.Float64Range(0, 1-a).Draw(t, "b"))
		}
		one, other := draw(), draw()
		load := loadOf([]int{1, 1}, []contention.Vector{one, other})
		want := 1 + one[0].Loading*other[0].Loading + one[1].Loading*other[1].Loading
		if a, b := load.Dilation(one), load.Dilation(other); !closeTo(a, want) || !closeTo(b, want) {
			t.Fatalf("dilations %v and %v, want 1 + p1·p2 = %v", a, b, want)
		}
	})
}

func TestWaitsAndPricesEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		servers := drawServers(t, m, 5)
		jobs := drawVectors(t, m, 3, 4)
		load := loadOf(servers, jobs)

		before := oracle.TotalWait(servers, jobs)
		for j, v := range jobs {
			for i := range v {
				if got, want := load.Delay(v, i), oracle.Delay(servers, jobs, j, i); !closeTo(got, want) {
					t.Fatalf("job %d is delayed by %v at resource %d, brute force %v", j, got, i, want)
				}
			}
		}

		candidate := drawVector(t, m, 3)
		want := oracle.TotalWait(servers, append(slices.Clone(jobs), candidate)) - before
		if got := load.Prices().Of(contention.NewCandidate(candidate)); !closeTo(got, want) {
			t.Fatalf("price %v, brute force ΔW = %v", got, want)
		}
	})
}

func TestThePriceIsWhatTheTotalWaitGrowsBy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { // at sizes that brute force cannot reach
		const m = 3
		servers := drawServers(t, m, 96)
		jobs := drawVectors(t, m, contention.MinThreadsInEffect, 30) // of which all count
		load := loadOf(servers, jobs)
		candidate := drawVector(t, m, 20) // as many as prices are exact for
		before := totalWait(load, jobs)
		price := load.Prices().Of(contention.NewCandidate(candidate))
		load.Add(candidate)
		after := totalWait(load, append(jobs, candidate))
		if grown := after - before; math.Abs(price-grown) > 1e-9*max(1, after) {
			t.Fatalf("price %v, but the total wait grew by %v", price, grown)
		}
	})
}

func TestMoreLoadNeverLowersAPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		load := loadOf(drawServers(t, m, 32), drawVectors(t, m, 6, 12))
		candidate := contention.NewCandidate(drawVector(t, m, 8))
		before := load.Prices().Of(candidate)
		load.Add(drawVector(t, m, 6))
		if after := load.Prices().Of(candidate); after < before-1e-12*max(1, before) {
			t.Fatalf("price fell from %v to %v when a job was added", before, after)
		}
	})
}

func TestTheOrderOfJobsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 3
		servers := drawServers(t, m, 32)
		jobs := drawVectors(t, m, 8, 20)
		candidate := contention.NewCandidate(drawVector(t, m, 8))
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
		servers := drawServers(t, m, 8)
		jobs := drawVectors(t, m, 4, 12)
		candidate := contention.NewCandidate(drawVector(t, m, 4))
		filled := make([]contention.Vector, len(jobs))
		for j, v := range jobs {
			filled[j] = slices.Clone(v)
			for i := range v {
				if v[i].Loading == 0 && v[i].Pressure == 0 {
					filled[j][i] = contention.Symmetric(tiny)
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
		servers := drawServers(t, m, 8)
		v := drawVector(t, m, 40)
		load := contention.NewLoad(servers)
		if got := load.Prices().Of(contention.NewCandidate(v)); got != 0 {
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
		v := contention.Vector{{Loading: 1, Pressure: 1, Threads: test.threads}}
		load := loadOf([]int{test.servers}, []contention.Vector{v, v})
		if got := load.Dilation(v); !closeTo(got, test.want) {
			t.Errorf("twice %d busy threads on %d cores: dilation %v, want %v", test.threads, test.servers, got, test.want)
		}
	}
}

func Example() {
	// A node with 4 cores and one disk, and two jobs on it.
	load := contention.NewLoad([]int{4, 1})
	fileComp, sort := contention.Loadings(0.58, 0.42), contention.Loadings(0.90, 0.10)
	load.Add(fileComp)
	load.Add(sort)
	fmt.Printf("filecomp runs %.3f times slower than alone\n", load.Dilation(fileComp))

	// What would a third cost here?
	grep := contention.NewCandidate(contention.Loadings(0.5, 0.5))
	fmt.Printf("grep would cost %.3f\n", load.Prices().Of(grep))
	// Output:
	// filecomp runs 1.042 times slower than alone
	// grep would cost 0.520
}

// What a newcomer makes others wait is by how much longer the threads of each wait, as many times as it is important.
func TestWaitsCountAsManyTimesAsJobsAreImportant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := drawServers(t, 2, 3)
		jobs, candidate := drawVectors(t, 2, 3, 5), drawVector(t, 2, 3)
		load, before, after := contention.NewSharedLoad(servers, 0), contention.NewLoad(servers), contention.NewLoad(servers)
		importance := make([]float64, len(jobs))
		for j, v := range jobs {
			v[0].Threads = 1 // of which all have the same share
			importance[j] = rapid.SampledFrom([]float64{0.01, 1, 1, 7, 100}).Draw(t, "importance")
			load.AddImportant(v, contention.Share{}, importance[j])
			before.Add(v)
			after.Add(v)
		}
		candidate[0].Threads = 1
		after.Add(candidate)
		waited := func(l *contention.Load, v contention.Vector) (by float64) { // over all threads
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
		got := prices.Of(contention.NewShareCandidate(candidate, 0, contention.Share{}).Important(own))
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
		once, often := contention.NewSharedLoad(servers, 0), contention.NewSharedLoad(servers, 0)
		for _, v := range cacheNode(r, 1+r.IntN(6)) {
			share := contention.Share{Weight: 1 + 10*r.Float64()}
			once.AddShare(v, share)
			often.AddImportant(v, share, 5)
		}
		candidate := contention.NewShareCandidate(cacheNode(r, 1)[0], 0, contention.Share{Weight: 5})
		waits, inflicts := once.Prices().Parts(candidate)
		waitsToo, fiveTimes := often.Prices().Parts(candidate)
		if waitsToo != waits || math.Abs(fiveTimes-5*inflicts) > 1e-9*(1+fiveTimes) {
			t.Fatalf("waits %v and %v, inflicts %v and %v", waits, waitsToo, inflicts, fiveTimes)
		}
	}
}
