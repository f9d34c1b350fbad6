package gps

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// chain is the Markov chain of the tokens' places: times at places are exponentially distributed. A state holds for each leaf a
// composition, the number of its tokens at each of its places.
type chain struct {
	tree      *tree
	servers   []int
	elsewhere elsewhere // what idle places stand for, nil if for idle time
	leaves    []walker
	states    int

	probability []float64
	out         []float64
	rates       []float64 // [state][leaf][place], of all tokens there together
	width       int       // places of all leaves
}

// elsewhere is all but the processor, as one place.
type elsewhere interface {
	// pass returns the rate at which the tokens of a leaf pass it together, in own times per time, given the number of tokens of
	// each leaf there.
	pass(leaf int, there []int) float64
}

// walker is a leaf with its itinerary and the compositions of its tokens.
type walker struct {
	itinerary
	tokens       int
	compositions [][]int
	moves        [][]move // of each composition, those by which it is entered
	stride       int      // of the composition in the number of the state
	offset       int      // of the first place in rates
}

// move is how a composition is entered: from another one, when a token leaves a place.
type move struct {
	from, place int
	probability float64
}

func newChain(t *tree, servers []int, elsewhere elsewhere, itineraries []itinerary, limit int) (*chain, error) {
	c := &chain{tree: t, servers: servers, elsewhere: elsewhere, states: 1}
	for l, it := range itineraries {
		w := walker{itinerary: it, tokens: t.leaves[l].tokens, stride: c.states, offset: c.width}
		if count := compositionCount(w.tokens, len(it.places)); count > limit/c.states {
			return nil, fmt.Errorf("more than %d states: %w", limit, ErrTooLarge)
		}
		w.compose()
		c.states *= len(w.compositions)
		c.width += len(it.places)
		c.leaves = append(c.leaves, w)
	}
	c.setRates()
	c.probability = make([]float64, c.states)
	for s := range c.probability {
		c.probability[s] = 1 / float64(c.states)
	}
	return c, nil
}

// compositionCount returns C(tokens + places − 1, places − 1), or a large number.
func compositionCount(tokens, places int) int {
	count := 1
	for i := 1; i < places; i++ {
		if count > math.MaxInt32 {
			return count
		}
		count = count * (tokens + i) / i
	}
	return count
}

// compose lists the compositions, and the moves between them.
func (w *walker) compose() {
	places := len(w.places)
	index := map[string]int{}
	key := func(counts []int) string { return fmt.Sprint(counts) }
	counts := make([]int, places)
	var list func(at, left int)
	list = func(at, left int) {
		if at == places-1 {
			counts[at] = left
			index[key(counts)] = len(w.compositions)
			w.compositions = append(w.compositions, append([]int(nil), counts...))
			return
		}
		for n := 0; n <= left; n++ {
			counts[at] = n
			list(at+1, left-n)
		}
	}
	list(0, w.tokens)
	w.moves = make([][]move, len(w.compositions))
	for c, counts := range w.compositions {
		for b := range places {
			if counts[b] == 0 {
				continue
			}
			for a := range places {
				if a == b || w.next[a][b] == 0 {
					continue
				}
				before := append([]int(nil), counts...)
				before[a]++
				before[b]--
				w.moves[c] = append(w.moves[c], move{index[key(before)], a, w.next[a][b]})
			}
		}
	}
}

// composition returns how many tokens of a leaf are at each of its places in a state.
func (w *walker) composition(state int) []int {
	return w.compositions[state/w.stride%len(w.compositions)]
}

// setRates computes the rate at which tokens leave each place in each state. A token that
// goes on to the place where it is does not leave.
func (c *chain) setRates() {
	c.rates = make([]float64, c.states*c.width)
	c.out = make([]float64, c.states)
	c.eachState(func(s int, _ []int, speeds []float64) {
		for l := range c.leaves {
			w := &c.leaves[l]
			for a, p := range w.places {
				rate := speeds[w.offset+a] / p.duration
				c.rates[s*c.width+w.offset+a] = rate
				c.out[s] += rate * (1 - w.next[a][a])
			}
		}
	})
}

