package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"loadline.dev/loadline/pkg/model/fit"
)

// accelerator is a made-up device whose jobs slow each other down by a mechanism
// that is not the model of the fit, and what measuring them does to the figures.
type accelerator struct {
	names   []string
	dilated func(own, other int) float64
	factor  []float64 // per job, of all its dilations: its alone time was measured wrong
	noise   []float64 // per job, the standard deviation of the logarithm of a dilation
	missing float64   // the share of pairs that did not fit into the memory
	wild    float64   // the share of dilations that are wrong, most of them too large, by up to five times
	random  *rand.Rand
}

// measuredAs sets what measuring the named jobs does to the figures.
func (d *accelerator) measuredAs(names []string) {
	d.names, d.missing, d.wild = names, 0.04, 0.02
	for range names {
		factor := 1.0
		if d.random.Float64() < 0.15 {
			factor = math.Exp(0.2 * d.random.NormFloat64())
		}
		d.factor = append(d.factor, factor)
		d.noise = append(d.noise, 0.012*math.Exp(0.7*d.random.NormFloat64()))
	}
}

// kernel is the load of a training job on a device.
type kernel struct {
	length    float64 // of a kernel, in milliseconds
	busy      float64 // the share of the time during which it runs one, alone
	host      float64 // the share of the time during which it needs the host's processors, alone
	bandwidth float64 // the share of the memory's bandwidth that it takes, alone
	occupancy float64 // the share of the multiprocessors that a kernel fills
	memory    float64 // the share of the device's memory that it takes
}

// mostDilated bounds dilations: larger ones were not measured.
const mostDilated = 20

// mechanisms are ways in which jobs on one device slow each other down.
var mechanisms = map[string]func(own, other kernel) float64{
	// Kernels of the two take turns while both have some.
	"turns": func(a, b kernel) float64 {
		return 1 + a.busy*b.busy*b.length/a.length
	},
	// A kernel waits for the rest of the other's, more so where it needs the device most of the time.
	"queue": func(a, b kernel) float64 {
		return 1 + a.busy*b.busy/(1.15-b.busy)*(0.5+0.5*b.length/a.length)
	},
	// There is no slowdown until the two need more of some resource than there is.
	"saturation": func(a, b kernel) float64 {
		over := max(1, a.bandwidth+b.bandwidth)
		hosts := max(1, a.host+b.host)
		device := max(1, a.busy*a.occupancy+b.busy*b.occupancy)
		return max(over, hosts, device) * (1 + 0.1*a.busy*b.bandwidth)
	},
	// The longest of the phases that overlap decides: the device, the host, the memory.
	"roofline": func(a, b kernel) float64 {
		alone := max(a.busy, a.host, a.bandwidth)
		return max(a.busy+b.busy*math.Sqrt(b.length/a.length), a.host+0.8*b.host, a.bandwidth+b.bandwidth) / alone
	},
	// What fills the device first keeps it.
	"occupancy": func(a, b kernel) float64 {
		free := max(0.06, 1-b.busy*b.occupancy*b.occupancy/(a.occupancy+0.1))
		return 1 + a.busy*(1/free-1) + 0.5*a.host*b.host
	},
	// Beyond the memory pages are moved to the host and back.
	"thrash": func(a, b kernel) float64 {
		over := max(0, a.memory+b.memory-1)
		return (1 + 0.8*a.busy*b.busy) * (1 + 12*over*over*a.bandwidth)
	},
}

// further are mechanisms on which nothing was chosen but which parts of a correction
// to keep, on draws from 1000 on.
var further = map[string]func(own, other kernel) float64{
	"simulated": simulateTurns,
	// The scheduler of the device gives each a share by the number of its kernels in flight.
	"shares": func(a, b kernel) float64 {
		mine, theirs := a.busy/math.Sqrt(a.length), b.busy/math.Sqrt(b.length)
		share := mine / (mine + theirs)
		return max(1-a.busy, 0) + a.busy*max(1, min(a.busy+b.busy, 1)*a.busy/max(share, 0.02)/max(a.busy, 0.05)) + 0.3*a.host*b.host
	},
	// Copies to the device delay the launches of jobs that launch often.
	"copies": func(a, b kernel) float64 {
		launches := 1 / (1 + a.length)
		return math.Pow(1+2*launches*b.memory*b.host, 1.5) * max(1, 0.7*(a.busy+b.busy)) * (1 + 0.4*a.bandwidth*b.bandwidth)
	},
	// Some pairs are slowed down by turns, others by the memory, whichever is worse.
	"worst of all": func(a, b kernel) float64 {
		return max(1+a.busy*b.busy*math.Pow(b.length/a.length, 0.7), 1+3*a.bandwidth*b.bandwidth*b.bandwidth, 1+a.host*b.host)
	},
}

