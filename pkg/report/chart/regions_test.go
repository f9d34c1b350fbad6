package chart

import (
	"bytes"
	"image/png"
	"io"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
)

// dedicatedOrShared is a map of the pools that take fewer servers, wedges as in Figs. 4 to 7 of Hu
// et al., CASCON 2009.
func dedicatedOrShared() Regions {
	g := Regions{
		Title: "Dedicated or shared?",
		X:     Axis{Quantity: "arrival rate of checkout", Unit: "/s", To: 1.2},
		Y:     Axis{Quantity: "arrival rate of search", Unit: "/s", To: 7.2},
		Findings: []Finding{
			{"dedicated pools need 2 servers fewer", 0.66},
			{"dedicated pools need 1 server fewer", 0.33},
			{"as many servers either way", 0},
			{"a shared pool needs 1 server fewer", -0.33},
			{"a shared pool needs 2 servers fewer", -0.66},
		},
		NowX: 0.6, NowY: 3.6,
	}
	for r := range 100 {
		row := make([]int, 100)
		for c := range row {
			switch angle := math.Atan2(float64(r), float64(c+1)); {
			case angle > 1.2:
				row[c] = 0
			case angle > 1:
				row[c] = 1
			case angle > 0.4:
				row[c] = 2
			default:
				row[c] = 3
			}
		}
		g.Cells = append(g.Cells, row)
	}
	return g
}

func TestRegionsNameTheirAxesAndWhatIsOnTheMap(t *testing.T) {
	t.Parallel()
	chart := dedicatedOrShared()
	chart.Cells = [][]int{{2, 2, 2, 2}, {1, 1, 1, 3}}
	wantTexts(t, chart,
		"Dedicated or shared?", "arrival rate of checkout (/s)", "arrival rate of search (/s)", "of the map", "now",
		"dedicated pools need 1 server fewer", "37.5%", "as many servers either way", "50.0%", "a shared pool needs 1 server fewer", "12.5%")
	if slices.Contains(texts(t, encoded(t, chart, SVG)), "dedicated pools need 2 servers fewer") {
		t.Error("the legend has a finding that is not on the map")
	}
}

func TestWhatIsOffTheMapIsNotMarked(t *testing.T) {
	t.Parallel()
	for _, now := range []float64{7.3, -1, math.NaN()} {
		chart := dedicatedOrShared()
		chart.NowY = now
		if slices.Contains(texts(t, encoded(t, chart, SVG)), "now") {
			t.Errorf("%v is marked", now)
		}
	}
}

func TestTheFirstRowOfAMapIsTheLowest(t *testing.T) {
	t.Parallel()
	chart := dedicatedOrShared()
	chart.Cells = [][]int{{0, 1}, {2, 3}}
	picture := terrain{chart}.picture(vg.Point{X: 10, Y: 10})
	last := picture.Rect.Max.Sub(picture.Rect.Min)
	corners := []uint8{
		picture.ColorIndexAt(0, last.Y-1), picture.ColorIndexAt(last.X-1, last.Y-1),
		picture.ColorIndexAt(0, 0), picture.ColorIndexAt(last.X-1, 0),
	}
	if want := []uint8{0, 1, 2, 3}; !slices.Equal(corners, want) {
		t.Errorf("the corners are %v, want %v", corners, want)
	}
}

func TestAMapIsSquareAndItsFindingsCanBeToldApart(t *testing.T) {
	t.Parallel()
	for who, matrix := range seenBy {
		for _, a := range dedicatedOrShared().Findings {
			for _, b := range dedicatedOrShared().Findings {
				if d := distance(lab(leanColor(a.Lean), matrix), lab(leanColor(b.Lean), matrix)); a != b && d < 10 {
					t.Errorf("for %s %q and %q are only %.1f apart", who, a.Name, b.Name, d)
				}
			}
		}
	}
	image, err := png.Decode(bytes.NewReader(encoded(t, dedicatedOrShared(), PNG)))
	if err != nil {
		t.Fatal(err)
	}
	if size := image.Bounds().Size(); size.X != 1300 || size.Y < size.X {
		t.Errorf("the chart has %v pixels", size)
	}
}

func TestRegionsThatCannotBeDrawnSayWhichField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*Regions)
		want  string
	}{
		"no quantity":        {func(g *Regions) { g.Y.Quantity = "" }, "y.quantity: is empty; name what the axis shows"},
		"no width":           {func(g *Regions) { g.X.To = math.Inf(1) }, "x.from, to: 0 and +Inf are no ends of an axis; give finite numbers, the first clearly below the second"},
		"no findings":        {func(g *Regions) { g.Findings = nil }, "findings: there are 0; a chart shows 1 to 12"},
		"a finding twice":    {func(g *Regions) { g.Findings[1].Name = g.Findings[0].Name }, `findings[1].name: "dedicated pools need 2 servers fewer" is also the name of findings[0]`},
		"leaning too far":    {func(g *Regions) { g.Findings[3].Lean = 2 }, `findings[3] ("a shared pool needs 1 server fewer").lean: 2 is not between −1 and 1`},
		"no rows":            {func(g *Regions) { g.Cells = nil }, "cells: there are 0 rows; a chart shows 1 to 400"},
		"no columns":         {func(g *Regions) { g.Cells[0] = nil }, "cells[0]: there are 0 columns; a chart shows 1 to 400"},
		"a short row":        {func(g *Regions) { g.Cells[1] = []int{0} }, "cells[1]: there are 1, but 100 in the first row"},
		"an unknown finding": {func(g *Regions) { g.Cells[1][2] = 5 }, "cells[1][2]: 5 is not the index of a finding, 0 to 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chart := dedicatedOrShared()
			c.spoil(&chart)
			if err := Encode(io.Discard, chart, SVG); errorText(err) != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}
