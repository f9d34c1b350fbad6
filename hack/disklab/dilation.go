package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// estimate is a candidate for the dilation of a pod: by what it does alone, of all pods of a mix, or by what is accounted together.
type estimate struct {
	name string
	of   func(m mixRecord, s service) []float64
}

// each is what a unit of a pod takes, by the runs alone.
type each struct {
	cycle, latency, cpu float64 // of a thread
	operations, bytes   float64 // per unit, and per operation
}

func (m mixRecord) alone(pod int) each {
	e, n := each{}, 0.0
	for _, r := range m.Runs {
		if len(r.Jobs) != 1 || r.Jobs[0] != pod {
			continue
		}
		units := float64(r.Pods[0].Units)
		if units == 0 {
			continue
		}
		n++
		s := r.Pods[0].Served
		e.cycle += float64(m.Jobs[pod].Depth) * r.Seconds / units
		e.latency += r.Pods[0].Latency
		e.cpu += r.Pods[0].CPU / units
		e.operations += float64(s.operations()) / units
		e.bytes += float64(s.ReadBytes+s.WriteBytes) / float64(max(1, s.operations()))
	}
	if m.Jobs[pod].Sync != "" { // the kernel counts emptying the device's cache as an operation, or does not
		e.operations, e.bytes = n, n*float64(m.Jobs[pod].Bytes)
	}
	return each{e.cycle / n, e.latency / n, e.cpu / n, e.operations / n, e.bytes / n}
}

// network returns an estimate by a network of stations: of the disk, with the demand of a unit there, and of processors if there are some.
func network(name string, disk station, processors int, demand func(s service, c class, bytes float64) float64) estimate {
	return estimate{name, func(m mixRecord, s service) []float64 {
		stations := []station{disk}
		if processors > 0 {
			stations = append(stations, station{servers: processors, shared: true})
		}
		customers := make([]customer, len(m.Jobs))
		alone := make([]float64, len(m.Jobs))
		for i, job := range m.Jobs {
			e := m.alone(i)
			at := e.operations * demand(s, job.class(), e.bytes)
			c := customer{threads: job.Depth, demands: []float64{at}}
			cpu := 0.0
			if processors > 0 {
				cpu = e.cpu
				c.demands = append(c.demands, cpu)
			}
			// Beyond its operation a thread thinks; within, it is on the way for what an operation takes beyond the demand.
			way := max(0, e.operations*s.quiet[job.class()].at(e.bytes)-at)
			c.think = max(0, e.cycle-e.latency+way-cpu)
			customers[i], alone[i] = calibrated(c, stations, float64(job.Depth)/e.cycle)
		}
		all := rates(customers, stations)
		for i := range all {
			all[i] = alone[i] / all[i]
		}
		return all
	}}
}

// calibrated returns a customer that comes to a rate alone, as far as it can, and its rate alone. One with several threads queues by itself:
// its demand at the disk is what makes it so slow. Of one with a single thread only the sum with its thinking shows.
func calibrated(c customer, stations []station, rate float64) (customer, float64) {
	value, low, high := &c.think, 0.0, 2*float64(c.threads)/rate
	if c.threads > 1 && c.demands[0] > 0 {
		c.demands = slices.Clone(c.demands)
		value, low, high = &c.demands[0], c.demands[0]/4, c.demands[0]*4
	}
	for range 40 {
		*value = (low + high) / 2
		if rates([]customer{c}, stations)[0] > rate {
			low = *value
		} else {
			high = *value
		}
	}
	return c, rates([]customer{c}, stations)[0]
}

func estimates(processors int) []estimate {
	demand := func(s service, c class, bytes float64) float64 { return s.demand[c].at(bytes) }
	quiet := func(s service, c class, bytes float64) float64 { return s.quiet[c].at(bytes) }
	one, many := station{servers: 1}, station{servers: 4}
	return []estimate{
		{"nothing: dilation 1", func(m mixRecord, _ service) []float64 {
			ones := make([]float64, len(m.Jobs))
			for i := range ones {
				ones[i] = 1
			}
			return ones
		}},
		network("alone: 1 server, in order, quiet latency", one, 0, quiet),
		network("alone: 1 server, shared, quiet latency", station{1, true}, 0, quiet),
		network("alone: 4 servers, in order, quiet latency", many, 0, quiet),
		network("alone: 4 servers, shared, quiet latency", station{4, true}, 0, quiet),
		network("alone: 1 server, in order, demand", one, 0, demand),
		network("alone: 1 server, shared, demand", station{1, true}, 0, demand),
		network("alone: 1 server, in order, demand, and processors", one, processors, demand),
		network("alone: 1 server, shared, demand, and processors", station{1, true}, processors, demand),
		observed("together: own latency - quiet latency", func(s service, m mixRecord, pod int, d did) float64 {
			return m.Truth[pod].LatencyTogether - s.quiet[d.class].at(d.bytesEach())
		}),
		observed("together: own latency - latency alone", func(_ service, m mixRecord, pod int, _ did) float64 {
			return m.Truth[pod].LatencyTogether - m.Truth[pod].LatencyAlone
		}),
		observed("together: await of the device - quiet await", func(s service, m mixRecord, _ int, d did) float64 {
			return m.device().await(d.class) - s.await[d.class].at(d.bytesEach())
		}),
		observed("together: wait of the device's queue", func(s service, m mixRecord, _ int, _ did) float64 {
			return m.queued(s, m.together()).wait
		}),
		observed("together: wait of the device's queue for others", func(s service, m mixRecord, pod int, _ did) float64 {
			return m.queued(s, m.together()).ofOthers(pod)
		}),
		observed("together: io.pressure / operations - quiet latency", func(s service, m mixRecord, pod int, d did) float64 {
			return d.stalled*float64(m.Jobs[pod].Depth)/max(1e-9, m.Truth[pod].Together) - s.quiet[d.class].at(d.bytesEach())
		}),
	}
}

