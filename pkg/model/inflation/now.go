package inflation

import (
	"cmp"
	"math"
	"slices"
)

// now fills in what holds of the last slots, after what was before the series.
func (s *series) now(r *reference, named []*group, before *Before, e *Estimate) {
	first := s.slots - Recent
	used, expected, units, seconds := 0.0, 0.0, 0.0, 0.0
	ofPod := make([]struct{ used, expected float64 }, s.pods)
	for i, t := range s.slot {
		if t < first {
			continue
		}
		used, expected = used+s.cpu[i]*s.seconds[i], expected+r.expected[i]*s.seconds[i]
		units, seconds = units+s.rate[i]*s.seconds[i], seconds+s.seconds[i]
		p := &ofPod[s.pod[i]]
		p.used, p.expected = p.used+s.cpu[i]*s.seconds[i], p.expected+r.expected[i]*s.seconds[i]
	}
	rate := units / seconds
	at := rate
	if at == 0 {
		at = mean(s.rate)
	}
	quiet := r.overhead/at + r.perUnit
	margin := r.spreadAt(at) / at * student(Confidence, r.last.freedom)
	if before != nil {
		margin = math.Hypot(margin, r.before*before.Error*quiet)
	}
	e.Quiet = around(quiet, margin)
	if units == 0 || expected == 0 {
		return
	}
	e.Rate, e.Now = rate, used/units
	inflation := used / expected
	relative := math.Hypot(s.varying(r, named, first), margin/quiet)
	e.Inflation = around(inflation, inflation*relative)
	e.Pods = make([]float64, s.pods)
	for k, p := range ofPod {
		if p.expected > 0 {
			e.Pods[k] = p.used / p.expected
		}
	}
}

// varying returns the half width of the interval of a mean of [Recent] slots where nothing changes, as a part of it.
func (s *series) varying(r *reference, named []*group, before int) float64 {
	used, expected := make([]float64, s.slots), make([]float64, s.slots)
	for i, t := range s.slot {
		used[t] += s.cpu[i] * s.seconds[i]
		expected[t] += r.with(named, i) * s.seconds[i]
	}
	var means []float64
	for t := 0; t+Recent <= before; t++ {
		u, x := 0.0, 0.0
		for k := range Recent {
			u, x = u+used[t+k], x+expected[t+k]
		}
		if x > 0 {
			means = append(means, u/x)
		}
	}
	const normalRange = 1.349 // of a normal distribution, between its quartiles, in standard deviations
	spread := (quantile(means, 0.75) - quantile(means, 0.25)) / normalRange
	return spread * student(Confidence, max(1, float64(before)/Recent-1))
}

// around returns a value of at least 0 with its interval.
func around(value, margin float64) Value {
	return Value{value, max(0, value-margin), value + margin}
}

func mean(of []float64) float64 {
	sum := 0.0
	for _, f := range of {
		sum += f
	}
	return sum / float64(len(of))
}

// effectsOf returns the effects of groups as they are now.
func effectsOf(s *series, groups []*group) []Effect {
	effects := make([]Effect, 0, len(groups))
	for _, g := range groups {
		cpus, number := 0.0, 0.0
		for i, t := range s.slot {
			if t >= s.slots-Recent {
				cpus, number = cpus+g.cpus[i], number+1
			}
		}
		cpus /= number
		effects = append(effects, Effect{
			Neighbours: g.members, PerCPU: g.perCPU, CPUs: cpus, Named: g.named,
			Adds: Value{cpus * g.perCPU.Value, cpus * g.perCPU.Low, cpus * g.perCPU.High},
		})
	}
	slices.SortStableFunc(effects, func(a, b Effect) int { return cmp.Compare(b.Adds.Value, a.Adds.Value) })
	return effects
}
