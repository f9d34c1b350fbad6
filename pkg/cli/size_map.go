package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"loadline.dev/loadline/pkg/report/chart"

	"golang.org/x/sync/errgroup"

	"loadline.dev/loadline/pkg/model/sizing"
)

// errSimulatedMap says why there is no map of simulated pools.
var errSimulatedMap = errors.New("a map takes thousands of answers, and this discipline simulates each: draw it for fcfs or hol")

// strategyMap draws where dedicated pools beat a shared one, and by how many servers,
// over the rates of arrival of two classes: Figs. 4 to 7 of Hu et al., CASCON 2009.
func strategyMap(ctx context.Context, classes []sizing.Class, discipline sizing.Discipline) (chart.Chart, error) {
	if len(classes) != 2 {
		return nil, fmt.Errorf("a map has two axes, and there are %d classes: it takes two", len(classes))
	}
	if discipline.Simulated() {
		return nil, errSimulatedMap
	}
	first, second := mapAxis(classes[0], classes[1]), mapAxis(classes[1], classes[0])
	s := surveyor{classes: [2]sizing.Class{classes[0], classes[1]}, options: sizing.Options{Discipline: discipline}, x: first, y: second}
	margins, err := s.survey(ctx)
	if err != nil {
		return nil, err
	}
	chart := chart.Regions{
		Title: "Dedicated pools or a shared one?", X: first, Y: second,
		NowX: classes[0].Arrival, NowY: classes[1].Arrival,
	}
	scale := newMarginScale(margins, cmp.Or(classes[0].Cost, 1) == cmp.Or(classes[1].Cost, 1))
	chart.Findings = scale.findings()
	for _, row := range margins {
		cells := make([]int, len(row))
		for i, margin := range row {
			cells[i] = scale.finding(margin)
		}
		chart.Cells = append(chart.Cells, cells)
	}
	return chart, nil
}

// mapAxis leads to twice the rate of a class.
func mapAxis(c, other sizing.Class) chart.Axis {
	const room = 2
	axis := chart.Axis{Quantity: "arrival rate of " + c.Name, Unit: "/s", To: room * c.Arrival}
	if c.Arrival == 0 {
		axis.To = room * max(other.Arrival, c.Service)
	}
	return axis
}

// surveyor compares the strategies all over a map.
type surveyor struct {
	classes [2]sizing.Class
	options sizing.Options
	x, y    chart.Axis
}

// mapCells is the number of rows and of columns of a map.
const mapCells = 200

// survey returns for each cell by how much dedicated pools cost less than a shared
// one, in the middle of the cell.
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

// alone returns what a pool of its own costs a class along an axis.
func (s surveyor) alone(ctx context.Context, class int, axis chart.Axis) ([]float64, error) {
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
func middle(axis chart.Axis, cell int) float64 {
	return axis.From + (float64(cell)+0.5)/mapCells*(axis.To-axis.From)
}
