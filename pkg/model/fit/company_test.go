package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"loadline.dev/loadline/pkg/model/fit"
)

// company is a made-up world in which the effect of several others on a job follows from the effect
// of each alone, by a rule of its own.
type company struct {
	jobs    int
	rank    int     // of the table of the cost of each job to each other
	spread  float64 // standard deviation of the logarithms of the jobs' sensitivities, and of their pressures
	typical float64 // cost of a typical companion to a typical job
	noise   float64 // standard deviation of the logarithm of a dilation
	combine func(costs []float64) float64
}

// The ways in which what single companions cost adds up.
func additive(costs []float64) float64 {
	total := 0.0
	for _, x := range costs {
		total += x
	}
	return total
}

func worst(costs []float64) float64 { return slices.Max(costs) }

// saturating is a sum bounded by a ceiling: a loss counts only once.
func saturating(ceiling float64) func([]float64) float64 {
	return func(costs []float64) float64 {
		left := 1.0
		for _, x := range costs {
			left *= 1 - min(x, 0.999*ceiling)/ceiling
		}
		return ceiling * (1 - left)
	}
}

// hyperbolic is a sum that comes to half the ceiling where it would be the ceiling.
func hyperbolic(ceiling float64) func([]float64) float64 {
	return func(costs []float64) float64 {
		total := 0.0
		for _, x := range costs {
			x = min(x, 0.999*ceiling)
			total += x / (1 - x/ceiling)
		}
		return total / (1 + total/ceiling)
	}
}

func capped(ceiling float64) func([]float64) float64 {
	return func(costs []float64) float64 { return min(additive(costs), max(ceiling, slices.Max(costs))) }
}

// root is the p-norm.
func root(p float64) func([]float64) float64 {
	return func(costs []float64) float64 {
		total := 0.0
		for _, x := range costs {
			total += math.Pow(x, p)
		}
		return math.Pow(total, 1/p)
	}
}

// groups is a company with its numbers drawn.
type groups struct {
	company
	costs  [][]float64 // cost of the second to the first
	random *rand.Rand
}

func (c company) draw(seed uint64) *groups {
	g := &groups{company: c, random: rand.New(rand.NewPCG(seed, 43))}
	g.costs = make([][]float64, c.jobs)
	for j := range g.costs {
		g.costs[j] = make([]float64, c.jobs)
	}
	for range c.rank {
		s, q := make([]float64, c.jobs), make([]float64, c.jobs)
		for j := range c.jobs {
			s[j], q[j] = math.Exp(c.spread*g.random.NormFloat64()), math.Exp(c.spread*g.random.NormFloat64())
		}
		for j := range c.jobs {
			for k := range c.jobs {
				g.costs[j][k] += c.typical / float64(c.rank) * s[j] * q[k]
			}
		}
	}
	return g
}

// dilations returns the true ones of jobs that run together.
func (g *groups) dilations(members ...int) []float64 {
	all := make([]float64, len(members))
	for a, j := range members {
		var costs []float64
		for b, k := range members {
			if b != a {
				costs = append(costs, g.costs[j][k])
			}
		}
		all[a] = 1 + g.combine(costs)
	}
	return all
}

func (g *groups) run(members ...int) fit.Run {
	r := fit.Run{Name: fmt.Sprint(members)}
	for a, dilation := range g.dilations(members...) {
		r.Members = append(r.Members, fit.Member{Job: job(members[a]), Dilation: dilation * math.Exp(g.noise*g.random.NormFloat64())})
	}
	return r
}

// runs observes a share of all pairs and a number of larger groups of a size.
func (g *groups) runs(pairs float64, number, size int) []fit.Run {
	var runs []fit.Run
	for j := range g.jobs {
		for k := j; k < g.jobs; k++ {
			if g.random.Float64() < pairs {
				runs = append(runs, g.run(j, k))
			}
		}
	}
	for range number {
		runs = append(runs, g.run(g.random.Perm(g.jobs)[:size]...))
	}
	return runs
}

// judge predicts groups of a size that the fit may not have seen, over the stated alone times, and
// returns the mean error and a tally of the intervals.
func (g *groups) judge(t *testing.T, r *fit.Result, number, size int) (err float64, c *tally) {
	t.Helper()
	c = &tally{}
	for range number {
		members := g.random.Perm(g.jobs)[:size]
		names := make([]string, size)
		for a, j := range members {
			names[a] = job(j)
		}
		got, fault := r.Predict(names...)
		if fault != nil {
			t.Fatal(fault)
		}
		for a, truth := range g.dilations(members...) {
			over := truth / find(t, r, names[a]).Baseline.Value
			err += math.Abs(got[a].Value/over-1) / float64(number*size)
			c.add(got[a], over)
		}
	}
	c.endDraw()
	return err, c
}
