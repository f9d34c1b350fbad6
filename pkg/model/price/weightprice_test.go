package price_test

import (
	"cmp"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/test/modeltest"
)

var clusters = flag.Int("clusters", 6, "random clusters in the study of the order of nodes by price, for each kind")

// drawnJob is a job of a random cluster.
type drawnJob struct {
	vector loading.Vector
	weight float64
}

func randomJob(r *rand.Rand, resources int) drawnJob {
	demands := make([]float64, resources)
	left := 0.1 + 0.9*r.Float64()
	for i := range demands {
		demands[i] = left
		if resources > 1 {
			demands[i] *= r.Float64()
		}
		left -= demands[i]
	}
	return drawnJob{loading.Loadings(demands...), math.Pow(100, r.Float64())}
}

// exactWait returns the sum of the waits of jobs, by the Markov chain of who is where.
func exactWait(t *testing.T, servers []int, jobs []drawnJob) float64 {
	t.Helper()
	n := &gps.Network{Servers: servers}
	for _, j := range jobs {
		job := gps.Job{Weight: j.weight}
		for _, d := range j.vector {
			job.Demands = append(job.Demands, d.Loading)
		}
		n.Jobs = append(n.Jobs, job)
	}
	s, err := gps.Exact(n, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	wait := 0.0
	for _, r := range s.Responses {
		wait += r - 1
	}
	return wait
}

// rankCorrelation returns Spearman's.
func rankCorrelation(a, b []float64) float64 {
	x, y := ranks(a), ranks(b)
	n, sum := float64(len(a)), 0.0
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return 1 - 6*sum/(n*(n*n-1))
}

func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	r := make([]float64, len(values))
	for rank, i := range order {
		r[i] = float64(rank)
	}
	return r
}

// The order of nodes by price against the order by the exact cost of a job there. The figures, from more
// clusters, stand in docs/evidence/accuracy.md.
func TestPricesOrderNodesAsTheExactSolution(t *testing.T) {
	t.Parallel()
	var correlations, equalCorrelations, regrets, equalRegrets float64
	for _, kind := range []struct {
		servers   []int
		residents int
		margin    float64 // of the rank correlation above that of equal shares
	}{
		{[]int{1}, 4, 0.05},
		{[]int{1, 1}, 4, -0.02},
		{[]int{1, 1, 1}, 3, -0.02},
		{[]int{2}, 4, -0.01},
		{[]int{2, 1}, 4, -0.02},
		{[]int{4}, 6, -0.01},
		{[]int{4, 1}, 5, -0.02},
	} {
		var weighted, equal, regret, regretEqual, best float64
		r := rand.New(rand.NewPCG(uint64(kind.servers[0]), uint64(len(kind.servers))))
		const nodes = 8
		for range *clusters {
			candidate := randomJob(r, len(kind.servers))
			var exact, prices, equalPrices []float64
			for range nodes {
				var jobs []drawnJob
				load, equalLoad := price.NewSharedLoad(kind.servers, 0), price.NewLoad(kind.servers)
				for range kind.residents - r.IntN(2) {
					j := randomJob(r, len(kind.servers))
					jobs = append(jobs, j)
					load.AddShare(j.vector, loading.Share{Weight: j.weight})
					equalLoad.Add(j.vector)
				}
				exact = append(exact, exactWait(t, kind.servers, append(slices.Clone(jobs), candidate))-exactWait(t, kind.servers, jobs))
				prices = append(prices, load.Prices().Of(price.NewShareCandidate(candidate.vector, 0, loading.Share{Weight: candidate.weight})))
				equalPrices = append(equalPrices, equalLoad.Prices().Of(price.NewCandidate(candidate.vector)))
			}
			n := float64(*clusters)
			weighted += rankCorrelation(prices, exact) / n
			equal += rankCorrelation(equalPrices, exact) / n
			least := slices.Min(exact)
			best += least / n
			regret += (exact[slices.Index(prices, slices.Min(prices))] - least) / n
			regretEqual += (exact[slices.Index(equalPrices, slices.Min(equalPrices))] - least) / n
		}
		t.Logf("servers %v, %d jobs: rank correlation %.3f, by equal shares %.3f; the chosen node costs %.4f more than the best, %.4f; by equal shares %.4f more",
			kind.servers, kind.residents, weighted, equal, regret, best, regretEqual)
		if weighted < equal+kind.margin {
			t.Errorf("servers %v: rank correlation %v, by equal shares %v", kind.servers, weighted, equal)
		}
		correlations, equalCorrelations = correlations+weighted, equalCorrelations+equal
		regrets, equalRegrets = regrets+regret, equalRegrets+regretEqual
	}
	if correlations < equalCorrelations+0.05 || regrets > 0.6*equalRegrets {
		t.Errorf("over all, rank correlations add up to %v, by equal shares to %v; what is lost to %v and %v", correlations, equalCorrelations, regrets, equalRegrets)
	}
}

