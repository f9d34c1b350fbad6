package profile

import (
	"hash/maphash"
	"iter"
	"maps"
	"slices"
)

// sharded is an immutable map, whose successors share its unchanged parts: one with another value
// costs time and memory in the square root of its size. The zero value is empty.
type sharded[K comparable, V any] struct {
	shards []map[K]V // by hash; their number is a power of 2
	size   int
}

// seed is that of the hashes of all keys.
var seed = maphash.MakeSeed()

// shardOf returns the number of the shard of a key.
func (m *sharded[K, V]) shardOf(key K) int {
	if len(m.shards) == 1 {
		return 0
	}
	return int(maphash.Comparable(seed, key) & uint64(len(m.shards)-1))
}

// get returns the value of a key, the zero value where there is none.
func (m *sharded[K, V]) get(key K) (value V) {
	if m.size > 0 {
		value = m.shards[m.shardOf(key)][key]
	}
	return value
}

// all returns all keys with their values, in any order.
func (m *sharded[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, shard := range m.shards {
			for key, value := range shard {
				if !yield(key, value) {
					return
				}
			}
		}
	}
}

// edit begins the successor of a map.
func (m *sharded[K, V]) edit() *edit[K, V] {
	return &edit[K, V]{sharded[K, V]{slices.Clone(m.shards), m.size}, make([]bool, len(m.shards))}
}

// edit is a map that may be changed until it is done, and must not be afterwards.
type edit[K comparable, V any] struct {
	sharded[K, V]
	own []bool // by shard: it is not shared with another map
}

// set gives a key a value.
func (e *edit[K, V]) set(key K, value V) {
	if e.size >= len(e.shards)*len(e.shards) {
		e.grow()
	}
	shard := e.writable(e.shardOf(key))
	before := len(shard)
	shard[key] = value
	e.size += len(shard) - before
}

// remove removes a key, if it is there.
func (e *edit[K, V]) remove(key K) {
	if e.size == 0 {
		return
	}
	shard := e.writable(e.shardOf(key))
	before := len(shard)
	delete(shard, key)
	e.size += len(shard) - before
}

// writable returns a shard that no other map has.
func (e *edit[K, V]) writable(i int) map[K]V {
	if !e.own[i] {
		e.shards[i], e.own[i] = maps.Clone(e.shards[i]), true
	}
	if e.shards[i] == nil {
		e.shards[i] = map[K]V{}
	}
	return e.shards[i]
}

// grow doubles the number of shards, so that it equals the number of keys in each.
func (e *edit[K, V]) grow() {
	old := e.shards
	e.shards = make([]map[K]V, max(1, 2*len(old)))
	e.own = make([]bool, len(e.shards))
	for _, shard := range old {
		for key, value := range shard {
			e.writable(e.shardOf(key))[key] = value
		}
	}
}

// done returns the map.
func (e *edit[K, V]) done() sharded[K, V] { return e.sharded }
