package contention

import (
	"math"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// Prices are what it costs to put one more job on a node: at each resource, how
// long it would wait there, and how much longer it would make the others wait.
// They change only when the node's jobs do. Prices are read-only once made and
// safe for concurrent use.
type Prices struct {
	// alone holds own[0] and inflicted[0] of each resource side by side: all
	// that a job with one thread needs, in as few cache lines as can be.
	alone     []float64
	resources []price

	// Where a resource is shared by weights:
	processor int
	weight    float64        // of all jobs, if it is the same
	factors   *weightFactors // nil if there are none

	effects []effectPrice // by resource, nil where no job of the node has an effect
}

// price is the price of one resource, for a thread that finds x of its own
// siblings at the resource besides the threads of the load, x = 0..c−1. The
// siblings alone, x < c, keep it from nothing.
type price struct {
	servers   int
	own       []float64 // E[(N + 1 + x − c)^+] / c
	inflicted []float64 // Σ_k s_k P(N without k ≥ c − 1 − x) / c
}

// Prices returns the prices of a node with this load, in O(m·(n + c)) time for
// m resources, n threads and c servers.
func (l *Load) Prices() *Prices {
	p := &Prices{alone: make([]float64, 2*len(l.resources)), resources: make([]price, len(l.resources)), processor: -1}
	if l.weighted != nil {
		p.processor, p.weight, p.factors = l.processor, l.weighted.weight, l.weighted.factors(l.servers[l.processor])
	}
	p.effects = l.effectPrices()
	size := 0
	for i := range l.resources {
		size += 2 * l.resources[i].servers
	}
	memory := make([]float64, size)
	for i := range l.resources {
		s := &l.resources[i]
		c := s.servers
		p.resources[i] = price{servers: c, own: memory[:c:c], inflicted: memory[c : 2*c : 2*c]}
		memory = memory[2*c:]
		s.price(&p.resources[i])
	}
	for i, device := range l.newcomer {
		at := l.places.of(i, device)
		p.resources[i] = p.resources[at]
		if p.effects != nil {
			p.effects[i] = p.effects[at]
		}
	}
	for i := range p.resources {
		p.alone[2*i], p.alone[2*i+1] = p.resources[i].own[0], p.resources[i].inflicted[0]
	}
	return p
}

// price computes own[x] = L(c−1−x)/c with L(a) = E[(N − a)^+], and inflicted[x]
// = M(c−1−x)/c with M(a) = Σ_{y≥a} marked[y], both by summing tails downwards:
// L(a) = L(a+1) + P(N > a).
func (s *resourceLoad) price(p *price) {
	c := float64(s.servers)
	last := s.servers - 1 // every other thread is in the way: no distribution needed
	p.own[last] = s.pressure / c
	p.inflicted[last] = s.sensitivity / c
	if last == 0 {
		return
	}
	tail, excess, markedTail := 0.0, 0.0, 0.0 // P(N > a), L(a), M(a) at a = last
	present := s.present.Probability()
	for y := len(present) - 1; y > last; y-- {
		tail += present[y]
		excess += tail
	}
	for y := len(s.marked) - 1; y > last; y-- {
		markedTail += s.marked[y]
	}
	for x := range last {
		a := last - x
		if a < len(s.marked) {
			markedTail += s.marked[a]
		}
		p.own[x] = excess / c
		p.inflicted[x] = markedTail / c
		if a < len(present) {
			tail += present[a]
		}
		excess += tail
	}
}

// ownAt extends own beyond x = c−1. Each further sibling is in the way for sure, but
// it is when the job is alone, too: that is part of the neutral time.
func (p *price) ownAt(x int) float64 { return p.own[min(x, p.servers-1)] }

// inflictedAt extends inflicted, which grows no further.
func (p *price) inflictedAt(x int) float64 { return p.inflicted[min(x, p.servers-1)] }

// Candidate is a job about to be placed: its vector, prepared once so that
// pricing it on each node is two dot products. It is read-only once made and
// safe for concurrent use.
type Candidate struct {
	bids    []bid
	effects []effectBid

	weight    float64 // 0 if it has no share
	logWeight float64 // to base 2, of a thread
	slack     float64 // fraction of its time alone for which it is throttled: less once it waits

	importance float64 // how many times what it waits counts
}

// bid is the candidate's side of the price of one resource.
type bid struct {
	resource  int
	own       []float64 // t · s · P(x of the t−1 siblings are there), x = 0..t−1
	inflicted []float64 // P(more than x of the t threads are there), x = 0..t−1
	pressure  float64
}

// NewShareCandidate prepares a job that has a weight and a limit at a resource, the processor. Both must be valid, and
// the rest of the share does not count. It is priced as by [NewCandidate] on a node whose jobs have no shares.
func NewShareCandidate(v Vector, processor int, share Share) *Candidate {
	v, slack := v.within(processor, share.Limit)
	c := NewCandidate(v)
	c.weight, c.slack = share.weight(), slack
	if processor < len(v) {
		c.logWeight = math.Log2(threadWeight(v[processor], c.weight))
	}
	return c
}

// Important returns the candidate as a job whose own waits count that many times. See [Load.AddImportant].
func (c *Candidate) Important(importance float64) *Candidate {
	other := *c
	other.importance = importance
	return &other
}

// NewCandidate prepares a job for pricing. The vector must satisfy
// [Vector.Validate].
func NewCandidate(v Vector) *Candidate {
	c := &Candidate{bids: make([]bid, 0, len(v)), effects: newEffectBids(v), importance: 1}
	for i, d := range v {
		if d.idle() {
			continue
		}
		t := d.threads()
		b := bid{resource: i, pressure: d.Pressure, own: make([]float64, t), inflicted: make([]float64, t)}
		siblings := d.siblings()
		for x, p := range siblings {
			b.own[x] = float64(t) * d.sensitivity() * p
		}
		tail := 0.0
		all := poissonbinomial.Convolve(siblings, d.Pressure)
		for x := t - 1; x >= 0; x-- {
			tail += all[x+1]
			b.inflicted[x] = tail
		}
		c.bids = append(c.bids, b)
	}
	return c
}

// Of returns ΔW ≥ 0, by how much the total wait of the node would grow if the
// candidate were placed there: what its threads would wait for the others plus what
// they would make the others wait, each relative to the neutral time of its job
// there. What a job waits counts as many times as it is important. It takes two multiplications per resource and thread of
// the candidate, six per interference resource, and allocates nothing. The candidate must have no demand at a
// resource that the node does not list.
//
// For one server per resource and symmetric single-threaded jobs ΔW = 2 p'·p̄:
// twice Eq. (15) of the D-factor paper.
func (p *Prices) Of(c *Candidate) float64 {
	waits, inflicts := p.Parts(c)
	return c.importance*waits + inflicts
}

// Parts returns the two parts of [Prices.Of]: what the candidate's threads would wait for the others, whatever its
// importance, and what they would make the others wait, each as many times as it is important.
func (p *Prices) Parts(c *Candidate) (waits, inflicts float64) {
	if p.factors != nil && c.weight != p.weight {
		return p.weighted(c)
	}
	own, inflicted, neutral := 0.0, 0.0, 1.0 // in own times
	for i := range c.bids {
		b := &c.bids[i]
		if len(b.own) == 1 {
			own += b.own[0] * p.alone[2*b.resource]
			inflicted += b.inflicted[0] * p.alone[2*b.resource+1]
			continue
		}
		r := &p.resources[b.resource]
		for x := range b.own {
			own += b.own[x] * r.ownAt(x)
			inflicted += b.inflicted[x] * r.inflictedAt(x)
		}
		neutral += b.selfWait(r.servers)
	}
	if len(c.effects) > 0 && p.effects != nil {
		own, inflicted = p.interfere(c, own, inflicted)
	}
	return max(0, own/neutral-c.slack), inflicted
}

// WaitsAt returns what the candidate's threads would wait at each resource, or compute longer because of it. That adds up
// to the first of [Prices.Parts], but for what a limit leaves the candidate anyway. It allocates, and is for explanations.
func (p *Prices) WaitsAt(c *Candidate) []float64 {
	waits, neutral := make([]float64, len(p.resources)), 1.0
	for i := range c.bids {
		b := &c.bids[i]
		factor := 1.0
		if p.factors != nil && c.weight > 0 && c.weight != p.weight && b.resource == p.processor {
			factor, _ = p.factors.at(c.logWeight, b.pressure)
		}
		r := &p.resources[b.resource]
		for x := range b.own {
			waits[b.resource] += factor * b.own[x] * r.ownAt(x)
		}
		if len(b.own) > 1 {
			neutral += b.selfWait(r.servers)
		}
	}
	if p.effects != nil {
		for k := range c.effects {
			waits[c.effects[k].resource] += p.effects[c.effects[k].resource].slows(&c.effects[k])
		}
	}
	for i := range waits {
		waits[i] /= neutral
	}
	return waits
}

// weighted is Parts where weights differ.
func (p *Prices) weighted(c *Candidate) (waits, inflicts float64) {
	own, inflicted, neutral := 0.0, 0.0, 1.0 // in own times
	for i := range c.bids {
		b := &c.bids[i]
		ownFactor, inflictedFactor := 1.0, 1.0
		if b.resource == p.processor && c.weight > 0 {
			ownFactor, inflictedFactor = p.factors.at(c.logWeight, b.pressure)
		}
		r := &p.resources[b.resource]
		for x := range b.own {
			own += ownFactor * b.own[x] * r.ownAt(x)
			inflicted += inflictedFactor * b.inflicted[x] * r.inflictedAt(x)
		}
		if len(b.own) > 1 {
			neutral += b.selfWait(r.servers)
		}
	}
	if len(c.effects) > 0 && p.effects != nil {
		own, inflicted = p.interfere(c, own, inflicted)
	}
	return max(0, own/neutral-c.slack), inflicted
}

// selfWait returns what the resource adds to the candidate's neutral time, in own
// times.
func (b *bid) selfWait(servers int) float64 {
	wait := 0.0
	for x := servers; x < len(b.own); x++ {
		wait += b.own[x] * crowding(x, servers)
	}
	return wait / float64(len(b.own))
}
