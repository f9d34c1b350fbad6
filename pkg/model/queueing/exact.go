package queueing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// MaxExactSteps bounds the elementary steps that an exact solution may take: a few
// seconds. MaxExactJobs bounds the jobs at contended stations, so that all
// numbers stay in the range of a double.
const (
	MaxExactSteps = 1 << 30
	MaxExactJobs  = 512

	maxExactCells = 1 << 25 // 256 MiB
)

var (
	// ErrTooLarge is wrapped by the error of a network that is too large for the
	// solver that was asked for.
	ErrTooLarge = errors.New("the network is too large")
	// ErrNotStandard is wrapped by the error of [Exact] for a network that has no
	// exact solution: pressures or sensitivities differ from demands, or a class has
	// more threads at one station than at another.
	ErrNotStandard = errors.New("the network has no exact solution")
)

// exactPlan is a way to the exact solution.
type exactPlan struct {
	copies []int
	steps  float64 // about a nanosecond or three each
	cells  float64 // numbers kept in memory
	solve  func(c *closed, copies []int) (waits []float64)
}

// planExact finds the cheaper way, or says why there is none within the bounds.
func (c *closed) planExact() (exactPlan, error) {
	copies, standard := c.copies()
	if !standard {
		return exactPlan{}, fmt.Errorf("%w: pressures and sensitivities must equal demands, and a class have as many threads at one station as at the other; use Linearizer",
			ErrNotStandard)
	}
	jobs := total(copies)
	if jobs > MaxExactJobs {
		return exactPlan{}, fmt.Errorf("%w for the exact solution: %d jobs where one may have to wait, more than %d; use Linearizer",
			ErrTooLarge, jobs, MaxExactJobs)
	}
	parts, populations := 0.0, 1.0
	for _, servers := range c.servers {
		parts += float64(servers)
	}
	for _, n := range copies {
		populations *= float64(n + 1)
	}
	m, n := float64(c.m), float64(c.n)
	plans := []exactPlan{
		{copies, 6 * populations * n * parts, 2 * populations * (parts + 2), byPopulation}, // its steps are the slower ones
		{copies, 2 * m * states(jobs, c.m+1), states(jobs, c.m+1) + (m/2+2)*states(jobs, c.m), byChain},
	}
	plans = slices.DeleteFunc(plans, func(p exactPlan) bool { return p.steps > MaxExactSteps || p.cells > maxExactCells })
	if len(plans) == 0 {
		return exactPlan{}, fmt.Errorf("%w for the exact solution: %d jobs of %d classes at %d stations where one may have to wait take too many steps, or too much memory; use Linearizer",
			ErrTooLarge, jobs, c.n, c.m)
	}
	return slices.MinFunc(plans, func(a, b exactPlan) int { return cmp.Compare(a.steps, b.steps) }), nil
}

// copies returns the number of jobs of each class, and whether the network has
// an exact solution.
func (c *closed) copies() (copies []int, standard bool) {
	copies = make([]int, c.n)
	for k := range copies {
		for i := range c.m {
			x := k*c.m + i
			threads := int(c.threads[x])
			if c.demand[x] != c.pressure[x] || c.exposure[x] != 1 || threads > 0 && copies[k] > 0 && threads != copies[k] {
				return nil, false
			}
			copies[k] = max(copies[k], threads)
		}
	}
	return copies, true
}

// total returns the sum of the numbers of copies.
func total(copies []int) int {
	sum := 0
	for _, n := range copies {
		sum += n
	}
	return sum
}
