package main

import (
	"slices"

	"loadline.dev/loadline/pkg/model/contention/probing"
)

// medians finds what the rounds have in common. What was measured beside something compares with what was measured alone
// just before and just after: the neighbors of a virtual machine change within minutes what it has of a cache.
type medians struct{ rows []row }

func newMedians(rows []row) *medians { return &medians{rows} }

// median returns that of at least one value.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// alone returns the mean times of a target alone, of the last row before a row and the first one after it; ok is false if
// there is neither.
func (m *medians) alone(target string, at int) (wall, cpu float64, ok bool) {
	found := 0.0
	for _, step := range []int{-1, 1} {
		for k := at + step; k >= 0 && k < len(m.rows); k += step {
			if r := m.rows[k]; r.target == target && r.beside == "" {
				wall, cpu, found = wall+r.wall, cpu+r.cpu, found+1
				break
			}
		}
	}
	return wall / found, cpu / found, found > 0
}

// inflations returns those of a target's processor time, of each round.
func (m *medians) inflations(target, beside string, pressure float64, where place) []float64 {
	_, cpus := m.ratios(target, beside, pressure, where)
	for k := range cpus {
		cpus[k] = max(probing.MinDilation, cpus[k]) // further below 1 it is noise
	}
	return cpus
}

// ratios returns the times of a target beside something over those alone, of each round.
func (m *medians) ratios(target, beside string, pressure float64, where place) (walls, cpus []float64) {
	for k, r := range m.rows {
		if r.target != target || r.beside != beside || r.pressure != pressure || r.where != where {
			continue
		}
		if wall, cpu, ok := m.alone(target, k); ok {
			walls, cpus = append(walls, r.wall/wall), append(cpus, r.cpu/cpu)
		}
	}
	return walls, cpus
}

// dilation returns the median ratios of times of a program beside another one; ok is false if there are none.
func (m *medians) dilation(target, beside string, where place) (wall, cpu float64, ok bool) {
	walls, cpus := m.ratios(target, beside, 1, where)
	if len(walls) == 0 {
		return 0, 0, false
	}
	return median(walls), median(cpus), true
}

// pressures returns those of the bubbles of a job that a target was measured beside, ascending.
func (m *medians) pressures(target, job string) []float64 {
	var found []float64
	for _, r := range m.rows {
		if r.target == target && r.beside == job {
			found = append(found, r.pressure)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// programs returns the names of the programs, in the order in which they ran first.
func (m *medians) programs() []string {
	var names []string
	for _, r := range m.rows {
		if !slices.Contains(pressed(), r.target) && !slices.Contains(names, r.target) {
			names = append(names, r.target)
		}
	}
	return names
}

// loading returns the fraction of its time that a program alone computes: the median of the rounds.
func (m *medians) loading(program string) float64 {
	var found []float64
	for _, r := range m.rows {
		if r.target == program && r.beside == "" {
			found = append(found, min(1, r.cpu/r.wall))
		}
	}
	return median(found)
}
