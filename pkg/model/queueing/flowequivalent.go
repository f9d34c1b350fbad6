package queueing

import "fmt"

// FlowEquivalent is a closed network as one station of a larger one sees it: as a single station whose service depends on how many
// jobs of each class are there (the flow-equivalent server of Chandy, Herzog and Woo, "Parametric analysis of queuing networks", IBM
// J. R&D 19 (1), 1975). It holds the exact solution for every population from none to all of the jobs, as [Exact] finds it. Where the
// larger network has a product form, its solution with this in place of the rest is exact, too. It is read-only and safe for
// concurrent use.
type FlowEquivalent struct {
	classes []Class
	lattice *lattice
	weights []float64   // G of each population: see byPopulation
	parts   [][]float64 // of the weights, by station
	reduced []int       // of each class, its number in the lattice; −1 where it never waits
}

// NewFlowEquivalent returns the network at every population, if that takes no more than a number of elementary steps, a nanosecond or
// three each. Its error is a [ValueError], or wraps [ErrTooLarge] or [ErrNotStandard].
func NewFlowEquivalent(network *Network, steps int) (*FlowEquivalent, error) {
	if err := network.Validate(); err != nil {
		return nil, err
	}
	c := reduce(network)
	copies, standard := c.copies()
	if !standard {
		return nil, fmt.Errorf("%w at every population", ErrNotStandard)
	}
	parts, populations := 1.0, 1.0
	for _, servers := range c.servers {
		parts += float64(servers)
	}
	for _, n := range copies {
		populations *= float64(n + 1)
	}
	if jobs := total(copies); jobs > MaxExactJobs || populations*float64(c.n)*parts > float64(steps) {
		return nil, fmt.Errorf("%w for its solution at every population: %d jobs of %d classes", ErrTooLarge, jobs, c.n)
	}
	f := &FlowEquivalent{classes: network.Classes, lattice: newLattice(c, copies), parts: make([][]float64, c.m), reduced: make([]int, len(network.Classes))}
	for k := range f.reduced {
		f.reduced[k] = -1
	}
	for r, k := range c.class {
		f.reduced[k] = r
	}
	f.weights = f.lattice.idleWeights()
	for i := range f.parts {
		f.parts[i], f.weights = f.lattice.add(i, f.weights)
	}
	return f, nil
}

// Populations returns how many populations differ in the jobs that may wait.
func (f *FlowEquivalent) Populations() int { return f.lattice.states }

// Population returns the number of the population of some jobs of each class.
func (f *FlowEquivalent) Population(jobs []int) int {
	s := 0
	for k, r := range f.reduced {
		if r >= 0 {
			s += jobs[k] * f.lattice.strides[r]
		}
	}
	return s
}

// Rate returns the number of rounds per unit of time that the n jobs of a class in a population make together.
func (f *FlowEquivalent) Rate(class, n, population int) float64 {
	rate := float64(n) / f.classes[class].neutral()
	r := f.reduced[class]
	if r < 0 || n == 0 {
		return rate
	}
	return rate * f.weights[population-f.lattice.strides[r]] / f.weights[population] / f.lattice.norm[r]
}

// Waits returns the mean wait of a job of each class at each station, as a multiple of its service time there, given the
// probability of each population.
func (f *FlowEquivalent) Waits(probability []float64) [][]float64 {
	l := f.lattice
	waits := make([][]float64, len(f.reduced))
	for k := range waits {
		waits[k] = make([]float64, l.stations)
	}
	slopes := make([]float64, l.states) // of Σ p·log G, by G
	rounds := make([]float64, l.n)      // per time
	l.each(func(s int, population []int) {
		slopes[s] = probability[s] / f.weights[s]
		for k, n := range population {
			if n > 0 {
				rounds[k] += slopes[s] * float64(n) * f.weights[s-l.strides[k]]
			}
		}
	})
	there := make([]float64, l.n*l.m) // at each station, over the demand
	for i := l.m - 1; i >= 0; i-- {
		l.undo(i, f.parts[i], slopes, there)
	}
	for r, k := range l.class {
		for i, station := range l.station {
			if x := r*l.m + i; l.threads[x] > 0 && rounds[r] > 0 {
				waits[k][station] = max(0, there[x]/rounds[r]-1)
			}
		}
	}
	return waits
}
