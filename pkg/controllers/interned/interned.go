// Package interned has objects in caches share what they have in common: pods of one template, above all. Such objects must not be changed,
// which holds for those of any cache.
package interned

import (
	"encoding/json"
	"hash/maphash"
	"reflect"
	"sync"
)

// Values are those that are shared. The zero value has none yet. It may be used by several goroutines at once.
type Values struct {
	mutex sync.Mutex
	seed  maphash.Seed
	known map[uint64]any
}

// maxKnown is how many values are remembered for sharing, in about 3 MB besides their own. Then all are forgotten: objects keep theirs.
const maxKnown = 100_000

// Share returns a value that was there before and is equal, else the value itself. Values that have no JSON, or null, are not shared.
func Share[T any](v *Values, value T) T {
	text, err := json.Marshal(value)
	if err != nil || string(text) == "null" {
		return value
	}
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.known == nil {
		v.seed, v.known = maphash.MakeSeed(), map[uint64]any{}
	}
	hash := maphash.Bytes(v.seed, text)
	if same, is := v.known[hash].(T); is && reflect.DeepEqual(same, value) {
		return same
	}
	if len(v.known) >= maxKnown {
		clear(v.known)
	}
	v.known[hash] = value
	return value
}
