package chart

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/text"
)

// lines returns a table as texts: the header first, with bars between the cells.
func lines(t *text.Table) (all []string) {
	for _, row := range append([][]text.Cell{t.Header()}, t.Rows()...) {
		var cells []string
		for _, cell := range row {
			cells = append(cells, cell.Text)
		}
		all = append(all, strings.Join(cells, " | "))
	}
	return all
}

func TestTheTableOfAChartHasItsNumbers(t *testing.T) {
	t.Parallel()
	tree := ShareTree{Name: "node", Busy: 0.75, Rows: []ShareRow{
		{Name: "a", Depth: 1, Share: "60", Busy: 0.5},
		{Name: "b", Depth: 2, Share: "1", Busy: 0.5, Workload: true, Response: &ShareResponse{Factor: 2, Before: 3, Limit: 1.5, Missed: true}},
		{Name: "c", Depth: 1, Share: "40", Busy: 0.25, Workload: true, Response: &ShareResponse{Factor: 4}},
	}}
	regions := Regions{
		X: Axis{Quantity: "rate of a", Unit: "/s", To: 2}, Y: Axis{Quantity: "rate of b", Unit: "/s", To: 2},
		Findings: []Finding{{Name: "shared"}, {Name: "dedicated"}}, Cells: [][]int{{0, 1}, {0, 0}},
	}
	for name, test := range map[string]struct {
		chart Chart
		want  []string
	}{
		"comparison": {
			Comparison{Unit: "s", Cases: []string{"x", "y"}, Contenders: []Contender{{"a", []float64{1, math.NaN()}}, {"b", []float64{2, 3}}}},
			[]string{"case | a | b", "x | 1.00s | 2.00s", "y | - | 3.00s"},
		},
		"distribution": {
			Distribution{Quantity: "dilation", Unit: "×", Of: "pods", Samples: []Sample{{Name: "a", Values: []float64{4, 1, 2, 3}}}},
			[]string{
				"fraction of pods at or below | a", "0% | 1.00×", "1% | 1.00×", "5% | 1.00×", "10% | 1.00×", "25% | 1.00×", "50% | 2.00×", "75% | 3.00×",
				"90% | 4.00×", "95% | 4.00×", "99% | 4.00×", "100% | 4.00×", "mean | 2.50×", "count | 4",
			},
		},
		"heat map": {
			HeatMap{Unit: "×", RowsAre: "slowed", ColumnsAre: "by", Rows: []string{"a"}, Columns: []string{"x", "y"}, Values: [][]float64{{0.5, math.NaN()}}},
			[]string{`slowed \ by | x | y`, "a | 0.5× | -"},
		},
		"intervals": {
			Intervals{Quantity: "saved", Unit: "%", Confidence: 0.95, Estimates: []Estimate{{"a", 2, 1, 3}, {"b", -1, math.NaN(), math.NaN()}}},
			[]string{"estimate | saved | 95% confidence from | 95% confidence to", "a | 2.00% | 1.00% | 3.00%", "b | -1.00% | - | -"},
		},
		"occupancy": {
			Occupancy{Unit: "%", BinSeconds: 7200, Strips: []Strip{{"n-1", []float64{50, 100}}, {"n-2", []float64{0, math.NaN()}}}},
			[]string{`machine \ from | 0s | 2h 00m`, "n-1 | 50.0% | 100.0%", "n-2 | 0.00% | -"},
		},
		"regions": {regions, []string{`rate of b \ rate of a | 0.5/s | 1.50/s`, "1.50/s | shared | shared", "0.5/s | shared | dedicated"}},
		"scatter": {
			Scatter{Quantity: "dilation", Unit: "×", Series: []Series{{"a", []Pair{{2, 1}, {1, 1.1}}}}},
			[]string{"series | measured dilation | predicted dilation | error", "a | 1.00× | 1.10× | 10.0%", "a | 2.00× | 1.00× | -50.0%"},
		},
		"share tree": {tree, []string{
			"group or workload | share | busy | response / service time | before | SLA",
			"node |  | 75.0% |  |  | ", "a | 60 | 50.0% |  |  | ", "a/b | 1 | 50.0% | 2.00× | 3.00× | 1.50× missed", "c | 40 | 25.0% | 4.00× |  | ",
		}},
		"staircase": {
			Staircase{Quantity: "rate", Unit: "/s", Takes: "servers", Stairs: []Stair{{Name: "a", Steps: []Step{{0, 1}, {0.5, 2}}}}},
			[]string{"line | rate from | servers", "a | 0.00/s | 1", "a | 0.5/s | 2"},
		},
		"timeline": {
			Timeline{Schedules: []Schedule{{"list", []Bar{{"m-1", "job", 0, 90}}}}},
			[]string{"schedule | machine | job | start | end", "list | m-1 | job | 0s | 90s"},
		},
	} {
		if diff := cmp.Diff(test.want, lines(test.chart.table())); diff != "" {
			t.Errorf("%s: the table differs (-want +got):\n%s", name, diff)
		}
	}
}
