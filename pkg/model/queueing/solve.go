package queueing

import (
	"errors"
	"fmt"
	"math"
)

// Solver is a rung of the ladder: how the waits are computed.
type Solver int

const (
	// Auto is Exact where that takes at most [Options.ExactSteps], else Linearizer. If that does
	// not settle, or is too large, it is Schweitzer, and if that does not settle, FirstOrder: Auto
	// always has an answer, and [Solution.Solver] names the solver.
	Auto Solver = iota
	// FirstOrder takes every job to be where it would be if it were alone, and
	// then applies the bounds. Exact for two jobs and one server per station.
	FirstOrder
	// Schweitzer takes the others to be where they are on average, this job
	// present. Dilations are off by 1 to 4 % on average, by 45 % at worst.
	Schweitzer
	// Linearizer corrects Schweitzer by the effect of taking a job away. Off by 0.14 % on average
	// and 2.5 % at worst, with one server and with many: see TestErrorsByJobsAndServers.
	Linearizer
	// Exact is the product-form solution.
	Exact
)

// String returns the solver's name.
func (s Solver) String() string {
	switch s {
	case Auto:
		return "auto"
	case FirstOrder:
		return "first order"
	case Schweitzer:
		return "Schweitzer"
	case Linearizer:
		return "Linearizer"
	case Exact:
		return "exact"
	default:
		return fmt.Sprintf("Solver(%d)", int(s))
	}
}

// Defaults of [Options].
const (
	// DefaultTolerance leaves dilations within about as much, relatively, of
	// where they would settle: far below the error of every approximation.
	DefaultTolerance = 1e-5
	// DefaultIterations is far above the iterations of any network: a few, rarely dozens.
	DefaultIterations = 200
	// DefaultExactSteps is worth up to three milliseconds: 100 different jobs at
	// two stations where one may have to wait, 30 at three, ten at eight.
	DefaultExactSteps = 1 << 20
)

// MaxLinearizerCells is the largest number of classes · classes · stations that
// [Linearizer] takes. It is the largest number of values that it stores.
const MaxLinearizerCells = 1 << 25

// Options say how to solve a network. The zero value is a sound choice.
type Options struct {
	// Solver is the rung to use. Zero is Auto.
	Solver Solver
	// Tolerance ends the iteration of Schweitzer and Linearizer: when by one more
	// over the whole network no job's probability of being at a station changes
	// by more, and no dilation by a larger fraction. Zero means
	// [DefaultTolerance].
	Tolerance float64
	// Iterations is how many iterations Schweitzer and Linearizer may take, each.
	// Zero means [DefaultIterations].
	Iterations int
	// ExactSteps is how many elementary steps, a nanosecond or three each, Auto
	// spends on an exact solution, at most [MaxExactSteps]. Zero means
	// [DefaultExactSteps], less than zero that Auto does without.
	ExactSteps int
	// Start is the solution of a similar network, from which the iteration of
	// Schweitzer and Linearizer starts. Classes with the same demands, pressures,
	// sensitivities and threads start from where they were, others are fitted in.
	// It changes nothing but how long the iteration takes. Nil starts from nothing.
	Start *Solution
}

// ErrUnsettled is wrapped by the error of an iteration that did not end.
var ErrUnsettled = errors.New("the iteration did not settle")

// Solution holds the dilations and waits of the jobs of a network. Lists have one entry per class,
// in the order of the network, and where there are two dimensions one per station in each.
type Solution struct {
	// Solver is the rung that was used. Never Auto.
	Solver Solver
	// Iterations is how many iterations Schweitzer or Linearizer took.
	Iterations int
	// Dilations holds the time of a round relative to the neutral time, at
	// least 1.
	Dilations []float64
	// Waits holds how long a job waits at each station, as a multiple of its
	// service time there, at least 0. For a station that it does not go to: 0.
	Waits [][]float64
	// Presences holds the probability that one thread of a job is found at each
	// station: of its time, the fraction that it presses there or waits.
	Presences [][]float64

	warm *warmStart
}

// Solve computes the dilations and waits of the jobs of a network. It returns a [ValueError] for an
// invalid network or option, an error that wraps [ErrTooLarge] or [ErrNotStandard] if the solver
// cannot take the network, and one that wraps [ErrUnsettled] if the iteration does not end. An
// empty network is valid.
//
// Whatever the solver, no dilation is below 1, and no station is busier than its
// servers can be: where an approximation breaks that, waits are raised to keep it.
func Solve(network *Network, options Options) (*Solution, error) {
	if err := network.Validate(); err != nil {
		return nil, err
	}
	if err := options.complete(); err != nil {
		return nil, err
	}
	c := reduce(network)
	s := &Solution{Solver: options.Solver}
	waits, err := s.solve(c, network, options)
	if err != nil {
		return nil, err
	}
	c.bound(waits)
	s.expand(c, network, waits)
	return s, nil
}

