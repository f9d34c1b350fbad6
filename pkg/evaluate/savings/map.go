package savings

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"loadline.dev/loadline/pkg/text"
)

// Little is the excess dilation that is not worth a scheduler of one's own: it is about what predictions are off on real nodes.
const Little = 0.05

// Map has the excess dilation at each point of a grid.
type Map struct {
	axes [3]axis // in the order of coordinates
	rows map[coordinates]Row
}

// coordinates are the numbers of a [Point], in their order.
type coordinates [3]float64

func (p Point) coordinates() coordinates { return coordinates{p.Load, p.PodsPerCore, p.Unlikeness} }

// axis is a coordinate of a map.
type axis struct {
	name   string
	grid   []float64 // in ascending order
	scale  func(float64) float64
	format func(float64) string
}

//go:embed map.csv
var made []byte

// Made returns the map that hack/savingsmap has made.
var Made = sync.OnceValues(func() (*Map, error) {
	rows, err := ReadRows(bytes.NewReader(made))
	if err != nil {
		return nil, fmt.Errorf("map.csv: %w", err)
	}
	return NewMap(rows)
})

// NewMap returns the map of some rows, in any order, with each combination of their loads, pods per core and unlikenesses once. The
// error names a point that is missing or there twice.
func NewMap(rows []Row) (*Map, error) {
	if len(rows) == 0 {
		return nil, errors.New("the map has no points")
	}
	m := &Map{rows: map[coordinates]Row{}, axes: [3]axis{
		{name: "load", scale: func(x float64) float64 { return x }, format: percent},
		{name: "pods per core", scale: math.Log, format: text.Compact},
		{name: "unlikeness", scale: func(x float64) float64 { return x }, format: text.Compact},
	}}
	points := 1
	for i := range m.axes {
		for k := range rows {
			m.axes[i].grid = append(m.axes[i].grid, rows[k].coordinates()[i])
		}
		slices.Sort(m.axes[i].grid)
		m.axes[i].grid = slices.Compact(m.axes[i].grid)
		points *= len(m.axes[i].grid)
	}
	for _, r := range rows {
		if _, twice := m.rows[r.coordinates()]; twice {
			return nil, fmt.Errorf("%v: is there twice", r.coordinates())
		}
		m.rows[r.coordinates()] = r
	}
	if len(rows) < points {
		return nil, fmt.Errorf("%d points, where a grid of %d loads, %d pods per core and %d unlikenesses has %d",
			len(rows), len(m.Loads()), len(m.PodsPerCore()), len(m.Unlikenesses()), points)
	}
	return m, nil
}

// Loads returns those of the grid, in ascending order.
func (m *Map) Loads() []float64 { return m.axes[0].grid }

// PodsPerCore returns those of the grid, in ascending order.
func (m *Map) PodsPerCore() []float64 { return m.axes[1].grid }

// Unlikenesses returns those of the grid, in ascending order.
func (m *Map) Unlikenesses() []float64 { return m.axes[2].grid }

// Row returns what was found at a point of the grid.
func (m *Map) Row(at Point) Row { return m.rows[at.coordinates()] }

// At returns the excess at any point within the grid: linear in the load, in the logarithm of the pods per core, and in the
// unlikeness. The error says by which of these the point is outside.
func (m *Map) At(p Point) (e Excess, outside error) {
	type corner struct {
		at     coordinates
		weight float64
	}
	corners := []corner{{weight: 1}}
	for i, x := range p.coordinates() {
		low, high, part, err := m.axes[i].around(x)
		if err != nil {
			return Excess{}, err
		}
		for k := range corners {
			further := corners[k]
			corners[k].at[i], corners[k].weight = low, corners[k].weight*(1-part)
			further.at[i], further.weight = high, further.weight*part
			corners = append(corners, further)
		}
	}
	for _, c := range corners {
		e.KubeScheduler += c.weight * m.rows[c.at].KubeScheduler
		e.Loadline += c.weight * m.rows[c.at].Loadline
	}
	return e, nil
}

// around returns the values of the grid between which a value is, and at which part of the way between them.
func (a *axis) around(x float64) (low, high, part float64, err error) {
	first, last := a.grid[0], a.grid[len(a.grid)-1]
	if !(x >= first && x <= last) {
		return 0, 0, 0, fmt.Errorf("%s %s, where the map has %s to %s", a.name, a.format(x), a.format(first), a.format(last))
	}
	i, exact := slices.BinarySearch(a.grid, x)
	if exact {
		return x, x, 0, nil
	}
	low, high = a.grid[i-1], a.grid[i]
	return low, high, (a.scale(x) - a.scale(low)) / (a.scale(high) - a.scale(low)), nil
}

// percent writes a fraction as a whole percentage.
func percent(fraction float64) string { return fmt.Sprintf("%.0f %%", 100*fraction) }
