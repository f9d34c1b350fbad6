package fairshare

import (
	"context"
	"fmt"
	"math"
)

// race integrates: over x for 1/(1 − ρ), and for each group over the time t at which a
// member's clock rings. The steps of both grids are halved until neither matters.
func race(ctx context.Context, m *model, o Options) (*sums, error) {
	r, err := newRacing(m, o.Tolerance)
	if err != nil {
		return nil, err
	}
	r.limit = o.MaxEvaluations
	const rounds = 12
	off := 0.0
	for range rounds {
		if err := r.integrate(ctx); err != nil {
			return nil, err
		}
		offX, offT := r.errors()
		if off = max(offX+offT, told*o.Tolerance); off <= o.Tolerance {
			return r.finish(off), nil
		}
		if offX > o.Tolerance/2 {
			r.stepX /= 2
		}
		if offT > o.Tolerance/2 {
			r.stepT /= 2
		}
	}
	return nil, fmt.Errorf("%s: %w: the relative error is %.2g, not %g", Race, ErrNotReached, off, o.Tolerance)
}

// What a step leaves out and what twice the step does are waves whose phases depend on where the nodes are: where the second crosses
// zero, errors tells next to nothing of the first. So the first steps are those for a tolerance hidden times smaller than the one that is
// asked for, and the error is told to be at least the part told of that one.
const hidden, told = 100, 0.5

// spare is the part of the tolerance that an integral may lose at each of its ends.
const spare = 1e-3

// racing is an integral on grids of some steps. It takes the processors together for
// one: utilizations are relative to all of them.
type racing struct {
	m            *model
	tolerance    float64
	stepX, stepT float64
	beyond       *harmonics // what several processors differ in from one; nil is nothing

	x           *grid
	evaluations int
	limit       int // of evaluations, 0 for none
	// Of each workload, from all nodes, and from every other one of x and of t.
	fine, halfX, halfT []integrals
}

// integrals are those of one workload; see result.
type integrals struct {
	pair    float64 // E[1 / ((1 − σ)(1 − σ − u))]
	stretch float64 // E[1 / (1 − σ)]
	ahead   float64 // E[α / ((1 − σ)(1 − σ − u))], α the residual work ahead; if it is not in proportion to σ
	beyond  float64 // what several processors add
}

