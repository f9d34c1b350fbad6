package server

import (
	"fmt"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// address returns one of some addresses.
func address(i int) netip.Prefix {
	return netip.MustParsePrefix(fmt.Sprintf("10.0.%d.%d/32", i>>8, i&255))
}

// However connections come and go, a pool holds no more than its limit; the source that gives one up has at least as many as any
// other, and loses its least recently used one.
func TestWhoHasTheMostConnectionsLosesTheOneUsedLongestAgo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		sources := rapid.IntRange(1, 16).Draw(t, "sources")
		p := newPool(limit)
		var held []*connection // that which was used longest ago first
		without := func(c *connection) {
			for i := range held {
				if held[i] == c {
					held = append(held[:i:i], held[i+1:]...)
					return
				}
			}
			t.Fatalf("a connection of %v is given up that is not held", c.source)
		}
		of := func(s netip.Prefix) (n int) {
			for _, c := range held {
				if c.source == s {
					n++
				}
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				c := &connection{source: address(rapid.IntRange(1, sources).Draw(t, "source"))}
				held = append(held, c)
				surplus := p.add(c)
				if (surplus != nil) != (len(held) > limit) {
					t.Fatalf("%d are open, of %d at most, and one has to go: %v", len(held), limit, surplus != nil)
				}
				if surplus == nil {
					return
				}
				for i := 1; i <= sources; i++ {
					if of(address(i)) > of(surplus.source) {
						t.Fatalf("%v loses one of %d, and %v has %d", surplus.source, of(surplus.source), address(i), of(address(i)))
					}
				}
				for _, c := range held {
					if of(c.source) == of(surplus.source) && c != surplus {
						t.Fatalf("%v loses a connection, and one of %v was used before it", surplus.source, c.source)
					}
					if c == surplus {
						break
					}
				}
				without(surplus)
			},
			"use": func(t *rapid.T) {
				if len(held) > 0 {
					c := rapid.SampledFrom(held).Draw(t, "connection")
					p.used(c)
					without(c)
					held = append(held, c)
				}
			},
			"close": func(t *rapid.T) {
				if len(held) > 0 {
					c := rapid.SampledFrom(held).Draw(t, "connection")
					p.remove(c)
					without(c)
				}
			},
			"": func(t *rapid.T) {
				if p.byUse.Len() != len(held) {
					t.Fatalf("it holds %d, want %d", p.byUse.Len(), len(held))
				}
				for i := 1; i <= sources; i++ {
					if n, is := p.count[address(i)]; n != of(address(i)) || is != (n > 0) {
						t.Fatalf("it counts %d of %v, want %d", n, address(i), of(address(i)))
					}
				}
			},
		})
	})
}

func TestAnAddressWithOneConnectionLosesItOnlyWhenAsManyOthersAreThere(t *testing.T) {
	t.Parallel()
	const limit = 8
	p := newPool(limit)
	reader := &connection{source: address(0)}
	p.add(reader)
	for i := range 1000 {
		if p.add(&connection{source: address(1 + i%(limit-1))}) == reader {
			t.Fatalf("with %d other addresses it lost its own after %d connections", limit-1, i)
		}
	}
	lost := false
	for i := range limit {
		lost = lost || p.add(&connection{source: address(100 + i)}) == reader
	}
	if !lost {
		t.Errorf("%d addresses have a connection each, of %d", limit+1, limit)
	}
}
