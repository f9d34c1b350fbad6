package mix_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/gps"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// sharedNode draws a node of up to 8 cores that is more or less busy, whose jobs have unequal weights, in two groups, several
// threads and, if asked for, limits.
func sharedNode(r *rand.Rand, limits bool) (jobs []loading.Vector, servers []int, sharing contention.Sharing) {
	busy := r.Float64()
	servers = []int{1 << r.IntN(4), 1 << r.IntN(3), 1}
	sharing.Groups = []gps.Group{{}, {Weight: 1}}
	for range 2 + r.IntN(2*servers[0]+2) {
		cpu := busy * r.Float64()
		v := loading.Loadings(cpu, (1-cpu)*r.Float64()/2, (1-cpu)*r.Float64()/4)
		threads := 1 + r.IntN(4)
		for i := range v {
			v[i].Threads = threads
		}
		share := loading.Share{Weight: math.Pow(100, r.Float64()), Group: r.IntN(2)}
		if limits && r.IntN(3) == 0 {
			share.Limit = 0.1 + r.Float64()
		}
		if share.Group > 0 {
			sharing.Groups[1].Weight += share.Weight
		}
		jobs, sharing.Shares = append(jobs, v), append(sharing.Shares, share)
	}
	return jobs, servers, sharing
}

// The test looks at the largest dilation of a node, on nodes neither idle nor overloaded: estimates serve to find nodes where
// no job is dilated beyond its limit.
func TestEstimatesAreNearPredictions(t *testing.T) {
	t.Parallel()
	for _, limits := range []bool{false, true} {
		r := rand.New(rand.NewPCG(3, 1))
		var ratios []float64 // of dilations less 1
		for len(ratios) < 50 {
			jobs, servers, sharing := sharedNode(r, limits)
			estimates, err := mix.EstimateSharing(jobs, servers, sharing)
			if err != nil {
				t.Fatal(err)
			}
			if worst := slices.Max(estimates); worst < 1.02 || worst > 2 {
				continue
			}
			p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			ratios = append(ratios, (slices.Max(estimates)-1)/(slices.Max(p.Dilations)-1))
		}
		slices.Sort(ratios)
		at := func(part float64) float64 { return ratios[int(part*float64(len(ratios)-1))] }
		t.Logf("limits %v: ratios from %.3f, %.3f (1 of 10), %.3f (half), %.3f (9 of 10), to %.3f", limits, at(0), at(0.1), at(0.5), at(0.9), at(1))
		if at(0.1) < 0.9 || math.Abs(at(0.5)-1) > 0.02 || at(0.9) > 1.05 || at(0) < 0.4 || at(1) > 2 {
			t.Errorf("limits %v: estimates are off more: %v", limits, ratios)
		}
	}
}

