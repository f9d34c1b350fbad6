package linuxsched

import "math"

const never = math.MaxInt64

// clocks are times at which something happens, of a fixed number of slots: a binary heap in which each slot's time can be changed.
// Of slots with the same time the lowest comes first.
type clocks struct {
	times []int64
	heap  []int32 // slots
	place []int32 // of each slot in the heap
}

func newClocks(slots int) *clocks {
	c := &clocks{make([]int64, slots), make([]int32, slots), make([]int32, slots)}
	for i := range slots {
		c.times[i], c.heap[i], c.place[i] = never, int32(i), int32(i)
	}
	return c
}

// first returns the slot that is next, and its time.
func (c *clocks) first() (int, int64) {
	s := c.heap[0]
	return int(s), c.times[s]
}

func (c *clocks) set(slot int, at int64) {
	was := c.times[slot]
	c.times[slot] = at
	switch {
	case at < was:
		c.up(int(c.place[slot]))
	case at > was:
		c.down(int(c.place[slot]))
	}
}

func (c *clocks) less(a, b int32) bool {
	return c.times[a] < c.times[b] || c.times[a] == c.times[b] && a < b
}

func (c *clocks) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !c.less(c.heap[i], c.heap[parent]) {
			return
		}
		c.swap(i, parent)
		i = parent
	}
}

func (c *clocks) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(c.heap) {
			return
		}
		if right := child + 1; right < len(c.heap) && c.less(c.heap[right], c.heap[child]) {
			child = right
		}
		if !c.less(c.heap[child], c.heap[i]) {
			return
		}
		c.swap(i, child)
		i = child
	}
}

func (c *clocks) swap(i, j int) {
	h := c.heap
	h[i], h[j] = h[j], h[i]
	c.place[h[i]], c.place[h[j]] = int32(i), int32(j)
}
