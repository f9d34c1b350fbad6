package chart

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
	"pgregory.net/rapid"
)

func twoPolicies() Comparison {
	return Comparison{
		Title: "Three streams", Quantity: "makespan", Unit: "s", CasesAre: "job stream",
		Cases: []string{"first", "second", "third"},
		Contenders: []Contender{
			{Name: "round robin", Values: []float64{300, 200, 400}},
			{Name: "least dilation", Values: []float64{250, 180, 320}},
		},
	}
}

// crowded has the maximum number of dots of a comparison.
func crowded(cases, contenders int) Comparison {
	c := Comparison{Quantity: "makespan"}
	for k := range cases {
		c.Cases = append(c.Cases, fmt.Sprint(k))
	}
	for i := range contenders {
		c.Contenders = append(c.Contenders, Contender{Name: fmt.Sprint(i), Values: slices.Repeat([]float64{float64(i)}, cases)})
	}
	return c
}

func TestAComparisonNamesItsCasesContendersAndFigures(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoPolicies(),
		"Three streams", "makespan (s)", "job stream", "first", "second", "third",
		"round robin", "300.0s", "200.0s", "400.0s", // mean, min and max
		"least dilation", "250.0s", "180.0s", "320.0s")
	if slices.Contains(texts(t, encoded(t, twoPolicies(), SVG)), "cases") {
		t.Error("all values are known, but the legend counts them")
	}
}

func TestAComparisonOfOneCaseHasNoMean(t *testing.T) {
	t.Parallel()
	chart := twoPolicies()
	chart.Cases = chart.Cases[:1]
	for i := range chart.Contenders {
		chart.Contenders[i].Values = chart.Contenders[i].Values[:1]
	}
	wantTexts(t, chart, "value", "300.0s", "250.0s")
	if slices.Contains(texts(t, encoded(t, chart, SVG)), "mean") {
		t.Error("the legend has a mean of one value")
	}
}

func TestMissingValuesAreLeftOutAndCounted(t *testing.T) {
	t.Parallel()
	chart := twoPolicies()
	chart.Contenders[0].Values[1] = math.NaN()
	chart.Contenders[1].Values = slices.Repeat([]float64{math.NaN()}, 3)
	wantTexts(t, chart, "cases", "2 of 3", "350.0s", "0 of 3", "-")
}

