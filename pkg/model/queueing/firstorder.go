package queueing

import "loadline.dev/loadline/pkg/model/poissonbinomial"

// firstOrder returns the waits when every job finds the others where they would
// be if they were alone, independently of each other: Eq. (5) of Lim et al.,
// "D-factor", SIGMETRICS 2012, for stations with one server, E[(N+1−c)^+]/c with
// N a Poisson binomial number for more.
func firstOrder(c *closed) (waits []float64) {
	waits = make([]float64, c.n*c.m)
	var everyone, others poissonbinomial.Distribution
	for i, servers := range c.servers {
		if servers == 1 {
			total := 0.0
			for x := i; x < len(waits); x += c.m {
				total += c.threads[x] * min(1, c.pressure[x])
			}
			for x := i; x < len(waits); x += c.m {
				waits[x] = c.exposure[x] * max(0, total-min(1, c.pressure[x]))
			}
			continue
		}
		everyone.Reset()
		for x := i; x < len(waits); x += c.m {
			for range int(c.threads[x]) {
				everyone.Add(min(1, c.pressure[x]))
			}
		}
		for x := i; x < len(waits); x += c.m {
			if c.threads[x] > 0 {
				others.Without(&everyone, min(1, c.pressure[x]))
				waits[x] = c.exposure[x] * others.Excess(servers) / float64(servers)
			}
		}
	}
	return waits
}
