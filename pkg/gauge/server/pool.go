package server

import (
	"container/list"
	"net/netip"
)

// pool is a bounded number of open connections, shared equally among their sources: when there is one too many, the source with the
// most gives up its least recently used one. So a source never loses a connection while another has more, and one with a single
// connection loses it only when the number of other connected sources equals the size of the pool. No client waits for a place.
type pool struct {
	limit int
	byUse *list.List           // of *connection, that which was used longest ago first
	count map[netip.Prefix]int // how many there are of each source, at least 1
}

func newPool(limit int) *pool {
	return &pool{limit: limit, byUse: list.New(), count: map[netip.Prefix]int{}}
}

// add puts a connection in, which is in no pool, and returns the one that has to go, which may be the same, or nil. It takes that out.
func (p *pool) add(c *connection) (surplus *connection) {
	c.in, c.place = p, p.byUse.PushBack(c)
	p.count[c.source]++
	if p.byUse.Len() <= p.limit {
		return nil
	}
	surplus = p.surplus()
	p.remove(surplus)
	return surplus
}

// surplus returns the least recently used connection of the sources with the most.
func (p *pool) surplus() *connection {
	most := 0
	for _, n := range p.count {
		most = max(most, n)
	}
	for place := p.byUse.Front(); place != nil; place = place.Next() {
		if c, is := place.Value.(*connection); is && p.count[c.source] == most {
			return c
		}
	}
	return nil // it is asked for where there are some
}

// used notes that a connection, which is in the pool, was used just now.
func (p *pool) used(c *connection) { p.byUse.MoveToBack(c.place) }

// remove takes out a connection, which is in the pool.
func (p *pool) remove(c *connection) {
	p.byUse.Remove(c.place)
	c.in, c.place = nil, nil
	if p.count[c.source]--; p.count[c.source] == 0 {
		delete(p.count, c.source)
	}
}
