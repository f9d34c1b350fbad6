package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"loadline.dev/loadline/pkg/model/contention/fit"
)

// truth is a made-up world: what jobs really do to each other, and how they
// are observed.
type truth struct {
	jobs, resources int
	size            float64 // spread of job sizes: 0 for fractions, more for accelerators
	symmetric       bool    // pressures are sensitivities
	exact           bool    // n-way runs by exact mean value analysis, not to first order

	pairs    float64 // the share of pairs of jobs, copies included, that has a run
	ways     int     // up to how many jobs share a run
	noise    float64 // standard deviation of the logarithm of a dilation
	missing  float64 // the share of dilations that was not measured
	outliers float64 // the share of dilations that is up to three times too large
}

// world is a truth with its numbers drawn.
type world struct {
	truth
	sensitivity, pressure [][]float64
	random                *rand.Rand
}

func (c truth) world(seed uint64) *world {
	w := &world{truth: c, random: rand.New(rand.NewPCG(seed, 42))}
	for range c.jobs {
		s, q := w.vector(), w.vector()
		scale := math.Exp(c.size * w.random.NormFloat64())
		for i := range s {
			if c.size > 0 {
				s[i], q[i] = 2*scale*s[i], 2/scale*q[i]
			}
		}
		if c.symmetric {
			q = s
		}
		w.sensitivity, w.pressure = append(w.sensitivity, s), append(w.pressure, q)
	}
	return w
}

// vector draws fractions that add up to between 0.2 and 1.
func (w *world) vector() []float64 {
	v := make([]float64, w.resources)
	total := 0.0
	for i := range v {
		v[i] = w.random.ExpFloat64()
		total += v[i]
	}
	busy := 0.2 + 0.8*w.random.Float64()
	for i := range v {
		v[i] *= busy / total
	}
	return v
}

// dilations returns the true dilations of jobs that run together.
func (w *world) dilations(members []int) []float64 {
	s, q := make([][]float64, len(members)), make([][]float64, len(members))
	for a, j := range members {
		s[a], q[a] = w.sensitivity[j], w.pressure[j]
	}
	dilations := make([]float64, len(members))
	if w.exact {
		meanValueAnalysis{}.Dilations(s, q, dilations)
	} else {
		fit.FirstOrder{}.Dilations(s, q, dilations)
	}
	return dilations
}

// run observes jobs together.
func (w *world) run(name string, members ...int) fit.Run {
	r := fit.Run{Name: name}
	for a, dilation := range w.dilations(members) {
		dilation *= math.Exp(w.noise * w.random.NormFloat64())
		if w.random.Float64() < w.outliers {
			dilation *= 1 + 2*w.random.Float64()
		}
		if w.random.Float64() < w.missing {
			dilation = 0
		}
		r.Members = append(r.Members, fit.Member{Job: job(members[a]), Dilation: dilation})
	}
	return r
}

// runs observes pairs, some with more jobs beside them.
func (w *world) runs() []fit.Run {
	var runs []fit.Run
	for j := range w.jobs {
		for k := j; k < w.jobs; k++ {
			if w.random.Float64() >= w.pairs {
				continue
			}
			members := []int{j, k}
			for range w.random.IntN(max(1, w.ways-1)) {
				members = append(members, w.random.IntN(w.jobs))
			}
			runs = append(runs, w.run(strconv.Itoa(len(runs)+1), members...))
		}
	}
	return runs
}

func job(j int) string { return fmt.Sprintf("job-%02d", j) }

// meanValueAnalysis is the exact solver for one job per class (Reiser and
// Lavenberg, 1980), over the subsets of the jobs: the ground truth.
type meanValueAnalysis struct{}

func (meanValueAnalysis) Name() string { return "exact" }

func (meanValueAnalysis) Dilations(sensitivity, pressure [][]float64, dilations []float64) {
	n := len(sensitivity)
	if n == 0 {
		return
	}
	queues := make([][]float64, 1<<n)
	queues[0] = make([]float64, len(sensitivity[0]))
	for set := 1; set < 1<<n; set++ {
		queues[set] = make([]float64, len(sensitivity[0]))
		for j, s := range sensitivity {
			if set>>j&1 == 0 {
				continue
			}
			before := queues[set&^(1<<j)]
			dilation := 1.0
			for i, v := range s {
				dilation += v * before[i]
			}
			for i, v := range pressure[j] {
				queues[set][i] += v * (1 + before[i]) / dilation
			}
			if set == 1<<n-1 {
				dilations[j] = dilation
			}
		}
	}
}

// measuredPairs returns the co-locations measured on an accelerator.
func measuredPairs(t testing.TB) []fit.Run {
	t.Helper()
	file, err := os.Open("../../../../test/testdata/colocation/gpu-pairs-k80.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	runs, warnings, err := fit.Read(file)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return runs
}
