package sizing

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Map says where dedicated pools need fewer servers than a shared one: Figs. 4 to 7 of
// Hu et al.
type Map struct {
	Difference float64 // of the SLAs, D
	// Saved has, for the i-th rate of the first class and the j-th of the second, both
	// from 0, how many servers dedicated pools save: m_S − m_D. Rates whose sum is beyond
	// the limit are left out, so that row i has one entry less than row i − 1.
	Saved [][]int
	// Fraction is the fraction of the entries above 0: the paper's f_D.
	Fraction float64
}

// NewMap compares dedicated and shared pools for two SLAs that can be met with a service
// rate of 1, for all rates up to a limit whose sum is not beyond it.
func NewMap(first, second SLA, limit, step float64) (Map, error) {
	g := grid{limit, step}
	one, err1 := g.needs(first)
	other, err2 := g.needs(second)
	if err := errors.Join(err1, err2); err != nil {
		return Map{}, err
	}
	return newMap(one, other, limit), nil
}

func newMap(one, other []int, limit float64) Map {
	m := Map{Difference: math.Abs(float64(total(one)-total(other))) / limit}
	entries, dedicated := 0, 0
	for i := range len(one) - 1 {
		row := make([]int, len(one)-1-i)
		for j := range row {
			together := i + j + 1 // the rates are i + 1, j + 1 and i + j + 2 steps
			row[j] = max(one[together], other[together]) - one[i] - other[j]
			entries++
			if row[j] > 0 {
				dedicated++
			}
		}
		m.Saved = append(m.Saved, row)
	}
	m.Fraction = float64(dedicated) / float64(entries)
	return m
}

// NewAngleTable computes a table like Table 5 on the paper's grid of rates: for each
// pair of SLAs that some servers can meet, the largest angle up to which at least a
// fraction quality of the points prefer dedicated pools (0.9 in the paper), averaged over
// the pairs whose difference falls between two edges, which are ascending and above 0. An
// interval without a pair has the angle of the one before.
func NewAngleTable(slas []SLA, edges []float64, quality float64) (AngleTable, error) {
	var needs [][]int
	for _, sla := range slas {
		if checkSLA(sla) != nil {
			continue
		}
		need, err := paperGrid().needs(sla)
		if err != nil {
			return nil, err
		}
		needs = append(needs, need)
	}
	slices.SortStableFunc(needs, func(a, b []int) int { return cmp.Compare(total(a), total(b)) })
	points := byAngle(len(needs[0]))
	sums, counts := make([]float64, len(edges)), make([]int, len(edges))
	for i, loose := range needs {
		for _, strict := range needs[i+1:] {
			m := newMap(loose, strict, paperGrid().limit)
			row, found := slices.BinarySearch(edges, m.Difference)
			if found {
				row++
			}
			if row < len(edges) {
				sums[row] += m.largestAngle(points, quality)
				counts[row]++
			}
		}
	}
	table := make(AngleTable, len(edges))
	for row, edge := range edges {
		table[row].Below = edge
		if counts[row] > 0 {
			table[row].Angle = sums[row] / float64(counts[row])
		} else if row > 0 {
			table[row].Angle = table[row-1].Angle
		}
	}
	return table, nil
}

func total(needs []int) int {
	sum := 0
	for _, m := range needs {
		sum += m
	}
	return sum
}

// point is an entry of a map: i of the class with the looser SLA, j of the stricter.
type point struct {
	i, j  int
	angle float64
}

// byAngle returns the entries of a map in order of their angles.
func byAngle(steps int) []point {
	var points []point
	for i := range steps - 1 {
		for j := range steps - 1 - i {
			points = append(points, point{i, j, angle(float64(i+1), float64(j+1))})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.angle, b.angle) })
	return points
}

// largestAngle returns the largest angle up to which at least a fraction of the points
// prefer dedicated pools, 0 if there is none.
func (m Map) largestAngle(points []point, quality float64) float64 {
	best, dedicated := 0.0, 0
	for n, p := range points {
		if m.Saved[p.i][p.j] > 0 {
			dedicated++
		}
		last := n+1 == len(points) || points[n+1].angle > p.angle
		if last && float64(dedicated) >= quality*float64(n+1) {
			best = p.angle
		}
	}
	return best
}

// ServersOf returns the fewest servers of two dedicated pools, m_D, and of a shared
// one, m_S, for two classes with a service rate of 1: Eqs. (2) and (3) of Hu et al.
func ServersOf(arrivals [2]float64, slas [2]SLA) (dedicated, shared int, err error) {
	for k, sla := range slas {
		alone, errAlone := servers(arrivals[k], 1, sla)
		together, errTogether := servers(arrivals[0]+arrivals[1], 1, sla)
		if err := errors.Join(errAlone, errTogether); err != nil {
			return 0, 0, err
		}
		dedicated += alone
		shared = max(shared, together)
	}
	return dedicated, shared, nil
}

// checkSLA returns the error of an SLA that cannot be met at a service rate of 1.
func checkSLA(sla SLA) error {
	return Validate([]Class{{Name: sla.String(), Service: 1, SLA: sla}})
}
