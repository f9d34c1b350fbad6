package main

import (
	"fmt"
	"io"
)

// did is what a pod did in a run by what the kernel accounts, a second.
type did struct {
	class      class
	operations float64
	bytes      float64
	stalled    float64 // some, at disks
	inFlight   float64 // by its own clock: no kernel accounts it of a group
	cpu        float64
}

func (d did) bytesEach() float64 { return d.bytes / max(1e-9, d.operations) }

// together returns what each pod did while all ran, on average.
func (m mixRecord) together() []did {
	all, n := make([]did, len(m.Jobs)), 0.0
	for _, r := range m.Runs {
		if len(r.Jobs) != len(m.Jobs) {
			continue
		}
		n++
		for i, pod := range r.Pods {
			d := &all[r.Jobs[i]]
			d.class = m.Jobs[r.Jobs[i]].class()
			d.operations += float64(pod.Served.operations()) / r.Seconds
			d.bytes += float64(pod.Served.ReadBytes+pod.Served.WriteBytes) / r.Seconds
			d.stalled += pod.Disk.Some / r.Seconds
			d.inFlight += pod.Latency * float64(pod.Units) / r.Seconds
			d.cpu += pod.CPU / r.Seconds
		}
	}
	for i := range all {
		d := &all[i]
		d.operations, d.bytes, d.stalled, d.inFlight, d.cpu = d.operations/n, d.bytes/n, d.stalled/n, d.inFlight/n, d.cpu/n
	}
	return all
}

// attribution is a candidate for how much of a victim's waiting is due to another pod.
type attribution struct {
	name   string
	weight func(service, did) float64
	// queue has that this is by the work of pods that is queued, instead of a weight.
	queue bool
}

func attributions() []attribution {
	return []attribution{
		{name: "operations", weight: func(_ service, d did) float64 { return d.operations }},
		{name: "bytes", weight: func(_ service, d did) float64 { return d.bytes }},
		{name: "operations x quiet latency", weight: func(s service, d did) float64 { return d.operations * s.quiet[d.class].at(d.bytesEach()) }},
		{name: "operations x demand", weight: func(s service, d did) float64 { return d.operations * s.demand[d.class].at(d.bytesEach()) }},
		{name: "operations x demand, as if no write were to last", weight: func(s service, d did) float64 {
			return d.operations * s.demand[min(d.class, writes)].at(d.bytesEach())
		}},
		{name: "bytes + operations x 32 KiB", weight: func(_ service, d did) float64 { return d.bytes + d.operations*(32<<10) }},
		{name: "in-flight time, its own clock", weight: func(_ service, d did) float64 {
			if d.operations == 0 {
				return 0
			}
			return d.inFlight
		}},
		{name: "io.pressure some", weight: func(_ service, d did) float64 { return d.stalled }},
		{name: "CPU time", weight: func(_ service, d did) float64 { return d.cpu }},
		{name: "queued work", queue: true},
	}
}

// score is how often a candidate blames the pod whose removal helps the victim most.
type score struct {
	victims, right, near int
	won                  float64 // what removing those it blames wins, as a sum of parts of the best
}

// add counts a victim, and the pod that is blamed.
func (of *score) add(t truth, picked int) {
	of.victims++
	if picked < 0 {
		return
	}
	if picked == t.Culprit {
		of.right++
	}
	if t.Without[picked] >= 0.97*t.Without[t.Culprit] {
		of.near++
	}
	if gain := t.Without[t.Culprit] - t.Together; gain > 0 {
		of.won += (t.Without[picked] - t.Together) / gain
	}
}

// blames returns the pod that an attribution blames for what another one suffers, -1 for none.
func (a attribution) blames(s service, m mixRecord, pod int) int {
	picked, best := -1, 0.0
	together := m.together()
	q := m.queued(s, together)
	for other, d := range together {
		weight := q.work[other]
		if !a.queue {
			weight = a.weight(s, d)
		}
		if other != pod && weight > best {
			picked, best = other, weight
		}
	}
	return picked
}

// showAttribution says how often each candidate blames the pod whose removal helps the victim most, in mixes of three pods and more.
func showAttribution(w io.Writer, r *recorded, s service, noisy bool) {
	fmt.Fprintln(w, "CULPRIT BY\tRIGHT\tOF\tWITHIN 3 %\tWHAT REMOVING IT WINS, OF THE BEST")
	for _, a := range attributions() {
		of := score{}
		for _, m := range r.Mixes {
			for pod, t := range m.Truth {
				if t.Culprit >= 0 && t.Without != nil && (noisy || !t.Noisy) && m.Jobs[pod].waits() {
					of.add(t, a.blames(s, m, pod))
				}
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.2f\n", a.name, of.right, of.victims, of.near, of.won/float64(max(1, of.victims)))
	}
	fmt.Fprintln(w)
}
