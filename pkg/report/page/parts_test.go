package page

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// everyPart is a page with a part of each kind, whose texts and addresses are all the same.
func everyPart(s string) Page {
	bar := BarRow{
		Name: s, Link: s, Detail: s, Figure: s, Words: s, Parts: []BarPart{{Neighbour, s, s, 3}, {Limit, s, s, 1}}, Spark: []float64{1, 2}, SparkIs: s, Severity: "bad", Remedy: s,
	}
	group := bar
	group.Of = []BarRow{bar}
	table := text.NewTable(text.Left(s), text.Right(s))
	table.Add(s, s)
	return Page{Title: s, Summary: s, Status: s, Footer: s, Sections: []Section{{
		Title: s, Text: s, Table: table, Link: func(string) string { return s }, Notes: []string{s},
		Cards: []Card{{Title: s, Gains: []string{s}, Lines: []string{s}, Command: s, Action: &Action{s, s, []Hidden{{s, s}}}}},
		Bars:  &Bars{Of: s, Key: []KeyEntry{{Limit, s}}, Mark: 2, MarkIs: s, Rows: []BarRow{bar, group}},
		Tiles: &Tiles{Of: s, Tiles: []Tile{{Name: s, Link: s, Heat: 0.5, Figure: s, Detail: s}, {Name: s, Unknown: true, Figure: s}}},
		Form: &Form{To: s, Label: s, Submit: s, Fields: []Field{
			{Type: TextField, Name: s, Label: s, Value: s, Placeholder: s},
			{Type: AreaField, Name: s, Label: s, Value: s},
			{Type: HiddenField, Name: s, Value: s},
			{Type: RangeField, Name: s, Label: s, Value: "1", Shown: s, Min: "0", Max: "2", Step: "1"},
			{Type: SelectField, Name: s, Label: s, Options: []Option{{s, s, true}}},
		}},
		Charts: []chart.Chart{chart.HeatMap{Quantity: s, RowsAre: s, ColumnsAre: s, Rows: []string{s}, Columns: []string{s}, Values: [][]float64{{1}}}},
	}}}
}

// encodedSite returns a page of a site.
func encodedSite(tb testing.TB, s *Site, p Page) string {
	tb.Helper()
	var b bytes.Buffer
	if err := s.Encode(&b, p); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestMarkupInPartsIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"a file": encodedPage(t, everyPart(hostile)),
		"a site": encodedSite(t, &Site{Links: []SiteLink{{hostile, hostile, true}}, Cluster: hostile, Moment: hostile, Problem: hostile, Events: hostile}, everyPart(hostile)),
	} {
		for _, e := range elements(t, page) {
			for key, value := range e.attributes {
				if strings.HasPrefix(key, "on") || strings.Contains(value, "javascript:") {
					t.Errorf("%s: %s of %s is %q", name, key, e.name, value)
				}
			}
			if e.name == "img" || e.name == "script" && e.attributes["src"] == "" {
				t.Errorf("%s: there is an element %s", name, e.name)
			}
		}
	}
}

func TestAddressesThatRunScriptsLeadNowhere(t *testing.T) {
	t.Parallel()
	page := encodedPage(t, everyPart("javascript:alert(1)"))
	for _, e := range elements(t, page) {
		for _, key := range []string{"href", "action", "src"} {
			if strings.HasPrefix(e.attributes[key], "javascript:") {
				t.Errorf("%s of %s is %q", key, e.name, e.attributes[key])
			}
		}
	}
}

func TestBarsHaveOneScale(t *testing.T) {
	t.Parallel()
	widths := func(full float64, rows ...BarRow) (all []string) {
		p := Page{Title: "a", Sections: []Section{{Title: "b", Bars: &Bars{Of: "c", Full: full, Rows: rows}}}}
		for _, e := range elements(t, encodedPage(t, p)) {
			if e.name == "i" && strings.HasPrefix(e.attributes["style"], "width:") {
				all = append(all, e.attributes["title"]+" "+strings.TrimPrefix(e.attributes["style"], "width:"))
			}
		}
		return all
	}
	long := BarRow{Name: "long", Parts: []BarPart{{Neighbour, "x", "+3", 3}, {Unclear, "y", "+1", 1}}}
	short := BarRow{Name: "short", Parts: []BarPart{{Limit, "z", "+½", 0.5}}}
	if diff := cmp.Diff([]string{"x +3 75.00%", "y +1 25.00%", "z +½ 12.50%"}, widths(0, long, short)); diff != "" {
		t.Errorf("by the longest: %s", diff)
	}
	if diff := cmp.Diff([]string{"x +3 37.50%", "y +1 12.50%", "z +½ 6.25%"}, widths(8, long, short)); diff != "" {
		t.Errorf("by a full length: %s", diff)
	}
	// Numbers that cannot be are drawn as nothing, or as all that there is.
	wrong := BarRow{Name: "wrong", Parts: []BarPart{{Limit, "n", "?", math.NaN()}, {Limit, "i", "?", math.Inf(1)}, {Limit, "m", "?", -1}}}
	if diff := cmp.Diff([]string{"n ? 0.00%", "i ? 100.00%", "m ? 0.00%"}, widths(4, wrong)); diff != "" {
		t.Errorf("wrong: %s", diff)
	}
}

func TestASparklineLeavesOutWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		values []float64
		want   string
	}{
		"nothing":          {nil, ""},
		"one":              {[]float64{2}, "0.0,1.0"},
		"rising":           {[]float64{1, 2, 3}, "0.0,21.0 50.0,11.0 100.0,1.0"},
		"small":            {[]float64{1, 1.1}, "0.0,21.0 100.0,11.0"},
		"a gap":            {[]float64{1, math.NaN(), 3}, "0.0,21.0 100.0,1.0"},
		"what cannot be":   {[]float64{math.Inf(1), 0.5, 2}, "50.0,21.0 100.0,1.0"},
		"nothing is known": {[]float64{math.NaN(), math.NaN()}, ""},
	} {
		if got := spark(test.values); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestTilesAreColouredOnOneScale(t *testing.T) {
	t.Parallel()
	for heat, want := range map[float64]template.CSS{
		0: "--heat-light:#fff6dc;--heat-dark:#2b0f54", 1: "--heat-light:#2b0f54;--heat-dark:#fff6dc", 7: "--heat-light:#2b0f54;--heat-dark:#fff6dc", -1: "--heat-light:#fff6dc;--heat-dark:#2b0f54",
	} {
		if got := ground(Tile{Heat: heat}); got != want {
			t.Errorf("%v: %s, want %s", heat, got, want)
		}
	}
	if got := ground(Tile{Unknown: true, Heat: 1}); got != "" {
		t.Errorf("what is not known is %s", got)
	}
	many := &Tiles{Of: "a"}
	for i := range 61 {
		many.Tiles = append(many.Tiles, Tile{Name: fmt.Sprint("n-", i), Figure: "2×", Detail: "busy", Link: "node"})
	}
	page := encodedPage(t, Page{Title: "a", Sections: []Section{{Title: "b", Tiles: many}}})
	if !strings.Contains(page, `class="tiles many"`) || !strings.Contains(page, `title="n-60: 2×, busy"></a></li>`) {
		t.Error("many tiles are not small")
	}
}

func TestAPageOfAnyPartsIsWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := "a" + rapid.OneOf(rapid.String(), rapid.StringMatching(`[<>&"'/a-z=! {}.-]{0,30}`)).Draw(rt, "text")
		for _, page := range []string{encodedPage(t, everyPart(s)), encodedSite(t, &Site{Cluster: s, Problem: s, Moment: s, Links: []SiteLink{{s, "./", true}}}, everyPart(s))} {
			if got := textsOf(elements(t, page), "h1"); len(got) != 1 || got[0] != strings.TrimSpace(text.Printable(s)) {
				rt.Fatalf("the title %q is shown as %q", s, got)
			}
		}
	})
}

func TestAssetsAreThoseOfTheFolder(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"style.css": "text/css; charset=utf-8", "live.js": "text/javascript; charset=utf-8", "idiomorph.min.js": "text/javascript; charset=utf-8"} {
		if content, mediaType := Asset(name); len(content) == 0 || mediaType != want {
			t.Errorf("%s: %d bytes of %q", name, len(content), mediaType)
		}
	}
	for _, name := range []string{"", "idiomorph.LICENSE", "../page.html", "nosuch.js", "assets/live.js", "..\\live.js"} {
		if content, _ := Asset(name); content != nil {
			t.Errorf("%s is an asset", name)
		}
	}
	for _, name := range []string{"live.js", "idiomorph.min.js"} {
		content, _ := Asset(name)
		if slices.ContainsFunc([]string{"eval(", "new Function", "http:", "https:"}, func(s string) bool {
			return strings.Contains(strings.ReplaceAll(string(content), "http://www.w3.org/", ""), s)
		}) {
			t.Errorf("%s evaluates text, or has an address", name)
		}
	}
}
