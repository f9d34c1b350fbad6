package mix_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/test/modeltest"
)

// weightedDilations returns the dilations of jobs on a node, by a mix, whose types have weights.
func weightedDilations(t fataler, servers []int, types ...mix.JobType) []float64 {
	t.Helper()
	mixes, err := mix.NewMixes(mix.NodeClass{Servers: servers}, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mix := mixes.Empty()
	for j := range types {
		mix = mix.With(&types[j])
	}
	dilations := make([]float64, len(types))
	for j := range types {
		dilations[j] = mix.Dilation(&types[j])
	}
	if err := mixes.Err(); err != nil {
		t.Fatal(err)
	}
	return dilations
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func TestMixesShareTheProcessorByWeight(t *testing.T) {
	t.Parallel()
	busy, most := loading.Loadings(1), loading.Loadings(0.6)
	threads := loading.Vector{{Loading: 1, Pressure: 1, Threads: 2}}
	for name, test := range map[string]struct {
		servers   int
		types     []mix.JobType
		want      []float64
		tolerance float64
	}{
		"busy jobs share a core by weight":          {1, []mix.JobType{{Vector: busy, Weight: 10}, {Vector: busy}}, []float64{1.1, 11}, 1e-3},
		"three busy jobs":                           {1, []mix.JobType{{Vector: busy, Weight: 4}, {Vector: busy, Weight: 3}, {Vector: busy}}, []float64{2, 8.0 / 3, 8}, 1e-3},
		"a pod with a core of its own never waits":  {2, []mix.JobType{{Vector: busy, Weight: 10}, {Vector: busy}}, []float64{1, 1}, 1e-9},
		"no thread gets more than a core":           {2, []mix.JobType{{Vector: busy, Weight: 10}, {Vector: busy}, {Vector: busy}}, []float64{1, 2, 2}, 1e-3},
		"jobs share by job, not by thread":          {1, []mix.JobType{{Vector: threads, Weight: 1}, {Vector: busy, Weight: 1}}, []float64{2, 2}, 0.01},
		"who has all the weight has priority":       {1, []mix.JobType{{Vector: most, Weight: 1e6}, {Vector: busy}}, []float64{1, 2.5}, 1e-3},
		"exact for two, nearly":                     {1, []mix.JobType{{Vector: most, Weight: 10}, {Vector: most}}, []float64{1.050562, 1.927835}, 0.03},
		"threads share the weight of their job":     {1, []mix.JobType{{Vector: threads, Weight: 3}, {Vector: busy, Weight: 1}}, []float64{4.0 / 3, 4}, 0.01},
		"who never computes has no weight":          {1, []mix.JobType{{Vector: loading.Loadings(0, 0.5), Weight: 10}, {Vector: busy}}, []float64{1, 1}, 1e-9},
		"a weight of 0 is one of 1":                 {1, []mix.JobType{{Vector: busy, Weight: 2}, {Vector: busy}}, []float64{1.5, 3}, 1e-3},
		"what a limit leaves is done by others":     {1, []mix.JobType{{Vector: busy, Limit: 0.3}, {Vector: busy}}, []float64{1, 1 / 0.7}, 1e-3},
		"who is held back by a limit waits no more": {1, []mix.JobType{{Vector: busy, Weight: 1e6, Limit: 0.2}, {Vector: busy}}, []float64{1, 1.25}, 0.01},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for j, d := range weightedDilations(t, []int{test.servers, 1}, test.types...) {
				if math.Abs(d/test.want[j]-1) > test.tolerance {
					t.Errorf("job %d is dilated by %v, want %v", j, d, test.want[j])
				}
			}
		})
	}
}

func TestEqualWeightsOfSingleThreadsChangeNoDigitOfAMix(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		weight := rapid.SampledFrom([]float64{0.01, 1, 39}).Draw(t, "weight")
		var plain, weighted []mix.JobType
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			v := modeltest.DrawVector(t, 2, 1)
			plain, weighted = append(plain, mix.JobType{Vector: v}), append(weighted, mix.JobType{Vector: v, Weight: weight})
		}
		want := weightedDilations(t, servers, plain...)
		for j, got := range weightedDilations(t, servers, weighted...) {
			if got != want[j] {
				t.Fatalf("job %d: %v, without weights %v", j, got, want[j])
			}
		}
	})
}

