package collected

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// Keep is how much of the past is kept of a node, unless there are too many pods.
	Keep = time.Hour
	// MaxBytes is how long all rows together may be that are kept, of all nodes. That of a busy pod in an interval takes up to 28 bytes:
	// there is room for an hour of 30,000 such pods, and for seven minutes of 150,000, at an interval in ten seconds.
	MaxBytes = 64 << 20
	// Forget is after which time a node is forgotten that was not heard of.
	Forget = 10 * time.Minute

	// fine is how much of the past is kept in the intervals of the gauges; older ones are merged into intervals of a minute.
	fine, coarse = 90 * time.Second, time.Minute
	// maxGap is the longest time between two intervals of a history, such as for which a gauge is replaced.
	maxGap = time.Minute
)

// History keeps what was collected. Its methods may be called at once, those that add intervals of a node one at a time.
type History struct {
	clock    clock.PassiveClock
	maxBytes int

	mutex sync.Mutex
	nodes map[string]*node
	ended time.Time // the last round, zero before the first
}

// New returns a history that is empty.
func New(now clock.PassiveClock) *History {
	return &History{clock: now, maxBytes: MaxBytes, nodes: map[string]*node{}}
}

// node is what is kept of a node.
type node struct {
	until time.Time // by the clock of the history
	spans []span    // the oldest first
	// pods are by their UIDs; numbers is how many there have been, and last how many the last interval had.
	pods    map[string]*identity
	numbers uint64
	last    int
}

// Add adds what was observed of a node. Intervals that are there already are left out. After a gap the history of the node begins
// anew, so that nothing is said of the time between.
func (h *History) Add(o *collect.Observed) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	n := h.nodes[o.Node]
	if n == nil {
		n = &node{pods: map[string]*identity{}}
		h.nodes[o.Node] = n
	}
	first, start := n.fresh(o)
	if first == len(o.Intervals) {
		return
	}
	if start.Sub(n.until) > maxGap {
		n.spans = nil
	}
	for i := first; i < len(o.Intervals); i++ {
		n.spans = append(n.spans, n.newSpan(&o.Intervals[i]))
	}
	n.until, n.last = o.Ended, len(o.Intervals[len(o.Intervals)-1].Pods)
	n.merge()
	n.trim(len(n.spans))
}

// fresh returns the index of the first interval whose middle is not part of the history yet, and when it started.
func (n *node) fresh(o *collect.Observed) (int, time.Time) {
	start := o.Ended
	for i, v := range slices.Backward(o.Intervals) {
		length := seconds(v.Seconds)
		if !start.Add(-length / 2).After(n.until) {
			return i + 1, start
		}
		start = start.Add(-length)
	}
	return 0, start
}

// merge merges what is older than a gauge's intervals are kept for into intervals of a minute at most.
func (n *node) merge() {
	merged := n.spans[:0:0]
	later := 0.0 // seconds after the span
	for i := range n.spans {
		later += n.spans[i].seconds
	}
	for i := range n.spans {
		s := &n.spans[i]
		later -= s.seconds
		last := len(merged) - 1
		if last >= 0 && later >= fine.Seconds() && merged[last].seconds+s.seconds <= coarse.Seconds() {
			merged[last].add(s)
			continue
		}
		merged = append(merged, *s)
	}
	n.spans = merged
}

// trim keeps at most some number of spans, the latest, and of no more than the time that is kept. It forgets the pods that none of
// these has when they may be many.
func (n *node) trim(depth int) {
	first, total := len(n.spans), 0.0
	for first > 0 && len(n.spans)-first < depth && total < Keep.Seconds() {
		first--
		total += n.spans[first].seconds
	}
	n.spans = slices.Clone(n.spans[first:])
	if len(n.pods) <= 2*n.last {
		return
	}
	there := make(map[uint64]bool, len(n.pods))
	for i := range n.spans {
		for _, r := range unpack(n.spans[i].packed) {
			there[r.pod] = true
		}
	}
	maps.DeleteFunc(n.pods, func(_ string, pod *identity) bool { return !there[pod.number] })
}

// EndRound takes note of the end of a round of asking all gauges. It forgets nodes that were not heard of, and what is too much.
func (h *History) EndRound() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.ended = h.clock.Now()
	maps.DeleteFunc(h.nodes, func(_ string, n *node) bool { return h.ended.Sub(n.until) > Forget })
	depth := h.depth()
	for _, n := range h.nodes {
		if len(n.spans) > depth {
			n.trim(depth)
		}
	}
}

// depth returns how many spans of each node there is room for, at least 1.
func (h *History) depth() int {
	var sizes []int // of all nodes together, by how many spans come after
	for _, n := range h.nodes {
		for i := range n.spans {
			if after := len(n.spans) - 1 - i; after >= len(sizes) {
				sizes = append(sizes, make([]int, after+1-len(sizes))...)
			}
			sizes[len(n.spans)-1-i] += len(n.spans[i].packed)
		}
	}
	total := 0
	for i := range sizes {
		if total += sizes[i]; total > h.maxBytes {
			return max(1, i)
		}
	}
	return max(1, len(sizes))
}

// Age returns how long ago the last round ended, and whether there was one.
func (h *History) Age() (time.Duration, bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.clock.Since(h.ended), !h.ended.IsZero()
}

// Nodes returns the names of the nodes of which there is something, in order.
func (h *History) Nodes() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Sorted(maps.Keys(h.nodes))
}

// Report returns the last intervals of a node, and whether there are any.
func (h *History) Report(name string, last int) (usage.Report, bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	n := h.nodes[name]
	if n == nil || len(n.spans) == 0 || last < 1 {
		return usage.Report{}, false
	}
	spans := n.spans[max(0, len(n.spans)-last):]
	return usage.Report{AgeSeconds: max(0, h.clock.Since(n.until).Seconds()), Intervals: n.intervals(name, spans)}, true
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
