package dilation

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/singleflight"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/lru"

	"loadline.dev/loadline/pkg/model/loading"
	"loadline.dev/loadline/pkg/model/price"
	"loadline.dev/loadline/pkg/node"
)

// kind numbers pods that fare alike on any node, and make others fare alike, from 1.
type kind uint64

// kindKey is what pods of one kind have in common. It holds no profile, so that none is kept that is gone.
type kindKey struct {
	profile  uint64 // its state, 0 if they follow none
	requests string // their vector where it is from their requests
	share    loading.Share
	devices  string
	promise  node.Promise
	hold     float64
}

// kinds hands out numbers, and keeps how nodes fare whose pods are of the same kinds, and their prices. It is safe for concurrent use.
//
// Of kinds it keeps a number, and of nodes some memory: those that were used last. What was of a state of a profile that is gone is never
// asked for again, and goes when that is reached. A kind that comes again then has another number, and is looked into again.
type kinds struct {
	mu       sync.Mutex
	last     kind
	of       *lru.Cache // kind by kindKey
	version  version
	outcomes *common[*outcome]      // by candidates and nodes
	prices   *common[*price.Prices] // by nodes
}

// maxKinds bounds the memory.
const maxKinds = 100_000

func newKinds() *kinds {
	return &kinds{of: lru.New(maxKinds), outcomes: newCommon((*outcome).bytes), prices: newCommon((*price.Prices).Size)}
}

// begin forgets what was of another version.
func (k *kinds) begin(v version) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version != v {
		k.version = v
		k.of.Clear()
		k.outcomes.Clear()
		k.prices.Clear()
	}
}

// number returns the kind of a pod.
func (k *kinds) number(n *candidate) kind {
	key := kindKey{share: n.share, devices: n.devices, promise: n.promise, hold: n.hold}
	if n.follows != nil {
		key.profile = n.follows.State
	}
	if n.workload == nil {
		key.requests = encode(n.requests)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known, _ := k.of.Get(key)
	if number, is := known.(kind); is {
		return number
	}
	k.last++
	k.of.Add(key, k.last)
	return k.last
}

// encode returns a string that two vectors from requests, which have loadings, pressures and threads, share if they are equal.
func encode(v loading.Vector) string {
	buffer := make([]byte, 0, 64)
	for i, d := range v {
		if d != (loading.Demand{}) {
			buffer = binary.AppendUvarint(buffer, uint64(i))
			buffer = binary.AppendUvarint(buffer, math.Float64bits(d.Loading))
			buffer = binary.AppendUvarint(buffer, math.Float64bits(d.Pressure))
			buffer = binary.AppendUvarint(buffer, uint64(d.Threads))
		}
	}
	return string(buffer)
}

// common keeps what nodes that are alike have in common, by what they are alike in (see [residents.alikeAs]): what was used last, as far as it
// takes no more memory than it may. It is safe for concurrent use.
type common[T any] struct {
	*lru.Cache

	size   func(T) int // of one, in bytes
	bytes  atomic.Int64
	making singleflight.Group
}

// maxCommonBytes bounds what is kept: of a node with many pods it is as long as these are many.
const maxCommonBytes = 32 << 20

func newCommon[T any](size func(T) int) *common[T] {
	c := &common[T]{Cache: lru.New(0), size: size}
	err := c.SetEvictionFunc(func(key lru.Key, value any) {
		name, _ := key.(string)
		kept, _ := value.(T)
		c.bytes.Add(-c.takes(name, kept))
	})
	utilruntime.Must(err) // it has none
	return c
}

// entryBytes is about what the cache takes for an entry besides key and value.
const entryBytes = 250

// takes returns about how many bytes a value takes that is kept under a key.
func (c *common[T]) takes(key string, value T) int64 {
	return int64(entryBytes + len(key) + c.size(value))
}

// of returns what is kept under a key, else what is made, and keeps that if it lasts. Of callers that ask for the same at the same time, as a
// cycle's goroutines do of nodes that are alike, one makes it for all.
func (c *common[T]) of(key string, made func() (value T, lasting bool)) T {
	found, _, _ := c.making.Do(key, func() (any, error) { // which never fails
		if kept, is := c.Get(key); is {
			return kept, nil
		}
		value, lasting := made()
		if lasting {
			c.bytes.Add(c.takes(key, value))
			c.Add(key, value)
			for c.bytes.Load() > maxCommonBytes {
				c.RemoveOldest()
			}
		}
		return value, nil
	})
	value, _ := found.(T)
	return value
}

// bytes returns about how many bytes an outcome takes.
func (o *outcome) bytes() int {
	n := int(unsafe.Sizeof(*o)) + len(o.Excesses)*int(unsafe.Sizeof(node.Excess{}))
	for i := range o.Excesses {
		n += len(o.Excesses[i].Gone) * int(unsafe.Sizeof(0))
	}
	return n
}

// alikeAs returns what nodes are alike in that fare alike: equal for nodes of one class and number of cores with as many pods of each kind. It is
// empty for a node with devices, which is not known to be like any other.
func (r *residents) alikeAs() string {
	if r.class.HasDevices() {
		return ""
	}
	buffer := make([]byte, 0, 4*len(r.alike)+64)
	for i := range r.alike {
		buffer = binary.AppendUvarint(buffer, uint64(r.alike[i].kind))
		buffer = binary.AppendUvarint(buffer, uint64(r.alike[i].count))
	}
	buffer = append(buffer, 0) // no kind of a pod
	for _, c := range r.servers {
		buffer = binary.AppendUvarint(buffer, uint64(c))
	}
	return string(append(buffer, r.class.Class()...))
}

// order returns the pods in an order that is the same for nodes that are alike: the first one is the order[0]-th.
func (r *residents) order() []int {
	order := make([]int, len(r.kinds))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.kinds[a], r.kinds[b]) })
	return order
}

// in returns an outcome that counts pods in another order: the j-th pod is at[j] then, and a candidate stays the last.
func (o *outcome) in(at []int) *outcome {
	if len(o.Excesses) == 0 {
		return o
	}
	moved := *o
	moved.Excesses = slices.Clone(o.Excesses)
	move := func(j int) int {
		if j < 0 || j >= len(at) {
			return j
		}
		return at[j]
	}
	for i := range moved.Excesses {
		e := &moved.Excesses[i]
		e.Pod, e.Because, e.Gone = move(e.Pod), move(e.Because), slices.Clone(e.Gone)
		for k, j := range e.Gone {
			e.Gone[k] = move(j)
		}
		slices.Sort(e.Gone)
	}
	return &moved
}

// inverse returns where the j-th stands in an order.
func inverse(order []int) []int {
	at := make([]int, len(order))
	for place, j := range order {
		at[j] = place
	}
	return at
}