// simulateTurns runs two closed loops, host work then a kernel, on one device that serves in the order of
// arrival, for enough steps to estimate the mean.
func simulateTurns(a, b kernel) float64 {
	random := rand.New(rand.NewPCG(uint64(1e9*a.length), uint64(1e9*b.length)))
	jobs := [2]kernel{a, b}
	var ready, done [2]float64
	var kernels [2]int
	think := func(k kernel) float64 { return k.length * (1 - k.busy) / k.busy * random.ExpFloat64() }
	ready[0], ready[1] = think(a), think(b)
	free := 0.0
	for kernels[0] < 400 || kernels[1] < 400 {
		next := 0
		if ready[1] < ready[0] {
			next = 1
		}
		start := max(free, ready[next])
		free = start + jobs[next].length*(0.5+random.Float64())
		kernels[next]++
		done[next] = free
		ready[next] = free + think(jobs[next])
		if kernels[0]+kernels[1] > 60000 {
			break
		}
	}
	return max(1, done[0]/float64(kernels[0])/(a.length/a.busy))
}

// newAccelerator draws families of jobs that differ within by their batch size.
// What two families do to each other is off from the mechanism by a common factor.
func newAccelerator(mechanism func(own, other kernel) float64, seed uint64) *accelerator {
	d := &accelerator{random: rand.New(rand.NewPCG(seed, 100))}
	spread := 0.2 + 0.4*d.random.Float64()
	families := []int{5, 4, 5, 5, 1, 5, 1}
	quirk := make([][]float64, len(families)) // of the excess dilation
	for a := range families {
		for range families {
			quirk[a] = append(quirk[a], math.Exp(spread*d.random.NormFloat64()))
		}
	}
	var jobs []kernel
	var names []string
	var familyOf []int
	for family, sizes := range families {
		length := math.Exp(1.0 * d.random.NormFloat64())
		busy, host := 0.15+0.8*d.random.Float64(), 0.1+0.8*d.random.Float64()
		bandwidth, occupancy, memory := 0.1+0.7*d.random.Float64(), 0.2+0.7*d.random.Float64(), 0.1+0.4*d.random.Float64()
		grows := 0.3 + 0.6*d.random.Float64()
		for size := range sizes {
			scale := math.Pow(2, float64(size)*grows)
			familyOf = append(familyOf, family)
			names = append(names, fmt.Sprintf("%c (batch size %d)", 'A'+family, 16<<size))
			jobs = append(jobs, kernel{
				length: length * scale, busy: 1 - (1-busy)/math.Sqrt(scale), host: host / math.Sqrt(scale),
				bandwidth: 1 - (1-bandwidth)/math.Pow(scale, 0.3), occupancy: 1 - (1-occupancy)/math.Pow(scale, 0.5),
				memory: 1 - (1-memory)/math.Pow(scale, 0.4),
			})
		}
	}
	d.dilated = func(own, other int) float64 {
		return 1 + max(0, mechanism(jobs[own], jobs[other])-1)*quirk[familyOf[own]][familyOf[other]]
	}
	d.measuredAs(names)
	return d
}

// newStretched draws a device with the structure of the pairs measured on a K80, the dilations of a fit,
// with larger contrasts: the logarithms of the costs of company are stretched, and each job shifted both
// as victim and as aggressor.
func newStretched(t *testing.T, seed uint64) *accelerator {
	t.Helper()
	r := mustFit(t, measuredPairs(t), fit.Options{})
	d := &accelerator{random: rand.New(rand.NewPCG(seed, 101))}
	stretch := 1.2 + d.random.Float64()
	var names []string
	var own, other []float64
	for _, j := range r.Jobs {
		names = append(names, j.Name)
		own, other = append(own, 0.4*d.random.NormFloat64()), append(other, 0.4*d.random.NormFloat64())
	}
	const typical, stretched = 1., 0.6 // what company costs in the median, there and here
	d.dilated = func(j, k int) float64 {
		pair, err := r.Predict(names[j], names[k])
		if err != nil {
			t.Fatal(err)
		}
		excess := max(0.05, pair[0].Value-1)
		return 1 + stretched*math.Exp(stretch*math.Log(excess/typical)+own[j]+other[k])
	}
	d.measuredAs(names)
	return d
}

// runs measures all pairs, copies included.
func (d *accelerator) runs() []fit.Run {
	var runs []fit.Run
	for j := range d.names {
		for k := j; k < len(d.names); k++ {
			if d.random.Float64() < d.missing {
				continue
			}
			runs = append(runs, pair(fmt.Sprint(len(runs)+1), d.names[j], d.measure(j, k), d.names[k], d.measure(k, j)))
		}
	}
	return runs
}

// measure returns the dilation of a job beside another, as observed.
func (d *accelerator) measure(own, other int) float64 {
	dilation := d.truth(own, other) * math.Exp(d.noise[own]*d.random.NormFloat64())
	if d.random.Float64() < d.wild {
		dilation *= math.Exp(2*d.random.Float64() - 0.4)
	}
	return max(dilation, fit.MinDilation)
}

// truth returns the dilation of a job beside another, over its stated alone time.
func (d *accelerator) truth(own, other int) float64 {
	return min(mostDilated, d.dilated(own, other)) * d.factor[own]
}
