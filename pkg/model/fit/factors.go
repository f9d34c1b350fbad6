package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// factors are the sensitivities and pressures of all jobs at m resources, and
// their baselines.
type factors struct {
	resources   int
	sensitivity []float64 // job by job
	pressure    []float64 // the same memory as sensitivity in a symmetric model
	baseline    []float64 // per job, the true alone time over the stated one
}

func newFactors(jobs, resources int, symmetric bool) *factors {
	f := &factors{resources: resources, sensitivity: make([]float64, jobs*resources), baseline: slices.Repeat([]float64{1}, jobs)}
	f.pressure = f.sensitivity
	if !symmetric {
		f.pressure = make([]float64, jobs*resources)
	}
	return f
}

// set makes f equal to g, which is of its size.
func (f *factors) set(g *factors) {
	copy(f.sensitivity, g.sensitivity)
	copy(f.pressure, g.pressure)
	copy(f.baseline, g.baseline)
}

// symmetric reports whether pressures are sensitivities.
func (f *factors) symmetric() bool { return &f.sensitivity[0] == &f.pressure[0] }

// unknowns returns how many numbers there are.
func (f *factors) unknowns() int {
	if f.symmetric() {
		return len(f.sensitivity)
	}
	return 2 * len(f.sensitivity)
}

// sensitivityOf returns the sensitivities of one job, to read or write.
func (f *factors) sensitivityOf(job int) []float64 {
	return f.sensitivity[job*f.resources : (job+1)*f.resources]
}

// pressureOf returns the pressures of one job, to read or write.
func (f *factors) pressureOf(job int) []float64 {
	return f.pressure[job*f.resources : (job+1)*f.resources]
}

// largest returns the largest sensitivity and pressure of any job per resource.
func (f *factors) largest() (sensitivity, pressure []float64) {
	sensitivity, pressure = make([]float64, f.resources), make([]float64, f.resources)
	for j := range f.baseline {
		for i := range f.resources {
			sensitivity[i], pressure[i] = max(sensitivity[i], f.sensitivityOf(j)[i]), max(pressure[i], f.pressureOf(j)[i])
		}
	}
	return sensitivity, pressure
}

// scatter returns a random start for a fit.
func scatter(jobs, resources int, symmetric bool, random *rand.Rand) *factors {
	f := newFactors(jobs, resources, symmetric)
	for x := range f.sensitivity {
		f.sensitivity[x] = 0.1 + random.Float64()
		f.pressure[x] = 0.1 + random.Float64()
	}
	return f
}

// grow returns a random start for a fit with one resource more than f has: f,
// somewhat shaken, and a small share for the new resource.
func grow(f *factors, jobs int, symmetric bool, random *rand.Rand) *factors {
	m := f.resources + 1
	g := newFactors(jobs, m, symmetric)
	copy(g.baseline, f.baseline)
	for j := range jobs {
		shake(g.sensitivityOf(j), f.sensitivityOf(j), random)
		if !symmetric {
			shake(g.pressureOf(j), f.pressureOf(j), random)
		}
	}
	return g
}

// shake sets to from, which has one value less, and fills in the missing value.
func shake(to, from []float64, random *rand.Rand) {
	for i, v := range from {
		to[i] = v * (1 - 0.3*random.Float64())
	}
	to[len(from)] = 0.7 * (0.1 + random.Float64())
}

// arrange puts hidden resources in order, the one with the most contention
// first, and, if rescale is set, makes sensitivities and pressures equally
// large there: Σ s² = Σ q². Symmetric jobs then have equal ones, as in the
// D-factor paper.
func (f *factors) arrange(rescale bool) {
	m := f.resources
	type place struct {
		from  int
		scale float64
		size  float64
	}
	places := make([]place, m)
	for i := range places {
		s, q := 0.0, 0.0
		for x := i; x < len(f.sensitivity); x += m {
			s += f.sensitivity[x] * f.sensitivity[x]
			q += f.pressure[x] * f.pressure[x]
		}
		places[i] = place{from: i, scale: 1, size: s * q}
		if rescale && s > 0 && q > 0 {
			places[i].scale = math.Sqrt(math.Sqrt(q / s))
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.size, a.size) })
	s, q := make([]float64, len(f.sensitivity)), make([]float64, len(f.pressure))
	for x := range s {
		p := places[x%m]
		s[x] = f.sensitivity[x-x%m+p.from] * p.scale
		q[x] = f.pressure[x-x%m+p.from] / p.scale
	}
	if f.symmetric() {
		q = s
	}
	f.sensitivity, f.pressure = s, q
}
