package dilation

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"loadline.dev/loadline/pkg/evaluate/nodes"
	"loadline.dev/loadline/pkg/model/contention"
	"loadline.dev/loadline/pkg/profile"
)

// kind numbers pods that fare alike on any node, and make others fare alike, from 1; 0 is a pod of its own kind.
type kind uint32

// kindKey is what pods of one kind have in common.
type kindKey struct {
	workload *profile.Workload
	share    contention.Share
	devices  string
	promise  nodes.Promise
	hold     float64
}

// kinds hands out numbers, and keeps how nodes fare whose pods are of the same kinds. It is safe for concurrent use.
type kinds struct {
	mu       sync.Mutex
	last     kind
	of       map[kindKey]kind
	version  version
	outcomes map[string]*outcome // by the kinds of the pods: see tenants.key
}

// maxKinds and maxOutcomes bound what is kept; what is above that begins anew, with numbers that were never used.
const (
	maxKinds    = 100_000
	maxOutcomes = 20_000
)

func newKinds() *kinds { return &kinds{of: map[kindKey]kind{}, outcomes: map[string]*outcome{}} }

// begin forgets what was of another version: profiles that have changed since are not kept.
func (k *kinds) begin(v version) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.version != v {
		k.version = v
		clear(k.of)
		clear(k.outcomes)
	}
}

// number returns the kind of a pod. One whose vector is from its requests is a kind of its own.
func (k *kinds) number(n *newcomer) kind {
	if n.workload == nil {
		return 0
	}
	key := kindKey{n.workload, n.share, n.devices, n.promise, n.hold}
	k.mu.Lock()
	defer k.mu.Unlock()
	number, known := k.of[key]
	if !known {
		if len(k.of) == maxKinds {
			clear(k.of)
		}
		k.last++
		number = k.last
		k.of[key] = number
	}
	return number
}

// outcome returns what was kept under a key, nil for nothing.
func (k *kinds) outcome(key string) *outcome {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.outcomes[key]
}

// keep keeps an outcome.
func (k *kinds) keep(key string, o *outcome) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.outcomes) == maxOutcomes {
		clear(k.outcomes)
	}
	k.outcomes[key] = o
}

// key returns what an outcome of the node depends on, if the pods are all of kinds that others may be of, and the order in
// which it counts them: equal for nodes of one class and number of cores with pods of the same kinds. It is empty for a node
// that is not known to be like any other.
func (t *tenants) key(newcomer kind) (key string, order []int) {
	if newcomer == 0 || t.class.HasDevices() || slices.Contains(t.kinds, 0) {
		return "", nil
	}
	order = make([]int, len(t.kinds))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.kinds[a], t.kinds[b]) })
	buffer := make([]byte, 0, 4*len(order)+64)
	buffer = binary.AppendUvarint(buffer, uint64(newcomer))
	for _, j := range order {
		buffer = binary.AppendUvarint(buffer, uint64(t.kinds[j]))
	}
	buffer = append(buffer, 0) // no kind of a pod
	for _, c := range t.servers {
		buffer = binary.AppendUvarint(buffer, uint64(c))
	}
	return string(append(buffer, t.class.Class()...)), order
}

// in returns an outcome that counts pods in another order: the j-th pod is at[j] then, and a newcomer stays the last.
func (o *outcome) in(at []int) *outcome {
	if len(o.excesses) == 0 {
		return o
	}
	moved := *o
	moved.excesses = slices.Clone(o.excesses)
	move := func(j int) int {
		if j < 0 || j >= len(at) {
			return j
		}
		return at[j]
	}
	for i := range moved.excesses {
		e := &moved.excesses[i]
		e.Pod, e.Because = move(e.Pod), move(e.Because)
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