func newRacing(m *model, tolerance float64) (*racing, error) {
	// With an integrand that is analytic in a strip of half width d around the real
	// axis the error of a step h is of the order of exp(−2πd/h), and d is about 1. The
	// result of 2h has to be good enough for errors to tell that of h.
	step := math.Pi * extrapolation / math.Log(hidden/tolerance)
	r := &racing{m: m, tolerance: tolerance, stepX: step, stepT: step}
	if m.queue != nil {
		var err error
		if r.beyond, err = newHarmonics(m.queue, m.tree.Utilization(), tolerance); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// integrate computes the integrals on new grids.
func (r *racing) integrate(ctx context.Context) error {
	t, slack := r.m.tree, r.m.slack/r.m.capacity
	n := t.Len()
	r.fine, r.halfX, r.halfT = make([]integrals, n), make([]integrals, n), make([]integrals, n)
	// The integrands of x start as 1 at most and end as exp(−slack·x), which adds up to
	// at most 1/slack²; what is looked for is at least 1.
	last := (-math.Log(spare*r.tolerance) - 2*math.Log(slack)) / slack
	r.x = newGrid(spare*r.tolerance, last, r.stepX)

	ways := make([]*way, len(t.nodes)) // of the groups still to do
	ways[0] = newWay(len(r.x.points), r.beyond)
	for i := range t.nodes {
		if t.nodes[i].leaf >= 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.group(ctx, i, ways); err != nil {
			return err
		}
		ways[i] = nil
	}
	return nil
}

// way is the product of the integrals over t of the groups around the members of one,
// per node of x, from all nodes of t and from every other one.
type way struct {
	fine, half []float64
	// The same, for the residual work ahead: derivatives of the products by a weight
	// of the residual work ahead. Nil if all are ahead in proportion to utilization.
	fineAhead, halfAhead []float64
	// The same, per harmonic.
	fineTurn, halfTurn []complex128
}

func newWay(nodes int, beyond *harmonics) *way {
	w := &way{fine: make([]float64, nodes), half: make([]float64, nodes), fineAhead: make([]float64, nodes), halfAhead: make([]float64, nodes)}
	for j := range nodes {
		w.fine[j], w.half[j] = 1, 1
	}
	if beyond != nil {
		w.fineTurn, w.halfTurn = make([]complex128, len(beyond.turns)), make([]complex128, len(beyond.turns))
		for j := range beyond.turns {
			w.fineTurn[j], w.halfTurn[j] = 1, 1
		}
	}
	return w
}

// group adds the integrals of the workloads in a group, and finds the ways of the
// groups in it.
func (r *racing) group(ctx context.Context, group int, ways []*way) error {
	t, around := r.m.tree, ways[group]
	c := newContest(t, group, r.stepT, r.tolerance)
	inner := make([]*way, len(c.members))
	for i, k := range c.members {
		if t.nodes[k].leaf < 0 {
			inner[i] = newWay(len(r.x.points), r.beyond)
			ways[k] = inner[i]
		}
	}
	if err := r.spend(c); err != nil {
		return err
	}
	behind := make([]float64, len(c.members))
	for j, x := range r.x.points {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, k := range c.members {
			behind[i] = math.Exp(-t.nodes[k].load / r.m.capacity * x)
		}
		if r.m.equal {
			c.multiply(behind)
		} else {
			c.multiplyAhead(behind)
		}
		for i, k := range c.members {
			fine, half := around.fine[j]*c.fine[i], around.half[j]*c.half[i]
			fineAhead := around.fineAhead[j]*c.fine[i] + around.fine[j]*c.fineAhead[i]
			halfAhead := around.halfAhead[j]*c.half[i] + around.half[j]*c.halfAhead[i]
			if inner[i] != nil {
				inner[i].fine[j], inner[i].half[j] = fine, half
				inner[i].fineAhead[j], inner[i].halfAhead[j] = fineAhead, halfAhead
				continue
			}
			leaf := &t.nodes[k]
			p := r.integralsAt(j, leaf)
			r.fine[leaf.leaf].add(p, 1, fine, fineAhead)
			r.halfT[leaf.leaf].add(p, 1, half, halfAhead)
			if j%2 == 0 {
				r.halfX[leaf.leaf].add(p, 2, fine, fineAhead)
			}
		}
	}
	if r.beyond != nil {
		r.turn(c, around, inner)
	}
	return nil
}

// spend counts the evaluations that a group takes, and refuses those beyond the limit
// before they are made.
func (r *racing) spend(c *contest) error {
	nodes := len(r.x.points)
	if r.beyond != nil {
		nodes += len(r.beyond.turns)
	}
	r.evaluations += nodes * len(c.grid.points) * len(c.members)
	if r.limit > 0 && r.evaluations > r.limit {
		return fmt.Errorf("%s: %w: more than %d evaluations", Race, ErrTooCostly, r.limit)
	}
	return nil
}

// integralsAt returns the weights of node j of x for the integrals of a workload.
func (r *racing) integralsAt(j int, leaf *node) integrals {
	x, u := r.x.points[j], leaf.load/r.m.capacity
	decay := r.x.weights[j] * math.Exp(-r.m.slack/r.m.capacity*x)
	own := x // (1 − e^−ux)/u
	if u*x > unit {
		own = -math.Expm1(-u*x) / u
	}
	return integrals{pair: decay * own, stretch: decay * math.Exp(-u*x)}
}

func (s *integrals) add(p integrals, times, product, ahead float64) {
	s.pair += times * p.pair * product
	s.stretch += times * p.stretch * product
	s.ahead += times * p.pair * ahead
}

// factor returns the response time relative to the service time, from integrals, and
// the stretch.
func (r *racing) factor(w int, s integrals) (factor, stretch float64) {
	leaf := r.m.tree.leafAt(w)
	switch {
	case r.m.queue != nil:
		return s.pair/r.m.capacity + s.beyond, 0
	case r.m.equal:
		// α + a = ratio·(σ + u), and (σ + u)/((1 − σ)(1 − σ − u)) is pair − stretch.
		ratio := r.m.ratio / leaf.service
		return ratio*s.pair + (1-ratio)*s.stretch, s.stretch
	default:
		return s.stretch + (s.ahead+leaf.residual*s.pair)/leaf.service, s.stretch
	}
}

// extrapolation is the power of the difference between the results of steps h and 2h
// that stands for the error of h. In theory that is the square of the error of 2h.
const extrapolation = 1.5

// errors returns the largest relative errors of the factors that are due to the steps.
func (r *racing) errors() (offX, offT float64) {
	for w := range r.fine {
		fine, _ := r.factor(w, r.fine[w])
		halfX, _ := r.factor(w, r.halfX[w])
		halfT, _ := r.factor(w, r.halfT[w])
		offX = max(offX, math.Abs(fine-halfX)/fine)
		offT = max(offT, math.Abs(fine-halfT)/fine)
	}
	return math.Pow(offX, extrapolation), math.Pow(offT, extrapolation)
}

// finish returns the sums, given the relative error that is due to the steps.
func (r *racing) finish(off float64) *sums {
	s := newSums(len(r.fine))
	s.evaluations = r.evaluations
	t, deepest := r.m.tree, 0
	for _, i := range t.leaves {
		deepest = max(deepest, t.nodes[i].depth)
	}
	off += 2 * spare * r.tolerance * float64(1+deepest)
	off += unit * (float64(t.Len()) + 20 + 4*r.m.capacity/r.m.slack)
	for w := range r.fine {
		s.factors[w], s.stretches[w] = r.factor(w, r.fine[w])
		s.errors[w] = s.factors[w] * off
		if r.beyond != nil {
			s.errors[w] += r.beyond.misfit
		}
	}
	return s
}
