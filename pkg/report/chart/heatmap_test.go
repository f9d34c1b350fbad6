package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func threeByTwo() HeatMap {
	return HeatMap{
		Title: "Who slows whom", Quantity: "dilation", Unit: "×", RowsAre: "slowed job", ColumnsAre: "because of job",
		Rows: []string{"filecomp", "grep", "std-io"}, Columns: []string{"cpu", "disk"},
		Values: [][]float64{{1.25, 2.5}, {1, math.NaN()}, {3.125, 2}},
	}
}

// square is a heat map of n by n values from 1 to 2.
func square(n int) HeatMap {
	h := HeatMap{Quantity: "dilation", Unit: "×"}
	for i := range n {
		h.Rows = append(h.Rows, fmt.Sprintf("ResNet-50 (batch size %d)", i))
		h.Values = append(h.Values, slices.Repeat([]float64{1 + float64(i)/float64(n)}, n))
	}
	h.Columns = h.Rows
	return h
}

func TestAHeatMapNamesItsRowsColumnsValuesAndColours(t *testing.T) {
	t.Parallel()
	wantTexts(t, threeByTwo(),
		"Who slows whom", "slowed job", "because of job", "filecomp", "grep", "std-io", "cpu", "disk",
		"1.25", "2.50", "1.00", "3.12", "2.00", "dilation (×)", "1.0×", "1.5×", "3.0×", "not known")
}

func TestAHeatMapHasNoKeyToUnknownValuesIfAllAreKnown(t *testing.T) {
	t.Parallel()
	chart := threeByTwo()
	chart.Values[1][1] = 1
	if slices.Contains(texts(t, encoded(t, chart, SVG)), "not known") {
		t.Error("all values are known, but the legend has a key to unknown ones")
	}
}

func TestAHeatMapThatCannotBeDrawnSaysWhichField(t *testing.T) {
	t.Parallel()
	of := func(change func(*HeatMap)) HeatMap {
		chart := threeByTwo()
		change(&chart)
		return chart
	}
	for name, c := range map[string]struct {
		chart HeatMap
		want  string
	}{
		"no quantity":      {of(func(h *HeatMap) { h.Quantity = "" }), `quantity: is empty; name what the values measure`},
		"no rows":          {of(func(h *HeatMap) { h.Rows = nil }), `rows: there are 0; a heat map shows 1 to 60`},
		"too many columns": {of(func(h *HeatMap) { h.Columns = make([]string, 61) }), `columns: there are 61; a heat map shows 1 to 60`},
		"no name":          {of(func(h *HeatMap) { h.Columns[1] = "" }), `columns[1]: is empty`},
		"a name twice":     {of(func(h *HeatMap) { h.Rows[2] = "grep" }), `rows[2]: "grep" is also the name of rows[1]`},
		"too few rows": {
			of(func(h *HeatMap) { h.Values = h.Values[:2] }),
			`values: there are 2 rows of values for 3 names in rows`,
		},
		"too many values": {
			of(func(h *HeatMap) { h.Values[1] = []float64{1, 2, 3} }),
			`values[1] ("grep"): there are 3 values for 2 names in columns`,
		},
		"infinite": {
			of(func(h *HeatMap) { h.Values[0][1] = math.Inf(1) }),
			`values[0][1] ("filecomp", "disk"): +Inf is not a finite number within ±1e+290`,
		},
		"nothing is known": {
			of(func(h *HeatMap) { h.Values = slices.Repeat([][]float64{{math.NaN(), math.NaN()}}, 3) }),
			`values: none is known; there is nothing to show`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Encode(io.Discard, c.chart, SVG); errorText(err) != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}

func TestAHeatMapOfAnyValuesCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chart := HeatMap{
			Quantity: "x", Title: rapid.String().Draw(t, "title"), Unit: rapid.String().Draw(t, "unit"),
			RowsAre: rapid.String().Draw(t, "rowsAre"), ColumnsAre: rapid.String().Draw(t, "columnsAre"),
		}
		names := rapid.SliceOfNDistinct(rapid.StringN(1, 60, -1), 1, 5, rapid.ID[string])
		chart.Rows, chart.Columns = names.Draw(t, "rows"), names.Draw(t, "columns")
		value := rapid.OneOf(rapid.Float64Range(-maxMagnitude, maxMagnitude), rapid.Float64Range(1, 3), rapid.Just(math.NaN()))
		for range chart.Rows {
			chart.Values = append(chart.Values, rapid.SliceOfN(value, len(chart.Columns), len(chart.Columns)).Draw(t, "values"))
		}
		chart.Values[0][0] = rapid.Float64Range(-maxMagnitude, maxMagnitude).Draw(t, "known")
		wantFinitePlaces(t, chart)
	})
}

func TestAHeatMapGrowsWithItsRowsWithinLimits(t *testing.T) {
	t.Parallel()
	last := vg.Length(0)
	for _, n := range []int{1, 2, 6, 26, 60} {
		width, height := square(n).size()
		if width <= last || width < 3*vg.Inch || width > 18*vg.Inch || height > 18*vg.Inch {
			t.Errorf("%d rows are %v by %v points, after %v for fewer rows", n, width, height, last)
		}
		last = width
	}
}

func TestValuesAreWrittenOnlyWhereTheyFit(t *testing.T) {
	t.Parallel()
	chart := square(60)
	if size := newHeatLayout(chart).valueSize; size < 5 {
		t.Errorf("values such as 1.50 are %v points high in 60 rows", size)
	}
	chart.Values[3][4] = 1234567
	if size := newHeatLayout(chart).valueSize; size != 0 {
		t.Errorf("1,234,567 is %v points high in 60 rows, want no values", size)
	}
}

func TestShortNamesOfColumnsStayLevel(t *testing.T) {
	t.Parallel()
	if newHeatLayout(threeByTwo()).columns.turned {
		t.Error("cpu and disk are turned")
	}
	if !newHeatLayout(square(6)).columns.turned {
		t.Error("long names are level")
	}
}

func TestALongNameKeepsBothItsEnds(t *testing.T) {
	t.Parallel()
	style := Sans(TextSize, Ink)
	long := "recommendation-training/" + strings.Repeat("x", 100) + "-batch-8192"
	got := fitMiddle(style, long, widestName)
	if !strings.HasPrefix(got, "recommendation") || !strings.HasSuffix(got, "-8192") || style.Width(got) > widestName {
		t.Errorf("got %q, %v wide", got, style.Width(got))
	}
	if got := fitMiddle(style, "short", widestName); got != "short" {
		t.Errorf("got %q", got)
	}
	if got := fitMiddle(style, "short", 1); got != "…" {
		t.Errorf("got %q for no room at all", got)
	}
}
