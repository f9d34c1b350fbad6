package contention_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
)

// exact returns the residence times of a closed network with one job per class
// and one server per station, by mean value analysis over the subsets of jobs,
// O(2ⁿ·n·m). demands[j][i] is job j's demand at station i; the rest of its
// neutral time, idle[j], is spent waiting for nobody.
func exact(demands [][]float64, idle []float64) []float64 {
	n, m := len(demands), len(demands[0])
	queues := make([][]float64, 1<<n)
	queues[0] = make([]float64, m)
	response := make([]float64, n)
	for set := 1; set < 1<<n; set++ {
		queues[set] = make([]float64, m)
		for j := range n {
			if set>>j&1 == 0 {
				continue
			}
			before := queues[set&^(1<<j)]
			total := idle[j]
			for i := range m {
				total += demands[j][i] * (1 + before[i])
			}
			for i := range m {
				queues[set][i] += demands[j][i] * (1 + before[i]) / total
			}
			if set == 1<<n-1 {
				response[j] = total
			}
		}
	}
	return response
}

// Table 1 of the Epochs paper: J1 = (1, 2) and J2 = (3, 5) seconds. Schweitzer
// at full convergence, as recomputed independently, and as printed.
func TestFixedPointReproducesTable1OfEpochs(t *testing.T) {
	jobs := []contention.Vector{contention.Loadings(1.0/3, 2.0/3), contention.Loadings(3.0/8, 5.0/8)}
	dilations, err := contention.FixedPoint(jobs, []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []struct{ seconds, neutral, printed float64 }{{4.69165, 3, 4.69}, {12.44226, 8, 12.44}} {
		got := dilations[j] * want.neutral
		if math.Abs(got-want.seconds) > 1e-5 || math.Abs(got-want.printed) > 0.005 {
			t.Errorf("job %d: %.6f s, want %.5f", j+1, got, want.seconds)
		}
	}
}

// Schweitzer's own error against exact mean value analysis on such networks is
// up to a third in the worst known case; on average a few percent.
func TestFixedPointIsNearTheExactSolution(t *testing.T) {
	total, count := 0.0, 0
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 8).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "m")
		jobs, demands, idle := make([]contention.Vector, n), make([][]float64, n), make([]float64, n)
		servers := make([]int, m)
		for i := range servers {
			servers[i] = 1
		}
		for j := range jobs {
			left := 1.0
			demands[j] = make([]float64, m)
			for i := range m {
				demands[j][i] = left * rapid.Float64Range(0, 1).Draw(t, "p")
				left -= demands[j][i]
			}
			idle[j] = left
			jobs[j] = contention.Loadings(demands[j]...)
		}
		got, err := contention.FixedPoint(jobs, servers)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range exact(demands, idle) {
			relative := math.Abs(got[j]-want) / want
			if relative > 1.0/3 || got[j] < 1 {
				t.Fatalf("job %d: dilation %v, exact %v", j, got[j], want)
			}
			total += relative
			count++
		}
	})
	if mean := total / float64(count); mean > 0.063 {
		t.Errorf("mean error %.3f, want at most 0.063, the published range's end", mean)
	}
}

// identicalExact returns the dilation of n identical jobs that spend the
// fraction p of their neutral time at a resource with c servers and the rest
// elsewhere: the machine repair model, a birth–death chain.
func identicalExact(n, c int, p float64) float64 {
	weights := make([]float64, n+1)
	weights[0] = 1
	total, idleJobs := 1.0, float64(n)
	for k := 1; k <= n; k++ {
		weights[k] = weights[k-1] * float64(n-k+1) / (1 - p) * p / float64(min(k, c))
		total += weights[k]
		idleJobs += float64(n-k) * weights[k]
	}
	idleFraction := idleJobs / total / float64(n) // of a job's time, stretched by λ
	return (1 - p) / idleFraction
}

func TestFixedPointWithManyServersIsNearTheBirthDeathChain(t *testing.T) {
	for _, test := range []struct {
		n, c   int
		p      float64
		within float64
	}{
		{32, 16, 0.6, 0.02}, // design example: 1.21; one entry per core would give 1.70
		{8, 4, 0.5, 0.02},
		{128, 64, 0.7, 0.03},
		{64, 16, 0.9, 0.01},
	} {
		jobs := make([]contention.Vector, test.n)
		for j := range jobs {
			jobs[j] = contention.Loadings(test.p)
		}
		got, err := contention.FixedPoint(jobs, []int{test.c})
		if err != nil {
			t.Fatal(err)
		}
		want := identicalExact(test.n, test.c, test.p)
		if math.Abs(got[0]-want)/want > test.within {
			t.Errorf("%d jobs of %v on %d servers: dilation %.4f, exact %.4f", test.n, test.p, test.c, got[0], want)
		}
	}
}

func TestFixedPointSettlesOnCrowdedNodesAndKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const m = 2
		servers := drawServers(t, m, 16)
		jobs := drawVectors(t, m, 4, 40)
		dilations, err := contention.FixedPoint(jobs, servers)
		if err != nil {
			t.Fatal(err)
		}
		for j, dilation := range dilations {
			if !(dilation >= 1) || math.IsInf(dilation, 0) {
				t.Fatalf("job %d: dilation %v is below 1 or not finite", j, dilation)
			}
		}
	})
}

func TestFixedPointRefusesBadInput(t *testing.T) {
	good := contention.Loadings(0.5)
	for name, test := range map[string]struct {
		jobs    []contention.Vector
		servers []int
		want    string
	}{
		"no servers":          {[]contention.Vector{good}, []int{0}, "resource 0: invalid number of servers: 0 is not between 1 and 16384"},
		"a bad vector":        {[]contention.Vector{good, contention.Loadings(2)}, []int{1}, "job 1: resource 0: loading: 2 is not a fraction from 0 to 1"},
		"an unknown resource": {[]contention.Vector{contention.Loadings(0.1, 0.1)}, []int{1}, "job 0: 2 demands for 1 resources"},
	} {
		if _, err := contention.FixedPoint(test.jobs, test.servers); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	if got, err := contention.FixedPoint(nil, []int{1}); err != nil || len(got) != 0 {
		t.Errorf("an empty node: got %v, %v", got, err)
	}
}