func TestEqualWeightsOfSingleThreadsChangeNoDigitOfAPrice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		share := loading.Share{Weight: rapid.SampledFrom([]float64{0, 0.01, 39}).Draw(t, "weight")}
		load, shared := price.NewLoad(servers), price.NewSharedLoad(servers, 0)
		for _, v := range modeltest.DrawVectors(t, 2, 3, 5) {
			v[0].Threads = 1
			load.Add(v)
			shared.AddShare(v, share)
		}
		candidate := modeltest.DrawVector(t, 2, 3)
		candidate[0].Threads = 1
		want := load.Prices().Of(price.NewCandidate(candidate))
		if got := shared.Prices().Of(price.NewShareCandidate(candidate, 0, share)); got != want {
			t.Fatalf("%v, without weights %v", got, want)
		}
		if got := load.Prices().Of(price.NewShareCandidate(candidate, 0, loading.Share{Weight: 5})); got != want {
			t.Fatalf("%v on a node without weights, want %v", got, want)
		}
	})
}

func TestAnyWeightsGiveAPrice(t *testing.T) {
	t.Parallel()
	share := func(t *rapid.T) loading.Share {
		return loading.Share{
			Weight: math.Pow(10, rapid.Float64Range(-9, 9).Draw(t, "weight")),
			Limit:  rapid.SampledFrom([]float64{0, 0, 1e-12, 0.1, 1, 1e12}).Draw(t, "limit"),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		load := price.NewSharedLoad(servers, 0)
		for _, v := range modeltest.DrawVectors(t, 2, 3, 6) {
			load.AddShare(v, share(t))
		}
		price := load.Prices().Of(price.NewShareCandidate(modeltest.DrawVector(t, 2, 3), 0, share(t)))
		if !(price >= 0) || math.IsInf(price, 0) {
			t.Fatalf("price %v", price)
		}
	})
}

// At one busy server a light job waits for a heavy one, which hardly notices.
func TestWeightsDecideWhoWaits(t *testing.T) {
	t.Parallel()
	busy := loading.Loadings(1)
	load := price.NewSharedLoad([]int{1}, 0)
	load.AddShare(busy, loading.Share{Weight: 10})
	prices := load.Prices()
	for weight, want := range map[float64]float64{1: 10.1, 10: 2, 100: 10.1} { // waits of both: the ratio of weights, both ways
		got := prices.Of(price.NewShareCandidate(busy, 0, loading.Share{Weight: weight}))
		if math.Abs(got/want-1) > 0.1 {
			t.Errorf("a busy job of weight %v beside one of 10 costs %v, want %v", weight, got, want)
		}
	}
}

func TestALimitBoundsAPrice(t *testing.T) {
	t.Parallel()
	busy := loading.Loadings(1)
	held, measured := price.NewSharedLoad([]int{1}, 0), price.NewLoad([]int{1})
	held.AddShare(busy, loading.Share{Limit: 0.25})
	measured.Add(loading.Loadings(0.25))
	job := price.NewCandidate(loading.Loadings(0.5))
	if got, want := held.Prices().Of(job), measured.Prices().Of(job); !modeltest.Close(got, want) {
		t.Errorf("beside a job that is held back: %v, want %v", got, want)
	}
	full := price.NewLoad([]int{1})
	full.Add(loading.Loadings(0.5))
	// What the job would wait, 0.25 · 0.5, it is throttled less.
	if got := full.Prices().Of(price.NewShareCandidate(busy, 0, loading.Share{Limit: 0.25})); !modeltest.Close(got, 0.125) {
		t.Errorf("a job that is held back costs %v, want only what it makes the other wait, 0.125", got)
	}
}
