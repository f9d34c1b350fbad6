package queueing

// closed is a network in the form that the solvers work on: only the stations
// at which a job may have to wait, only the classes that go there, and times
// in rounds, so that every class has a neutral time of 1. Whatever does not wait
// is idle time. Arrays over classes and stations are flat: class k and station i
// at k·m + i.
type closed struct {
	m        int       // stations
	stations int       // of the network, those included at which no job waits
	n        int       // classes
	servers  []int     // per station
	idle     []float64 // per class
	demand   []float64
	pressure []float64
	exposure []float64 // sensitivity / demand: factor from the queue found to the wait
	threads  []float64 // copies · threads, 0 where a class leaves a station alone
	station  []int     // the network's index of each station
	class    []int     // and of each class
}

// reduce brings a valid network into that form.
func reduce(network *Network) *closed {
	c := &closed{stations: len(network.Servers)}
	for i, servers := range network.Servers {
		total := 0
		for k := range network.Classes {
			total += network.Classes[k].maxThreadsAt(i)
		}
		if total > servers {
			c.station = append(c.station, i)
			c.servers = append(c.servers, servers)
		}
	}
	c.m = len(c.station)
	classes := len(network.Classes)
	cells := make([]float64, 4*classes*c.m)
	c.demand, cells = cells[:0:classes*c.m], cells[classes*c.m:]
	c.pressure, cells = cells[:0:classes*c.m], cells[classes*c.m:]
	c.exposure, c.threads = cells[:0:classes*c.m], cells[classes*c.m:classes*c.m]
	c.idle, c.class = make([]float64, 0, classes), make([]int, 0, classes)
	for k := range network.Classes {
		class := &network.Classes[k]
		involved, idle, neutral := false, 1.0, class.neutral()
		for _, i := range c.station {
			threads := class.maxThreadsAt(i)
			involved = involved || threads > 0
			c.demand = append(c.demand, class.demand(i)/neutral)
			c.pressure = append(c.pressure, class.pressure(i)/neutral)
			c.exposure = append(c.exposure, class.exposure(i))
			c.threads = append(c.threads, float64(threads))
			idle -= class.demand(i) / neutral
		}
		if !involved {
			cut := c.n * c.m
			c.demand, c.pressure, c.exposure, c.threads = c.demand[:cut], c.pressure[:cut], c.exposure[:cut], c.threads[:cut]
			continue
		}
		c.class = append(c.class, k)
		c.idle = append(c.idle, max(0, idle))
		c.n++
	}
	return c
}

// maxThreadsAt returns how many threads of the class there may be at station i.
func (c *Class) maxThreadsAt(i int) int {
	if c.demand(i) == 0 && c.pressure(i) == 0 {
		return 0
	}
	return c.copies() * c.threads(i)
}

// waiting returns the part of a wait of one service that adds to a job's pressure, x its class and
// station: its pressure, but at most its demand, which is the length of that wait.
func (c *closed) waiting(x int) float64 { return min(c.pressure[x], c.demand[x]) }

// response returns the dilation of class k with the given waits at each station: λ = 1 + Σ_i
// D_i·W_i.
func (c *closed) response(k int, waits []float64) float64 {
	dilation := 1.0
	for i := range c.m {
		dilation += c.demand[k*c.m+i] * waits[k*c.m+i]
	}
	return dilation
}
