package report

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/evaluate/findings"
	"loadline.dev/loadline/pkg/evaluate/observed"
	"loadline.dev/loadline/pkg/report/chart"
)

// heatMap returns who slows whom: a row for each name of the pods, which are sorted, and a column for each name of their causes, those
// that add most first. Several pods of one name are a row with their mean. Some rows may be left out.
func heatMap(pods []*findings.Pod, causeName func(*observed.Cause) string, podName func(*findings.Pod) string) (h chart.HeatMap, leftOut int) {
	h = chart.HeatMap{Quantity: "added dilation", Unit: "×", RowsAre: "slowed", ColumnsAre: "because of"}
	sums, of := map[string]map[string]float64{}, map[string]int{}
	columns := map[string]float64{}
	for _, p := range pods {
		row := podName(p)
		if sums[row] == nil {
			sums[row] = map[string]float64{}
			h.Rows = append(h.Rows, row)
		}
		of[row]++
		for i := range p.Causes {
			c := &p.Causes[i]
			sums[row][causeName(c)] += c.Dilation
			if c.Dilation >= shownCause {
				columns[causeName(c)] += c.Dilation
			}
		}
	}
	leftOut = max(0, len(h.Rows)-maxCells)
	h.Rows = h.Rows[:len(h.Rows)-leftOut]
	h.Columns = slices.SortedFunc(maps.Keys(columns), func(a, b string) int { return cmp.Or(cmp.Compare(columns[b], columns[a]), cmp.Compare(a, b)) })
	h.Columns = h.Columns[:min(len(h.Columns), maxCells)]
	for _, row := range h.Rows {
		values := make([]float64, len(h.Columns))
		for k, column := range h.Columns {
			values[k] = math.Round(100*sums[row][column]/float64(of[row])) / 100
		}
		h.Values = append(h.Values, values)
	}
	return h, leftOut
}
