package epochs

import "math"

// completions is a heap of nodes by the time of their next completion; of the
// nodes of one time the first comes first. It is a heap.Interface.
type completions struct {
	at    []float64 // per node
	order []int     // the heap, of nodes
	place []int     // of each node in the heap
}

func newCompletions(nodes int) *completions {
	c := &completions{at: make([]float64, nodes), order: make([]int, nodes), place: make([]int, nodes)}
	for i := range nodes {
		c.at[i], c.order[i], c.place[i] = math.Inf(1), i, i
	}
	return c
}

// next returns the node of the next completion, and its time; +Inf if there is none.
func (c *completions) next() (node int, at float64) { return c.order[0], c.at[c.order[0]] }

// Len, Less, Swap, Push and Pop are those of heap.Interface. Nodes are neither
// added nor removed.
func (c *completions) Len() int { return len(c.order) }

// Less reports whether a node's completion comes before another's.
func (c *completions) Less(i, j int) bool {
	a, b := c.order[i], c.order[j]
	return c.at[a] < c.at[b] || c.at[a] == c.at[b] && a < b
}

// Swap exchanges two nodes.
func (c *completions) Swap(i, j int) {
	c.order[i], c.order[j] = c.order[j], c.order[i]
	c.place[c.order[i]], c.place[c.order[j]] = i, j
}

// Push is never called.
func (*completions) Push(any) { panic("epochs: no node is added") }

// Pop is never called.
func (*completions) Pop() any { panic("epochs: no node is removed") }
