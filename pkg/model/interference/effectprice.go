package interference

import (
	"sort"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// This file prices interference, to first order: every thread is at the processor for the fraction of its time that it computes
// alone. The slowdown of a candidate by its curve is then an expectation over the pressure on a node, and the slowdown that it
// causes the others depends on its pressure only, so that both are tabulated at a few pressures.

// tabled are the pressures at which a candidate's curve is tabled; between them it is linear, and constant beyond.
var tabled = [...]float64{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 8, 12, 16, 32}

// between returns where a pressure is in a table, and which part of the way it is to the next entry.
func between(table []float64, pressure float64) (at int, part float64) {
	last := len(table) - 1
	if pressure >= table[last] {
		return last - 1, 1
	}
	at = max(0, sort.SearchFloat64s(table, pressure)-1)
	return at, (pressure - table[at]) / (table[at+1] - table[at])
}

// Price is the price of one interference resource for a candidate. It is read-only once made.
type Price struct {
	// The expectation over the pressure on the node is the sum over four entries of the table.
	at     [4]int
	weight [4]float64
	// inflicted is the wait that a thread that always runs adds to the jobs, at each tabulated pressure.
	inflicted [len(tabled)]float64
}

// Bid is the candidate's side of a [Price].
type Bid struct {
	Resource int                  // index of the interference resource
	own      [len(tabled)]float64 // time that each pressure adds to its own time, over its threads
	presence float64              // of its threads at the processor, in all
	at       int                  // its pressure in the table
	part     float64
}

// NewBids returns the bids of a job, one for each of its effects.
func NewBids(v loading.Vector) []Bid {
	if !v.Interferes() {
		return nil
	}
	var bids []Bid
	for i, d := range v {
		if d.Effect == nil {
			continue
		}
		s := newSlowed(v, 1, d.Effect.Of)
		b := Bid{Resource: i, presence: float64(s.threads) * s.loading}
		for k, pressure := range tabled {
			b.own[k] = b.presence * d.Effect.Curve.Increase(pressure)
		}
		b.at, b.part = between(tabled[:], d.Effect.Pressure)
		bids = append(bids, b)
	}
	return bids
}

// Slows returns the time that the pressure at the resource adds to the candidate's threads.
func (p *Price) Slows(b *Bid) (more float64) {
	for n, weight := range p.weight {
		more += weight * b.own[p.at[n]]
	}
	return more
}

// Inflicts returns the waits that the candidate's threads add to the jobs there, at least 0.
func (p *Price) Inflicts(b *Bid) float64 {
	low, high := p.inflicted[b.at], p.inflicted[b.at+1]
	return b.presence * max(0, low+b.part*(high-low))
}

// Interferer is a job of a node that has an effect. Importance, above 0, is the factor of its slowdown in prices.
type Interferer struct {
	Vector     loading.Vector
	Importance float64
}

// EffectPrices returns the price of each resource of a node with some jobs that have effects, zero where none slows service. Present
// returns the distribution of the threads of all jobs that share a resource, by its index.
func EffectPrices(jobs []Interferer, servers []int, present func(resource int) *poissonbinomial.Distribution) []Price {
	vectors := make([]loading.Vector, len(jobs))
	for k := range vectors {
		vectors[k] = jobs[k].Vector
	}
	prices := make([]Price, len(servers))
	for _, of := range slowedServices(vectors) {
		list := make([]slowed, len(jobs))
		for k, v := range vectors {
			list[k] = newSlowed(v, 1, of)
			list[k].importance = jobs[k].Importance
		}
		there := present(of)
		_, sharing := there.Range()
		newInterference(list, servers, of, sharing+1).price(prices, there)
	}
	return prices
}

// price fills in the prices at the resources that slow the service, of whose server all threads that have any use of it,
// not only those with effects, are there.
func (x *interference) price(prices []Price, there *poissonbinomial.Distribution) {
	x.sum()
	x.there = *there // which is only read from here on
	candidate := surroundings{threads: &x.there, servers: x.servers - 1, own: x.own}
	for i := range prices {
		if x.spreads[i] == nil {
			continue
		}
		near := candidate.chances(x.spreads[i])
		m := near.moments(&x.shared[i], &x.apart[i])
		if low, high, chance := m.values(0, x.shared[i].bounds+x.apart[i].bounds); high > 0 {
			prices[i].expect(low, high, chance)
		}
	}
	for k := range x.jobs {
		x.inflict(prices, &x.jobs[k])
	}
}

// expect makes weights of a table of the two values that stand for a pressure.
func (p *Price) expect(low, high, chance float64) {
	for n, value := range [...]struct{ pressure, chance float64 }{{low, 1 - chance}, {high, chance}} {
		at, part := between(tabled[:], value.pressure)
		p.at[2*n], p.at[2*n+1] = at, at+1
		p.weight[2*n], p.weight[2*n+1] = value.chance*(1-part), value.chance*part
	}
}

// inflict tabulates the extra time of a job, over all its threads, beside one more thread that always runs, at each resource.
func (x *interference) inflict(prices []Price, s *slowed) {
	if s.loading == 0 {
		return
	}
	if !s.exclusive {
		x.others.Without(&x.there, s.loading)
	}
	for i, d := range s.vector {
		if !x.affects(d) || len(d.Effect.Curve) == 0 {
			continue
		}
		around, curve := x.around(s), d.Effect.Curve
		near := around.chances(x.spreads[i])
		shared, apart := x.pressing(s, i, d.Effect)
		m, limit := near.moments(&shared, &apart), shared.bounds+apart.bounds
		without := m.slows(curve, 0, limit)
		around.more = 1
		near = around.chances(x.spreads[i])
		m = near.moments(&shared, &apart)
		slowed := s.importance * float64(s.copies*s.threads) * s.loading
		for n, pressure := range tabled {
			prices[i].inflicted[n] += slowed * (m.slows(curve, pressure, limit) - without)
		}
	}
}
