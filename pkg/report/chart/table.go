package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/text"
)

// These hold the numbers of charts, with their units, for readers who cannot see them.

func (d Comparison) table() *text.Table {
	return matrix(cmp.Or(d.CasesAre, "case"), d.Cases, d.names(), func(r, c int) string { return measured(d.Contenders[c].Values[r], d.Unit) })
}

// table has some quantiles of the samples.
func (d Distribution) table() *text.Table {
	var samples []curve
	for i, sample := range d.Samples {
		samples = append(samples, newCurve(i, sample))
	}
	fractions := []float64{0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1}
	var rows []string
	for _, fraction := range fractions {
		rows = append(rows, text.Compact(100*fraction)+"%")
	}
	rows = append(rows, "mean", "count")
	return matrix("fraction of "+cmp.Or(d.Of, "values")+" at or below", rows, d.names(), func(r, c int) string {
		switch s := samples[c]; rows[r] {
		case "mean":
			return measured(s.summary.Mean, d.Unit)
		case "count":
			return text.Count(int64(s.summary.Count))
		default:
			return measured(s.steps.quantile(fractions[r]), d.Unit)
		}
	})
}

func (d Drawing) table() *text.Table { return d.Numbers }

func (h HeatMap) table() *text.Table {
	corner := strings.TrimSpace(h.RowsAre + " \\ " + h.ColumnsAre)
	return matrix(corner, h.Rows, h.Columns, func(r, c int) string { return measured(h.Values[r][c], h.Unit) })
}

func (d Intervals) table() *text.Table {
	confidence := text.Compact(100*d.Confidence) + "% confidence "
	t := text.NewTable(text.Left("estimate"), text.Right(d.Quantity), text.Right(confidence+"from"), text.Right(confidence+"to"))
	for _, e := range d.Estimates {
		t.Add(e.Name, measured(e.Value, d.Unit), measured(e.Low, d.Unit), measured(e.High, d.Unit))
	}
	return t
}

// table has a column for each bin, by its beginning.
func (o Occupancy) table() *text.Table {
	bins := len(o.Strips[0].Values)
	scale := scaleFor(o.BinSeconds * float64(bins))
	var columns []string
	for k := range bins {
		columns = append(columns, scale.instant(o.BinSeconds*float64(k)))
	}
	return matrix("machine \\ from", o.names(), columns, func(r, c int) string { return measured(o.Strips[r].Values[c], o.Unit) })
}

// table has the finding in the middle of each cell, the first row at the top.
func (g Regions) table() *text.Table {
	middles := func(a Axis, n int) (names []string) {
		for k := range n {
			names = append(names, measured(a.From+(a.To-a.From)*(float64(k)+0.5)/float64(n), a.Unit))
		}
		return names
	}
	last := len(g.Cells) - 1
	rows := middles(g.Y, len(g.Cells))
	slices.Reverse(rows)
	return matrix(g.Y.Quantity+" \\ "+g.X.Quantity, rows, middles(g.X, len(g.Cells[0])), func(r, c int) string { return g.Findings[g.Cells[last-r][c]].Name })
}

// table has the pairs of each series by what was measured.
func (s Scatter) table() *text.Table {
	t := text.NewTable(text.Left("series"), text.Right("measured "+s.Quantity), text.Right("predicted "+s.Quantity), text.Right("error"))
	for _, series := range s.Series {
		for _, p := range slices.SortedFunc(slices.Values(series.Pairs), func(a, b Pair) int { return cmp.Compare(a.Measured, b.Measured) }) {
			t.Add(series.Name, measured(p.Measured, s.Unit), measured(p.Predicted, s.Unit), text.Percent(p.Predicted/p.Measured-1))
		}
	}
	return t
}

// table names each group and workload by the path from the root.
func (s ShareTree) table() *text.Table {
	t := text.NewTable(text.Left("group or workload"), text.Right("share"), text.Right("busy"), text.Right("response / service time"), text.Right("before"), text.Right("SLA"))
	t.Add(s.Name, "", text.Percent(s.Busy), "", "", "")
	var path []string
	for _, row := range s.Rows {
		path = append(path[:min(max(row.Depth-1, 0), len(path))], row.Name)
		response, before, sla := "", "", ""
		if r := row.Response; r != nil {
			response = text.Times(r.Factor)
			if r.Before > 0 {
				before = text.Times(r.Before)
			}
			if r.Limit > 0 {
				sla = text.Times(r.Limit)
			}
			if r.Missed {
				sla = strings.TrimSpace(sla + " missed")
			}
		}
		t.Add(strings.Join(path, "/"), row.Share, text.Percent(row.Busy), response, before, sla)
	}
	return t
}

func (s Staircase) table() *text.Table {
	t := text.NewTable(text.Left("line"), text.Right(s.Quantity+" from"), text.Right(s.Takes))
	for _, stair := range s.Stairs {
		for _, step := range stair.Steps {
			t.Add(stair.Name, measured(step.From, s.Unit), text.Amount(step.Needs))
		}
	}
	return t
}

func (t Timeline) table() *text.Table {
	scale := scaleFor(t.horizonSeconds())
	rows := text.NewTable(text.Left("schedule"), text.Left("machine"), text.Left("job"), text.Right("start"), text.Right("end"))
	for _, schedule := range t.Schedules {
		for _, bar := range schedule.Bars {
			rows.Add(schedule.Name, bar.Machine, bar.Job, scale.instant(bar.StartSeconds), scale.instant(bar.EndSeconds))
		}
	}
	return rows
}

// matrix returns a table with a row and a column for each of some names.
func matrix(corner string, rows, columns []string, cell func(r, c int) string) *text.Table {
	header := []text.Column{text.Left(corner)}
	for _, name := range columns {
		header = append(header, text.Right(name))
	}
	t := text.NewTable(header...)
	for r, name := range rows {
		cells := []string{name}
		for c := range columns {
			cells = append(cells, cell(r, c))
		}
		t.Add(cells...)
	}
	return t
}

// measured writes a value with its unit.
func measured(x float64, unit string) string {
	if math.IsNaN(x) {
		return text.Absent
	}
	return text.Value(x) + unit
}
