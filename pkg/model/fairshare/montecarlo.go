package fairshare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// confidence is the quantile of the normal distribution for two-sided 95 %.
const confidence = 1.959963984540054

// batch is how many orders are drawn between two looks at the confidence
// intervals: enough for them to make sense.
const batch = 1000

// shuffler draws orders of siblings.
type shuffler struct {
	tree   *Tree
	random *rand.Rand
}

func newShuffler(t *Tree, seed uint64) *shuffler {
	return &shuffler{t, rand.New(rand.NewPCG(seed, 0))}
}

// shuffle puts siblings in a random order, each place drawn by shares from those that
// are left: the algorithm in the appendix of the paper, O(n²).
func (s *shuffler) shuffle(order []int) {
	sum := 0.0
	for _, k := range order {
		sum += s.tree.nodes[k].Share
	}
	for at := range order {
		x, top, chosen := s.random.Float64()*sum, 0.0, len(order)-1
		for i := at; i < len(order); i++ {
			if top += s.tree.nodes[order[i]].Share; x < top {
				chosen = i
				break
			}
		}
		order[at], order[chosen] = order[chosen], order[at]
		sum = 0 // added up anew: subtraction would leave nothing of small shares
		for _, k := range order[at+1:] {
			sum += s.tree.nodes[k].Share
		}
	}
}

// sampler accumulates outcomes and their spread (Welford's method).
type sampler struct {
	sums    *sums
	squares []float64 // Σ (factor − mean)²
	counts  []int
}

func newSampler(n int) *sampler {
	return &sampler{sums: newSums(n), squares: make([]float64, n), counts: make([]int, n)}
}

func (s *sampler) add(leaf *node, factor, stretch float64) {
	w := leaf.leaf
	s.counts[w]++
	n := float64(s.counts[w])
	off := factor - s.sums.factors[w]
	s.sums.factors[w] += off / n
	s.squares[w] += off * (factor - s.sums.factors[w])
	s.sums.stretches[w] += (stretch - s.sums.stretches[w]) / n
}

// widest fills in the half widths of the confidence intervals of some workloads, and
// returns the largest relative to its mean.
func (s *sampler) widest(workloads []int) float64 {
	widest := 0.0
	for _, w := range workloads {
		n := float64(s.counts[w])
		s.sums.errors[w] = confidence * math.Sqrt(s.squares[w]/(n-1)/n)
		widest = max(widest, s.sums.errors[w]/s.sums.factors[w])
	}
	return widest
}

// sample calls draw until there are enough samples for some workloads.
func (s *sampler) sample(ctx context.Context, o Options, workloads []int, draw func()) error {
	for drawn := 0; ; {
		for range min(batch, o.Samples-drawn) {
			if err := ctx.Err(); err != nil {
				return err
			}
			draw()
			drawn++
			s.sums.evaluations++
		}
		widest := s.widest(workloads)
		if o.RelativeError > 0 && widest <= o.RelativeError {
			return nil
		}
		if drawn < o.Samples {
			continue
		}
		if o.RelativeError > 0 {
			return fmt.Errorf("%s: %w: after %d samples the relative error is %.2g, not %g", o.Method, ErrNotReached, drawn, widest, o.RelativeError)
		}
		return nil
	}
}

// monteCarlo draws orders of the whole tree.
func monteCarlo(ctx context.Context, m *model, o Options) (*sums, error) {
	t, s := m.tree, newSampler(m.tree.Len())
	shuffler := newShuffler(t, o.Seed)
	orders := t.copyChildren()
	leaves := make([]int, 0, t.Len())
	var flatten func(i int)
	flatten = func(i int) {
		if t.nodes[i].leaf >= 0 {
			leaves = append(leaves, i)
			return
		}
		shuffler.shuffle(orders[i])
		for _, k := range orders[i] {
			flatten(k)
		}
	}
	all := make([]int, t.Len())
	for w := range all {
		all[w] = w
	}
	err := s.sample(ctx, o, all, func() {
		leaves = leaves[:0]
		flatten(0)
		m.inOrder(leaves, m.slack, 0, s.add)
	})
	if err != nil {
		return nil, err
	}
	return s.sums, nil
}

// ahmc draws, for each group with workloads, orders of its members and of those of the
// groups around it: the rest is aggregated.
func ahmc(ctx context.Context, m *model, o Options) (*sums, error) {
	t, s := m.tree, newSampler(m.tree.Len())
	shuffler := newShuffler(t, o.Seed)
	orders := t.copyChildren()
	for group := range t.nodes {
		if t.nodes[group].leaf >= 0 || !t.hasWorkload(group) {
			continue
		}
		var members []int
		for _, k := range t.nodes[group].children {
			if t.nodes[k].leaf >= 0 {
				members = append(members, t.nodes[k].leaf)
			}
		}
		path := t.pathTo(group)
		err := s.sample(ctx, o, members, func() {
			free, ahead := m.slack, 0.0
			for level, at := range path {
				shuffler.shuffle(orders[at])
				if level+1 < len(path) {
					free, ahead = m.around(orders[at], path[level+1], free, ahead)
				}
			}
			m.inOrder(orders[group], free, ahead, s.add)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.nodes[group].path, err)
		}
	}
	return s.sums, nil
}

// copyChildren returns the members of all groups, to be shuffled.
func (t *Tree) copyChildren() [][]int {
	children := make([][]int, len(t.nodes))
	for i := range t.nodes {
		children[i] = append([]int(nil), t.nodes[i].children...)
	}
	return children
}
