package linuxsched

import (
	"math/bits"
	"time"
)

// Class is the fair scheduling class of a kernel.
type Class int

// The fair scheduling classes.
const (
	CFS   Class = iota // completely fair scheduler, up to Linux 6.5
	EEVDF              // earliest eligible virtual deadline first, since Linux 6.6
)

// Kernel holds the constants of a version of Linux and what its own work costs. None of them is fitted, except for the costs.
type Kernel struct {
	Class Class
	HZ    int // ticks per second, CONFIG_HZ

	// The base slice of EEVDF, and what CFS has instead. They are for one processor: two have twice as much, four three times
	// and eight and more four times.
	Slice             time.Duration
	Latency           time.Duration
	MinGranularity    time.Duration
	WakeupGranularity time.Duration

	// LagBeyondSlice makes the maximum of lag a slice and a tick. Without it lag is at most two slices, or a tick.
	LagBeyondSlice bool
	// SliceEndsRun reschedules whenever the slice of a thread that ran on is over, even if the thread is eligible.
	SliceEndsRun bool
	// GroupLoadRate is the least time between two updates of a group's load by one processor, 0 for any.
	GroupLoadRate time.Duration

	Costs Costs
}

// Costs are the times that the kernel takes for its own work. They count as CPU time of the thread that runs.
type Costs struct {
	Switch  time.Duration // to another thread
	Tick    time.Duration
	Wake    time.Duration // of a thread, on the processor on which its timer fires
	Fork    time.Duration // a process, and again when it ends
	Idle    time.Duration // until an idle processor runs a thread that has been woken
	Slack   time.Duration // by which a sleep is longer than asked for, 50 µs in any kernel
	Balance time.Duration // of newly-idle balancing, at most, and for each processor
	Look    time.Duration
}

// Hardware returns the costs on current x86 servers. Idle is what was measured with test/testdata/manycore; the others are of the
// usual order. Balance, which the kernel measures itself and keeps the maximum of, makes a difference for bursts below 1 ms on
// processors that are nearly always busy.
func Hardware() Costs {
	const µs = time.Microsecond
	return Costs{Switch: 3 * µs / 2, Tick: 2 * µs, Wake: 2 * µs, Fork: 100 * µs, Idle: 10 * µs, Slack: 50 * µs, Balance: 100 * µs, Look: µs}
}

// Linux6_1 returns the constants of Linux 6.1: CFS.
func Linux6_1() Kernel {
	return Kernel{
		Class: CFS, HZ: 250, Latency: 6 * time.Millisecond, MinGranularity: 750 * time.Microsecond, WakeupGranularity: time.Millisecond,
		Costs: Hardware(),
	}
}

// Linux6_12 returns the constants of Linux 6.12, as Debian has it: EEVDF with delayed dequeue.
func Linux6_12() Kernel {
	return Kernel{Class: EEVDF, HZ: 250, Slice: 700 * time.Microsecond, GroupLoadRate: time.Millisecond, Costs: Hardware()}
}

// Linux6_18 returns the constants of Linux 6.18.
func Linux6_18() Kernel {
	k := Linux6_12()
	k.LagBeyondSlice, k.SliceEndsRun = true, true
	return k
}

// scaled returns a granularity on a number of processors.
func scaled(d time.Duration, cpus int) float64 {
	return float64(d) * float64(bits.Len(uint(min(cpus, 8)))) // 1 + log2, rounded down
}

// What is the same in all versions.
const (
	niceZero         = 1024.0                 // weight of a thread, and of a group of weight 100
	minShares        = 2.0                    // least weight of a group on a processor, before scaling
	bandwidthSlice   = 5 * time.Millisecond   // of a quota, that a processor takes at a time
	keptRuntime      = time.Millisecond       // of a slice of a quota, kept when a processor has no thread of the group left
	slackPeriod      = 5 * time.Millisecond   // until returned quota is distributed to throttled processors
	leastRefresh     = 2 * time.Millisecond   // to the end of a period, for which it is not worth it
	migrationCost    = 500 * time.Microsecond // a thread that ran within this time is hot in the cache
	halfLife         = 32 * 1024 * time.Microsecond
	capacity         = 1024.0
	imbalancePercent = 117
	maxMigrations    = 32 // threads that the load balancer looks at
)
