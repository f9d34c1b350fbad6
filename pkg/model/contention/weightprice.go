package contention

import (
	"cmp"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// This file is about how the price of a place at the processor depends on weights. Prices for equal shares are
// multiplied by factors: what a thread of some weight waits, and what it makes others wait, over what it would if all
// weights were equal. They are tabulated by the weight of the thread, as one price is asked for many candidates.
//
// To first order the others are where they would be alone, so that a thread finds N of them with the probabilities that
// [Load] has, and a state of n = N + 1 threads lasts max(1, n/c) times as long as if nobody waited. In it water-filling
// gives each thread a share. In the time T = E[max(1, n/c)], relative to a service, a thread is served for
// V = E[max(1, n/c) · share] and waits for T − V. With equal weights V is 1. What all wait together, Σ (T − V), does
// not depend on weights: they decide who waits. But one that is served for less than a whole service stays longer, up
// to T/V − 1 if the others stay all the while. They do the more the busier the processor is, so the first counts
// 1 − b and the second b, the square of the probability that all servers are busy; the square keeps weights from
// counting where they hardly matter. How nodes are ordered by the result is tested against the exact solution. Where all
// jobs have one weight and only their numbers of threads differ, factors would order nodes no better than equal shares
// do (rank correlations of 0.87 and 0.86 with what it costs on one core, 0.91 and 0.92 on two), and are left out.

// weightedLoad is what decides about shares at the processor of a node.
type weightedLoad struct {
	weight  float64 // of all jobs, if it is the same; NaN if it is not, 0 without jobs
	peers   []peer  // by weight
	present poissonbinomial.Distribution
	marked  []float64 // see resourceLoad

	pressure, sensitivity float64 // sums over threads, the latter of what add is given
}

// peer is the threads of one weight.
type peer struct {
	weight                float64 // of a thread
	pressure, sensitivity float64 // sums over threads
}

func newWeightedLoad() *weightedLoad {
	l := &weightedLoad{marked: []float64{0}}
	l.present.Reset()
	return l
}

// add adds the threads of a job, with a sensitivity as a fraction of its neutral time, times its importance.
func (l *weightedLoad) add(d Demand, weight, sensitivity float64) {
	switch l.weight {
	case 0:
		l.weight = weight
	case weight:
	default:
		l.weight = math.NaN()
	}
	w := threadWeight(d, weight)
	k, found := slices.BinarySearchFunc(l.peers, w, func(p peer, w float64) int { return cmp.Compare(p.weight, w) })
	if !found {
		l.peers = slices.Insert(l.peers, k, peer{weight: w})
	}
	p := &l.peers[k]
	for range d.threads() {
		p.pressure += d.Pressure
		p.sensitivity += sensitivity
		l.pressure += d.Pressure
		l.sensitivity += sensitivity
		l.marked = poissonbinomial.Convolve(l.marked, d.Pressure)
		for y, q := range l.present.Probability() {
			l.marked[y] += sensitivity * q
		}
		l.present.Add(d.Pressure)
	}
}

// threadWeight returns the weight of one thread of a job, which shares it with the siblings that it finds.
func threadWeight(d Demand, weight float64) float64 {
	return weight / (1 + float64(d.threads()-1)*d.Pressure)
}

// weightFactors are by how much prices at the processor differ from those for equal shares, by the logarithm to base 2
// of the weight of a thread, at equal distances from the lowest.
type weightFactors struct {
	lowest, perPoint float64
	points           [weightPoints]weightFactor
}

// weightFactor is the factor of what a thread waits, and those of what it makes others wait, if it is hardly ever there
// and if it always is.
type weightFactor struct{ own, rare, always float64 }

const (
	weightPoints = 16
	// weightMargin is by how much weights above the largest of a node, and below the smallest, are told apart.
	weightMargin = 64
)

// factors returns the factors at a processor with so many servers, or nil where there are no threads.
func (l *weightedLoad) factors(servers int) *weightFactors {
	if l.pressure == 0 || l.sensitivity == 0 {
		return nil
	}
	lowest := math.Log2(l.peers[0].weight) - math.Log2(weightMargin)
	highest := math.Log2(l.peers[len(l.peers)-1].weight) + math.Log2(weightMargin)
	f := &weightFactors{lowest: lowest, perPoint: (weightPoints - 1) / (highest - lowest)}
	e := l.states(float64(servers))
	for i := range f.points {
		f.points[i] = e.factor(math.Exp2(lowest + float64(i)/f.perPoint))
	}
	return f
}

// states is what the others do at a processor, whatever the weight of one more.
type states struct {
	*weightedLoad
	servers float64
	counts  int       // of numbers of others that matter
	present []float64 // probability of each number of others
	marked  []float64 // the same, besides one of them, weighed by its sensitivity
	busy    float64
	levels  []float64 // scratch: by the number of others, with one more
	before  float64   // T of one of the others
	after   float64   // the same with one more
	served  []float64 // V of each weight
	scratch []float64
}

func (l *weightedLoad) states(servers float64) *states {
	e := &states{weightedLoad: l, servers: servers, present: l.present.Probability(), marked: make([]float64, len(l.marked))}
	e.served, e.scratch = make([]float64, len(l.peers)), make([]float64, len(l.peers))
	for y, q := range l.marked {
		e.marked[y] = q / l.sensitivity
	}
	for y := range max(len(e.present), len(e.marked)) {
		if y < len(e.present) && e.present[y] > rare || y < len(e.marked) && e.marked[y] > rare {
			e.counts = y + 1
		}
	}
	e.levels = make([]float64, e.counts+1)
	for y, q := range e.present {
		if float64(y) >= servers {
			e.busy += q
		}
	}
	e.busy *= e.busy
	for y, q := range e.marked[:min(e.counts, len(e.marked))] {
		n := float64(y + 1)
		e.before += q * max(1, n/servers)
		e.after += q * max(1, (n+1)/servers)
		level := math.Inf(1)
		if n > servers {
			level = l.level(n, 0, servers)
		}
		for k := range l.peers {
			e.served[k] += q * max(1, n/servers) * min(1, l.peers[k].weight*level)
		}
	}
	return e
}

// factor returns the factors for a thread of some weight.
func (e *states) factor(weight float64) weightFactor {
	for y := range e.levels {
		e.levels[y] = math.Inf(1)
		if n := float64(y + 1); n > e.servers {
			e.levels[y] = e.level(float64(y), weight, e.servers)
		}
	}
	return weightFactor{own: e.own(weight), rare: 1, always: 1}.inflicted(e)
}

// own returns the factor of what the thread waits.
func (e *states) own(weight float64) float64 {
	total, served := 0.0, 0.0
	for y, q := range e.present[:min(e.counts, len(e.present))] {
		lasts := q * max(1, float64(y+1)/e.servers)
		total += lasts
		served += lasts * min(1, weight*e.levels[y])
	}
	equal := total - 1 // where V is 1, but for what is rare
	if equal <= rare || served <= 0 {
		return 1
	}
	return max(0, ((1-e.busy)*(total-served)+e.busy*(total/served-1))/equal)
}

// inflicted sets the factors of what the thread makes others wait.
func (f weightFactor) inflicted(e *states) weightFactor {
	clear(e.scratch)
	for y, q := range e.marked[:min(e.counts, len(e.marked))] {
		lasts := q * max(1, float64(y+2)/e.servers)
		for k := range e.peers {
			e.scratch[k] += lasts * min(1, e.peers[k].weight*e.levels[y+1])
		}
	}
	first, rarely, always := 0.0, 0.0, 0.0
	for k := range e.peers {
		s, before, after := e.peers[k].sensitivity, e.served[k], e.scratch[k]
		if before <= 0 || after <= 0 {
			continue
		}
		first += s * (e.after - e.before - after + before)
		rarely += s * (e.after - e.before - e.before/before*(after-before)) / before
		always += s * (e.after/after - e.before/before)
	}
	if equal := e.sensitivity * (e.after - e.before); equal > rare*e.sensitivity {
		f.rare = max(minFactor, ((1-e.busy)*first+e.busy*rarely)/equal)
		f.always = max(minFactor, ((1-e.busy)*first+e.busy*always)/equal)
	}
	return f
}

// minFactor is the smallest factor of what others wait.
const minFactor = 1e-6

// level returns at which level the processor is shared by one thread of some weight, or none if that is 0, and so many
// others, whoever they are in proportion to how often they are there.
func (l *weightedLoad) level(others, weight, servers float64) float64 {
	each := others / l.pressure
	rest := 0.0
	for i := range l.peers {
		rest += l.peers[i].pressure * l.peers[i].weight
	}
	room, mine := servers, weight
	for k := len(l.peers); k > 0; {
		level := 0.0
		if wanted := each*rest + mine; wanted > 0 {
			level = room / wanted
		} else if room > 0 { // what is left weighs nothing, but for rounding
			level = math.Inf(1)
		}
		p := &l.peers[k-1]
		switch {
		case mine > 0 && mine >= p.weight && mine*level > 1: // has a server
			room, mine = room-1, 0
		case p.weight*level > 1: // have one each
			room -= each * p.pressure
			rest = max(0, rest-p.pressure*p.weight)
			k--
		default:
			return max(0, level)
		}
	}
	if mine > 0 {
		return max(0, room/mine)
	}
	return 1 / l.peers[0].weight
}

// at returns the factors for a thread of a weight, given by its logarithm, that is there with some probability.
func (f *weightFactors) at(logWeight, present float64) (own, inflicted float64) {
	x := max(0, min(weightPoints-1, (logWeight-f.lowest)*f.perPoint))
	i := min(int(x), weightPoints-2)
	x -= float64(i)
	a, b := &f.points[i], &f.points[i+1]
	rarely, always := a.rare+x*(b.rare-a.rare), a.always+x*(b.always-a.always)
	return a.own + x*(b.own-a.own), rarely * always / ((1-present)*always + present*rarely)
}
