package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot/vg"
)

// twoSchedules are the schedules of Fig. 8 of Lim et al., "D-factor",
// SIGMETRICS 2012: four jobs on two machines, the fourth after 60 seconds.
func twoSchedules() Timeline {
	return Timeline{Title: "Four jobs on two machines", Schedules: []Schedule{
		{Name: "List scheduler", Bars: []Bar{
			{"Machine 1", "W1", 0, 110.56},
			{"Machine 1", "W2", 110.56, 226.39},
			{"Machine 2", "W3", 0, 180},
			{"Machine 2", "W4", 180, 290.56},
		}},
		{Name: "D-factor", Bars: []Bar{
			{"Machine 1", "W1", 0, 161.12},
			{"Machine 1", "W2", 0, 115.83},
			{"Machine 1", "W4", 60, 221.12},
			{"Machine 2", "W3", 0, 180},
		}},
	}}
}

func twoSamples() Distribution {
	return Distribution{
		Title: "Dilation", Quantity: "dilation", Unit: "×", Of: "pods",
		Samples: []Sample{
			{Name: "kube-scheduler", Values: []float64{1.9, 1.1, 1.4, 2.6}},
			{Name: "Loadline", Values: []float64{1.1, 1.2, 1.05, 1.5}},
		},
	}
}

func oneOfEachChart() map[string]Chart {
	return map[string]Chart{
		"comparison": twoPolicies(), "distribution": twoSamples(), "drawing": twoWords(), "heat map": threeByTwo(), "intervals": threeEstimates(),
		"occupancy": twoServers(), "regions": dedicatedOrShared(), "scatter": twoModels(), "share tree": twoGroups(),
		"staircase": twoClasses(), "timeline": twoSchedules(),
	}
}

func encoded(tb testing.TB, chart Chart, format Format) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := Encode(&b, chart, format); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// texts returns the texts of an SVG, which it must be able to parse.
func texts(tb testing.TB, svg []byte) []string {
	tb.Helper()
	var all []string
	decoder := xml.NewDecoder(bytes.NewReader(svg))
	inText := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			tb.Fatalf("the SVG is not well formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				all = append(all, string(token))
			}
		}
	}
}

func wantTexts(t *testing.T, chart Chart, want ...string) {
	t.Helper()
	all := "|" + strings.Join(texts(t, encoded(t, chart, SVG)), "|") + "|"
	for _, text := range want {
		if !strings.Contains(all, "|"+text+"|") {
			t.Errorf("%q is not among %s", text, all)
		}
	}
}

func TestEveryKindOfChartSaysWhatItShows(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"comparison":   "Three streams: makespan of each job stream by round robin, least dilation",
		"distribution": "Dilation: distribution of dilation by kube-scheduler, Loadline",
		"drawing":      "two words, one above the other",
		"heat map":     "Who slows whom: heat map of dilation",
		"intervals":    "Against round robin: improvement with confidence intervals of random, least dilation, single run",
		"occupancy":    "Two servers: jobs of machines over time",
		"regions":      "Dedicated or shared?: map of arrival rate of checkout and arrival rate of search",
		"scatter":      "Two models: predicted against measured dilation by linearizer, first order",
		"share tree":   "Shares: tree of shares with utilizations and response times",
		"staircase":    "Servers against arrival rate: servers for each arrival rate of checkout, search",
		"timeline":     "Four jobs on two machines: timeline of List scheduler, D-factor",
	}
	got := map[string]string{}
	for name, c := range oneOfEachChart() {
		element, err := ElementOf(c)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = element.Label
		if name != "drawing" && (element.Table == nil || len(element.Table.Rows()) == 0 || element.Table.NoHeader) {
			t.Errorf("the %s has no table", name)
		}
		if !strings.HasPrefix(element.SVG, "<svg ") || strings.Contains(element.SVG, ` id="`) {
			t.Errorf("the %s is no element without an id, which could be another element's", name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels differ (-want +got):\n%s", diff)
	}
}

func TestAPNGHasTwoHundredPixelsPerInch(t *testing.T) {
	t.Parallel()
	chart := threeByTwo() // the one with the fewest pixels
	image, err := png.Decode(bytes.NewReader(encoded(t, chart, PNG)))
	if err != nil {
		t.Fatal(err)
	}
	width, height := chart.size()
	if size := image.Bounds().Size(); size.X != pixels(width) || size.Y != pixels(height) {
		t.Errorf("the chart of %v by %v points has %d by %d pixels", width, height, size.X, size.Y)
	}
}

func TestMostChartsAreEightInchesWide(t *testing.T) {
	t.Parallel()
	all := oneOfEachChart()
	for _, name := range []string{"comparison", "distribution", "intervals", "occupancy", "staircase", "timeline"} {
		if width, height := all[name].size(); width != 8*vg.Inch || height < 2*vg.Inch {
			t.Errorf("the %s is %v by %v points", name, width, height)
		}
	}
}

func TestTheSameChartIsDrawnTheSameTwice(t *testing.T) {
	t.Parallel()
	// Pixels take long, and the number of pixels on paper shows no more here.
	const few = 40
	for name, chart := range oneOfEachChart() {
		if !bytes.Equal(encoded(t, chart, SVG), encoded(t, chart, SVG)) {
			t.Errorf("two SVG drawings of the %s differ", name)
		}
		var first, second bytes.Buffer
		if err := errors.Join(encodePNG(&first, chart, few), encodePNG(&second, chart, few)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("two PNG drawings of the %s differ", name)
		}
	}
}

func TestAnUnknownFormatIsRefused(t *testing.T) {
	t.Parallel()
	err := Encode(io.Discard, twoSamples(), "gif")
	if diff := cmp.Diff(`format: "gif" is neither svg nor png`, errorText(err)); diff != "" {
		t.Error(diff)
	}
}

func TestTheFormatIsToldByTheExtension(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Format{"a.svg": SVG, "dir.x/b.PNG": PNG} {
		if got, err := FormatOf(path); got != want || err != nil {
			t.Errorf("FormatOf(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"week.pdf": "week.pdf: cannot draw .pdf; a chart's file name must end in .svg or .png",
		"week":     "week: a chart's file name must end in .svg or .png",
	} {
		if _, err := FormatOf(path); errorText(err) != want {
			t.Errorf("FormatOf(%q): error = %v, want %s", path, err, want)
		}
	}
}

func TestAnErrorOfTheWriterEndsEncoding(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{SVG, PNG} {
		if err := Encode(closedPipe(), threeByTwo(), format); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: error = %v, want the writer's", format, err)
		}
	}
}

// closedPipe refuses all writes.
func closedPipe() io.Writer {
	reader, writer := io.Pipe()
	reader.Close()
	return writer
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
