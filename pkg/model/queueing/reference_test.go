package queueing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"loadline.dev/loadline/pkg/model/queueing"
)

// This file has solutions that share nothing with the package, for testing it.

// meanValueAnalysis returns the dilations of different jobs, one server per
// station, by mean value analysis over the subsets of the jobs: Reiser and
// Lavenberg, JACM 27 (2), 1980.
func meanValueAnalysis(network *queueing.Network) []float64 {
	n, m := len(network.Classes), len(network.Servers)
	queues := make([][]float64, 1<<n)
	queues[0] = make([]float64, m)
	dilations := make([]float64, n)
	for set := 1; set < 1<<n; set++ {
		queues[set] = make([]float64, m)
		for j, class := range network.Classes {
			if set>>j&1 == 0 {
				continue
			}
			before := queues[set&^(1<<j)]
			round, neutral := class.Idle, class.Idle
			for i, demand := range class.Demands {
				round += demand * (1 + before[i])
				neutral += demand
			}
			for i, demand := range class.Demands {
				queues[set][i] += demand * (1 + before[i]) / round
			}
			dilations[j] = round / neutral
		}
	}
	return dilations
}

// birthDeath returns the dilation of n identical jobs that spend the fraction p of
// their neutral time at a station with c servers and the rest idle.
func birthDeath(n, c int, p float64) float64 {
	logs := make([]float64, n+1) // of the probability of k there, but for a constant
	for k := 1; k <= n; k++ {
		logs[k] = logs[k-1] + math.Log(float64(n-k+1)/(1-p)*p/float64(min(k, c)))
	}
	top, total, idle := slices.Max(logs), 0.0, 0.0
	for k, log := range logs {
		weight := math.Exp(log - top)
		total += weight
		idle += float64(n-k) * weight
	}
	return (1 - p) * float64(n) * total / idle
}

// markov returns the dilations of different jobs from the stationary distribution
// of the Markov chain of who is where: exponential times, processor sharing, each
// job visiting idle time and its stations in turn.
func markov(t *testing.T, network *queueing.Network) []float64 {
	t.Helper()
	n := len(network.Classes)
	routes := make([][]int, n) // −1 is idle time
	states := 1
	for j, class := range network.Classes {
		if class.Idle > 0 {
			routes[j] = append(routes[j], -1)
		}
		for i, demand := range class.Demands {
			if demand > 0 {
				routes[j] = append(routes[j], i)
			}
		}
		states *= len(routes[j])
	}
	// speed returns at what rate job j leaves where it is in a state.
	place := func(state, j int) (stride, stop int) {
		stride = 1
		for k := range j {
			stride *= len(routes[k])
		}
		return stride, state / stride % len(routes[j])
	}
	rate := func(state, j int) float64 {
		_, stop := place(state, j)
		station := routes[j][stop]
		if station < 0 {
			return 1 / network.Classes[j].Idle
		}
		there := 0
		for k := range n {
			if _, at := place(state, k); routes[k][at] == station {
				there++
			}
		}
		return min(1, float64(network.Servers[station])/float64(there)) / network.Classes[j].Demands[station]
	}
	balance := mat.NewDense(states, states, nil)
	for state := range states {
		for j := range n {
			stride, stop := place(state, j)
			next := state + stride*((stop+1)%len(routes[j])-stop)
			r := rate(state, j)
			balance.Set(next, state, balance.At(next, state)+r)
			balance.Set(state, state, balance.At(state, state)-r)
		}
	}
	one := mat.NewVecDense(states, nil)
	for state := range states {
		balance.Set(0, state, 1)
	}
	one.SetVec(0, 1)
	var distribution mat.VecDense
	if err := distribution.SolveVec(balance, one); err != nil {
		t.Fatal(err)
	}
	dilations := make([]float64, n)
	for j, class := range network.Classes {
		neutral := class.Idle
		for _, demand := range class.Demands {
			neutral += demand
		}
		if len(routes[j]) == 1 && routes[j][0] < 0 {
			dilations[j] = 1
			continue
		}
		leaving := 0.0 // how often it leaves its first stop
		for state := range states {
			if _, stop := place(state, j); stop == 0 {
				leaving += distribution.AtVec(state) * rate(state, j)
			}
		}
		dilations[j] = 1 / leaving / neutral
	}
	return dilations
}

// subsetRecursion returns the dilations of any jobs, one server per station, by the arrival theorem
// taken literally: a thread finds the network without it, and so on down to a thread alone. With
// the same number of threads everywhere, and pressures and sensitivities that equal the demands, it
// is mean value analysis.
type subsetRecursion struct {
	network *queueing.Network
	known   map[string][][]float64 // presences, per class and station, by how many are missing
}

func newSubsetRecursion(network *queueing.Network) *subsetRecursion {
	return &subsetRecursion{network, map[string][][]float64{}}
}

// threads returns how many threads of a class are at a station when some are missing.
func (s *subsetRecursion) threads(k, i, missing int) int {
	class := &s.network.Classes[k]
	pressures := class.Pressures
	if pressures == nil {
		pressures = class.Demands
	}
	if class.Demands[i] == 0 && pressures[i] == 0 {
		return 0
	}
	threads := 1
	if class.Threads != nil {
		threads = max(1, class.Threads[i])
	}
	return max(0, threads-missing)
}

