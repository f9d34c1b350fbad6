package contention_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/mix"
	"loadline.dev/loadline/pkg/model/queueing"
)

// filledNode draws a node whose limits may fill its cores, with weights over decades or all equal, and jobs that compute always,
// never, or part of the time.
func filledNode(r *rand.Rand) (jobs []loading.Vector, servers []int, sharing contention.Sharing) {
	servers = []int{1 << r.IntN(3)}
	for range r.IntN(3) {
		servers = append(servers, 1+r.IntN(2))
	}
	n := 2 + r.IntN(5)
	weigh := []func() float64{
		func() float64 { return 1 },
		func() float64 { return math.Pow(100, r.Float64()) },
		func() float64 { return math.Pow(10, 4*r.Float64()-2) },
		func() float64 { return []float64{1, 10}[r.IntN(2)] },
	}[r.IntN(4)]
	parts, all := make([]float64, n), 0.0 // of the cores, that fill them together
	for j := range parts {
		parts[j] = r.ExpFloat64()
		all += parts[j]
	}
	limits := r.IntN(4)
	several := r.IntN(3) == 0
	for j := range n {
		v := make(loading.Vector, len(servers))
		left, threads := 1.0, 1
		if several {
			threads += r.IntN(3)
		}
		for i := range v {
			fraction := left * []float64{0, 1, r.Float64(), r.Float64(), 0.1 * r.Float64()}[r.IntN(5)]
			if left -= fraction; fraction < 1e-6 {
				fraction = 0
			}
			v[i] = loading.Demand{Loading: fraction, Pressure: fraction, Threads: threads}
		}
		share := loading.Share{Weight: weigh()}
		switch {
		case limits == 1, limits == 2 && r.IntN(3) > 0:
			share.Limit = parts[j] / all * float64(servers[0])
		case limits == 3:
			share.Limit = []float64{0, 1e-3, r.Float64(), 0.5, 2 * r.Float64()}[r.IntN(5)]
		}
		jobs, sharing.Shares = append(jobs, v), append(sharing.Shares, share)
	}
	return jobs, servers, sharing
}

