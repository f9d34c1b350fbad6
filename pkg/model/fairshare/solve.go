package fairshare

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Method is a way to compute response times.
type Method int

const (
	// Race integrates over a race of exponential clocks: exact for any tree, to a
	// tolerance, in time proportional to its size. It is the default.
	Race Method = iota
	// Subsets sums over the sets of siblings that may be ahead, whose probabilities
	// follow from those of smaller sets. Exact.
	Subsets
	// Hierarchical sums over the orders of a group and of those around it, with all
	// that is beside them aggregated: "EH" in the paper. Exact.
	Hierarchical
	// Permutations sums over all orders of the whole tree: "EN" in the paper. Exact.
	Permutations
	// MonteCarlo draws orders of the whole tree: "AMC" in the paper.
	MonteCarlo
	// AHMC draws orders of a group and of those around it, with all that is beside
	// them aggregated.
	AHMC
	// Caps is no method for the standard model but another one, in which no
	// workload gets more than its share: each has a processor of its own, of that
	// speed. What others leave stays idle.
	Caps
)

var methodNames = [...]string{"race", "subsets", "hierarchical", "permutations", "monte-carlo", "ahmc", "caps"}

// String returns the name of the method, such as monte-carlo.
func (m Method) String() string {
	if m < 0 || int(m) >= len(methodNames) {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methodNames[m]
}

// Methods returns the methods for the standard model, which is all but [Caps].
func Methods() []Method {
	return []Method{Race, Subsets, Hierarchical, Permutations, MonteCarlo, AHMC}
}

// MethodNamed returns the method of a name that [Method.String] gives.
func MethodNamed(name string) (Method, error) {
	for m, known := range methodNames {
		if name == known {
			return Method(m), nil
		}
	}
	return 0, &ValueError{"", "method", name, fmt.Sprintf("is none of %v", methodNames)}
}

// Limits and defaults of [Options].
const (
	MaxServers       = 4096
	DefaultTolerance = 1e-10
	MinTolerance     = 1e-13
	MaxTolerance     = 1e-4
	DefaultSamples   = 5000
	MaxSamples       = 100_000_000
)

// Options say how to solve a tree. The zero value is a sound choice.
type Options struct {
	// Method is how. Zero is Race.
	Method Method
	// Servers is the number of processors, at most [MaxServers]; 0 is 1. With more
	// than one, all service times have to be exponential, with the same mean.
	Servers int
	// Tolerance is the relative error that Race may leave, between [MinTolerance]
	// and [MaxTolerance]. Zero is [DefaultTolerance].
	Tolerance float64
	// Samples is how many orders MonteCarlo and AHMC draw, at least 2 and at most
	// [MaxSamples]. Zero is [DefaultSamples], or with RelativeError [MaxSamples].
	Samples int
	// RelativeError above 0 lets MonteCarlo and AHMC stop as soon as no half width
	// of a confidence interval is a larger fraction of its response time.
	RelativeError float64
	// Seed says which orders MonteCarlo and AHMC draw.
	Seed uint64
	// MaxEvaluations bounds what Race computes, by [Result].Evaluations, each of which
	// takes some nanoseconds: an answer that takes more wraps [ErrTooCostly]. Zero is
	// no bound.
	MaxEvaluations int
}

func (o *Options) complete() error {
	if o.Method < Race || o.Method > Caps {
		return &ValueError{"", "method", int(o.Method), "is unknown"}
	}
	if o.Servers == 0 {
		o.Servers = 1
	}
	if o.Servers < 1 || o.Servers > MaxServers {
		return &ValueError{"", "servers", o.Servers, fmt.Sprintf("is not between 1 and %d", MaxServers)}
	}
	if o.Tolerance == 0 {
		o.Tolerance = DefaultTolerance
	}
	if !(o.Tolerance >= MinTolerance && o.Tolerance <= MaxTolerance) {
		return &ValueError{"", "tolerance", o.Tolerance, fmt.Sprintf("is not between %g and %g", MinTolerance, MaxTolerance)}
	}
	if !(o.RelativeError >= 0 && o.RelativeError < 1) {
		return &ValueError{"", "relativeError", o.RelativeError, "is not at least 0 and below 1"}
	}
	if o.MaxEvaluations < 0 {
		return &ValueError{"", "maxEvaluations", o.MaxEvaluations, "is not at least 0"}
	}
	if o.Samples == 0 {
		o.Samples = DefaultSamples
		if o.RelativeError > 0 {
			o.Samples = MaxSamples
		}
	}
	if o.Samples < 2 || o.Samples > MaxSamples {
		return &ValueError{"", "samples", o.Samples, fmt.Sprintf("is not between 2 and %d", MaxSamples)}
	}
	return nil
}

var (
	// ErrTooCostly is wrapped by the error of a method that would take too long or
	// too much memory for the tree.
	ErrTooCostly = errors.New("too costly")
	// ErrNotReached is wrapped by the error of a method that did not reach the
	// precision asked for.
	ErrNotReached = errors.New("precision not reached")
)

// Result is what response times a tree gives. Lists have one entry per workload, in the
// order of [Tree.Workloads].
type Result struct {
	// Method is how it was computed.
	Method Method
	// Factors holds the mean response time of each workload relative to its mean
	// service time.
	Factors []float64
	// Responses holds the mean response times in seconds.
	Responses []float64
	// Errors holds how far each of Factors may be off: of Race an estimate that is
	// rarely exceeded, of MonteCarlo and AHMC half the width of the 95 % confidence
	// interval, of the others a bound for rounding.
	Errors []float64
	// Residual is how far the results are from the conservation law, relative to
	// what is conserved. With Caps nothing is: 0.
	Residual float64
	// Evaluations is how much was computed: of Race factors of the integrand, of
	// Subsets sets, of Hierarchical and Permutations orders, of MonteCarlo and AHMC
	// drawn orders.
	Evaluations int
}

// Solve computes the response times of the workloads of a tree. It returns a
// [ValueError] for an invalid option and for workloads that keep the processors busy all
// the time, an error that wraps [ErrTooCostly] or [ErrNotReached], and that of ctx when
// it ends first.
func Solve(ctx context.Context, tree *Tree, options Options) (*Result, error) {
	if err := options.complete(); err != nil {
		return nil, err
	}
	if options.Method == Caps {
		return solveCaps(tree, options.Servers)
	}
	m, err := newModel(tree, options.Servers)
	if err != nil {
		return nil, err
	}
	if err := checkCost(tree, options); err != nil {
		return nil, err
	}
	solve := map[Method]func(context.Context, *model, Options) (*sums, error){
		Race: race, Subsets: subsets, Hierarchical: hierarchical, Permutations: permutations,
		MonteCarlo: monteCarlo, AHMC: ahmc,
	}[options.Method]
	s, err := solve(ctx, m, options)
	if err != nil {
		return nil, err
	}
	return m.result(options.Method, s), nil
}

// sums is what a method finds, per workload.
type sums struct {
	factors     []float64 // E[R]/S
	stretches   []float64 // E[1/(1 − σ)]; one processor only
	errors      []float64 // of factors
	evaluations int
}

func newSums(n int) *sums {
	return &sums{factors: make([]float64, n), stretches: make([]float64, n), errors: make([]float64, n)}
}

// add adds an outcome of workload w with some probability.
func (s *sums) add(w int, probability, factor, stretch float64) {
	s.factors[w] += probability * factor
	s.stretches[w] += probability * stretch
}

// unit is the relative distance of neighbouring floating-point numbers.
const unit = 1.0 / (1 << 52)

// roundOff fills in errors for a method that is exact but for rounding, of terms that
// are all positive.
func (s *sums) roundOff(m *model) {
	for w, f := range s.factors {
		s.errors[w] = f * unit * (float64(m.tree.Len()) + 20 + 4*m.capacity/m.slack)
	}
}

func (m *model) result(method Method, s *sums) *Result {
	r := &Result{
		Method: method, Factors: s.factors, Errors: s.errors, Evaluations: s.evaluations,
		Responses: make([]float64, len(s.factors)), Residual: m.residual(s),
	}
	for w, f := range s.factors {
		r.Responses[w] = f * m.tree.leafAt(w).service
	}
	return r
}

// residual returns how far the sums are from the conservation law.
func (m *model) residual(s *sums) float64 {
	left := 0.0
	for w := range s.factors {
		leaf := m.tree.leafAt(w)
		if m.queue != nil {
			left += leaf.load * s.factors[w]
			continue
		}
		left += leaf.load*leaf.service*(s.factors[w]-s.stretches[w]) + leaf.residual*s.stretches[w]
	}
	right := m.tree.nodes[0].residual / m.slack
	if m.queue != nil {
		right = m.queue.number(m.tree.Utilization())
	}
	if right == 0 {
		return 0
	}
	return math.Abs(left-right) / right
}
