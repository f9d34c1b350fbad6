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

// kinds hands out numbers, and keeps how nodes fare whose pods are of the same kinds. It is safe for concurrent use.
//
// Of kinds it keeps a number, and of how nodes fare some memory: those that were used last. What was of a state of a profile that is gone is never
// asked for again, and goes when that is reached. A kind that comes again then has another number, and is looked into again.
type kinds struct {
	mu       sync.Mutex
	last     kind
	of       *lru.Cache // kind by kindKey
	version  version
	outcomes *outcomes
	solving  singleflight.Group
}

// maxKinds bounds the memory.
const maxKinds = 100_000

func newKinds() *kinds { return &kinds{of: lru.New(maxKinds), outcomes: newOutcomes()} }

// begin forgets what was of another version.
func (k *kinds) begin(v version) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version != v {
		k.version = v
		k.of.Clear()
		k.outcomes.Clear()
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

// outcome returns what was kept under a key, else what solve returns, which it keeps unless that is provisional. Of callers that ask
// for the same at the same time, as a cycle's goroutines do of nodes that are alike, one solves it for all.
func (k *kinds) outcome(key string, solve func() *outcome) *outcome {
	kept, _, _ := k.solving.Do(key, func() (any, error) { // which never fails
		if kept, is := k.outcomes.Get(key); is {
			return kept, nil
		}
		o := solve()
		if !o.provisional {
			k.outcomes.keep(key, o)
		}
		return o, nil
	})
	o, _ := kept.(*outcome)
	return o
}

// outcomes keeps how nodes fare, each *outcome by the kinds of the pods (see [residents.key]), those that were used last. It is safe for
// concurrent use.
type outcomes struct {
	*lru.Cache

	bytes atomic.Int64 // which they take, about
}

// maxOutcomeBytes bounds what outcomes take: those of a node with many pods are as long as these are many.
const maxOutcomeBytes = 32 << 20

func newOutcomes() *outcomes {
	o := &outcomes{Cache: lru.New(0)}
	err := o.SetEvictionFunc(func(key lru.Key, value any) {
		name, _ := key.(string)
		kept, _ := value.(*outcome)
		o.bytes.Add(-kept.bytes(name))
	})
	utilruntime.Must(err) // it has none
	return o
}

// keep keeps an outcome that is not kept.
func (o *outcomes) keep(key string, kept *outcome) {
	o.bytes.Add(kept.bytes(key))
	o.Add(key, kept)
	for o.bytes.Load() > maxOutcomeBytes {
		o.RemoveOldest()
	}
}

// entryBytes is about what the cache takes for an entry besides key and value.
const entryBytes = 250

// bytes returns about what an outcome takes that is kept under a key.
func (o *outcome) bytes(key string) int64 {
	n := entryBytes + len(key) + int(unsafe.Sizeof(*o)) + len(o.Excesses)*int(unsafe.Sizeof(node.Excess{}))
	for i := range o.Excesses {
		n += len(o.Excesses[i].Gone) * int(unsafe.Sizeof(0))
	}
	return int64(n)
}

// key returns what an outcome of the node depends on, and the order in which it counts the pods: equal for nodes of one class
// and number of cores with pods of the same kinds. It is empty for a node with devices, which is not known to be like any other.
func (r *residents) key(candidate kind) (key string, order []int) {
	if r.class.HasDevices() {
		return "", nil
	}
	order = make([]int, len(r.kinds))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.kinds[a], r.kinds[b]) })
	buffer := make([]byte, 0, 4*len(order)+64)
	buffer = binary.AppendUvarint(buffer, uint64(candidate))
	for _, j := range order {
		buffer = binary.AppendUvarint(buffer, uint64(r.kinds[j]))
	}
	buffer = append(buffer, 0) // no kind of a pod
	for _, c := range r.servers {
		buffer = binary.AppendUvarint(buffer, uint64(c))
	}
	return string(append(buffer, r.class.Class()...)), order
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