// Jobs press for as long as they are present, so that no processor is more than full.
func TestNoProcessorDoesMoreThanItCan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		mixes, err := mix.NewMixes(mix.NodeClass{Servers: servers}, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		together := mixes.Empty()
		for range rapid.IntRange(1, 8).Draw(t, "jobs") {
			job := &mix.JobType{Vector: modeltest.DrawVector(t, 2, 2), Weight: rapid.SampledFrom([]float64{0, 0.1, 1, 100}).Draw(t, "weight")}
			job.Limit = rapid.SampledFrom([]float64{0, 0, 1e-6, 0.3, 1.5}).Draw(t, "limit")
			for i := range job.Vector {
				job.Vector[i].Pressure, job.Vector[i].Sensitivity = job.Vector[i].Loading, 0
			}
			together = together.With(job)
		}
		if u := together.Utilization(0); !(u <= 1+1e-6) {
			t.Fatalf("the processor is used %v times", u)
		}
		for _, p := range together.Parts() {
			if d := together.Dilation(p.Type); !(d >= 1) || math.IsInf(d, 0) {
				t.Fatalf("dilated by %v", d)
			}
		}
		if err := mixes.Err(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnyWeightsGiveADilation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		servers := modeltest.DrawServers(t, 2, 3)
		var types []mix.JobType
		for range rapid.IntRange(2, 6).Draw(t, "jobs") {
			weight := math.Pow(10, rapid.Float64Range(-12, 12).Draw(t, "weight"))
			types = append(types, mix.JobType{Vector: modeltest.DrawVector(t, 2, 3), Weight: weight})
		}
		for j, d := range weightedDilations(t, servers, types...) {
			if !(d >= 1) || math.IsInf(d, 0) {
				t.Fatalf("job %d is dilated by %v", j, d)
			}
		}
	})
}

var sets = flag.Int("sets", 80, "random sets of jobs in the study of errors")

// The study of docs/evidence/accuracy.md is `go test ./pkg/model/mix -run TestMixesAreCloseToTheExactSolution -sets 4000 -v`.
func TestMixesAreCloseToTheExactSolution(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(19, 1))
	var off, offEqual, worst, jobs float64
	for range *sets {
		servers := []int{1 << r.IntN(3), 1, 1}[:1+r.IntN(2)]
		n := &gps.Network{Servers: servers}
		var types, plain []mix.JobType
		for range 2 + r.IntN(4) {
			demands := make([]float64, len(servers))
			left := 0.1 + 0.9*r.Float64()
			for i := range demands {
				demands[i] = left * r.Float64()
				left -= demands[i]
			}
			v, weight := loading.Loadings(demands...), math.Pow(100, r.Float64())
			n.Jobs = append(n.Jobs, gps.Job{Demands: demands, Weight: weight})
			types, plain = append(types, mix.JobType{Vector: v, Weight: weight}), append(plain, mix.JobType{Vector: v})
		}
		exact, err := gps.Exact(n, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		weighted, equal := weightedDilations(t, servers, types...), weightedDilations(t, servers, plain...)
		for j, want := range exact.Responses {
			e := math.Abs(weighted[j]/want - 1)
			off, worst, jobs = off+e, max(worst, e), jobs+1
			offEqual += math.Abs(equal[j]/want - 1)
		}
	}
	t.Logf("off by %.2f %% on average and %.1f %% at worst; by equal shares %.2f %%", 100*off/jobs, 100*worst, 100*offEqual/jobs)
	if off/jobs > 0.005 || worst > 0.25 || offEqual/jobs < 4*off/jobs {
		t.Errorf("off by %v on average and %v at worst; by equal shares %v", off/jobs, worst, offEqual/jobs)
	}
}

// A replay's result, in microseconds, is close to that of [contention.PredictSharing], in milliseconds. Otherwise the
// prediction of a node and a replay of it would contradict each other.
func TestMixesAgreeWithSharing(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]float64{"weights": 0.015, "limits": 0.012, "weights and limits": 0.025, "threads": 0.025} {
		r := rand.New(rand.NewPCG(7, 1))
		off, jobs := 0.0, 0.0
		for range 60 {
			servers := []int{1 << r.IntN(3)}
			var types []mix.JobType
			var vectors []loading.Vector
			sharing := contention.Sharing{}
			for range 2 + r.IntN(6) {
				p, limit := 0.1+0.9*r.Float64(), 0.0
				weight := math.Pow(100, r.Float64())
				v := loading.Loadings(p)
				if name == "threads" {
					v[0].Threads = 1 + r.IntN(3)
				}
				if name == "threads" || name == "limits" {
					weight = 1
				}
				if strings.Contains(name, "limits") && r.IntN(2) == 0 {
					limit = 0.1 + r.Float64()*p
				}
				types, vectors = append(types, mix.JobType{Vector: v, Weight: weight, Limit: limit}), append(vectors, v)
				sharing.Shares = append(sharing.Shares, loading.Share{Weight: weight, Limit: limit})
			}
			p, err := contention.PredictSharing(vectors, servers, sharing, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for j, d := range weightedDilations(t, servers, types...) {
				off, jobs = off+math.Abs(d/p.Dilations[j]-1), jobs+1
			}
		}
		t.Logf("%s: off by %.2f %% on average", name, 100*off/jobs)
		if off/jobs > most {
			t.Errorf("%s: off by %v on average", name, off/jobs)
		}
	}
}
