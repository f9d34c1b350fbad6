package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"loadline.dev/loadline/pkg/model/fit"
)

// truth is a made-up world: the true slowdowns of jobs by each other, and how they are observed.
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
	tails    float64 // degrees of freedom of the noise, Student's t; 0 for normal noise
	uneven   float64 // standard deviation of the logarithm of a job's own noise

	idle     float64 // the share of sensitivities and pressures that is 0
	baseline float64 // standard deviation of the logarithm of a factor by which alone times are wrong
	gross    float64 // the factor by which the first job's dilations are wrong; 0 for 1
	probes   bool    // the last jobs load one resource each and are known, and each other job runs beside each probe three times
}

// world is a truth with its numbers drawn.
type world struct {
	truth
	sensitivity, pressure [][]float64
	factor, noisiness     []float64 // per job: of its dilations, and of the standard deviation of their noise
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
		w.factor = append(w.factor, math.Exp(c.baseline*w.random.NormFloat64()))
		w.noisiness = append(w.noisiness, math.Exp(c.uneven*w.random.NormFloat64()))
	}
	if c.gross > 0 {
		w.factor[0] = c.gross
	}
	if c.probes {
		for i := range c.resources {
			j := c.jobs - c.resources + i
			unit := make([]float64, c.resources)
			unit[i] = 1
			w.sensitivity[j], w.pressure[j], w.factor[j] = unit, unit, 1
		}
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
		if w.idle > 0 && w.random.Float64() < w.idle {
			v[i] = 0
		}
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
		dilation *= w.factor[members[a]] * math.Exp(w.noise*w.noisiness[members[a]]*w.deviate())
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

// deviate draws a standard deviation's worth of noise.
func (w *world) deviate() float64 {
	z := w.random.NormFloat64()
	if w.tails == 0 {
		return z
	}
	square := distuv.ChiSquared{K: w.tails, Src: w.random}.Rand()
	return z * math.Sqrt((w.tails-2)/square)
}

// options are the options for fitting the observations.
func (w *world) options() fit.Options {
	if !w.probes {
		return fit.Options{}
	}
	o := fit.Options{Beliefs: map[string]fit.Belief{}}
	for j := w.jobs - w.resources; j < w.jobs; j++ {
		o.Resources = append(o.Resources, fmt.Sprintf("resource-%d", len(o.Resources)))
		o.Beliefs[job(j)] = fit.Belief{Sensitivity: w.sensitivity[j], Weight: math.Inf(1)}
	}
	return o
}

// runs observes pairs, some with more jobs beside them.
func (w *world) runs() []fit.Run {
	var runs []fit.Run
	if w.probes {
		others := w.jobs - w.resources
		for j := range others {
			for again := range 3 {
				for i := range w.resources {
					runs = append(runs, w.run(fmt.Sprint(j, again, i), j, others+i))
				}
			}
		}
		return runs
	}
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
	file, err := os.Open("../../../test/testdata/colocation/gpu-pairs-k80.csv")
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
