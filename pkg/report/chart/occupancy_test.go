package chart

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

func twoServers() Occupancy {
	return Occupancy{
		Title: "Two servers", Quantity: "jobs", Unit: "!", BinSeconds: 3600,
		Strips: []Strip{
			{Machine: "idle", Values: []float64{0, 0, 0, math.NaN()}},
			{Machine: "busy", Values: []float64{4, 4, 4, 4}},
		},
	}
}

func servers(n, bins int) Occupancy {
	random := rand.New(rand.NewPCG(1, 2))
	o := Occupancy{Quantity: "jobs", BinSeconds: 60}
	for i := range n {
		strip := Strip{Machine: fmt.Sprintf("server-%03d", i)}
		for range bins {
			strip.Values = append(strip.Values, 10*random.Float64())
		}
		o.Strips = append(o.Strips, strip)
	}
	return o
}

func TestAnOccupancyNamesItsMachinesTimesAndColours(t *testing.T) {
	t.Parallel()
	wantTexts(t, twoServers(),
		"Two servers", "idle  ", "busy  ", "time (hours)", "jobs (!)", "0.0!", "4.0!", "not known")
}

func TestTheColoursReachToFullAndToTheLargestValue(t *testing.T) {
	t.Parallel()
	chart := twoServers()
	for full, want := range map[float64]float64{0: 4, 3: 4, 100: 100} {
		chart.Full = full
		if colors := chart.bar().colors; colors.low != 0 || colors.high != want {
			t.Errorf("full %v: colours from %v to %v, want 0 to %v", full, colors.low, colors.high, want)
		}
	}
	chart.Full, chart.Strips = 0, chart.Strips[:1]
	if colors := chart.bar().colors; colors.low != 0 || colors.high != 1 {
		t.Errorf("nothing going on has colours from %v to %v, want 0 to 1", colors.low, colors.high)
	}
}

func TestBusyIsDarkIdleIsLightAndUnknownIsHatched(t *testing.T) {
	t.Parallel()
	chart := twoServers()
	picture := strips{chart: chart, colors: chart.bar().colors}.picture(vg.Point{X: 400, Y: 40})
	size := picture.Rect.Size()
	for x := range size.X {
		for y := range size.Y {
			busy, unknown := y >= size.Y/2, y < size.Y/2 && x >= size.X*3/4
			index := int(picture.ColorIndexAt(x, y))
			if right := busy && index == valueColors-1 || unknown && index >= valueColors || !busy && !unknown && index == 0; !right {
				t.Fatalf("at %d, %d of %v the colour is %d", x, y, size, index)
			}
		}
	}
}

func TestTheFirstMachineIsAtTheTopAndTheFirstBinAtTheLeft(t *testing.T) {
	t.Parallel()
	chart := Occupancy{Quantity: "jobs", BinSeconds: 1, Strips: []Strip{
		{Machine: "a", Values: []float64{1, 0}},
		{Machine: "b", Values: []float64{0, 0}},
	}}
	var b bytes.Buffer
	if err := encodePNG(&b, chart, 36); err != nil {
		t.Fatal(err)
	}
	image, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	// The colour bar takes the right fifth, and is dark at its top too.
	darkest, at := 255.0, image.Bounds().Min
	for y := range image.Bounds().Dy() {
		for x := range image.Bounds().Dx() * 7 / 10 {
			if _, light, _, _ := image.At(x, y).RGBA(); float64(light>>8) < darkest {
				darkest, at.X, at.Y = float64(light>>8), x, y
			}
		}
	}
	if at.X > image.Bounds().Dx()*4/10 || at.Y > image.Bounds().Dy()*3/10 {
		t.Errorf("of %v the darkest is %v", image.Bounds().Size(), at)
	}
}

func TestOfTwoHundredMachinesEveryThirdIsNamed(t *testing.T) {
	t.Parallel()
	all := texts(t, encoded(t, servers(200, 2), SVG))
	for name, want := range map[string]bool{"server-000  ": true, "server-001  ": false, "server-003  ": true, "server-198  ": true} {
		if got := slices.Contains(all, name); got != want {
			t.Errorf("%q is written: %v, want %v", name, got, want)
		}
	}
}

