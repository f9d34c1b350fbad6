package price

import (
	"math"
	"unsafe"

	"loadline.dev/loadline/pkg/model/interference"
	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// Prices are the costs of one more job on a node: at each resource, the wait of the job there, and the extra wait that it causes
// the others. They change only when the node's jobs do. Prices are read-only once made and safe for concurrent use.
type Prices struct {
	// alone holds own[0] and inflicted[0] of each resource side by side: all
	// that a job with one thread needs, in as few cache lines as can be.
	alone     []float64
	resources []price

	// Where a resource is shared by weights:
	processor int
	weight    float64        // of a thread of all jobs, if it is the same
	factors   *weightFactors // nil if there are none

	effects []interference.Price // by resource, nil where no job of the node has an effect
}

// price is the price of one resource, for a thread that finds x of its own
// siblings at the resource besides the threads of the load, x = 0..c−1. The
// siblings alone, x < c, keep it from nothing.
type price struct {
	servers int
	own     []float64 // E[(N + 1 + x − c)^+] / c
	// inflicted is the extra wait that the first x + 1 threads cause the others: the sum up to x of Σ_k s_k P(N without k ≥ c − 1 −
	// x) / c.
	inflicted []float64
}

// Prices returns the prices of a node with this load, in O(m·(n + c)) time for
// m resources, n threads and c servers.
func (l *Load) Prices() *Prices {
	l.sum()
	p := &Prices{alone: make([]float64, 2*len(l.resources)), resources: make([]price, len(l.resources)), processor: -1}
	if l.weighted != nil {
		p.processor, p.weight, p.factors = l.processor, l.weighted.weight, l.weighted.factors(&l.resources[l.processor])
	}
	p.effects = l.effectPrices()
	size, largest := 0, 0
	for i := range l.resources {
		if s := &l.resources[i]; s.idle() {
			largest = max(largest, s.servers)
		} else {
			size += 2 * s.servers
		}
	}
	memory, free := make([]float64, size), make([]float64, largest)
	for i := range l.resources {
		s := &l.resources[i]
		c := s.servers
		if s.idle() {
			p.resources[i] = price{servers: c, own: free[:c:c], inflicted: free[:c:c]}
			continue
		}
		p.resources[i] = price{servers: c, own: memory[:c:c], inflicted: memory[c : 2*c : 2*c]}
		memory = memory[2*c:]
		s.price(&p.resources[i])
	}
	for i, device := range l.next {
		at := l.index.Of(i, device)
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

// Size returns about how many bytes the prices take in memory.
func (p *Prices) Size() int {
	n := int(unsafe.Sizeof(*p)) + 8*len(p.alone) + len(p.resources)*int(unsafe.Sizeof(price{})) + len(p.effects)*int(unsafe.Sizeof(interference.Price{}))
	for i := range p.resources {
		n += 8 * (len(p.resources[i].own) + len(p.resources[i].inflicted))
	}
	if p.factors != nil {
		n += int(unsafe.Sizeof(*p.factors))
	}
	return n
}

// price computes own[x] = L(c−1−x)/c with L(a) = E[(N − a)^+], and what thread x
// inflicts, M(c−1−x)/c with M(a) = Σ_{y≥a} marked[y], both by summing tails downwards:
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
	inflicted := 0.0
	for x := range last {
		a := last - x
		if a < len(s.marked) {
			markedTail += s.marked[a]
		}
		inflicted += markedTail / c
		p.own[x], p.inflicted[x] = excess/c, inflicted
		if a < len(present) {
			tail += present[a]
		}
		excess += tail
	}
	p.inflicted[last] += inflicted
}

// ownAt returns the wait of a thread that finds x ≥ 0 of its siblings: own, extended beyond x = c−1. Each further sibling always
// delays it, but also does so when the job is alone: that is part of the neutral time. Between whole numbers the wait is linear.
func (p *price) ownAt(x float64) float64 {
	last := p.servers - 1
	if x >= float64(last) {
		return p.own[last]
	}
	n := int(x)
	return p.own[n] + (x-float64(n))*(p.own[n+1]-p.own[n])
}

// inflictedBy returns the extra wait that n ≥ 0 threads cause the others: the part of each thread grows up to the c-th. Between
// whole numbers it is linear.
func (p *price) inflictedBy(n float64) float64 {
	last := p.servers - 1
	switch {
	case n <= 1:
		return n * p.inflicted[0]
	case n > float64(last):
		each := p.inflicted[last]
		if last > 0 {
			each -= p.inflicted[last-1]
		}
		return p.inflicted[last] + (n-float64(last+1))*each
	}
	k := int(n)
	return p.inflicted[k-1] + (n-float64(k))*(p.inflicted[k]-p.inflicted[k-1])
}

// Candidate is a job about to be placed: its vector, prepared once so that
// pricing it on each node is two dot products. It is read-only once made and
// safe for concurrent use.
type Candidate struct {
	bids    []bid
	effects []interference.Bid

	weight    float64 // of a thread, 0 if it has no share
	logWeight float64 // to base 2
	slack     float64 // fraction of its time alone for which it is throttled: less once it waits

	importance float64 // factor of its wait
}

// bid is the candidate's side of the price of one resource.
type bid struct {
	resource int
	pressure float64
	threads  int
	own      float64 // factor of the waits of its threads
	// Of several threads: the number of the others that one of them finds there, and the number of those present.
	siblings, present points
}

// points are numbers of threads and how probable each is.
type points struct{ at, probability []float64 }

// maxLookups bounds the number of price lookups of one score, over all resources, which keeps a score fast. A job with up to
// maxLookups / 2 threads in all has one lookup for each possible number of threads at a resource; a job with more has fewer,
// representative ones, but at least leastLookups.
const maxLookups, leastLookups = 128, 4

// lookups returns the number of prices of each resource that are looked up.
func lookups(v loading.Vector) int {
	bids, numbers := 0, 0
	for _, d := range v {
		if t := d.ThreadCount(); t > 1 && !d.Idle() {
			bids++
			numbers += 2*t + 1
		}
	}
	if numbers <= maxLookups {
		return maxLookups
	}
	return max(leastLookups, maxLookups/(2*bids))
}

// newBid returns the bid of a demand that is not idle, with a limit of its lookups.
func newBid(resource int, d loading.Demand, lookups int) bid {
	b := bid{resource: resource, pressure: d.Pressure, threads: d.ThreadCount()}
	b.own = float64(b.threads) * d.EffectiveSensitivity()
	if b.threads > 1 {
		low, probability := d.Siblings()
		b.siblings.at, b.siblings.probability = poissonbinomial.Points(low, probability, lookups)
		low, probability = poissonbinomial.Binomial(b.threads, d.Pressure)
		b.present.at, b.present.probability = poissonbinomial.Points(low, probability, lookups)
	}
	return b
}

// on returns the wait of the bid's threads at a resource, and the extra wait that they cause the others there.
func (b *bid) on(p *price) (own, inflicted float64) {
	if b.threads == 1 {
		return b.own * p.own[0], b.pressure * p.inflicted[0]
	}
	for k, x := range b.siblings.at {
		own += b.siblings.probability[k] * p.ownAt(x)
	}
	for k, n := range b.present.at {
		inflicted += b.present.probability[k] * p.inflictedBy(n)
	}
	return b.own * own, inflicted
}

// selfWait returns the wait at a resource with the given number of servers that is part of the candidate's neutral time, in own
// times.
func (b *bid) selfWait(servers int) float64 {
	wait := 0.0
	if b.threads > servers {
		for k, x := range b.siblings.at {
			wait += b.siblings.probability[k] * loading.WaitBehind(x, servers)
		}
	}
	return b.own / float64(b.threads) * wait
}

// NewShareCandidate prepares a job that has a weight and a limit at a resource, the processor. Both must be valid, and
// the rest of the share does not count. It is priced as by [NewCandidate] on a node whose jobs have no shares.
func NewShareCandidate(v loading.Vector, processor int, share loading.Share) *Candidate {
	v, slack := v.Limited(processor, share.Limit)
	c := NewCandidate(v)
	c.weight, c.slack = share.EffectiveWeight(), slack
	if processor >= 0 && processor < len(v) {
		c.weight = v[processor].ThreadWeight(c.weight)
	}
	c.logWeight = math.Log2(c.weight)
	return c
}

// Throttled returns the candidate as a job that its limit throttles for a fraction of its time alone. That fraction shortens its
// wait.
func (c *Candidate) Throttled(slack float64) *Candidate {
	other := *c
	other.slack = slack
	return &other
}

// Important returns the candidate as a job whose own waits count that many times. See [Load.AddImportant].
func (c *Candidate) Important(importance float64) *Candidate {
	other := *c
	other.importance = importance
	return &other
}

// NewCandidate prepares a job for pricing, in O(m·t) time for m resources and t threads. The vector must satisfy
// [loading.Vector.Validate].
func NewCandidate(v loading.Vector) *Candidate {
	c := &Candidate{bids: make([]bid, 0, len(v)), effects: interference.NewBids(v), importance: 1}
	limit := lookups(v)
	for i, d := range v {
		if !d.Idle() {
			c.bids = append(c.bids, newBid(i, d, limit))
		}
	}
	return c
}

// Of returns ΔW ≥ 0, the growth of the node's total wait if the candidate were placed there: the wait of its threads for the others
// plus the extra wait that they cause the others, each relative to the neutral time of its job there. The importance of a job
// multiplies its wait. Of takes two multiplications per resource where the candidate has one thread, some hundreds in all where it
// has many, six per interference resource, and allocates nothing. The candidate must have no demand at a resource that the node
// does not list.
//
// For one server per resource and symmetric single-threaded jobs ΔW = 2 p'·p̄:
// twice Eq. (15) of the D-factor paper.
func (p *Prices) Of(c *Candidate) float64 {
	waits, inflicts := p.Parts(c)
	return c.importance*waits + inflicts
}

// Parts returns the two parts of [Prices.Of]: the wait of the candidate's threads for the others, without its importance, and the
// extra wait that they cause the others, each times its importance.
func (p *Prices) Parts(c *Candidate) (waits, inflicts float64) {
	equal := p.factors == nil || c.weight == p.weight
	own, inflicted, neutral := 0.0, 0.0, 1.0 // in own times
	for i := range c.bids {
		b := &c.bids[i]
		if equal && b.threads == 1 {
			own += b.own * p.alone[2*b.resource]
			inflicted += b.pressure * p.alone[2*b.resource+1]
			continue
		}
		ownHere, inflictedHere := p.bid(c, b)
		own, inflicted = own+ownHere, inflicted+inflictedHere
		neutral += b.selfWait(p.resources[b.resource].servers)
	}
	if len(c.effects) > 0 && p.effects != nil {
		own, inflicted = p.interfere(c, own, inflicted)
	}
	return max(0, own/neutral-c.slack), inflicted
}

// bid returns the wait of the threads of a candidate's bid at its resource, and the extra wait that they cause the others there.
func (p *Prices) bid(c *Candidate, b *bid) (own, inflicted float64) {
	own, inflicted = b.on(&p.resources[b.resource])
	if p.factors != nil && c.weight > 0 && c.weight != p.weight && b.resource == p.processor {
		ownFactor, inflictedFactor := p.factors.at(c.logWeight, b.pressure)
		own, inflicted = ownFactor*own, inflictedFactor*inflicted
	}
	return own, inflicted
}

// WaitsAt returns the wait of the candidate's threads at each resource, or the extra computing time that interference there causes.
// The sum is the first of [Prices.Parts], less the time that the candidate's own limit throttles it in any case. It allocates, and
// is for explanations.
func (p *Prices) WaitsAt(c *Candidate) []float64 {
	waits, neutral := make([]float64, len(p.resources)), 1.0
	for i := range c.bids {
		b := &c.bids[i]
		own, _ := p.bid(c, b)
		waits[b.resource] += own
		neutral += b.selfWait(p.resources[b.resource].servers)
	}
	if p.effects != nil {
		for k := range c.effects {
			waits[c.effects[k].Resource] += p.effects[c.effects[k].Resource].Slows(&c.effects[k])
		}
	}
	for i := range waits {
		waits[i] /= neutral
	}
	return waits
}
