package interference

import (
	"math"

	"loadline.dev/loadline/pkg/model/poissonbinomial"
)

// This file has who runs in the domain of a thread: with whom it shares a cache, or the units of a core.
//
// A kernel gives a thread that wakes an idle core before it gives it the sibling of a busy one, and an idle cache before a busy
// one. So n threads that run are spread as evenly over d domains as possible: n mod d domains have ⌈n/d⌉, the others ⌊n/d⌋, and
// which threads are in which changes all the time. Of 5 threads on 4 cores with 2 hyper-threads each, 2 share a core; of 8 all
// do. Servers that jobs have for themselves count as busy, and as spread like the others.

// neighbours returns the mean number of other threads, of n ≥ 1 that run, in the domain of one of them: each has that number
// rounded down or up.
func neighbours(n, domains int) float64 {
	each, more := n/domains, n%domains // more of the domains have one thread more than each
	return float64(more*(each+1)*each+(domains-more)*each*(each-1)) / float64(n)
}

// chances[i][j] is the probability that i given threads which share servers, and j with servers of their own, all run in the
// domain of a thread, if they are at the processor.
//
// Of N threads that share servers M run, and with the others K of L in all are in the domain. As any of them is as likely there
// as another, chances[i][j] is E[M⁽ⁱ⁾·K⁽ⁱ⁺ʲ⁾/L⁽ⁱ⁺ʲ⁾]/E[N⁽ⁱ⁾], where x⁽ⁱ⁾ is x(x−1)⋯(x−i+1).
type chances [4][4]float64

// allRun are the chances of threads that all run in one domain.
var allRun = chances{{1, 1, 1, 1}, {1, 1, 1}, {1, 1}, {1}}

// spread is the distribution of other running threads over some domains.
type spread struct {
	domains int
	near    []powers // for each number l of them, the mean of K⁽ᵏ⁾ over l⁽ᵏ⁾
}

// newSpread returns that of up to some number of other threads.
func newSpread(domains, others int) *spread {
	s := &spread{domains: domains, near: make([]powers, others+1)}
	for l := range s.near {
		near, all := roundedPowers(neighbours(l+1, domains)), fallingPowers(float64(l))
		for k := range near {
			if all[k] > 0 {
				s.near[l][k] = near[k] / all[k]
			}
		}
	}
	return s
}

// surroundings are the threads that a thread at the processor meets there.
type surroundings struct {
	threads *poissonbinomial.Distribution // that share servers
	more    int                           // additional ones of the same kind
	servers int                           // on which they run
	own     int                           // that other threads have for themselves
}

// notable is the probability below which a number of threads does not count.
const notable = 1e-18

// chances returns those in a domain.
func (s *surroundings) chances(over *spread) (c chances) {
	low, high := s.threads.Range()
	if over.domains == 1 && s.servers > 0 && high+s.more <= s.servers {
		return allRun
	}
	var found powers
	for k, q := range s.threads.Probability()[low:] {
		if q < notable {
			continue
		}
		n := low + k + s.more
		run := min(n, s.servers)
		runs, near := fallingPowers(float64(run)), &over.near[run+s.own]
		for i, m := range fallingPowers(float64(n)) {
			found[i] += q * m
			c[i][0] += q * runs[i] * near[i]
		}
		if s.own > 0 {
			c.addOwn(q, &runs, near)
		}
	}
	for i := range c {
		for j := range c[i] {
			if found[i] > 0 {
				c[i][j] /= found[i]
			}
		}
	}
	return c
}

// addOwn adds the chances of threads with servers of their own.
func (c *chances) addOwn(q float64, runs, near *powers) {
	for i := range c {
		for j := 1; i+j < len(c); j++ {
			c[i][j] += q * runs[i] * near[i+j]
		}
	}
}

// powers are the falling powers x⁽⁰⁾ to x⁽³⁾ of a number, or their means.
type powers [4]float64

func fallingPowers(x float64) powers {
	return powers{1, x, x * (x - 1), x * (x - 1) * (x - 2)}
}

// roundedPowers returns the means for a whole number that is its mean rounded down or up.
func roundedPowers(mean float64) powers {
	low := math.Floor(mean)
	up := mean - low
	p, more := fallingPowers(low), fallingPowers(low+1)
	for k := range p {
		p[k] += up * (more[k] - p[k])
	}
	return p
}