func TestTheDrawingOfManyMachinesIsSmall(t *testing.T) {
	t.Parallel()
	svg := encoded(t, servers(200, 1000), SVG)
	// As many rectangles would take 20 MB; a byte each and base64 make 270 KB.
	if len(svg) > 500_000 {
		t.Errorf("the SVG has %d bytes", len(svg))
	}
	if strings.Contains(string(svg), "image/jpg") {
		t.Error("the SVG calls a PNG a JPEG")
	}
}

func TestAnOccupancyThatCannotBeDrawnSaysWhichField(t *testing.T) {
	t.Parallel()
	of := func(change func(*Occupancy)) Occupancy {
		chart := twoServers()
		change(&chart)
		return chart
	}
	for name, c := range map[string]struct {
		chart Occupancy
		want  string
	}{
		"no quantity": {of(func(o *Occupancy) { o.Quantity = "" }), `quantity: is empty; name what the values measure`},
		"no machines": {of(func(o *Occupancy) { o.Strips = nil }), `strips: is empty; there is nothing to show`},
		"many machines": {
			servers(201, 1),
			`strips: there are 201, which nobody can tell apart; show at most 200, of groups of machines say`,
		},
		"full below 0":    {of(func(o *Occupancy) { o.Full = -1 }), `full: -1 is not between 0 and 1e+290`},
		"a machine twice": {of(func(o *Occupancy) { o.Strips[1].Machine = "idle" }), `strips[1].machine: "idle" is also the name of strips[0]`},
		"no bins": {
			of(func(o *Occupancy) { o.Strips[0].Values = nil }),
			`strips[0] ("idle").values: there are 0; a chart shows 1 to 1000 bins of time`,
		},
		"many bins": {servers(1, 1001), `strips[0] ("server-000").values: there are 1001; a chart shows 1 to 1000 bins of time`},
		"no time": {
			of(func(o *Occupancy) { o.BinSeconds = 0 }),
			`binSeconds: 0 is not above 0 and at most 2.25e+09, for 4 bins to end by 9e+09`,
		},
		"too late": {
			of(func(o *Occupancy) { o.BinSeconds = 3e9 }),
			`binSeconds: 3e+09 is not above 0 and at most 2.25e+09, for 4 bins to end by 9e+09`,
		},
		"fewer bins": {
			of(func(o *Occupancy) { o.Strips[1].Values = []float64{1} }),
			`strips[1] ("busy").values: there are 1, but 4 of the first strip`,
		},
		"below 0": {
			of(func(o *Occupancy) { o.Strips[1].Values[2] = -0.5 }),
			`strips[1] ("busy").values[2]: -0.5 is not between 0 and 1e+290`,
		},
		"nothing is known": {
			of(func(o *Occupancy) { o.Strips = []Strip{{Machine: "m", Values: []float64{math.NaN()}}} }),
			`strips: none of their values is known; there is nothing to show`,
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

func TestAnOccupancyOfAnyValuesCanBeDrawn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bins := rapid.IntRange(1, 5).Draw(t, "bins")
		chart := Occupancy{
			Quantity: "x", Title: rapid.String().Draw(t, "title"), Unit: rapid.String().Draw(t, "unit"),
			Full:       rapid.Float64Range(0, maxMagnitude).Draw(t, "full"),
			BinSeconds: rapid.Float64Range(1e-9, maxTimelineSeconds/5).Draw(t, "binSeconds"),
		}
		value := rapid.OneOf(rapid.Float64Range(0, maxMagnitude), rapid.Float64Range(0, 3), rapid.Just(math.NaN()))
		for i := range rapid.IntRange(1, 2).Draw(t, "machines") {
			values := rapid.SliceOfN(value, bins, bins).Draw(t, "values")
			chart.Strips = append(chart.Strips, Strip{Machine: rapid.StringN(0, 60, -1).Draw(t, "machine") + fmt.Sprint(i), Values: values})
		}
		chart.Strips[0].Values[0] = 1
		wantFinitePlaces(t, chart)
	})
}