// Two jobs whose limits fill a core together leave the third its share by weight: with ten times its weight each, a 21st, and with
// equal weights, a third. Both are exact: they are never throttled then, and always there.
func TestEstimatesWhereLimitsFillTheCores(t *testing.T) {
	t.Parallel()
	busy, half, light := loading.Loadings(1), loading.Loadings(0.5), loading.Loadings(0.2)
	for name, test := range map[string]struct {
		jobs    []loading.Vector
		servers int
		shares  []loading.Share
		want    []float64
	}{
		"the others weigh ten times as much": {[]loading.Vector{busy, busy, light}, 1, []loading.Share{{Weight: 10, Limit: 0.5}, {Weight: 10, Limit: 0.5}, {Weight: 1}}, []float64{1 / 0.96, 1 / 0.96, 5}},
		"all weigh the same":                 {[]loading.Vector{busy, busy, light}, 1, []loading.Share{{Weight: 1, Limit: 0.5}, {Weight: 1, Limit: 0.5}, {Weight: 1}}, []float64{7. / 6, 7. / 6, 1.4}},
		"limits that fill a core alone":      {[]loading.Vector{busy, busy}, 1, []loading.Share{{Limit: 0.5}, {Limit: 0.5}}, []float64{1, 1}},
		"limits of more than there is":       {[]loading.Vector{busy, busy}, 1, []loading.Share{{Limit: 0.8}, {Limit: 0.8}}, []float64{1.6, 1.6}},
		"on two cores":                       {[]loading.Vector{busy, busy, busy, half}, 2, []loading.Share{{Weight: 10, Limit: 0.7}, {Weight: 10, Limit: 0.7}, {Weight: 10, Limit: 0.6}, {Weight: 1}}, nil},
		"a limit that is next to nothing":    {[]loading.Vector{busy, busy}, 1, []loading.Share{{Limit: 1e-6}, {}}, []float64{1, 1}},
	} {
		sharing := contention.Sharing{Shares: test.shares}
		got, err := mix.EstimateSharing(test.jobs, []int{test.servers}, sharing)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, within := test.want, 1e-3
		if want == nil {
			p, err := contention.PredictSharing(test.jobs, []int{test.servers}, sharing, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want, within = p.Dilations, 0.02
		}
		for j := range want {
			if math.Abs(got[j]/want[j]-1) > within {
				t.Errorf("%s: %v, want %v", name, got, want)
				break
			}
		}
	}
}

// Whatever weights and limits are: at the cores no job gets less than its guaranteed share, they do not do more work together than
// they can, and where all want them all the time one core is idle only for limits, and several are never without.
func TestEstimatesKeepWhatAlwaysHolds(t *testing.T) {
	t.Parallel()
	for seed := range 1500 {
		r := rand.New(rand.NewPCG(41, uint64(seed)))
		jobs, servers, sharing := filledNode(r)
		always := seed%3 == 0
		for j := range jobs {
			jobs[j] = jobs[j][:1]
			if always {
				jobs[j][0].Loading, jobs[j][0].Pressure = 1, 1
			}
		}
		servers = servers[:1]
		bounds, err := contention.BoundSharing(jobs, servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mix.EstimateSharing(jobs, servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		used, usable, cores, limited := 0.0, 0.0, float64(servers[0]), false
		for j, v := range jobs {
			if !(got[j] >= 1) || got[j] > bounds[j]*(1+1e-6) {
				t.Errorf("set %d: job %d is dilated %v times, at most it can be %v", seed, j, got[j], bounds[j])
			}
			alone, err := contention.Alone(v, servers, queueing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			needs, most := v[0].Loading*float64(v[0].Threads), min(float64(v[0].Threads), cores)
			if limit := sharing.Shares[j].Limit; limit > 0 {
				alone, most, limited = max(alone, needs/limit), min(most, limit), true
			}
			used, usable = used+needs/(alone*got[j]), usable+most
		}
		if used > cores*(1+1e-6) || always && (cores == 1 || !limited) && used < min(cores, usable)*0.99 {
			t.Errorf("set %d: of %v cores %v are used, and %v could be", seed, cores, used, usable)
		}
	}
}

// The study is `go test ./pkg/model/contention -run TestEstimatesAreNearPredictionsWithAnyLimits -sets 43000 -v -timeout 30m`.
func TestEstimatesAreNearPredictionsWithAnyLimits(t *testing.T) {
	t.Parallel()
	offs := make([]float64, 0, *sets) // by which factor, at worst, of each set
	for set := *firstSet; set < *firstSet+*sets; set++ {
		jobs, servers, sharing := filledNode(rand.New(rand.NewPCG(40, uint64(set))))
		p, err := contention.PredictSharing(jobs, servers, sharing, queueing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		estimates, err := mix.EstimateSharing(jobs, servers, sharing)
		if err != nil {
			t.Fatal(err)
		}
		off := 1.0
		for j, d := range p.Dilations {
			off = max(off, estimates[j]/d, d/estimates[j])
		}
		if offs = append(offs, off); off > 1.5 {
			t.Logf("set %d: off by a factor of %.2f", set, off)
		}
	}
	slices.Sort(offs)
	at := func(part float64) float64 { return offs[int(part*float64(len(offs)-1))] }
	above := func(factor float64) int {
		first, _ := slices.BinarySearch(offs, factor)
		return len(offs) - first
	}
	t.Logf("%d sets: off by a factor of %.4f (half), %.3f (99 of 100), %.3f (999 of 1,000), %.3f (all); %d by more than 1.25, %d by more than 2",
		len(offs), at(0.5), at(0.99), at(0.999), at(1), above(1.25), above(2))
	if at(0.5) > 1.01 || at(0.9) > 1.1 || above(2) > len(offs)/1000 {
		t.Errorf("off by factors of %v", offs)
	}
}
