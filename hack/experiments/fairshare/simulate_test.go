package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/model/fairshare"
)

// long is a time in which some 400,000 jobs arrive.
const long = 5000 * time.Second

// tolerance is that of means over long, of jobs that wait for each other: 3 % are some
// standard deviations of these seeds.
const tolerance = 0.03

// computed returns the mean factors of a discipline over a long time.
func computed(s setting, d discipline) []float64 {
	jobs := arrivals(s, long, rand.New(rand.NewPCG(1, 2)))
	return means(jobs, simulate(jobs, d), long/100)
}

func checkFactors(t *testing.T, got, want []float64) {
	t.Helper()
	for w := range want {
		if math.Abs(got[w]/want[w]-1) > tolerance {
			t.Errorf("workload %d: factor %.3f, want %.3f", w, got[w], want[w])
		}
	}
}

func TestJobsOfEqualSharesAreAnMM1ProcessorSharingQueue(t *testing.T) {
	t.Parallel()
	s := flat("", workload("a", 1, 0.3), workload("b", 1, 0.4))
	checkFactors(t, computed(s, discriminatory(s.root)), []float64{1 / 0.3, 1 / 0.3})
}

// The mean of processor sharing depends on nothing but the mean of the demand.
func TestProcessorSharingDoesNotMindFixedDemands(t *testing.T) {
	t.Parallel()
	s := setting{fixed: true, root: &fairshare.Group{Children: []*fairshare.Group{workload("a", 1, 0.3), workload("b", 1, 0.4)}}}
	checkFactors(t, computed(s, discriminatory(s.root)), []float64{1 / 0.3, 1 / 0.3})
}

// Fayolle, Mitrani and Iasnogorodski, Journal of the ACM 27 (1980): two classes of
// exponential jobs, here with equal means.
func TestDiscriminatoryProcessorSharingHasTheClosedFormOfTwoClasses(t *testing.T) {
	t.Parallel()
	const share1, share2, busy1, busy2 = 1, 10, 0.3, 0.4
	s := flat("", workload("a", share1, busy1), workload("b", share2, busy2))
	d := share1*(1-busy1) + share2*(1-busy2)
	idle := 1 - busy1 - busy2
	checkFactors(t, computed(s, discriminatory(s.root)), []float64{
		(1 + busy2*(share2-share1)/d) / idle,
		(1 + busy1*(share1-share2)/d) / idle,
	})
}

// The numbers of jobs of two workloads under generalized processor sharing are a Markov
// chain. Its stationary distribution is found here by iteration, up to 60 jobs each.
func TestSharingIsTheMarkovChainOfTwoWorkloads(t *testing.T) {
	t.Parallel()
	const share1, share2, busy1, busy2 = 1, 4, 0.3, 0.4
	s := flat("", workload("a", share1, busy1), workload("b", share2, busy2))
	const most = 60
	type states [most + 1][most + 1]float64
	var p states
	p[0][0] = 1
	const rate = busy1 + busy2 + 1 // of the uniformized chain
	for range 20_000 {
		var next states
		for i := range p {
			for k := range p[i] {
				part1, part2 := 0.0, 0.0
				switch {
				case i > 0 && k > 0:
					part1, part2 = share1/(share1+share2+0.0), share2/(share1+share2+0.0)
				case i > 0:
					part1 = 1
				case k > 0:
					part2 = 1
				}
				next[min(i+1, most)][k] += p[i][k] * busy1 / rate
				next[i][min(k+1, most)] += p[i][k] * busy2 / rate
				next[max(i-1, 0)][k] += p[i][k] * part1 / rate
				next[i][max(k-1, 0)] += p[i][k] * part2 / rate
				next[i][k] += p[i][k] * (1 - part1 - part2) / rate
			}
		}
		p = next
	}
	jobs1, jobs2 := 0.0, 0.0
	for i := range p {
		for k := range p[i] {
			jobs1 += float64(i) * p[i][k]
			jobs2 += float64(k) * p[i][k]
		}
	}
	checkFactors(t, computed(s, sharing(s.root)), []float64{jobs1 / busy1, jobs2 / busy2}) // Little's law
}

func TestOrdersOfPriorityGiveTheModel(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		tree, err := fairshare.New(s.root)
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := fairshare.Solve(t.Context(), tree, fairshare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, tree.Len())
		total := 0.0
		jobs := arrivals(s, long, rand.New(rand.NewPCG(3, 4)))
		for _, o := range orders(s.root, 0) {
			total += o.probability
			for w, factor := range means(jobs, simulate(jobs, priority(o)), 0) {
				got[w] += o.probability * factor
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("%s: the probabilities of the orders add up to %v", s.name, total)
		}
		for w, want := range predicted.Factors {
			const busier = 2 // 80 % instead of 70 %: jobs wait longer for each other
			if math.Abs(got[w]/want-1) > busier*tolerance {
				t.Errorf("%s, workload %d: factor %.3f, want %.3f", s.name, w, got[w], want)
			}
		}
	}
}

