package pools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"loadline.dev/loadline/pkg/model/sizing"
)

// Map is where dedicated pools cost less than a shared one, over the rates of arrival
// of two classes.
type Map struct {
	X, Y Axis
	// Margins[r][c] is the saving of dedicated pools over a shared one in the middle of a cell;
	// below 0 they cost more. Rows are parts of Y from 0 up, columns parts of X.
	Margins [][]float64
	// SameCost reports whether a server costs the same for both classes, so that
	// margins are numbers of servers times that.
	SameCost bool
}

// Axis is the rate of arrival of one class, from 0 to To per second.
type Axis struct {
	Class   string
	To, Now float64
}

// CompareByRates finds where dedicated pools beat a shared one, and by how much, over
// the rates of arrival of the two classes of a plan: Figs. 4 to 7 of Hu et al., CASCON
// 2009. The error is that of [Plan], or says why there is no map.
func CompareByRates(ctx context.Context, in Input) (*Map, error) {
	p, err := newPlanner(&in)
	if err != nil {
		return nil, err
	}
	if err := p.faultless(); err != nil {
		return nil, err
	}
	if len(p.classes) != 2 {
		return nil, fmt.Errorf("a map has two axes, and there are %d classes: it takes two", len(p.classes))
	}
	if p.options.Discipline.Simulated() {
		return nil, errors.New("a map takes thousands of answers, and this discipline simulates each: draw it for fcfs or hol")
	}
	first, second := p.classes[0], p.classes[1]
	m := &Map{X: axis(first, second), Y: axis(second, first), SameCost: cmp.Or(first.Cost, 1) == cmp.Or(second.Cost, 1)}
	s := surveyor{classes: [2]sizing.Class{first, second}, options: sizing.Options{Discipline: p.options.Discipline}, x: m.X, y: m.Y}
	if m.Margins, err = s.survey(ctx); err != nil {
		return nil, explain(ctx, err)
	}
	return m, nil
}

// axis leads to twice the rate of a class.
func axis(c, other sizing.Class) Axis {
	const room = 2
	a := Axis{Class: c.Name, Now: c.Arrival, To: room * c.Arrival}
	if c.Arrival == 0 {
		a.To = room * max(other.Arrival, c.Service)
	}
	return a
}

// surveyor compares the strategies all over a map.
type surveyor struct {
	classes [2]sizing.Class
	options sizing.Options
	x, y    Axis
}

// mapCells is the number of rows and of columns of a map.
const mapCells = 200

// survey returns for each cell the saving of dedicated pools over a shared one, in the middle of
// the cell.
func (s surveyor) survey(ctx context.Context) ([][]float64, error) {
	across, err := s.alone(ctx, 0, s.x)
	if err != nil {
		return nil, err
	}
	up, err := s.alone(ctx, 1, s.y)
	if err != nil {
		return nil, err
	}
	margins := make([][]float64, mapCells)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for r := range margins {
		margins[r] = make([]float64, mapCells)
		group.Go(func() error {
			for k := range margins[r] {
				both := []sizing.Class{s.classes[0], s.classes[1]}
				both[0].Arrival, both[1].Arrival = middle(s.x, k), middle(s.y, r)
				shared, err := sizing.Fewest(ctx, both, s.options)
				if err != nil {
					return err
				}
				margins[r][k] = shared.Cost - across[k] - up[r]
			}
			return nil
		})
	}
	return margins, group.Wait()
}

// alone returns the cost of a class in a pool of its own along an axis.
func (s surveyor) alone(ctx context.Context, class int, axis Axis) ([]float64, error) {
	costs := make([]float64, mapCells)
	for k := range costs {
		c := s.classes[class]
		c.Arrival = middle(axis, k)
		pool, err := sizing.Fewest(ctx, []sizing.Class{c}, sizing.Options{})
		if err != nil {
			return nil, err
		}
		costs[k] = pool.Cost
	}
	return costs, nil
}

// middle returns the rate in the middle of a cell.
func middle(axis Axis, cell int) float64 {
	return (float64(cell) + 0.5) / mapCells * axis.To
}