// observed returns an estimate by what an operation waited together: the rest of the unit is as it would be alone.
func observed(name string, waited func(s service, m mixRecord, pod int, d did) float64) estimate {
	return estimate{name, func(m mixRecord, s service) []float64 {
		all := make([]float64, len(m.Jobs))
		together := m.together()
		for i, d := range together {
			all[i] = 1
			if d.operations == 0 || m.Truth[i].Together == 0 {
				continue
			}
			cycle := float64(m.Jobs[i].Depth) / m.Truth[i].Together
			// An operation takes as long as on a quiet device, at least.
			rest := max(min(cycle, s.quiet[d.class].at(d.bytesEach())), 0.02*cycle)
			all[i] = cycle / max(cycle-max(0, waited(s, m, i, d)), rest)
		}
		return all
	}}
}

// device is what the device did while all pods ran, as a mean of the runs, a second.
func (m mixRecord) device() device {
	all, n := device{}, 0.0
	seconds := 0.0
	for _, r := range m.Runs {
		if len(r.Jobs) != len(m.Jobs) {
			continue
		}
		n++
		seconds += r.Seconds
		all = all.since(device{}.since(r.Device))
	}
	all.Queued /= max(1, seconds)
	return all
}

// queue is what waits at a device by its queue: of each pod how much it waits there for each of the others, as parts of what an operation
// waits in all. In order of arrival, an operation waits for what is before it, of whatever size it is itself: all wait equally long.
type queue struct {
	wait float64   // of an operation
	work []float64 // seconds of the device that are queued, of each pod
}

// queued solves Little's law, Σ operations · (wait + await) = queued, for the wait.
func (m mixRecord) queued(s service, together []did) queue {
	operations, quiet := 0.0, 0.0
	for _, d := range together {
		operations += d.operations
		quiet += d.operations * s.await[d.class].at(d.bytesEach())
	}
	q := queue{wait: max(0, m.device().Queued-quiet) / max(1e-9, operations), work: make([]float64, len(together))}
	for i, d := range together {
		q.work[i] = d.operations * (q.wait + s.await[d.class].at(d.bytesEach())) * s.demand[d.class].at(d.bytesEach())
	}
	return q
}

// ofOthers is how long an operation of a pod waits for the others.
func (q queue) ofOthers(pod int) float64 {
	all := sum(q.work)
	if all == 0 {
		return 0
	}
	return q.wait * (1 - q.work[pod]/all)
}

// showDilation says how far the candidates are from the dilation of direct reads and of writes that last.
func showDilation(w io.Writer, r *recorded, s service, noisy bool) {
	fmt.Fprintln(w, "DILATION BY\tPODS\tMEAN ERROR\tMEDIAN\tWORST\tOF VICTIMS\tMEAN ERROR\tWORST\tTHE WORST")
	for _, e := range estimates(r.Processors) {
		var all, victims []float64
		worst, name := -1.0, ""
		for _, m := range r.Mixes {
			values := e.of(m, s)
			for i, t := range m.Truth {
				if t.Noisy && !noisy || !m.Jobs[i].waits() || t.Dilation == 0 {
					continue
				}
				off := math.Abs(values[i]/t.Dilation - 1)
				all = append(all, off)
				if off > worst {
					worst, name = off, fmt.Sprintf("%s/%d: %.2f for %.2f", m.Name, i, values[i], t.Dilation)
				}
				if t.Dilation >= victim {
					victims = append(victims, off)
				}
			}
		}
		if len(all) == 0 || len(victims) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f %%\t%.0f %%\t%.0f %%\t%d\t%.0f %%\t%.0f %%\t%s\n", e.name, len(all), 100*sum(all)/float64(len(all)),
			100*quantile(all, 0.5), 100*slices.Max(all), len(victims), 100*sum(victims)/float64(len(victims)), 100*slices.Max(victims), name)
	}
	fmt.Fprintln(w)
}
