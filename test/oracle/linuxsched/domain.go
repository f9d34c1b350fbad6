package linuxsched

// domain is a level of load balancing as one processor sees it: sched_domain. Its groups are single processors that share a cache,
// or the processors of a cache each.
type domain struct {
	groups [][]*cpu // the first has the processor
	size   int      // processors
	cached bool     // all share a cache

	interval, last int64 // ns
	failed         int   // balances that moved no thread
	maxCost        int64 // ns, of newly-idle balancing
	decayed        int64 // when maxCost was lowered
	calls, hits    float64
	ratio          float64 // of newly-idle balances that found a thread, of 1024
}

func newDomain(groups [][]*cpu, cached bool) *domain {
	d := &domain{groups: groups, cached: cached, calls: 512, hits: 256, ratio: 512}
	for _, g := range groups {
		d.size += len(g)
	}
	d.interval = int64(d.size) * millisecond
	return d
}

const millisecond = 1_000_000

// due returns the time from one balance to the next. Busy processors balance more rarely.
func (d *domain) due(busy bool, tick int64) int64 {
	interval := d.interval
	if busy {
		const busyFactor = 16
		return max(tick, (interval*busyFactor+tick-1)/tick*tick-tick)
	}
	return max(tick, (interval+tick-1)/tick*tick)
}

// state is how much a group of processors has to do.
type state int

const (
	hasSpare state = iota
	fullyBusy
	isOverloaded
)

// statistics are of a group of processors.
type statistics struct {
	cpus                 []*cpu
	load, util, runnable float64
	threads, idle        int
	state                state
	average              float64 // load per capacity, of an overloaded group
}

func statisticsOf(cpus []*cpu) statistics {
	g := statistics{cpus: cpus}
	for _, c := range cpus {
		g.load += c.load()
		g.util += c.util()
		g.runnable += c.root.average.runnable
		g.threads += c.root.threads
		if c.idle() {
			g.idle++
		}
	}
	all := capacity * float64(len(cpus))
	used, wanted := g.util*imbalancePercent > all*100, g.runnable*100 > all*imbalancePercent
	switch {
	case g.threads > len(cpus) && (used || wanted):
		g.state = isOverloaded
		g.average = g.load / float64(len(cpus))
	case g.threads >= len(cpus) && (used || wanted):
		g.state = fullyBusy
	}
	return g
}

// busier reports whether a group is a better one to pull from than another.
func (g *statistics) busier(than *statistics) bool {
	if g.threads == 0 {
		return false
	}
	if than.cpus == nil {
		return true
	}
	if g.state != than.state {
		return g.state > than.state
	}
	switch g.state {
	case isOverloaded:
		return g.average > than.average
	case fullyBusy:
		return false
	case hasSpare:
	}
	return g.idle < than.idle || g.idle == than.idle && g.threads > than.threads
}

// widen makes the interval of a domain that is in balance longer.
func (d *domain) widen(i idleness) {
	if i != newlyIdle && d.interval < 2*int64(d.size)*millisecond {
		d.interval *= 2
	}
}

// balances reports whether a processor is the one of its group that balances: the first idle one, or the first.
func balances(c *cpu, group []*cpu) bool {
	for _, other := range group {
		if other.idle() {
			return other == c
		}
	}
	return group[0] == c
}

// count counts a newly-idle balance.
func (d *domain) count(hits float64) {
	const many = 1024
	d.calls++
	d.hits += hits
	if d.calls >= many {
		d.ratio = d.hits
		d.calls /= 2
		d.hits /= 2
	}
}
