package linuxsched

import (
	"math"
	"math/rand/v2"
	"time"
)

// Group is a control group with the controller cpu.
type Group struct {
	Weight int           // cpu.weight, 1 to 10000, 0 for 100
	Quota  time.Duration // of CPU time in each period (cpu.max), 0 for none
	Period time.Duration // 0 for 100 ms
	Burst  time.Duration // of unused quota, that later periods can use (cpu.max.burst)
	Parent *Group        // nil for the root
}

// Pod is a control group with threads.
type Pod struct {
	Group
	Threads []func() Program // each makes a program from its start
}

// Kind is what a thread does in a step.
type Kind int

const (
	Compute Kind = iota
	Sleep
	Visit // a station other than the processors
)

// Step is a part of what a thread does.
type Step struct {
	Kind    Kind
	Station int // of a visit, an index of Machine.Stations
	Length  time.Duration
}

// Program is what a thread does, without end.
type Program interface{ Next() Step }

// Shape is the distribution of bursts, and of sleeps.
type Shape int

const (
	Exponential Shape = iota
	Constant
	LogNormal // with the standard deviation of the exponential distribution
)

// draw returns a random time of a mean.
func (s Shape) draw(mean time.Duration, r *rand.Rand) time.Duration {
	switch s {
	case Constant:
		return mean
	case LogNormal: // E[x²] = e^σ² E[x]²
		return time.Duration(float64(mean) * math.Exp(math.Sqrt(math.Ln2)*r.NormFloat64()-math.Ln2/2))
	default:
		return time.Duration(float64(mean) * r.ExpFloat64())
	}
}

// Cycle is a program that does the same steps in turns, each for a random time of its mean length.
type Cycle struct {
	Steps  []Step // with mean lengths; steps of none are left out
	Shape  Shape
	Random *rand.Rand
	at     int
}

// Bursts returns a program of CPU bursts, with sleeps in between such that a thread that never waits computes for a fraction of
// its time: loading, above 0 and at most 1. It begins somewhere in a cycle.
func Bursts(burst time.Duration, loading float64, shape Shape, seed uint64) func() Program {
	return func() Program {
		r := rand.New(rand.NewPCG(seed, 0))
		steps := []Step{{Kind: Compute, Length: burst}}
		if pause := time.Duration(float64(burst) * (1 - loading) / loading); pause > 0 {
			steps = append(steps, Step{Kind: Sleep, Length: pause})
		}
		c := &Cycle{Steps: steps, Shape: shape, Random: r}
		first := Step{Kind: Compute, Length: burst}
		if r.Float64() >= loading {
			first = steps[1]
		} else {
			c.at = 1 % len(steps)
		}
		first.Length = shape.draw(first.Length, r)
		if shape == Constant {
			first.Length = time.Duration(r.Float64() * float64(first.Length))
		}
		return &begun{first, c}
	}
}

// Next implements [Program].
func (c *Cycle) Next() Step {
	s := c.Steps[c.at]
	c.at = (c.at + 1) % len(c.Steps)
	s.Length = c.Shape.draw(s.Length, c.Random)
	return s
}

// begun is a cycle that is under way.
type begun struct {
	first Step
	cycle *Cycle
}

// Next implements [Program].
func (b *begun) Next() Step {
	if b.first.Length > 0 {
		s := b.first
		b.first.Length = 0
		return s
	}
	return b.cycle.Next()
}
