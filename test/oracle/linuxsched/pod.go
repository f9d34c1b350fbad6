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

// The kinds of steps.
const (
	Compute Kind = iota
	Fork         // a process that computes for the length, and wait for it
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
type Program interface {
	// Next returns the next step.
	Next() Step
}

// Shape is the distribution of bursts, and of sleeps.
type Shape int

// The shapes of distributions.
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
	Steps  []Step // with mean lengths
	Shape  Shape
	Random *rand.Rand

	next  int
	begun time.Duration // what is left of the first step, if that is under way
}

// Next implements [Program].
func (c *Cycle) Next() Step {
	s := c.Steps[c.next]
	c.next = (c.next + 1) % len(c.Steps)
	if c.begun > 0 {
		s.Length, c.begun = c.begun, 0
		return s
	}
	s.Length = c.Shape.draw(s.Length, c.Random)
	return s
}

// Bursts returns a program of CPU bursts of a mean length, with sleeps in between such that a thread that never waits computes for a
// fraction of its time: loading, above 0 and at most 1.
func Bursts(burst time.Duration, loading float64, shape Shape, seed uint64) func() Program {
	return Rounds(time.Duration(float64(burst)/loading), []float64{loading}, shape, seed)
}

// Rounds returns a program that computes, visits each station and sleeps once in a round of a mean length, if it never waits. Loadings
// are the fractions of that which it spends on the processor, and at each station of the machine; they are at least 0, and their sum is
// above 0 and at most 1. It begins somewhere in a round.
func Rounds(round time.Duration, loadings []float64, shape Shape, seed uint64) func() Program {
	var steps []Step
	add := func(kind Kind, station int, part float64) {
		if length := time.Duration(part * float64(round)); length > 0 {
			steps = append(steps, Step{kind, station, length})
		}
	}
	sleep := 1.0
	for i, part := range loadings {
		if sleep -= part; i == 0 {
			add(Compute, 0, part)
		} else {
			add(Visit, i-1, part)
		}
	}
	const rounding = 1e-9
	if sleep > rounding {
		add(Sleep, 0, sleep)
	}
	return func() Program {
		c := &Cycle{Steps: steps, Shape: shape, Random: rand.New(rand.NewPCG(seed, 0))}
		c.begin()
		return c
	}
}

// begin puts a cycle somewhere, as it is at a random time.
func (c *Cycle) begin() {
	total := time.Duration(0)
	for _, s := range c.Steps {
		total += s.Length
	}
	at := time.Duration(c.Random.Float64() * float64(total))
	for at >= c.Steps[c.next].Length && c.next < len(c.Steps)-1 {
		at -= c.Steps[c.next].Length
		c.next++
	}
	if c.Shape == Constant {
		c.begun = max(1, c.Steps[c.next].Length-at)
	}
}
