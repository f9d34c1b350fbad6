package chart

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"pgregory.net/rapid"
)

func twoModels() Scatter {
	return Scatter{
		Title: "Two models", Quantity: "dilation", Unit: "×",
		Series: []Series{
			{Name: "linearizer", Pairs: []Pair{{2, 2.1}, {4, 3.8}}},
			{Name: "first order", Pairs: []Pair{{2, 1}, {4, 5}, {1, 1}}},
		},
	}
}

func TestAScatterNamesItsAxesLinesSeriesAndErrors(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoModels(),
		"Two models", "measured dilation (×)", "predicted dilation (×)", "exact", "+10%", "−10%",
		"linearizer", "5.00%", "2", // both are off by 5%
		"first order", "25.0%", "50.0%", "3") // by 50%, 25% and 0%
}

func TestABandThatIsTooNarrowOrTooWideIsNamedAtTheCorner(t *testing.T) {
	t.Parallel()
	of := func(low, high float64) Scatter {
		return Scatter{Quantity: "x", Log: true, Series: []Series{{Name: "a", Pairs: []Pair{{low, low}, {high, high}}}}}
	}
	wantTexts(t, of(1e-6, 1e6), "exact", "±10%")
	wantTexts(t, of(1, 1.01), "exact", "±10%")
}

func TestAScatterThatCannotBeDrawnSaysWhichField(t *testing.T) {
	t.Parallel()
	of := func(pairs ...Pair) Scatter {
		return Scatter{Quantity: "x", Series: []Series{{Name: "b", Pairs: pairs}}}
	}
	good := Series{Name: "a", Pairs: []Pair{{1, 1}}}
	for name, c := range map[string]struct {
		chart Scatter
		want  string
	}{
		"no quantity":  {Scatter{Series: []Series{good}}, `quantity: is empty; name what was measured and predicted`},
		"no series":    {Scatter{Quantity: "x"}, `series: there are 0; a chart shows 1 to 10`},
		"many series":  {Scatter{Quantity: "x", Series: make([]Series, 11)}, `series: there are 11; a chart shows 1 to 10`},
		"no name":      {Scatter{Quantity: "x", Series: []Series{{Pairs: good.Pairs}}}, `series[0].name: is empty`},
		"a name twice": {Scatter{Quantity: "x", Series: []Series{good, good}}, `series[1].name: "a" is also the name of series[0]`},
		"no pairs":     {of(), `series[0] ("b").pairs: is empty`},
		"not a number": {
			of(Pair{1, 1}, Pair{math.NaN(), 1}),
			`series[0] ("b").pairs[1].measured: NaN is not between 1e-100 and 1e+100; relative errors need values above 0`,
		},
		"infinite": {
			of(Pair{1, math.Inf(1)}),
			`series[0] ("b").pairs[0].predicted: +Inf is not between 1e-100 and 1e+100; relative errors need values above 0`,
		},
		"zero": {
			of(Pair{0, 1}),
			`series[0] ("b").pairs[0].measured: 0 is not between 1e-100 and 1e+100; relative errors need values above 0`,
		},
		"too many pairs": {
			of(slices.Repeat([]Pair{{1, 1}}, 100_001)...),
			`series: have 100001 pairs; show at most 100000, a sample of them say`,
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

func TestAScatterOfAnyValuesCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(1/maxScatterValue, maxScatterValue)
		if rapid.Bool().Draw(t, "narrow") {
			value = rapid.Float64Range(1, 3)
		}
		chart := Scatter{Quantity: "x", Log: rapid.Bool().Draw(t, "log")}
		for i := range rapid.IntRange(1, len(palette)).Draw(t, "series") {
			series := Series{Name: fmt.Sprint(i)}
			for range rapid.IntRange(1, 4).Draw(t, "pairs") {
				series.Pairs = append(series.Pairs, Pair{value.Draw(t, "measured"), value.Draw(t, "predicted")})
			}
			chart.Series = append(chart.Series, series)
		}
		var svg bytes.Buffer
		if err := Encode(&svg, chart, SVG); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
			t.Fatal("a place is not finite")
		}
	})
}

func TestBothAxesOfAScatterAreEquallyLong(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		high := math.Pow(10, rapid.Float64Range(0.1, 12).Draw(t, "decades"))
		chart := Scatter{Quantity: "x", Log: rapid.Bool().Draw(t, "log"), Series: []Series{{Name: "a", Pairs: []Pair{{1, high}}}}}
		width, height := chart.size()
		p := chart.plot()
		canvas := squared(p, draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: width, Y: height}}})
		data := p.DataCanvas(canvas).Size()
		if math.Abs(float64(data.X/data.Y)-1) > 0.005 { // labels that reach out of the plot take a little more
			t.Fatalf("the axes are %v and %v long", data.X, data.Y)
		}
	})
}

func TestAHundredThousandPairsMakeASmallDrawing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pairs := make([]Pair, 100_000)
	for i := range pairs { // all over the plot, which no model should be
		pairs[i] = Pair{Measured: 1 + random.Float64(), Predicted: 1 + random.Float64()}
	}
	svg := encoded(t, Scatter{Quantity: "x", Series: []Series{{"a", pairs}}}, SVG)
	// A dot takes some 150 bytes: 100,000 of them would be 15 MB.
	if len(svg) > 1_500_000 {
		t.Errorf("the SVG has %d bytes", len(svg))
	}
}

func TestThinningKeepsLonePointsAndNearlyAsManyAsItMay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	lone := vg.Point{X: 400, Y: 400}
	points := []vg.Point{{X: 5, Y: 5}, {X: 5, Y: 5}}
	for range 5000 {
		points = append(points, vg.Point{X: vg.Length(100 * random.Float64()), Y: vg.Length(100 * random.Float64())})
	}
	points = append(points, lone)

	kept := thin([][]vg.Point{points}, 1000)[0]
	if len(kept) > 1000 || len(kept) < 500 {
		t.Errorf("%d points were kept", len(kept))
	}
	if !slices.Contains(kept, lone) {
		t.Error("the lone point is gone")
	}
}

func TestPointsThatCanBeToldApartAreAllKept(t *testing.T) {
	t.Parallel()
	points := []vg.Point{{X: 1, Y: 1}, {X: 2, Y: 1}, {X: 1, Y: 1}, {X: 1, Y: 2}}
	if kept := thin([][]vg.Point{points, points}, 6); len(kept[0]) != 3 || len(kept[1]) != 3 {
		t.Errorf("kept %v", kept)
	}
}
