package queueing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"loadline.dev/loadline/pkg/model/queueing"
)

// matrixGeometric solves a queue with classes of exponential service times as a quasi-birth-death
// process whose levels are the jobs: Latouche and Ramaswami, "A logarithmic reduction algorithm for
// quasi-birth-death processes", Journal of Applied Probability 30 (3), 1993. It shares only the
// model with the code that it checks.
type matrixGeometric struct {
	servers          int
	arrival          float64
	shares, services []float64
	levels           []map[string]int // [busy servers] the number of each state
	states           [][][]int        // [busy servers][state] servers by class
}

func newMatrixGeometric(streams []queueing.Stream, servers int) *matrixGeometric {
	g := &matrixGeometric{servers: servers}
	for _, s := range streams {
		g.arrival += s.Arrival
	}
	for _, s := range streams {
		g.shares, g.services = append(g.shares, s.Arrival/g.arrival), append(g.services, s.Service)
	}
	for j := range servers + 1 {
		g.levels = append(g.levels, map[string]int{})
		g.states = append(g.states, nil)
		var place func(state []int, left int)
		place = func(state []int, left int) {
			if len(state) == len(streams)-1 {
				state = append(append([]int(nil), state...), left)
				g.levels[j][fmt.Sprint(state)] = len(g.states[j])
				g.states[j] = append(g.states[j], state)
				return
			}
			for n := range left + 1 {
				place(append(state, n), left-n)
			}
		}
		place(nil, j)
	}
	return g
}

// moved returns the number of a state after changes of the numbers of servers.
func (g *matrixGeometric) moved(state []int, level, plus, minus int) int {
	other := append([]int(nil), state...)
	if plus >= 0 {
		other[plus]++
	}
	if minus >= 0 {
		other[minus]--
	}
	return g.levels[level][fmt.Sprint(other)]
}

// arrivals returns the rates up from a level with idle servers, completions those down from
// one where no job waits, and replaced those down from one where jobs wait.
func (g *matrixGeometric) arrivals(level int) *mat.Dense {
	rates := mat.NewDense(len(g.states[level]), len(g.states[level+1]), nil)
	for n, state := range g.states[level] {
		for k, share := range g.shares {
			rates.Set(n, g.moved(state, level+1, k, -1), g.arrival*share)
		}
	}
	return rates
}

func (g *matrixGeometric) completions(level int) *mat.Dense {
	rates := mat.NewDense(len(g.states[level]), len(g.states[level-1]), nil)
	for n, state := range g.states[level] {
		for k, service := range g.services {
			if state[k] > 0 {
				rates.Set(n, g.moved(state, level-1, -1, k), float64(state[k])*service)
			}
		}
	}
	return rates
}

func (g *matrixGeometric) replaced() *mat.Dense {
	states := g.states[g.servers]
	rates := mat.NewDense(len(states), len(states), nil)
	for n, state := range states {
		for k, service := range g.services {
			for next, share := range g.shares {
				if state[k] > 0 {
					to := g.moved(state, g.servers, next, k)
					rates.Set(n, to, rates.At(n, to)+float64(state[k])*service*share)
				}
			}
		}
	}
	return rates
}

// out returns the rate at which a state is left.
func (g *matrixGeometric) out(state []int) float64 {
	sum := g.arrival
	for k, service := range g.services {
		sum += float64(state[k]) * service
	}
	return sum
}

func identity(n int) *mat.Dense {
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	return one
}

// descent returns the state in which a level above all servers is first left downwards.
func (g *matrixGeometric) descent(t *testing.T) *mat.Dense {
	n := len(g.states[g.servers])
	up, down := mat.NewDense(n, n, nil), g.replaced()
	for i, state := range g.states[g.servers] {
		up.Set(i, i, g.arrival/g.out(state))
		for k := range n {
			down.Set(i, k, down.At(i, k)/g.out(state))
		}
	}
	descent, climbed := mat.DenseCopyOf(down), mat.DenseCopyOf(up)
	for range 60 {
		var round, other, left mat.Dense
		round.Mul(up, down)
		other.Mul(down, up)
		round.Add(&round, &other)
		left.Sub(identity(n), &round)
		next := func(x *mat.Dense) *mat.Dense {
			var square, solved mat.Dense
			square.Mul(x, x)
			if err := solved.Solve(&left, &square); err != nil {
				t.Fatal(err)
			}
			return &solved
		}
		up, down = next(up), next(down)
		var more, further mat.Dense
		more.Mul(climbed, down)
		descent.Add(descent, &more)
		further.Mul(climbed, up)
		climbed = &further
		if mat.Norm(climbed, math.Inf(1)) < 1e-15 {
			return descent
		}
	}
	t.Fatal("the reduction does not converge")
	return nil
}

