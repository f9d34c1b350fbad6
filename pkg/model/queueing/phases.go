package queueing

import (
	"cmp"
	"math"
	"slices"
)

// phases are the jobs of a queue by exponential service times: of the jobs that arrive at
// a rate λ, a share p_i is served at the rate μ_i.
type phases struct {
	arrival float64
	list    []phase // in ascending order of the rates, which all differ
}

type phase struct{ share, rate float64 }

// alike is by what fraction rates differ that are taken for one. The squared coefficient
// of variation of their mix is off by alike²/2 at most.
const alike = 0.01

// newPhases sorts phases, and merges those with rates that are nearly the same.
func newPhases(arrival float64, list []phase) phases {
	list = slices.DeleteFunc(slices.Clone(list), func(p phase) bool { return p.share == 0 })
	slices.SortFunc(list, func(a, b phase) int { return cmp.Compare(a.rate, b.rate) })
	x := phases{arrival, list}
	for i := 0; i+1 < len(x.list); {
		if x.list[i+1].rate <= (1+alike)*x.list[i].rate {
			x = x.merge(i)
		} else {
			i++
		}
	}
	return x
}

// load returns the offered load of a phase, λp/μ.
func (x phases) load(i int) float64 { return x.arrival * x.list[i].share / x.list[i].rate }

// merge merges a phase with the next faster one. The load does not change, and neither does the
// second moment of the service times per unit of time, and with it the mean wait at one server; the
// rate of arrivals may change.
func (x phases) merge(i int) phases {
	a, b := x.load(i), x.load(i+1)
	merged := phases{list: make([]phase, 0, len(x.list)-1)}
	mean := a/(a+b)/x.list[i].rate + b/(a+b)/x.list[i+1].rate
	arrivals := make([]float64, 0, len(x.list)-1)
	for k, p := range x.list {
		switch k {
		case i:
			arrivals = append(arrivals, (a+b)/mean)
			merged.list = append(merged.list, phase{rate: 1 / mean})
		case i + 1:
		default:
			arrivals = append(arrivals, x.arrival*p.share)
			merged.list = append(merged.list, p)
		}
	}
	for _, rate := range arrivals {
		merged.arrival += rate
	}
	for k, rate := range arrivals {
		merged.list[k].share = rate / merged.arrival
	}
	return merged
}

// fewer merges phases until count are left, each time the two for which that matters
// least, and returns a bound of the error of the wait.
func (x phases) fewer(count int) (phases, float64) {
	off := 0.0
	for len(x.list) > count {
		losses := x.losses()
		at := slices.Index(losses, slices.Min(losses))
		off += mergingError * losses[at]
		x = x.merge(at)
	}
	return x, min(off, maxMergingError)
}

// losses returns for each phase but the last how much merging it with the next one
// matters: little if their rates are near, or if one has hardly any share of the load and
// of the second moment of the service times.
func (x phases) losses() []float64 {
	load, square := 0.0, 0.0
	for i, p := range x.list {
		load += x.load(i)
		square += x.load(i) / p.rate
	}
	weight := func(i int) float64 { return x.load(i)/load + x.load(i)/x.list[i].rate/square }
	losses := make([]float64, len(x.list)-1)
	for i := range losses {
		a, b, distance := weight(i), weight(i+1), math.Log(x.list[i+1].rate/x.list[i].rate)
		losses[i] = a * b / (a + b) * distance * distance
	}
	return losses
}

// offered returns the offered load of all phases.
func (x phases) offered() float64 {
	sum := 0.0
	for i := range x.list {
		sum += x.load(i)
	}
	return sum
}

// root returns ν_i, the only root of
//
//	ν Σ_j p_j/(μ_j − ν) = y,   y > 0,
//
// between the rates μ_(i−1), or 0, and μ_i. Both poles are multiplied out.
func (x phases) root(i int, y float64) float64 {
	above, below := x.list[i].rate, 0.0
	if i > 0 {
		below = x.list[i-1].rate
	}
	return bracketed(below, above, func(v float64) float64 {
		others := 0.0
		for j, p := range x.list {
			if j != i && j != i-1 {
				others += p.share / (p.rate - v)
			}
		}
		value := x.list[i].share*v + (above-v)*(v*others-y)
		if i == 0 {
			return value
		}
		return (v-below)*value - x.list[i-1].share*v*(above-v)
	})
}

// bracketed returns the root between low and high of a function that is not positive
// at low and positive at high, to a rounding: false position, in which an end that stays
// counts half (the Illinois algorithm).
func bracketed(low, high float64, f func(x float64) float64) float64 {
	atLow, atHigh := f(low), f(high)
	if atLow >= 0 {
		return low
	}
	last, side := low, 0
	for range 200 {
		x := low + (high-low)*(atLow/(atLow-atHigh))
		if !(x > low && x < high) {
			x = low + (high-low)/2
		}
		value := f(x)
		if value == 0 || math.Abs(x-last) <= 1e-16*math.Abs(x) {
			return x
		}
		last = x
		if value < 0 {
			low, atLow = x, value
			if side == -1 {
				atHigh /= 2
			}
			side = -1
		} else {
			high, atHigh = x, value
			if side == 1 {
				atLow /= 2
			}
			side = 1
		}
	}
	return last
}