// dilation returns the dilation of a class, and how long it waits at each station, in
// the network that lacks some threads.
func (s *subsetRecursion) dilation(k int, missing []int) (dilation float64, waits []float64) {
	class := &s.network.Classes[k]
	without := slices.Clone(missing)
	without[k]++
	others := s.presences(without)
	round, neutral := class.Idle+sum(class.Demands), class.Idle+sum(class.Demands)
	waits = make([]float64, len(class.Demands))
	for i, demand := range class.Demands {
		found := 0.0
		for l := range s.network.Classes {
			if threads := s.threads(l, i, without[l]); threads > 0 {
				found += float64(threads) * others[l][i]
			}
		}
		waits[i] = found
		if class.Sensitivities != nil && demand > 0 {
			waits[i] *= class.Sensitivities[i] / demand
		}
		round += demand * waits[i]
	}
	return round / neutral, waits
}

// presences returns where a thread of each class is in the network that lacks some.
func (s *subsetRecursion) presences(missing []int) [][]float64 {
	key := fmt.Sprint(missing)
	if presences, ok := s.known[key]; ok {
		return presences
	}
	presences := make([][]float64, len(missing))
	for k := range presences {
		class := &s.network.Classes[k]
		left := 0
		for i := range class.Demands {
			left = max(left, s.threads(k, i, missing[k]))
		}
		if left == 0 {
			continue
		}
		dilation, waits := s.dilation(k, missing)
		presences[k] = make([]float64, len(waits))
		for i, demand := range class.Demands {
			pressure := demand
			if class.Pressures != nil {
				pressure = class.Pressures[i]
			}
			round := dilation * (class.Idle + sum(class.Demands))
			presences[k][i] = min(1, (pressure+min(pressure, demand)*waits[i])/round)
		}
	}
	s.known[key] = presences
	return presences
}

// dilations returns the dilation of each class in the whole network.
func (s *subsetRecursion) dilations() []float64 {
	dilations := make([]float64, len(s.network.Classes))
	for k := range dilations {
		dilations[k], _ = s.dilation(k, make([]int, len(dilations)))
	}
	return dilations
}

// measured gives some jobs what measured ones have: pressures and sensitivities that
// are not the demands, zero where the demand is and now and then elsewhere, and up to
// maxThreads threads.
func measured(r *rand.Rand, network *queueing.Network, maxThreads int) {
	for k := range network.Classes {
		class := &network.Classes[k]
		around := func() []float64 {
			values := make([]float64, len(class.Demands))
			for i, demand := range class.Demands {
				if r.IntN(8) > 0 {
					values[i] = demand * (0.3 + r.Float64())
				}
			}
			return values
		}
		if r.IntN(2) == 0 {
			class.Pressures = around()
		}
		if r.IntN(2) == 0 {
			class.Sensitivities = around()
		}
		if r.IntN(2) == 0 {
			class.Threads = nil
			for range class.Demands {
				class.Threads = append(class.Threads, 1+r.IntN(maxThreads))
			}
		}
	}
}

// shape is a kind of random network.
type shape struct {
	jobs, stations, servers int  // at most
	skewed                  bool // demands of very different size
	idle                    bool // jobs are idle for about half of the time
}

// draw draws a network of jobs, every other one sparse.
func (s shape) draw(r *rand.Rand) *queueing.Network {
	n, m := 2+r.IntN(s.jobs-1), 1+r.IntN(s.stations)
	if s.stations > 1 {
		m = 2 + r.IntN(s.stations-1)
	}
	network := &queueing.Network{}
	for range m {
		network.Servers = append(network.Servers, 1+r.IntN(s.servers))
	}
	for range n {
		class := queueing.Class{}
		for range m {
			demand := 1 - r.Float64() // never 0
			if s.skewed {
				demand = math.Pow(demand, 4)
			}
			class.Demands = append(class.Demands, demand)
		}
		if s.idle {
			class.Idle = r.Float64() * float64(m)
		}
		network.Classes = append(network.Classes, class)
	}
	if r.IntN(2) == 0 {
		thin(r, network)
	}
	return network
}

// thin removes demands: half of those of most jobs, all but one of some, which then use a single
// station, and all of a few, which are then idle. Some jobs become equal to another.
func thin(r *rand.Rand, network *queueing.Network) {
	for k := range network.Classes {
		class := &network.Classes[k]
		switch kind := r.Float64(); {
		case kind < 0.1:
			clear(class.Demands)
			class.Idle = 1
		case kind < 0.25:
			one := r.IntN(len(class.Demands))
			clear(class.Demands[:one])
			clear(class.Demands[one+1:])
		case kind < 0.4:
			*class = network.Classes[r.IntN(k+1)]
		default:
			for i := range class.Demands {
				if r.IntN(2) == 0 && slices.Max(class.Demands) > class.Demands[i] {
					class.Demands[i] = 0
				}
			}
		}
	}
}

// errors adds up relative errors.
type relativeErrors struct {
	sum, worst float64
	count      int
}

func (e *relativeErrors) add(got, want []float64) {
	for k := range want {
		relative := math.Abs(got[k]/want[k] - 1)
		e.sum += relative
		e.worst = max(e.worst, relative)
		e.count++
	}
}

func (e *relativeErrors) mean() float64 { return e.sum / float64(e.count) }

// atMost fails the test if the errors are larger on average or at worst.
func (e *relativeErrors) atMost(t *testing.T, mean, worst float64) {
	t.Helper()
	t.Logf("%d dilations: off by %.3f %% on average, %.2f %% at worst", e.count, 100*e.mean(), 100*e.worst)
	if !(e.mean() <= mean) || !(e.worst <= worst) {
		t.Errorf("off by %.3f %% on average and %.2f %% at worst, want at most %.3f %% and %.2f %%", 100*e.mean(), 100*e.worst, 100*mean, 100*worst)
	}
}

func solve(t testing.TB, network *queueing.Network, options queueing.Options) *queueing.Solution {
	t.Helper()
	solution, err := queueing.Solve(network, options)
	if err != nil {
		t.Fatal(err)
	}
	return solution
}