func TestAComparisonThatCannotBeDrawnSaysWhichField(t *testing.T) {
	t.Parallel()
	of := func(change func(*Comparison)) Comparison {
		chart := twoPolicies()
		change(&chart)
		return chart
	}
	for name, c := range map[string]struct {
		chart Comparison
		want  string
	}{
		"no quantity":     {of(func(d *Comparison) { d.Quantity = "" }), `quantity: is empty; name what the values measure`},
		"no cases":        {of(func(d *Comparison) { d.Cases = nil }), `cases: there are 0; a chart shows 1 to 50`},
		"a case twice":    {of(func(d *Comparison) { d.Cases[2] = "first" }), `cases[2]: "first" is also the name of cases[0]`},
		"no contenders":   {of(func(d *Comparison) { d.Contenders = nil }), `contenders: there are 0; a chart shows 1 to 10`},
		"many contenders": {crowded(2, 11), `contenders: there are 11; a chart shows 1 to 10`},
		"too many dots": {
			crowded(21, 10),
			`cases: 21 of 10 contenders are 210 dots, which nobody can tell apart; show at most 200, fewer cases say`,
		},
		"a name twice": {
			of(func(d *Comparison) { d.Contenders[1].Name = "round robin" }),
			`contenders[1].name: "round robin" is also the name of contenders[0]`,
		},
		"too few values": {
			of(func(d *Comparison) { d.Contenders[1].Values = []float64{1, 2} }),
			`contenders[1] ("least dilation").values: there are 2 values for 3 cases`,
		},
		"infinite": {
			of(func(d *Comparison) { d.Contenders[0].Values[2] = math.Inf(1) }),
			`contenders[0] ("round robin").values[2] ("third"): +Inf is not a finite number within ±1e+290`,
		},
		"nothing is known": {
			of(func(d *Comparison) {
				for i := range d.Contenders {
					d.Contenders[i].Values = slices.Repeat([]float64{math.NaN()}, 3)
				}
			}),
			`contenders: no value of theirs is known; there is nothing to show`,
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

func TestDotsOfAComparisonNeverHideEachOther(t *testing.T) {
	t.Parallel()
	for _, chart := range []Comparison{crowded(20, 10), crowded(10, 10), crowded(50, 4), crowded(1, 10), crowded(10, 1)} {
		middles := dotsOf(chart)
		if len(middles) != len(chart.Cases)*len(chart.Contenders) {
			t.Fatalf("%d dots for %d cases of %d contenders", len(middles), len(chart.Cases), len(chart.Contenders))
		}
		slices.Sort(middles)
		for i, x := range middles[1:] {
			if x-middles[i] < 4 { // points; the eye distinguishes dots that are 1 mm apart
				t.Fatalf("two of %d by %d dots are %v points apart", len(chart.Cases), len(chart.Contenders), x-middles[i])
			}
		}
	}
}

// dotsOf draws a comparison and returns the positions of the middles of its dots, from the left.
func dotsOf(chart Comparison) []vg.Length {
	var canvas recorder.Canvas
	width, height := chart.size()
	p := chart.plot()
	c := draw.NewCanvas(&canvas, width, height)
	columns{contenders: chart.Contenders, cases: len(chart.Cases)}.Plot(p.DataCanvas(c), p)
	var middles []vg.Length
	dots := make(map[string]bool, len(palette))
	for _, hue := range palette[:len(chart.Contenders)] {
		dots[fmt.Sprint(hue)] = true
	}
	isDot := false
	for _, action := range canvas.Actions {
		switch action := action.(type) {
		case *recorder.SetColor:
			isDot = dots[fmt.Sprint(action.Color)]
		case *recorder.Fill:
			if isDot {
				middles = append(middles, middleOf(action.Path))
			}
		case *recorder.Stroke:
			if isDot {
				middles = append(middles, middleOf(action.Path))
			}
		}
	}
	return middles
}

func middleOf(path vg.Path) vg.Length {
	low, high := vg.Length(math.Inf(1)), vg.Length(math.Inf(-1))
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp, vg.LineComp:
			low, high = min(low, part.Pos.X), max(high, part.Pos.X)
		case vg.ArcComp:
			low, high = min(low, part.Pos.X-part.Radius), max(high, part.Pos.X+part.Radius)
		default:
		}
	}
	return (low + high) / 2
}

func TestAComparisonWidensWithItsDotsWithinLimits(t *testing.T) {
	t.Parallel()
	last := vg.Length(0)
	for _, cases := range []int{1, 10, 20} {
		width, _ := crowded(cases, 10).size()
		if width < last || width < chartWidth || width > 18*vg.Inch {
			t.Errorf("%d cases are %v wide, after %v for fewer", cases, width, last)
		}
		last = width
	}
}

func TestAComparisonOfAnyValuesCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		chart := Comparison{
			Quantity: "x", Title: rapid.String().Draw(t, "title"), Unit: rapid.String().Draw(t, "unit"),
			CasesAre: rapid.String().Draw(t, "casesAre"),
			Cases:    rapid.SliceOfNDistinct(rapid.StringN(1, 60, -1), 1, 5, rapid.ID[string]).Draw(t, "cases"),
		}
		known := rapid.Float64Range(-maxMagnitude, maxMagnitude)
		value := rapid.OneOf(known, rapid.Float64Range(1, 3), rapid.Just(math.NaN()))
		for i := range rapid.IntRange(1, len(palette)).Draw(t, "contenders") {
			values := rapid.SliceOfN(value, len(chart.Cases), len(chart.Cases)).Draw(t, "values")
			chart.Contenders = append(chart.Contenders, Contender{Name: fmt.Sprint(i), Values: values})
		}
		chart.Contenders[0].Values[0] = known.Draw(t, "known")
		wantFinitePlaces(t, chart)
	})
}

// embedded are the pictures in a drawing, in letters that may spell anything.
var embedded = regexp.MustCompile(`base64,[A-Za-z0-9+/=\s]*`)

// wantFinitePlaces draws a chart and looks for places that are not finite.
func wantFinitePlaces(t *rapid.T, chart Chart) {
	var svg bytes.Buffer
	if err := Encode(&svg, chart, SVG); err != nil {
		t.Fatal(err)
	}
	drawn := embedded.ReplaceAllString(svg.String(), "")
	for _, place := range []string{`"NaN`, `"Inf`, `"+Inf`, `,NaN`, `,Inf`, `,+Inf`, `MNaN`, `LNaN`} {
		if strings.Contains(drawn, place) {
			t.Fatal("a place is not finite")
		}
	}
}
