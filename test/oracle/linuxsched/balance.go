package linuxsched

import (
	"math"
	"slices"
	"time"
)

// idleness is the state of the processor that balances.
type idleness int

const (
	busy idleness = iota
	idle
	newlyIdle
)

// pull is an attempt to move threads to a processor: lb_env.
type pull struct {
	to        *cpu
	domain    *domain
	idleness  idleness
	byLoad    bool // the imbalance is load, not a number of threads
	byUtil    bool
	imbalance float64
}

// balance tries to move threads to a processor within a domain: sched_balance_rq. It returns how many, and whether larger domains
// should be balanced, too.
func (s *simulation) balance(to *cpu, d *domain, i idleness) (int, bool) {
	if i != newlyIdle && !balances(to, d.groups[0]) {
		d.failed = 0
		d.widen(i)
		return 0, false
	}
	p := &pull{to: to, domain: d, idleness: i}
	from := s.busiest(p)
	if from == nil || from == to {
		d.failed = 0
		d.widen(i)
		return 0, true
	}
	moved := s.move(p, from)
	if moved > 0 {
		d.failed = 0
	} else {
		if i != newlyIdle {
			d.failed++
		}
		if !p.byLoad && !p.byUtil && d.failed > 3 { // active balancing
			moved = s.push(p, from)
		}
	}
	d.interval = int64(d.size) * millisecond
	return moved, true
}

// busiest finds the processor to pull from, and the imbalance.
func (s *simulation) busiest(p *pull) *cpu {
	var local, most statistics
	util, load, all, overloaded := 0.0, 0.0, 0.0, false
	for i, cpus := range p.domain.groups {
		g := statisticsOf(cpus)
		if i == 0 {
			local = g
		} else if g.busier(&most) {
			most = g
		}
		util += g.util
		load += g.load
		all += float64(len(cpus))
		overloaded = overloaded || slices.ContainsFunc(cpus, func(c *cpu) bool { return c.root.threads > 1 })
	}
	if p.idleness != newlyIdle && p.domain.cached {
		p.to.cache.limitScan(util)
	}
	if p.domain.size == len(s.cpus) {
		s.overloaded = overloaded
	}
	if most.cpus == nil || !p.imbalanced(&local, &most, load/all) || p.imbalance <= 0 {
		return nil
	}
	return p.source(most.cpus)
}

// imbalanced reports whether threads are to be moved from one group to another, and sets how much.
func (p *pull) imbalanced(local, most *statistics, average float64) bool {
	if local.state > most.state {
		return false
	}
	if local.state == isOverloaded && (local.average >= most.average || local.average >= average ||
		100*most.average <= imbalancePercent*local.average) {
		return false
	}
	forced := !p.domain.cached && local.state == hasSpare && p.siblings(local, most) > 1
	if !forced && most.state != isOverloaded && (p.idleness == busy ||
		len(most.cpus) > 1 && local.idle <= most.idle+1 || most.threads == 1) {
		return false
	}
	switch {
	case local.state == hasSpare && most.state == isOverloaded && !p.domain.cached:
		p.byUtil = true
		p.imbalance = capacity*float64(len(local.cpus)) - local.util
		if p.idleness != busy && p.imbalance <= 0 {
			p.byUtil, p.imbalance = false, 1
		}
	case local.state == hasSpare:
		p.imbalance = math.Floor(p.siblings(local, most) / 2)
	default:
		if local.state != isOverloaded {
			local.average = local.load / float64(len(local.cpus))
			if local.average >= most.average || local.average >= average {
				return false
			}
		}
		p.byLoad = true
		p.imbalance = min((most.average-average)*float64(len(most.cpus)), (average-local.average)*float64(len(local.cpus)))
	}
	return true
}

// siblings returns by how many threads a group has more than the local one.
func (p *pull) siblings(local, most *statistics) float64 {
	if p.idleness == busy || most.threads == 0 {
		return 0
	}
	a, b := float64(len(local.cpus)), float64(len(most.cpus))
	if a == b {
		return max(0, float64(most.threads-local.threads))
	}
	return math.Floor((2*max(0, a*float64(most.threads)-b*float64(local.threads)) + a + b) / (a + b))
}

// source returns the processor of a group to pull from.
func (p *pull) source(cpus []*cpu) *cpu {
	var from *cpu
	best := 0.0
	for _, c := range cpus {
		threads := c.root.threads
		if threads == 0 {
			continue
		}
		value := float64(threads)
		switch {
		case p.byLoad:
			if value = c.load(); threads == 1 && value > p.imbalance {
				continue
			}
		case p.byUtil:
			if value = max(c.util(), c.root.average.runnable); threads == 1 {
				continue
			}
		}
		if value > best {
			best, from = value, c
		}
	}
	return from
}

