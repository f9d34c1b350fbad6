// Package mixes has the tables of the kernel lab: mixes of pods that share a node, and what a kernel made of them. Rows are pods, and
// those of one mix follow each other.
package mixes

import "slices"

// Row is a pod of a mix: what it asks for and does, and in a table of results what a kernel made of it.
type Row struct {
	// Mix is the name of the mix, and Seconds for how long it is observed. Pod is the number of the pod in it, from 1.
	Mix     string
	Seconds float64
	Pod     int

	// Request, Limit and Spare are thousandths of a core. A Limit of 0 is none. Spare is what a period of the quota may use
	// beyond it if earlier periods left that (cpu.max.burst).
	Request, Limit, Spare int
	// Loading is the part of its time alone in which each thread computes, above 0 and at most 1, Burst for how many milliseconds at
	// a time on average, and Threads how many there are.
	Loading, Burst float64
	Threads        int
	// Kind says how bursts and sleeps are distributed.
	Kind Kind
	// Forks says that a child process computes each burst.
	Forks bool
	// Seed is that of the pod's random numbers.
	Seed int

	Result
}

// Kind is a distribution of bursts and sleeps: [Exponential] or [Constant].
type Kind string

// The kinds of distributions.
const (
	Exponential Kind = "exponential"
	Constant    Kind = "constant"
)

// Result is what a kernel made of a pod.
type Result struct {
	// Kernel is the version of the kernel, HZ its ticks per second, Slice the scheduler's base slice (its minimum granularity before
	// Linux 6.6) in nanoseconds, Processors how many there were, and Cgroup the version of control groups.
	Kernel                        string
	HZ, Slice, Processors, Cgroup int
	// Weight is its cpu.weight, or cpu.shares of version 1.
	Weight int
	// Alone is what it did by itself, in a window of AloneSeconds, and Together what it did beside the others.
	AloneSeconds    float64
	Alone, Together Account
	// Dilation is how many times longer the pod took for its work beside the others than alone.
	Dilation float64
}

// Account is what the threads of a pod did while they were observed, in seconds of all threads.
type Account struct {
	// Own is what a thread that never waits would have taken for their work, and Computed the part of it that is computing.
	Own, Computed float64
	Bursts        int // that ended
	// Run, Wait and Sleep are how long threads were on a processor, wanted one, and did not. To wait for the next period of a
	// quota is Wait.
	Run, Wait, Sleep float64
	Slices           int // how often a thread got a processor
	// Periods is in how many periods of its quota the pod ran, Throttled in how many of them it was throttled, and Held for how long.
	Periods, Throttled int
	Held               float64
}

// Stretch returns how many times longer than its own time a pod took alone: its wake-ups, its own threads and its limit cost that.
func (r *Row) Stretch() float64 { return float64(r.Threads) * r.AloneSeconds / r.Alone.Own }

// SetDilation computes the dilation from the accounts.
func (r *Row) SetDilation() {
	r.Dilation = float64(r.Threads) * r.Seconds / r.Together.Own / r.Stretch()
}

// ByMix returns the rows of each mix, in their order.
func ByMix(rows []Row) [][]Row {
	var mixes [][]Row
	for len(rows) > 0 {
		n := slices.IndexFunc(rows, func(r Row) bool { return r.Mix != rows[0].Mix })
		if n < 0 {
			n = len(rows)
		}
		mixes, rows = append(mixes, rows[:n:n]), rows[n:]
	}
	return mixes
}
