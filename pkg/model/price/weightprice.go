package price

import (
	"cmp"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/model/loading"
)

// This file computes how the price at the processor depends on weights. Factors multiply the prices for equal shares: the ratio of
// a thread's wait, and of the wait that it causes others, to those with equal weights. They are tabulated by the weight of the
// thread, since many candidates ask for one price.
//
// To first order the others are where they would be alone, so that a thread finds N of them with the probabilities that
// [Load] has, and a state of n = N + 1 threads lasts max(1, n/c) times as long as if no thread waited. In it water-filling
// gives each thread a share. In the time T = E[max(1, n/c)], relative to a service, a thread is served for
// V = E[max(1, n/c) · share] and waits for T − V. With equal weights V is 1. What all wait together, Σ (T − V), does
// not depend on weights: they decide who waits. But one that is served for less than a whole service stays longer, up
// to T/V − 1 if the others stay all the while. They do the more the busier the processor is, so the first counts
// 1 − b and the second b, the square of the probability that all servers are busy; the square keeps weights from
// counting where they hardly matter. How nodes are ordered by the result is tested against the exact solution.
//
// Jobs of one weight whose numbers of threads differ are such a case: on 1, 2 and 4 cores the error of the wait of one of several
// threads is 24, 36 and 57 % less than with equal shares of threads, and that of a single thread 76, 87 and 96 % less. The order of
// nodes is nearly the same (rank correlations with the true cost of 0.89, 0.90 and 0.96, against 0.88, 0.90 and 0.96).

// weightedLoad holds the inputs of the shares at the processor of a node, besides the distribution of threads: see [resourceLoad].
type weightedLoad struct {
	weight float64 // of a thread of all jobs, if it is the same; NaN if it is not, 0 without jobs
	peers  []peer  // by weight
}

// peer is the threads of one weight, or of several that are near to each other.
type peer struct {
	weight                float64 // of a thread
	pressure, sensitivity float64 // sums over threads, of the arguments of add
}

// maxPeers bounds the number of distinct weights: threads of other weights count as those of the nearest. It bounds the cost of the
// factors.
const maxPeers = 64

// add adds the threads of a job, each with a sensitivity as a fraction of its neutral time, times its importance.
func (l *weightedLoad) add(d loading.Demand, weight, sensitivity float64) {
	weight = d.ThreadWeight(weight)
	switch l.weight {
	case 0:
		l.weight = weight
	case weight:
	default:
		l.weight = math.NaN()
	}
	p := l.peer(weight)
	p.pressure += float64(d.ThreadCount()) * d.Pressure
	p.sensitivity += float64(d.ThreadCount()) * sensitivity
}

// peer returns the peer of a weight.
func (l *weightedLoad) peer(weight float64) *peer {
	k, found := slices.BinarySearchFunc(l.peers, weight, func(p peer, w float64) int { return cmp.Compare(p.weight, w) })
	switch {
	case found:
	case len(l.peers) < maxPeers:
		l.peers = slices.Insert(l.peers, k, peer{weight: weight})
	case k == len(l.peers), k > 0 && weight*weight < l.peers[k-1].weight*l.peers[k].weight: // nearer by its logarithm
		k--
	}
	return &l.peers[k]
}

// weightFactors are the ratios of prices at the processor to those for equal shares, by the logarithm to base 2 of the weight of a
// thread, at equal distances from the lowest.
type weightFactors struct {
	lowest, perPoint float64
	points           [weightPoints]weightFactor
}

// weightFactor is the factor of a thread's own wait, and the factors of the wait that it causes others when it is rarely and when
// it is always present.
type weightFactor struct{ own, rare, always float64 }

const (
	weightPoints = 16
	// improbable is the probability of numbers of threads that do not matter.
	improbable = 1e-6
	// weightMargin is the range of distinct weights above the largest of a node, and below the smallest, as a factor.
	weightMargin = 64
)

// factors returns the factors at a processor with the given load, or nil where that has no threads.
func (l *weightedLoad) factors(there *resourceLoad) *weightFactors {
	if there.pressure == 0 || there.sensitivity == 0 {
		return nil
	}
	lowest := math.Log2(l.peers[0].weight) - math.Log2(weightMargin)
	highest := math.Log2(l.peers[len(l.peers)-1].weight) + math.Log2(weightMargin)
	f := &weightFactors{lowest: lowest, perPoint: (weightPoints - 1) / (highest - lowest)}
	e := l.states(there)
	for i := range f.points {
		f.points[i] = e.factor(math.Exp2(lowest + float64(i)/f.perPoint))
	}
	return f
}

