// Package wakeup says for how long threads wait for the processors of a node after they wake up, although their share of
// the processors is due to them.
//
// A fluid model of shares, as package gps is, has a thread run at once if a processor is idle, and at the speed that its
// weight gives it if none is. Linux puts a woken thread on the processor where it ran last, on one that it ran on before, or
// on an idle one that it finds; it looks at the fewer processors that share the last-level cache the busier these are, and at
// none from a utilization of 85 % on (SIS_UTIL). A thread that finds no idle processor, be there one or not, waits behind
// the thread that runs there, which it commonly does not preempt before the end of its slice.
//
// The wait is (1−p)·P·s/3·b/(b+b₀) for a thread that computes for the fraction p of its time, for b at a time: P is the
// probability that it finds no idle processor ([missing]), s the slice of the scheduler, and b₀ = 0.57 ms. A thread that
// sleeps for a little only finds the processor that it left; one that computes for a little only is commonly owed so much
// that it preempts. The third and b₀ were fitted to simulated mixes of 2 to 128 processors with odd numbers, and judged by
// the others: see test/oracle/linuxsched. On one processor there is no such wait: who is due runs next.
package wakeup

import (
	"math/bits"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

const (
	// PerCache is the number of processors that are taken to share a last-level cache, where there are that many.
	PerCache = 16

	baseSlice  = 0.7e-3  // of the scheduler on one processor, in seconds: EEVDF in Linux 6.12
	part       = 1.0 / 3 // of the slice that a thread waits for at most, on average
	shortBurst = 0.57e-3 // with which it waits for half of that, in seconds
	imbalance  = 1.17    // by which utilization counts more where an idle processor is searched for
)

// Class is equal threads that come to the processors of a node and go.
type Class struct {
	// Threads is how many they are, at least 1; 0 means 1.
	Threads int
	// Loading is the fraction of its own time that each computes, above 0 and at most 1.
	Loading float64
	// Burst is for how long it computes at a time, on average, in seconds; 0 where that is not known.
	Burst float64
	// Present is the probability that it is at a processor, running or waiting, from 0 to 1, and Running that it runs there, at most
	// that.
	Present, Running float64
}

func (c Class) threads() int { return max(1, c.Threads) }

// Longest returns a bound on what [Delays] returns for threads with a loading and bursts, whatever others there are.
func Longest(processors int, loading, burst float64) float64 {
	if processors < 2 || burst == 0 {
		return 0
	}
	return (1 - loading) * part * slice(processors) / (burst + shortBurst)
}

// slice returns for how long a thread may run, in seconds, before another one has its turn.
func slice(processors int) float64 {
	return baseSlice * float64(bits.Len(uint(min(processors, 8))))
}

// Delays returns how long a thread of each class waits on a number of processors after it wakes up, as a multiple of the time for which
// it then computes: at least 0, and 0 where its burst is not known. It takes O(n²) time for n threads.
func Delays(processors int, classes []Class) []float64 {
	delays := make([]float64, len(classes))
	if processors < 2 {
		return delays
	}
	caches := max(1, processors/PerCache)
	running := 0.0
	var all, others poissonbinomial.Distribution
	all.Reset()
	for _, c := range classes {
		running += float64(c.threads()) * c.Running
		for range c.threads() {
			all.Add(c.Present / float64(caches))
		}
	}
	misses := missing(processors/caches, min(1, running/float64(processors)))
	for k, c := range classes {
		if c.Burst == 0 {
			continue
		}
		others.Without(&all, c.Present/float64(caches))
		found := 0.0
		for n, p := range others.Probability() {
			found += p * misses[min(n, len(misses)-1)]
		}
		delays[k] = found * Longest(processors, c.Loading, c.Burst)
	}
	return delays
}

// missing returns the probability that a woken thread finds no idle one of the processors that share a cache, by the number
// that are busy: it tries two that it ran on before, which are as likely to be busy as any, and then looks at some others.
func missing(processors int, utilization float64) []float64 {
	n := float64(processors)
	looks := int(n * (1 - min(1, imbalance*imbalance*utilization*utilization)))
	misses := make([]float64, processors+1)
	for busy := range misses {
		k := float64(busy)
		misses[busy] = k / n
		if processors > 2 {
			misses[busy] *= k / n
		}
		for tried := 1; tried <= min(looks, processors-1); tried++ {
			misses[busy] *= max(0, k-float64(tried)) / (n - float64(tried))
		}
	}
	return misses
}
