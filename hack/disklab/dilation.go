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
	return each{e.cycle / n, e.latency / n, e.cpu / n, e.operations / n, e.bytes / n}
}

// network returns an estimate by a network of stations: of the disk, with the demand of a unit there, and of processors if there are some.
// What a unit takes beyond the disk and processors is thinking: alone, it takes as long as it did.
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
			c := customer{threads: job.Depth, demands: []float64{min(e.operations*demand(s, job.class(), e.bytes), 0.98*e.cycle)}}
			if processors > 0 {
				c.demands = append(c.demands, e.cpu)
			}
			customers[i], alone[i] = calibrated(c, stations, float64(job.Depth)/e.cycle)
		}
		all := rates(customers, stations)
		for i := range all {
			all[i] = alone[i] / all[i]
		}
		return all
	}}
}

// calibrated returns a customer that thinks so long that it comes to a rate alone, as far as it can, and its rate alone.
func calibrated(c customer, stations []station, rate float64) (customer, float64) {
	low, high := 0.0, float64(c.threads)/rate
	for range 40 {
		c.think = (low + high) / 2
		if rates([]customer{c}, stations)[0] > rate {
			low = c.think
		} else {
			high = c.think
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
		observed("together: await of the device - quiet latency", func(s service, m mixRecord, _ int, d did) float64 {
			return m.await(d.class) - s.quiet[d.class].at(d.bytesEach())
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
			all[i] = cycle / max(cycle-max(0, waited(s, m, i, d)), 0.02*cycle)
		}
		return all
	}}
}

// await is the mean time of an operation of the device while all pods ran.
func (m mixRecord) await(c class) float64 {
	seconds, n := 0.0, int64(0)
	for _, r := range m.Runs {
		if len(r.Jobs) != len(m.Jobs) {
			continue
		}
		if c == reads {
			seconds, n = seconds+r.Device.ReadSeconds, n+r.Device.Reads
		} else {
			seconds, n = seconds+r.Device.WriteSeconds, n+r.Device.Writes
		}
	}
	return seconds / float64(max(1, n))
}

// showDilation says how far the candidates are from the dilation of direct reads and of writes that last.
func showDilation(w io.Writer, r *recording, s service) {
	fmt.Fprintln(w, "DILATION BY\tPODS\tMEAN ERROR\tMEDIAN\tWORST\tOF VICTIMS\tMEAN ERROR\tWORST")
	for _, e := range estimates(r.Processors) {
		var all, victims []float64
		for _, m := range r.Mixes {
			values := e.of(m, s)
			for i, t := range m.Truth {
				if t.Noisy || !m.Jobs[i].waits() || t.Dilation == 0 {
					continue
				}
				off := math.Abs(values[i]/t.Dilation - 1)
				all = append(all, off)
				if t.Dilation >= victim {
					victims = append(victims, off)
				}
			}
		}
		if len(all) == 0 || len(victims) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f %%\t%.0f %%\t%.0f %%\t%d\t%.0f %%\t%.0f %%\n", e.name, len(all), 100*sum(all)/float64(len(all)),
			100*quantile(all, 0.5), 100*slices.Max(all), len(victims), 100*sum(victims)/float64(len(victims)), 100*slices.Max(victims))
	}
	fmt.Fprintln(w)
}
