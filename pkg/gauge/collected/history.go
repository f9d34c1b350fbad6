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
	// Keep is how much of the past is kept of a node, unless that takes more than its share of the memory.
	Keep = time.Hour
	// Forget is after which time a node is forgotten that was not heard of.
	Forget = 10 * time.Minute

	// fine is how much of the past is kept in the intervals of the gauges; older ones are merged into intervals of a minute.
	fine, coarse = 90 * time.Second, time.Minute
	// maxGap is the longest time between two intervals of a history, such as for which a gauge is replaced.
	maxGap = time.Minute
)

// History keeps the collected intervals. Its methods may be called at once, those that add intervals of a node one at a time.
type History struct {
	clock                  clock.PassiveClock
	maxBytes, maxNodeBytes int

	mutex sync.Mutex
	nodes map[string]*node
	work  workspace
	ended time.Time // the last round, zero before the first
	// refused are the gauges whose last answers were refused, by the last round.
	refused []usage.Refusal
}

// New returns a history that is empty.
func New(now clock.PassiveClock) *History {
	return &History{clock: now, maxBytes: MaxBytes, maxNodeBytes: MaxNodeBytes, nodes: map[string]*node{}}
}

// node holds the intervals of a node.
type node struct {
	until time.Time // by the clock of the history
	spans []span    // the oldest first
	// pods are those that some span has, by their numbers.
	pods []identity
	// identified is how many pods there have been, and added how many intervals.
	identified, added uint64
	size              int // in bytes, as accounted
}

// Add adds the observations of a node. Intervals that it has already are left out. After a gap the history of the node begins
// anew, so that it covers no unobserved time.
func (h *History) Add(o *collect.Observed) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	n := h.nodes[o.Node]
	if n == nil {
		n = &node{}
		h.nodes[o.Node] = n
	}
	first, start := n.fresh(o)
	if first == len(o.Intervals) {
		return
	}
	if start.Sub(n.until) > maxGap {
		n.spans = nil
	}
	if more := len(o.Intervals) - first; cap(n.spans)-len(n.spans) < more {
		n.spans = append(make([]span, 0, len(n.spans)+more), n.spans...) // of no more than it takes
	}
	work := h.work.of(n)
	for i := first; i < len(o.Intervals); i++ {
		n.spans = append(n.spans, n.newSpan(&o.Intervals[i], work))
	}
	n.until = o.Ended
	n.merge(work)
	n.trim(h.maxNodeBytes)
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

// merge merges the older spans, for which a gauge's intervals are not kept, into intervals of a minute at most.
func (n *node) merge(work *workspace) {
	merged := n.spans[:0]
	later := 0.0 // seconds after the span
	for i := range n.spans {
		later += n.spans[i].seconds
	}
	for i := range n.spans {
		s := &n.spans[i]
		later -= s.seconds
		if later >= fine.Seconds() {
			s.disks = nil
		}
		last := len(merged) - 1
		if last >= 0 && later >= fine.Seconds() && merged[last].seconds+s.seconds <= coarse.Seconds() && merged[last].add(s, work) {
			continue
		}
		merged = append(merged, *s)
	}
	clear(n.spans[len(merged):])
	n.spans = merged
}

// trim keeps the latest spans that take at most the given number of bytes, at least one span, and no more than the time that is
// kept.
func (n *node) trim(limit int) {
	n.forget()
	sizes := n.sizes()
	first, total := len(n.spans), 0.0
	n.size = nodeBytes
	for first > 0 && total < Keep.Seconds() && (first == len(n.spans) || n.size+sizes[first-1] <= limit) {
		first--
		n.size += sizes[first]
		total += n.spans[first].seconds
	}
	if n.spans = slices.Delete(n.spans, 0, first); cap(n.spans)-len(n.spans) > spareSpans {
		n.spans = append(make([]span, 0, len(n.spans)), n.spans...)
	}
	n.forget()
}

// forget forgets the pods that no span has.
func (n *node) forget() {
	n.pods = slices.DeleteFunc(n.pods, func(pod identity) bool { return pod.last < n.spans[0].first })
	if cap(n.pods)-len(n.pods) > sparePods+len(n.pods)/4 {
		n.pods = append(make([]identity, 0, len(n.pods)), n.pods...)
	}
}

// EndRound records the end of a round of asking all gauges, and the gauges that it refused. It forgets nodes without recent
// reports, and drops the oldest spans of the nodes that take the most memory: those that take less than their part of the memory
// lose nothing.
func (h *History) EndRound(refused []usage.Refusal) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.ended, h.refused = h.clock.Now(), refused
	maps.DeleteFunc(h.nodes, func(_ string, n *node) bool { return h.ended.Sub(n.until) > Forget })
	share := h.share()
	for _, n := range h.nodes {
		if n.size > share {
			n.trim(share)
		}
	}
}

// Age returns how long ago the last round ended, and whether there was one.
func (h *History) Age() (time.Duration, bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.clock.Since(h.ended), !h.ended.IsZero()
}

// Nodes returns the names of the nodes with intervals, in order.
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