// eachState calls visit with each state, how many tokens of each leaf are at idle places in it, and how fast those of each
// leaf at each of its places progress together, in own times per time.
func (c *chain) eachState(visit func(state int, away []int, speeds []float64)) {
	present, away := make([]int, len(c.leaves)), make([]int, len(c.leaves))
	cores := make([]float64, len(c.leaves))
	at := make([]int, len(c.servers))
	speeds := make([]float64, c.width)
	for s := range c.states {
		clear(at)
		for l := range c.leaves {
			present[l], away[l] = 0, 0
			for a, n := range c.leaves[l].composition(s) {
				switch station := c.leaves[l].places[a].station; station {
				case idlePlace:
					away[l] = n
				case 0:
					present[l] = n
				default:
					at[station] += n
				}
			}
		}
		c.tree.fill(present, cores)
		for l := range c.leaves {
			w := &c.leaves[l]
			for a, n := range w.composition(s) {
				speed := float64(n)
				switch station := w.places[a].station; {
				case station == 0:
					speed = cores[l]
				case station == idlePlace && c.elsewhere != nil:
					speed = c.elsewhere.pass(l, away)
				case station > 0 && at[station] > c.servers[station]:
					speed *= float64(c.servers[station]) / float64(at[station])
				}
				speeds[w.offset+a] = speed
			}
		}
		visit(s, away, speeds)
	}
}

const (
	// settled is by how much probabilities may still change in a sweep, together, in an exact solution, and
	// nearlySettled in one that is part of an approximation. Roundings may be larger where some leaves are many
	// thousand times faster than others: after all sweeps almostSettled is enough.
	settled       = 1e-10
	nearlySettled = 1e-7
	almostSettled = 1e-6
)

// maxSweeps bounds the sweeps over a chain.
const maxSweeps = 20000

// solve finds the stationary distribution by Gauss–Seidel sweeps, to and fro.
func (c *chain) solve(tolerance float64) error {
	if c.states == 1 {
		return nil
	}
	last := 1.0
	for sweep := range maxSweeps {
		change := 0.0
		for l := range c.leaves {
			n := len(c.leaves[l].compositions)
			if n > 1 && n <= maxAggregate && (sweep < aggregations || sweep%aggregations == 0) {
				c.aggregate(&c.leaves[l])
			}
		}
		for k := range c.states {
			s := k
			if sweep%2 == 1 {
				s = c.states - 1 - k
			}
			p := c.inflow(s) / c.out[s]
			change += math.Abs(p - c.probability[s])
			c.probability[s] = p
		}
		c.normalize()
		last = change
		if change < tolerance {
			return nil
		}
	}
	if last < almostSettled {
		return nil
	}
	return fmt.Errorf("chain: %w after %d sweeps", ErrUnsettled, maxSweeps)
}

func (c *chain) normalize() {
	total := 0.0
	for _, p := range c.probability {
		total += p
	}
	for s := range c.probability {
		c.probability[s] /= total
	}
}

// aggregate sets the distribution of a leaf's compositions to the one that holds if the other leaves keep their conditional
// distributions beside each. Sweeps alone hardly move a leaf that is much slower than others (Takahashi's aggregation and
// disaggregation).
func (c *chain) aggregate(w *walker) {
	n := len(w.compositions)
	before, flow := make([]float64, n), make([]float64, n*n)
	for s, p := range c.probability {
		own := s / w.stride % n
		before[own] += p
		for _, m := range w.moves[own] {
			from := s + (m.from-own)*w.stride
			v := c.probability[from] * c.rates[from*c.width+w.offset+m.place] * m.probability
			flow[m.from*n+own] += v
		}
	}
	for i := range n {
		if before[i] == 0 {
			return
		}
		for k := range n {
			flow[i*n+k] /= before[i]
		}
	}
	after := stationary(flow, n)
	for s := range c.probability {
		own := s / w.stride % n
		c.probability[s] *= after[own] / before[own]
	}
}