// move moves waiting threads, those first that have not run for the longest time.
func (s *simulation) move(p *pull, from *cpu) int {
	moved := 0
	looks := min(maxMigrations, from.root.threads)
	for range looks {
		if from.root.threads <= 1 && (p.idleness != busy || len(from.threads) == 0) || p.imbalance <= 0 {
			break
		}
		t := from.threads[0]
		amount := 1.0
		ok := s.movable(p, t, from)
		if ok && (p.byLoad || p.byUtil) {
			amount = capacity * max(t.entity.average.util, t.estimated)
			if p.byLoad {
				amount = max(1, t.load())
			}
			ok = amount/math.Exp2(float64(min(p.domain.failed, 60))) <= p.imbalance
		}
		if !ok {
			copy(from.threads, from.threads[1:])
			from.threads[len(from.threads)-1] = t
			continue
		}
		p.imbalance -= amount
		s.relocate(t, p.to)
		moved++
		if p.idleness == newlyIdle {
			break
		}
	}
	return moved
}

// movable reports whether a thread may be moved: it does not run, is not throttled here or there, and its cache is cold.
func (s *simulation) movable(p *pull, t *thread, from *cpu) bool {
	g := t.entity.queue.group
	if t == from.running || g != nil && (g.queues[from.id].throttles > 0 || g.queues[p.to.id].throttles > 0) {
		return false
	}
	hot := s.now-t.entity.began < int64(migrationCost) || p.to.root.threads > 0 && s.class.prefers(t.entity.queue, &t.entity)
	return !hot || p.domain.failed > 1
}

// push moves a thread from a processor that pulling could not relieve, even the one that runs.
func (s *simulation) push(p *pull, from *cpu) int {
	if from.root.threads <= 1 {
		return 0
	}
	for _, t := range from.threads {
		g := t.entity.queue.group
		if t == from.running || g != nil && (g.queues[from.id].throttles > 0 || g.queues[p.to.id].throttles > 0) {
			continue
		}
		s.relocate(t, p.to)
		p.domain.failed = 0
		return 1
	}
	return 0
}

// relocate moves a queued thread to another processor.
func (s *simulation) relocate(t *thread, to *cpu) {
	s.settle(t.cpu)
	s.dequeue(&t.entity, how{moved: true})
	s.transfer(t, to)
	s.enqueue(t, how{moved: true})
	s.checkPreemption(t)
}

// balanceTick is the work of the load balancer at a tick of a processor.
func (s *simulation) balanceTick(c *cpu, i idleness) {
	if s.now < c.nextBalance {
		return
	}
	s.decay(c)
	next := s.now + 60*1000*millisecond
	proceed := true
	for _, d := range c.domains {
		if s.now-d.decayed > 1000*millisecond {
			d.maxCost, d.decayed = d.maxCost*253/256, s.now
		}
		if !proceed {
			break
		}
		if s.now >= d.last+d.due(i == busy, s.tick) {
			var moved int
			if moved, proceed = s.balance(c, d, i); moved > 0 {
				i = busy
			}
			d.last = s.now
		}
		next = min(next, d.last+d.due(i == busy, s.tick))
	}
	c.nextBalance = next
}

// balanceIdle balances for the idle processors, when a busy one finds at its tick that there is something to balance.
func (s *simulation) balanceIdle() {
	busyInCache := map[*cache]int{}
	wanted := false
	for _, c := range s.cpus {
		if c.running != nil {
			busyInCache[c.cache]++
			wanted = wanted || c.root.threads >= 2 || busyInCache[c.cache] > 1
		}
	}
	if !wanted {
		return
	}
	for _, c := range s.cpus {
		if c.idle() {
			s.balanceTick(c, idle)
		}
	}
}

// balanceNewlyIdle tries to find a thread for a processor that has just run out of them: sched_balance_newidle.
func (s *simulation) balanceNewlyIdle(c *cpu) bool {
	c.idleSince = s.now
	if len(c.domains) == 0 {
		return false
	}
	for _, d := range c.domains {
		c.nextBalance = min(c.nextBalance, d.last+d.due(false, s.tick))
	}
	if !s.overloaded || c.averageIdle < float64(c.domains[0].maxCost) {
		return false
	}
	s.decay(c)
	spent := int64(0)
	for _, d := range c.domains {
		if c.averageIdle < float64(spent+d.maxCost) {
			break
		}
		const sides = 1024 // of a dice, thrown to try according to the success
		weight := 1 + d.ratio
		if s.random.Float64()*sides > weight {
			d.count(0)
			continue
		}
		moved, _ := s.balance(c, d, newlyIdle)
		cost := int64(s.kernel.Costs.Balance + s.kernel.Costs.Look*time.Duration(d.size))
		spent += cost
		if moved > 0 {
			d.count(sides / weight)
		} else {
			d.count(0)
		}
		if cost > d.maxCost {
			d.maxCost, d.decayed = cost, s.now
		}
		if moved > 0 || c.root.threads > 0 {
			break
		}
	}
	return c.root.threads > 0
}