// Bursts of half a millisecond make threads wait for processors that are due to them. Estimates have that as predictions do.
func TestEstimatesHaveTheWaitsOfWokenThreads(t *testing.T) {
	t.Parallel()
	const jobs, processors = 24, 16
	vectors, sharing := make([]loading.Vector, jobs), contention.Sharing{Shares: make([]loading.Share, jobs)}
	for j := range vectors {
		vectors[j] = loading.Loadings(0.3 + 0.02*float64(j))
		vectors[j][0].Burst, vectors[j][0].Threads = 5e-4*float64(j%3), 1+j%2 // of some the burst is not known
		sharing.Shares[j].Weight = 1 + float64(j%4)
	}
	estimates, err := mix.EstimateSharing(vectors, []int{processors}, sharing)
	if err != nil {
		t.Fatal(err)
	}
	p, err := contention.PredictSharing(vectors, []int{processors}, sharing, queueing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for j, d := range estimates {
		if math.Abs(d/p.Dilations[j]-1) > 0.03 {
			t.Errorf("job %d, %+v: estimated %v, predicted %v", j, vectors[j], d, p.Dilations[j])
		}
	}
}

func TestEstimatesOfSimpleNodes(t *testing.T) {
	t.Parallel()
	busy, half := loading.Loadings(1), loading.Loadings(0.5)
	onSecond := loading.Vector{{}, {Loading: 0.5, Pressure: 0.5, Device: 2}}
	onFirst := loading.Loadings(0, 0.5)
	for name, test := range map[string]struct {
		jobs    []loading.Vector
		sharing contention.Sharing
		want    []float64
	}{
		"no jobs":                   {nil, contention.Sharing{}, []float64{}},
		"one alone":                 {[]loading.Vector{half}, contention.Sharing{Shares: make([]loading.Share, 1)}, []float64{1}},
		"equal shares":              {[]loading.Vector{half, half}, contention.Sharing{Shares: make([]loading.Share, 2)}, []float64{1.25, 1.25}},
		"nothing asked for":         {[]loading.Vector{{}, busy}, contention.Sharing{Shares: make([]loading.Share, 2)}, []float64{1, 1}},
		"unequal weights":           {[]loading.Vector{busy, busy}, contention.Sharing{Shares: []loading.Share{{Weight: 10}, {Weight: 1}}}, []float64{1.1, 11}},
		"a limit":                   {[]loading.Vector{busy, busy}, contention.Sharing{Shares: []loading.Share{{Limit: 0.3}, {}}}, []float64{1, 1 / 0.7}},
		"devices apart":             {[]loading.Vector{onFirst, onSecond}, contention.Sharing{Shares: make([]loading.Share, 2)}, []float64{1, 1}},
		"groups of unequal weights": {[]loading.Vector{busy, busy, busy}, contention.Sharing{Groups: []gps.Group{{}, {Weight: 2}, {Weight: 1}}, Shares: []loading.Share{{Group: 1}, {Group: 2, Weight: 3}, {Group: 2, Weight: 1}}}, []float64{1.5, 4, 12}},
		"a group in a group":        {[]loading.Vector{busy, busy}, contention.Sharing{Groups: []gps.Group{{}, {Weight: 2}, {Parent: 1, Weight: 7}, {Weight: 5}}, Shares: []loading.Share{{Weight: 9, Group: 2}, {Weight: 1}}}, []float64{1.5, 3}},
	} {
		got, err := mix.EstimateSharing(test.jobs, []int{1, 1}, test.sharing)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(got) != len(test.want) {
			t.Errorf("%s: %v", name, got)
			continue
		}
		for j, want := range test.want {
			if math.Abs(got[j]/want-1) > 0.01 {
				t.Errorf("%s: %v, want %v", name, got, test.want)
				break
			}
		}
	}
}

func TestEstimatesRefuseWhatPredictionsRefuse(t *testing.T) {
	t.Parallel()
	busy := []loading.Vector{loading.Loadings(1)}
	one := make([]loading.Share, 1)
	for name, test := range map[string]struct {
		jobs    []loading.Vector
		servers []int
		sharing contention.Sharing
	}{
		"no servers":            {busy, []int{0}, contention.Sharing{Shares: one}},
		"a job that is wrong":   {[]loading.Vector{loading.Loadings(math.NaN())}, []int{1}, contention.Sharing{Shares: one}},
		"a resource too many":   {[]loading.Vector{loading.Loadings(0.5, 0.5)}, []int{1}, contention.Sharing{Shares: one}},
		"no share":              {busy, []int{1}, contention.Sharing{}},
		"no such resource":      {busy, []int{1}, contention.Sharing{Resource: 1, Shares: one}},
		"no such group":         {busy, []int{1}, contention.Sharing{Shares: []loading.Share{{Group: 1}}}},
		"a weight below 0":      {busy, []int{1}, contention.Sharing{Shares: []loading.Share{{Weight: -1}}}},
		"a limit without end":   {busy, []int{1}, contention.Sharing{Shares: []loading.Share{{Limit: math.Inf(1)}}}},
		"a group that is wrong": {busy, []int{1}, contention.Sharing{Groups: []gps.Group{{}, {Weight: math.NaN()}}, Shares: one}},
	} {
		_, wrong := contention.PredictSharing(test.jobs, test.servers, test.sharing, queueing.Options{})
		_, err := mix.EstimateSharing(test.jobs, test.servers, test.sharing)
		if wrong == nil || err == nil || err.Error() != wrong.Error() {
			t.Errorf("%s: %v, predictions say %v", name, err, wrong)
		}
	}
}

// What an estimate takes beside a prediction.
func BenchmarkEstimateSharing(b *testing.B) {
	for _, n := range []int{5, 15} {
		r := rand.New(rand.NewPCG(3, 1))
		jobs, servers, sharing := sharedNode(r, false)
		for len(jobs) != n || servers[0] != 8 {
			jobs, servers, sharing = sharedNode(r, false)
		}
		b.Run(fmt.Sprintf("%d jobs/estimate", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := mix.EstimateSharing(jobs, servers, sharing); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d jobs/predict", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