// stationary returns the stationary distribution of a chain of n states with these rates, from row to column, by the elimination of
// Grassmann, Taksar and Heyman (Operations Research 33, 1985), which subtracts nothing. States of next to no probability have none.
func stationary(rates []float64, n int) []float64 {
	for k := n - 1; k > 0; k-- {
		last := rates[k*n : k*n+k]
		out := 0.0
		for _, rate := range last {
			out += rate
		}
		for i := range k {
			row := rates[i*n : i*n+k+1]
			if row[k] == 0 {
				continue
			}
			row[k] /= out
			for j, rate := range last {
				if i != j {
					row[j] += row[k] * rate
				}
			}
		}
	}
	p := make([]float64, n)
	p[0] = 1
	for k := 1; k < n; k++ {
		for i := range k {
			p[k] += p[i] * rates[i*n+k]
		}
		if p[k] > 1 { // it is the likeliest so far
			floats.Scale(1/p[k], p[:k+1])
		}
	}
	floats.Scale(1/floats.Sum(p), p)
	return p
}

// eliminate finds the stationary distribution without iterating, however unlike the rates are. It takes O(n³) time for n states.
func (c *chain) eliminate() {
	rates := make([]float64, c.states*c.states)
	for s := range c.states {
		for l := range c.leaves {
			w := &c.leaves[l]
			own := s / w.stride % len(w.compositions)
			for _, m := range w.moves[own] {
				from := s + (m.from-own)*w.stride
				rates[from*c.states+s] += c.rates[from*c.width+w.offset+m.place] * m.probability
			}
		}
	}
	c.probability = stationary(rates, c.states)
}

// aggregations is the number of first sweeps with an aggregation of leaves, and the period of aggregations after that.
const aggregations = 100

// maxAggregate is up to how many compositions the distribution of a leaf is solved for by itself.
const maxAggregate = 40

func (c *chain) inflow(s int) float64 {
	total := 0.0
	for l := range c.leaves {
		w := &c.leaves[l]
		own := s / w.stride % len(w.compositions)
		for _, m := range w.moves[own] {
			from := s + (m.from-own)*w.stride
			total += c.probability[from] * c.rates[from*c.width+w.offset+m.place] * m.probability
		}
	}
	return total
}

// stretches returns, for each leaf and place of its itinerary, the ratio of the time there to that without any slowdown of the
// tokens.
func (c *chain) stretches() [][]float64 {
	progress, present := make([]float64, c.width), make([]float64, c.width)
	c.eachState(func(s int, _ []int, speeds []float64) {
		for l := range c.leaves {
			w := &c.leaves[l]
			for a, n := range w.composition(s) {
				progress[w.offset+a] += c.probability[s] * speeds[w.offset+a]
				present[w.offset+a] += c.probability[s] * float64(n)
			}
		}
	})
	all := make([][]float64, len(c.leaves))
	for l := range c.leaves {
		w := &c.leaves[l]
		all[l] = make([]float64, len(w.places))
		for a := range w.places {
			all[l][a] = 1
			if progress[w.offset+a] > 0 {
				all[l][a] = max(1, present[w.offset+a]/progress[w.offset+a])
			}
		}
	}
	return all
}

// returns holds, for each leaf and number of tokens that are away, how often one of the leaf's is back there.
func (c *chain) returns() [][]float64 {
	threads := 0
	for l := range c.leaves {
		threads += c.leaves[l].tokens
	}
	all := make([][]float64, len(c.leaves))
	for l := range all {
		all[l] = make([]float64, threads+1)
	}
	c.eachState(func(s int, there []int, speeds []float64) {
		away := total(there)
		for l := range c.leaves {
			w := &c.leaves[l]
			for a, p := range w.places {
				if p.station == idlePlace {
					all[l][away] += c.probability[s] * speeds[w.offset+a]
				}
			}
		}
	})
	return all
}