func TestAGroupDividesWhatItGets(t *testing.T) {
	t.Parallel()
	root := flat("", group("x", 3, workload("a", 1, 0), workload("b", 4, 0)), workload("c", 1, 0)).root
	for name, c := range map[string]struct {
		jobs            []int
		sharing, perJob []float64
	}{
		"all have jobs":        {[]int{1, 1, 1}, []float64{0.15, 0.6, 0.25}, []float64{0.15, 0.6, 0.25}},
		"more jobs of one":     {[]int{4, 1, 1}, []float64{0.15, 0.6, 0.25}, []float64{0.375, 0.375, 0.25}},
		"half of a group":      {[]int{0, 2, 1}, []float64{0, 0.75, 0.25}, []float64{0, 0.75, 0.25}},
		"a group without jobs": {[]int{0, 0, 1}, []float64{0, 0, 1}, []float64{0, 0, 1}},
		"no workload has":      {[]int{0, 0, 0}, []float64{0, 0, 0}, []float64{0, 0, 0}},
	} {
		for _, with := range []struct {
			discipline
			want []float64
		}{{sharing(root), c.sharing}, {discriminatory(root), c.perJob}} {
			parts := make([]float64, 3)
			with.divide(c.jobs, parts)
			if !slices.EqualFunc(parts, with.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
				t.Errorf("%s: %v, want %v", name, parts, with.want)
			}
		}
	}
}

func TestJobsOfAWorkloadTakeTurns(t *testing.T) {
	t.Parallel()
	ms := func(arrival, demand float64) job { return job{seconds(arrival / 1e3), seconds(demand / 1e3)} }
	jobs := [][]job{{ms(0, 10), ms(0, 10)}, {ms(5, 10)}}
	s := flat("", workload("a", 1, 0), workload("b", 1, 0))
	// a alone for 5 ms, half each until its first job ends at 15, and b's at 25.
	want := [][]time.Duration{{15 * time.Millisecond, 30 * time.Millisecond}, {20 * time.Millisecond}}
	near := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < time.Microsecond })
	if diff := cmp.Diff(want, simulate(jobs, sharing(s.root)), near); diff != "" {
		t.Error(diff)
	}
	if got := stretch(jobs, want); math.Abs(got-1) > 1e-12 {
		t.Errorf("no other process had the core, but the stretch is %v", got)
	}
	want[0][1] += 3 * time.Millisecond
	if got := stretch(jobs, want); math.Abs(got-1.1) > 1e-12 {
		t.Errorf("3 ms of 30 went to others, but the stretch is %v", got)
	}
}

func TestJobsAreComparedWithThoseOfACoreAsSlow(t *testing.T) {
	t.Parallel()
	s := flat("", workload("a", 1, 0.4), workload("b", 4, 0.4))
	const slower = 1.05
	jobs := arrivals(s, 20*time.Second, rand.New(rand.NewPCG(5, 6)))
	took := simulate(slowed(jobs, slower), sharing(s.root))
	if got := stretch(jobs, took); math.Abs(got-slower) > 1e-6 {
		t.Errorf("stretch %v of a core that is slower by %v", got, slower)
	}
	for w, f := range compare(s, jobs, took, 2*time.Second, slower) {
		if f.measured != f.sharing || f.measured == f.discriminatory || f.measured == f.orders {
			t.Errorf("workload %d shares: %+v", w, f)
		}
	}
}

// The model is an approximation of what a kernel does: this says how good it is, apart
// from all that disturbs a measurement.
func TestTheModelIsNearSharingInTheLongRun(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		tree, err := fairshare.New(s.root)
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := fairshare.Solve(t.Context(), tree, fairshare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		shared := computed(s, sharing(s.root))
		for w, leaf := range tree.Workloads() {
			ratio := predicted.Factors[w] / shared[w]
			t.Logf("%-20s %-4s sharing %5.2f, model %5.2f, model/sharing %.2f", s.name, leaf.Path, shared[w], predicted.Factors[w], ratio)
			if ratio < 0.75 || ratio > 1.4 {
				t.Errorf("%s, %s: the model predicts %.2f of sharing", s.name, leaf.Path, ratio)
			}
		}
	}
}