// busy returns the probabilities of the states in which all servers are busy, however
// many jobs wait, and the generator of the wait of a job that finds one.
func (g *matrixGeometric) busy(t *testing.T) (*mat.VecDense, *mat.Dense) {
	m := g.servers
	var returns *mat.Dense // from a level to the next one
	measures := make([]*mat.Dense, m)
	for j := range m {
		generator := mat.NewDense(len(g.states[j]), len(g.states[j]), nil)
		if j > 0 {
			generator.Mul(g.completions(j), returns)
			generator.Scale(-1, generator)
		}
		for n, state := range g.states[j] {
			generator.Set(n, n, generator.At(n, n)+g.out(state))
		}
		measures[j], returns = generator, new(mat.Dense)
		if err := returns.Solve(generator, g.arrivals(j)); err != nil {
			t.Fatal(err)
		}
	}
	wait, censored := new(mat.Dense), new(mat.Dense)
	wait.Scale(g.arrival, g.descent(t))
	censored.Mul(g.completions(m), returns)
	size := len(g.states[m])
	for n, state := range g.states[m] {
		wait.Set(n, n, wait.At(n, n)-g.out(state)+g.arrival)
	}
	censored.Add(censored, wait)
	for n := range size {
		censored.Set(n, n, censored.At(n, n)-g.arrival)
		censored.Set(n, 0, 1) // in place of one of the equations
	}
	scale, full, above := mat.NewVecDense(size, nil), new(mat.VecDense), new(mat.VecDense)
	scale.SetVec(0, 1)
	if err := full.SolveVec(censored.T(), scale); err != nil {
		t.Fatal(err)
	}
	if err := above.SolveVec(wait.T(), full); err != nil {
		t.Fatal(err)
	}
	full.AddScaledVec(full, -g.arrival, above)
	total, level := mat.Sum(full), mat.NewVecDense(size, nil)
	level.AddScaledVec(full, g.arrival, above)
	for j := m; j > 0; j-- {
		var entered, below mat.VecDense
		entered.MulVec(g.completions(j).T(), level)
		if err := below.SolveVec(measures[j-1].T(), &entered); err != nil {
			t.Fatal(err)
		}
		level = &below
		total += mat.Sum(level)
	}
	full.ScaleVec(1/total, full)
	return full, wait
}

// responseBeyond returns the same as the function of that name in MGm, given busy: the wait and the
// service after it are phases of one matrix exponential distribution.
func responseBeyond(full *mat.VecDense, wait *mat.Dense, service, x float64) float64 {
	size := full.Len()
	phases := mat.NewDense(size+1, size+1, nil)
	for n := range size {
		sum := 0.0
		for k := range size {
			phases.Set(n, k, x*wait.At(n, k))
			sum += wait.At(n, k)
		}
		phases.Set(n, size, -x*sum)
	}
	phases.Set(size, size, -x*service)
	var after mat.Dense
	after.Exp(phases)
	beyond := (1 - mat.Sum(full)) * math.Exp(-service*x)
	for n := range size {
		for k := range size + 1 {
			beyond += full.AtVec(n) * after.At(n, k)
		}
	}
	return beyond
}

func TestExponentialClassesAgreeWithTheMatrixGeometricSolution(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 5))
	worst := 0.0
	for n := range 60 {
		count, servers := 2+n%3, 1+r.IntN([]int{20, 7, 4}[n%3])
		ratio, load := []float64{1.1, 3, 30, 1000}[n/3%4], 0.0
		streams := make([]queueing.Stream, count)
		for k := range streams {
			streams[k] = queueing.Stream{Service: math.Pow(ratio, float64(k)/float64(count-1)), SCV: 1}
			streams[k].Arrival = r.ExpFloat64() * streams[k].Service
			load += streams[k].Arrival / streams[k].Service
		}
		for k := range streams {
			streams[k].Arrival *= (0.1 + 0.89*r.Float64()) * float64(servers) / load
		}
		q := mgm(t, servers, streams...)
		full, wait := newMatrixGeometric(streams, servers).busy(t)
		off := math.Abs(q.WaitProbability() - mat.Sum(full))
		for k, s := range streams {
			for _, x := range []float64{0.1, 1, 4} {
				off = max(off, math.Abs(q.ResponseBeyond(k, x/s.Service)-responseBeyond(full, wait, s.Service, x/s.Service)))
			}
		}
		if worst = max(worst, off); !(off < 1e-8) || q.Error() != 0 {
			t.Errorf("%d servers, %+v: off by %g; the bound is %g", servers, streams, off, q.Error())
		}
	}
	t.Logf("off by %.2g at most", worst)
}
