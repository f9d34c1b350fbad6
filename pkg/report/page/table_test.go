package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// behindOf returns the cells of the tables behind the drawings of a section.
func behindOf(t *testing.T, s Section) []string {
	t.Helper()
	s.Title = "b"
	var texts []string
	for _, cell := range cellsOf(elements(t, encodedPage(t, Page{Title: "a", Sections: []Section{s}}))) {
		_, words, _ := strings.Cut(cell, "] ")
		texts = append(texts, words)
	}
	return texts
}

func TestBehindBarsAreTablesOfTheirPartsAndTheirPast(t *testing.T) {
	t.Parallel()
	pod := BarRow{Name: "shop/a", Figure: "3.00×", Parts: []BarPart{{Neighbour, "etl/b", "+1.50", 1.5}, {Limit, "its limit", "+0.50", 0.5}}, Spark: []float64{1, math.NaN(), 3}}
	young := BarRow{Name: "shop/c", Figure: "2.00×", Parts: []BarPart{{Limit, "its limit", "+1.00", 1}}, Spark: []float64{2}}
	got := behindOf(t, Section{Bars: &Bars{
		Of: "time", Key: []KeyEntry{{Neighbour, "neighbours"}, {Limit, "limits"}}, SparksAre: "dilation", SparkEvery: 30 * time.Second,
		Heads: BarHeads{"slowed", "dilation", "because of", "added"}, Rows: []BarRow{{Name: "shop", Figure: "2.50×", Of: []BarRow{pod, young}}},
	}})
	want := []string{
		"slowed", "dilation", "because of", "kind", "added",
		"shop/a", "3.00×", "etl/b", "neighbours", "+1.50",
		"shop/a", "3.00×", "its limit", "limits", "+0.50",
		"shop/c", "2.00×", "its limit", "limits", "+1.00",
		"slowed", "1 min ago", "0.5 min ago", "now",
		"shop/a", "1.00×", "-", "3.00×",
		"shop/c", "-", "-", "2.00×",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells differ (-want +got):\n%s", diff)
	}
}

// Tiles that show their figures are a list of them already.
func TestBehindManyTilesIsATable(t *testing.T) {
	t.Parallel()
	tiles := func(n int) Section {
		all := &Tiles{Of: "heat", Heads: TileHeads{"node", "worst", "load"}}
		for i := range n {
			all.Tiles = append(all.Tiles, Tile{Name: fmt.Sprint("n-", i), Figure: "2×", Detail: "busy"})
		}
		return Section{Tiles: all}
	}
	if got := behindOf(t, tiles(60)); len(got) > 0 {
		t.Errorf("behind few tiles: %q", got)
	}
	if got := behindOf(t, tiles(61)); len(got) != 3*62 || !slices.Equal(got[:6], []string{"node", "worst", "load", "n-0", "2×", "busy"}) {
		t.Errorf("behind many tiles: %d cells, %q", len(got), got)
	}
}

func TestATableBehindADrawingIsNotTooLong(t *testing.T) {
	t.Parallel()
	columns := []text.Column{text.Left("machine")}
	for k := range 100 {
		columns = append(columns, text.Right(fmt.Sprint(k)))
	}
	long := text.NewTable(columns...)
	for r := range 500 {
		cells := []string{fmt.Sprint("m-", r)}
		for k := range 100 {
			cells = append(cells, fmt.Sprint(k))
		}
		long.Add(cells...)
	}
	for name, test := range map[string]struct {
		chosen      choice
		leftOut     string
		row50, last string
		lastColumn  string
	}{
		"a series": {evenlySpaced, "Shown: 100 of 500 rows and 60 of 100 columns, evenly spaced.", "m-252", "m-499", "99"},
		"a list":   {firstOnes, "Shown: 100 of 500 rows and 60 of 100 columns, from the first on.", "m-50", "m-99", "59"},
	} {
		view := behind("b", long, test.chosen)
		if view.LeftOut != test.leftOut || len(view.Rows) != maxRows || len(view.Header) != maxColumns || len(view.Rows[7].Cells) != maxColumns {
			t.Errorf("%s: %q, %d rows, %d columns", name, view.LeftOut, len(view.Rows), len(view.Header))
		}
		at := func(r, c int) string { return view.Rows[r].Cells[c].Text }
		if at(0, 0) != "m-0" || at(50, 0) != test.row50 || at(maxRows-1, 0) != test.last || at(0, maxColumns-1) != test.lastColumn || view.Header[maxColumns-1].Text != test.lastColumn {
			t.Errorf("%s: from %s over %s to %s, columns to %s", name, at(0, 0), at(50, 0), at(maxRows-1, 0), at(0, maxColumns-1))
		}
	}
	short := text.NewTable(text.Left("a"), text.Right("b"))
	short.Add("x", "1")
	if view := behind("b", short, evenlySpaced); view.LeftOut != "" || len(view.Rows) != 1 || len(view.Header) != 2 {
		t.Errorf("a short table is %+v", view)
	}
}

// A reader is told what of a long series is not in the table.
func TestATableSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	stair := chart.Stair{Name: "a", Now: math.NaN()}
	for k := range 1000 {
		stair.Steps = append(stair.Steps, chart.Step{From: float64(k), Needs: float64(k)})
	}
	all := elements(t, encodedPage(t, Page{Title: "a", Sections: []Section{{Title: "b", Charts: []chart.Chart{
		chart.Staircase{Quantity: "rate", Takes: "servers", From: 0, To: 1000, Stairs: []chart.Stair{stair}},
	}}}}))
	if diff := cmp.Diff([]string{"Shown: 100 of 1,000 rows, evenly spaced."}, textsOf(all, "small")); diff != "" {
		t.Error(diff)
	}
}
