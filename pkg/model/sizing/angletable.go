package sizing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// AngleTable gives the angle α below which dedicated pools are preferred, by intervals
// of the SLA difference, in ascending order: Table 5 of Hu et al.
type AngleTable []Interval

// Interval is a row of an [AngleTable]. It begins where the one before ends.
type Interval struct {
	Below float64 // the SLA difference that it ends before
	Angle float64 // α in degrees
}

// Angle returns the angle for an SLA difference: that of the last interval beyond the
// table, 0 if the table is empty.
func (t AngleTable) Angle(difference float64) float64 {
	last := 0.0
	for _, row := range t {
		last = row.Angle
		if difference < row.Below {
			break
		}
	}
	return last
}

// PaperAngleTable returns Table 5 as printed.
func PaperAngleTable() AngleTable {
	return AngleTable{{30, 0}, {62, 22}, {78, 52}, {82, 69}, {86.1, 77}}
}

// Map tells where dedicated pools need fewer servers than a shared one: Figs. 4 to 7 of
// Hu et al.
type Map struct {
	Difference float64 // of the SLAs
	// Saved has, for the i-th rate of the first class and the j-th of the second, both
	// from 0, how many servers dedicated pools save: m_S − m_D. Rates whose sum is beyond
	// the limit are left out, so that row i has one entry less than row i − 1.
	Saved [][]int
	// Fraction is the fraction of the entries above 0: the paper's f_D.
	Fraction float64
}

// NewMap compares dedicated and shared pools for two SLAs, for all rates of a grid whose
// sum is on the grid, with a service rate of 1.
func NewMap(first, second SLA, grid Grid) (Map, error) {
	one, err := grid.needs(first)
	if err != nil {
		return Map{}, err
	}
	other, err := grid.needs(second)
	if err != nil {
		return Map{}, err
	}
	return newMap(one, other, grid), nil
}

func newMap(one, other []int, grid Grid) Map {
	sum, entries, dedicated := 0, 0, 0
	for i := range one {
		sum += one[i] - other[i]
	}
	m := Map{Difference: math.Abs(float64(sum)) / grid.Limit}
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
	if entries > 0 {
		m.Fraction = float64(dedicated) / float64(entries)
	}
	return m
}

// NewAngleTable computes a table like Table 5 for any SLAs and rates: for each pair of
// SLAs that some servers can meet, the largest angle below which at least a fraction
// quality of the points prefer dedicated pools (0.9 in the paper), averaged over the
// pairs whose difference falls between two edges, which are ascending and above 0. The
// angles of intervals without a pair are interpolated from their neighbours.
func NewAngleTable(slas []SLA, edges []float64, grid Grid, quality float64) (AngleTable, error) {
	if !(quality > 0 && quality <= 1) {
		return nil, fmt.Errorf("quality: %v is not above 0 and at most 1", quality)
	}
	for i, edge := range edges {
		if !(edge > 0) || i > 0 && !(edge > edges[i-1]) {
			return nil, fmt.Errorf("edges[%d]: %v is not above 0 and the edge before", i, edge)
		}
	}
	if err := grid.validate(); err != nil {
		return nil, err
	}
	var needs [][]int
	for _, sla := range slas {
		if checkSLA(sla) != nil {
			continue
		}
		need, err := grid.needs(sla)
		if err != nil {
			return nil, err
		}
		needs = append(needs, need)
	}
	slices.SortStableFunc(needs, func(a, b []int) int { return cmp.Compare(total(a), total(b)) })
	points := byAngle(grid.points())
	sums, counts := make([]float64, len(edges)), make([]int, len(edges))
	for i, loose := range needs {
		for _, strict := range needs[i+1:] {
			m := newMap(loose, strict, grid)
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

// largestAngle returns the largest angle below which at least a fraction of the points
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
