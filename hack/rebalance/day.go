package main

import (
	"math"
	"math/rand/v2"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/arrivals"
	"loadline.dev/loadline/pkg/model/loading"
)

// Parameters of the day. They were written down before any remedy ran.
const (
	// hours is the length of the day, after which it repeats.
	hours = 24
	// leastSwing and mostSwing bound how far the use of an application is above and below its mean in the course of the day, as a part of
	// the mean.
	leastSwing, mostSwing = 0.2, 0.7
	// wander is the standard deviation of the logarithm of the use at full hours around that course. It is linear between them.
	wander = 0.1
	// fullest is the largest part of the time that a thread computes.
	fullest = 0.97
)

// Streams of random numbers.
const (
	dayStream arrivals.Stream = 401 + iota
	gaugesStream
	tiesStream
)

// day is the use of the applications of a scenario in the course of a day. It follows from the scenario's seed.
type day struct {
	courses map[*scenario.Application]course
}

// course is the use of one application: its vector times a factor that varies by time.
type course struct {
	swing, peak float64 // a part of the mean, and the hour of the largest use
	wanders     [hours + 1]float64
}

// processorsOnly takes disks and links out of what the pods of a scenario use and what their profiles say. What they did there they sleep.
// Neither of the remedies sees disks and links.
func processorsOnly(s *scenario.Scenario) {
	for _, a := range s.Applications {
		for _, v := range []loading.Vector{a.Vector, a.Declared} {
			for i := range v {
				if i != scenario.CPU {
					v[i] = loading.Demand{}
				}
			}
		}
	}
}

// newDay draws the day of a scenario.
func newDay(s *scenario.Scenario) *day {
	draw, d := rand.New(arrivals.Source(s.Seed, dayStream)), &day{map[*scenario.Application]course{}}
	for _, a := range s.Applications {
		c := course{swing: leastSwing + (mostSwing-leastSwing)*draw.Float64(), peak: hours * draw.Float64()}
		for h := range hours {
			c.wanders[h] = wander * draw.NormFloat64()
		}
		c.wanders[hours] = c.wanders[0]
		d.courses[a] = c
	}
	return d
}

// factor returns the use at a time, in hours from 0 to 24, as a multiple of its mean.
func (c *course) factor(at float64) float64 {
	hour, part := math.Modf(at)
	h := int(hour) % hours
	wandered := c.wanders[h]*(1-part) + c.wanders[h+1]*part
	return (1 + c.swing*math.Cos(2*math.Pi*(at-c.peak)/hours)) * math.Exp(wandered)
}

// vector returns what the pods of an application are at a time, in hours from 0 to 24: threads that compute for more or less of the time.
func (d *day) vector(a *scenario.Application, at float64) loading.Vector {
	c, cpu := d.courses[a], a.Vector[scenario.CPU]
	cpu.Loading = min(fullest, cpu.Loading*c.factor(at))
	cpu.Pressure = cpu.Loading
	return loading.Vector{cpu}
}

// vectors returns those of all applications at a time.
func (d *day) vectors(at float64) map[*scenario.Application]loading.Vector {
	all := make(map[*scenario.Application]loading.Vector, len(d.courses))
	for a := range d.courses {
		all[a] = d.vector(a, at)
	}
	return all
}