// states are the states of the other threads at a processor, independent of the weight of one more.
type states struct {
	*weightedLoad
	servers, pressure, sensitivity float64
	// Of the numbers of others that matter, from first on: the probability of each, and of each besides one of them, weighed by
	// its sensitivity.
	first           int
	present, marked []float64
	busy            float64
	levels          []float64 // scratch: by the number of others, with one more
	before          float64   // T of one of the others
	after           float64   // the same with one more
	served          []float64 // V of each weight
	scratch         []float64
}

func (l *weightedLoad) states(there *resourceLoad) *states {
	e := &states{weightedLoad: l, servers: float64(there.servers), pressure: there.pressure, sensitivity: there.sensitivity}
	e.served, e.scratch = make([]float64, len(l.peers)), make([]float64, len(l.peers))
	e.matter(there)
	for y, q := range there.present.Probability() {
		if y >= there.servers {
			e.busy += q
		}
	}
	e.busy *= e.busy
	for k, q := range e.marked {
		n := float64(e.first + k + 1)
		e.before += q * max(1, n/e.servers)
		e.after += q * max(1, (n+1)/e.servers)
		level := math.Inf(1)
		if n > e.servers {
			level = e.level(n, 0)
		}
		for k := range l.peers {
			e.served[k] += q * max(1, n/e.servers) * min(1, l.peers[k].weight*level)
		}
	}
	return e
}

// matter finds the numbers of others that matter.
func (e *states) matter(there *resourceLoad) {
	present := there.present.Probability()
	last := -1
	for y, s := range there.marked {
		if y < len(present) && present[y] > improbable || s/e.sensitivity > improbable {
			if last < 0 {
				e.first = y
			}
			last = y
		}
	}
	count := last + 1 - e.first
	cells := make([]float64, 3*count+1)
	e.present, e.marked, e.levels = cells[:count], cells[count:2*count], cells[2*count:]
	for k := range count {
		if y := e.first + k; y < len(present) {
			e.present[k] = present[y]
		}
		e.marked[k] = there.marked[e.first+k] / e.sensitivity
	}
}

// factor returns the factors for a thread of some weight.
func (e *states) factor(weight float64) weightFactor {
	for k := range e.levels {
		e.levels[k] = math.Inf(1)
		if others := float64(e.first + k); others+1 > e.servers {
			e.levels[k] = e.level(others, weight)
		}
	}
	return weightFactor{own: e.own(weight), rare: 1, always: 1}.inflicted(e)
}

// own returns the factor of the thread's own wait.
func (e *states) own(weight float64) float64 {
	total, served := 0.0, 0.0
	for k, q := range e.present {
		lasts := q * max(1, float64(e.first+k+1)/e.servers)
		total += lasts
		served += lasts * min(1, weight*e.levels[k])
	}
	equal := total - 1 // where V is 1, except for rare states
	if equal <= improbable || served <= 0 {
		return 1
	}
	return max(0, ((1-e.busy)*(total-served)+e.busy*(total/served-1))/equal)
}

// inflicted sets the factors of the wait that the thread causes others.
func (f weightFactor) inflicted(e *states) weightFactor {
	clear(e.scratch)
	for n, q := range e.marked {
		lasts := q * max(1, float64(e.first+n+2)/e.servers)
		for k := range e.peers {
			e.scratch[k] += lasts * min(1, e.peers[k].weight*e.levels[n+1])
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
	if equal := e.sensitivity * (e.after - e.before); equal > improbable*e.sensitivity {
		f.rare = max(minFactor, ((1-e.busy)*first+e.busy*rarely)/equal)
		f.always = max(minFactor, ((1-e.busy)*first+e.busy*always)/equal)
	}
	return f
}

// minFactor is the smallest factor of the wait caused to others.
const minFactor = 1e-6

// level returns the level at which the processor is shared by one thread of the given weight, or none if that is 0, and the given
// number of other threads, drawn in proportion to their presence.
func (e *states) level(others, weight float64) float64 {
	each := others / e.pressure
	rest := 0.0
	for i := range e.peers {
		rest += e.peers[i].pressure * e.peers[i].weight
	}
	room, mine := e.servers, weight
	for k := len(e.peers); k > 0; {
		level := 0.0
		if wanted := each*rest + mine; wanted > 0 {
			level = room / wanted
		} else if room > 0 { // the rest weighs nothing, except for rounding
			level = math.Inf(1)
		}
		p := &e.peers[k-1]
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
	return 1 / e.peers[0].weight
}

// at returns the factors for a thread with the given logarithm of its weight and probability of presence.
func (f *weightFactors) at(logWeight, present float64) (own, inflicted float64) {
	x := max(0, min(weightPoints-1, (logWeight-f.lowest)*f.perPoint))
	i := min(int(x), weightPoints-2)
	x -= float64(i)
	a, b := &f.points[i], &f.points[i+1]
	rarely, always := a.rare+x*(b.rare-a.rare), a.always+x*(b.always-a.always)
	return a.own + x*(b.own-a.own), rarely * always / ((1-present)*always + present*rarely)
}