// complete fills in the defaults.
func (o *Options) complete() error {
	if o.Solver < Auto || o.Solver > Exact {
		return &ValueError{"solver", float64(o.Solver), "is not one of Auto, FirstOrder, Schweitzer, Linearizer and Exact"}
	}
	if !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 0) {
		return &ValueError{"tolerance", o.Tolerance, "is not a finite number of at least 0"}
	}
	if o.Iterations < 0 {
		return &ValueError{"iterations", float64(o.Iterations), "is negative"}
	}
	if o.ExactSteps > MaxExactSteps {
		return &ValueError{"exactSteps", float64(o.ExactSteps), fmt.Sprintf("is more than %d", MaxExactSteps)}
	}
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	if o.Iterations == 0 {
		o.Iterations = DefaultIterations
	}
	if o.ExactSteps == 0 {
		o.ExactSteps = DefaultExactSteps
	}
	return nil
}

// solve computes the waits, and records the rung.
func (s *Solution) solve(c *closed, network *Network, options Options) (waits []float64, err error) {
	switch {
	case options.Solver == FirstOrder:
		return firstOrder(c), nil
	case options.Solver == Exact:
		plan, err := c.planExact()
		if err != nil {
			return nil, err
		}
		return plan.solve(c, plan.copies), nil
	case options.Solver == Auto:
		return s.choose(c, network, options)
	case options.Solver == Linearizer && !c.fitsLinearizer():
		return nil, fmt.Errorf("%w for Linearizer: %d classes at %d stations where one may have to wait; use Schweitzer", ErrTooLarge, c.n, c.m)
	default:
		return s.iterate(c, network, options)
	}
}

// choose computes the waits by the best solver that is worth it, or else by the
// next that can.
func (s *Solution) choose(c *closed, network *Network, options Options) (waits []float64, err error) {
	if plan, err := c.planExact(); err == nil && plan.steps <= float64(options.ExactSteps) {
		s.Solver = Exact
		return plan.solve(c, plan.copies), nil
	}
	if c.fitsLinearizer() {
		s.Solver = Linearizer
		if waits, err = s.iterate(c, network, options); err == nil {
			return waits, nil
		}
	}
	s.Solver = Schweitzer
	if waits, err = s.iterate(c, network, options); err == nil {
		return waits, nil
	}
	s.Solver, s.Iterations, s.warm = FirstOrder, 0, nil
	return firstOrder(c), nil
}

func (c *closed) fitsLinearizer() bool {
	return float64(c.n)*float64(c.n)*float64(c.m) <= MaxLinearizerCells
}

// iterate computes the waits by Schweitzer or Linearizer.
func (s *Solution) iterate(c *closed, network *Network, options Options) (waits []float64, err error) {
	if c.m == 0 { // no job waits
		return nil, nil
	}
	a := newApproximation(c)
	s.warm = &warmStart{keys: network.keys(), tolerance: options.Tolerance, approximation: a}
	warm := a.startFrom(s.warm, options.Start)
	settled := true
	if s.Solver == Schweitzer || !warm {
		s.Iterations, settled = a.schweitzer(options.Tolerance, options.Iterations)
	}
	if s.Solver == Linearizer && settled {
		l := newLinearizer(a)
		l.startFrom(s.warm, options.Start)
		s.warm.linearizer = l
		s.Iterations, settled = l.solve(options.Tolerance, options.Iterations)
	}
	if !settled {
		return nil, fmt.Errorf("%w: %v, %d classes at %d stations where one may have to wait, %d iterations with tolerance %v",
			ErrUnsettled, s.Solver, c.n, c.m, options.Iterations, options.Tolerance)
	}
	return a.waits, nil
}

// expand fills in the answers from the waits of the reduced network.
func (s *Solution) expand(c *closed, network *Network, waits []float64) {
	n, m := len(network.Classes), len(network.Servers)
	cells := make([]float64, n*(1+2*m))
	s.Dilations, cells = cells[:n:n], cells[n:]
	s.Waits, s.Presences = make([][]float64, n), make([][]float64, n)
	for k := range n {
		s.Dilations[k] = 1
		s.Waits[k], cells = cells[:m:m], cells[m:]
		s.Presences[k], cells = cells[:m:m], cells[m:]
	}
	for r, k := range c.class {
		s.Dilations[k] = c.response(r, waits)
		for i, station := range c.station {
			if c.threads[r*c.m+i] > 0 {
				s.Waits[k][station] = waits[r*c.m+i]
			}
		}
	}
	for k := range n {
		class := &network.Classes[k]
		neutral := class.neutral()
		for i := range m {
			s.Presences[k][i] = min(1, (class.pressure(i)+min(class.pressure(i), class.demand(i))*s.Waits[k][i])/neutral/s.Dilations[k])
		}
	}
}
