package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

const hostile = `<script>alert("1")</script> & 'x' --></style>`

func makespans() chart.Comparison {
	return chart.Comparison{
		Title: "Two streams", Quantity: "makespan", Unit: "s", CasesAre: "job stream", Cases: []string{"first", "second"},
		Contenders: []chart.Contender{{Name: "round robin", Values: []float64{300, 200}}, {Name: "least dilation", Values: []float64{250, 180}}},
	}
}

// oneServer is a chart with a picture in it.
func oneServer() chart.Occupancy {
	return chart.Occupancy{Title: "One server", Quantity: "jobs", BinSeconds: 3600, Strips: []chart.Strip{{Machine: "one", Values: []float64{0, 4, math.NaN()}}}}
}

func aPage() Page {
	table := text.NewTable(text.Left("POLICY"), text.Right("MAKESPAN"), text.Right("SLA MET"))
	table.Add("round robin", "290.5s", "91.2%")
	table.Add("lmuf", "places nothing")
	return Page{
		Title: "Last week", Summary: "Least dilation is 17.7% faster.", Footer: "kubectl loadline replay, seed 1",
		Sections: []Section{
			{
				Title: "Results", Text: "One.\nStill one.\n\n \nTwo.", Table: table,
				Charts: []chart.Chart{makespans()}, Notes: []string{"12 jobs were dropped."},
			},
			{Title: "Servers", Charts: []chart.Chart{oneServer(), makespans()}},
			{Title: "Schedules"},
		},
	}
}

func encodedPage(tb testing.TB, page Page) string {
	tb.Helper()
	var b bytes.Buffer
	if err := Encode(&b, page); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// element is an HTML element: its start tag, and the text that follows it up to
// the next tag.
type element struct {
	name       string
	attributes map[string]string
	text       string
}

// elements returns the elements of a page in their order; every one must be
// closed in its order.
func elements(tb testing.TB, page string) []element {
	tb.Helper()
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict = false
	decoder.AutoClose = []string{"meta"}
	decoder.Entity = xml.HTMLEntity
	var all []element
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			tb.Fatalf("the page is not well formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: map[string]string{}}
			for _, attribute := range token.Attr {
				e.attributes[attribute.Name.Local] = attribute.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 && all[len(all)-1].text == "" {
				all[len(all)-1].text = string(token)
			}
		}
	}
}

// textsOf returns the texts of the elements of a name.
func textsOf(all []element, name string) []string {
	var found []string
	for _, e := range all {
		if e.name == name {
			found = append(found, strings.TrimSpace(e.text))
		}
	}
	return found
}

func TestAPageHasItsTextsInTheirPlaces(t *testing.T) {
	t.Parallel()
	all := elements(t, encodedPage(t, aPage()))
	for name, want := range map[string][]string{
		"title":  {"Last week", "Two streams", "One server", "Two streams"}, // the page's, and those of its charts
		"h1":     {"Last week"},
		"h2":     {"Results", "Servers", "Schedules"},
		"a":      {"Results", "Servers", "Schedules"},
		"p":      {"Least dilation is 17.7% faster.", "One. Still one.", "Two."},
		"li":     {"", "", "", "12 jobs were dropped."}, // three links, and a note
		"footer": {"kubectl loadline replay, seed 1"},
	} {
		if diff := cmp.Diff(want, textsOf(all, name)); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatIsEmptyIsLeftOutOfAPage(t *testing.T) {
	t.Parallel()
	all := elements(t, encodedPage(t, Page{Title: "Nothing", Sections: []Section{{Title: "Still nothing"}}}))
	for _, name := range []string{"p", "nav", "table", "figure", "ul", "footer"} {
		if found := textsOf(all, name); len(found) > 0 {
			t.Errorf("there are %d %s elements", len(found), name)
		}
	}
}

func TestATableOfAPageHasHeadersAndNumbersToTheRight(t *testing.T) {
	t.Parallel()
	page := aPage()
	page.Sections = page.Sections[:1]
	page.Sections[0].Charts = nil
	want := []string{
		"th map[scope:col] POLICY", "th map[class:right scope:col] MAKESPAN", "th map[class:right scope:col] SLA MET",
		"th map[scope:row] round robin", "td map[class:right] 290.5s", "td map[class:right] 91.2%",
		"th map[scope:row] lmuf", "td map[colspan:2] places nothing",
	}
	if diff := cmp.Diff(want, cellsOf(elements(t, encodedPage(t, page)))); diff != "" {
		t.Errorf("cells differ (-want +got):\n%s", diff)
	}
}

// cellsOf returns the cells of all tables.
func cellsOf(all []element) (cells []string) {
	for _, e := range all {
		if e.name == "th" || e.name == "td" {
			cells = append(cells, strings.TrimSpace(fmt.Sprintln(e.name, e.attributes, e.text)))
		}
	}
	return cells
}

func TestATableWithoutHeaderHasNoneInAPage(t *testing.T) {
	t.Parallel()
	page := aPage()
	page.Sections = page.Sections[:1]
	page.Sections[0].Table.NoHeader, page.Sections[0].Charts = true, nil
	if found := textsOf(elements(t, encodedPage(t, page)), "thead"); len(found) > 0 {
		t.Error("there is a header")
	}
}

func TestEveryChartOfAPageSaysWhatItShows(t *testing.T) {
	t.Parallel()
	all := elements(t, encodedPage(t, aPage()))
	const streams, server = "makespan of each job stream by round robin, least dilation", "jobs of machines over time"
	if diff := cmp.Diff([]string{streams, server, streams}, textsOf(all, "desc")); diff != "" {
		t.Errorf("descriptions differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Two streams: " + streams, "One server: " + server, "Two streams: " + streams}, textsOf(all, "caption")); diff != "" {
		t.Errorf("captions of the tables behind charts differ (-want +got):\n%s", diff)
	}
	for _, e := range all {
		if e.name == "svg" && e.attributes["role"] != "img" {
			t.Error("a chart is not read as one picture")
		}
	}
}

func TestNoTwoElementsOfAPageShareAnID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range elements(t, encodedPage(t, aPage())) {
		if id := e.attributes["id"]; id != "" {
			if seen[id] {
				t.Errorf("id %q occurs twice", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("the ids are %v, want one per section", seen)
	}
}

func TestAPageLoadsNothing(t *testing.T) {
	t.Parallel()
	page := encodedPage(t, aPage())
	for _, e := range elements(t, page) {
		if slices.Contains([]string{"script", "link", "img", "iframe", "object", "embed"}, e.name) {
			t.Errorf("there is a %s element", e.name)
		}
		for name, value := range e.attributes {
			switch {
			case name == "href" || name == "src":
				if !strings.HasPrefix(value, "#section-") && !strings.HasPrefix(value, "data:image/png;base64,") {
					t.Errorf("%s of %s leads to %q", name, e.name, value)
				}
			case strings.HasPrefix(name, "on"):
				t.Errorf("%s of %s runs a script", name, e.name)
			}
		}
	}
	if found := regexp.MustCompile(`url\(|@import`).FindString(page); found != "" {
		t.Errorf("the style has %q", found)
	}
}

func TestMarkupInTextsIsShownAsItIs(t *testing.T) {
	t.Parallel()
	drawn := makespans()
	drawn.Title, drawn.Contenders[0].Name, drawn.Cases[0], drawn.CasesAre = hostile, hostile, hostile, hostile
	drawn.Contenders, drawn.Cases = drawn.Contenders[:1], drawn.Cases[:1]
	drawn.Contenders[0].Values, drawn.Unit = drawn.Contenders[0].Values[:1], ""
	table := text.NewTable(text.Left(hostile), text.Right(hostile))
	table.Add(hostile, hostile)
	page := encodedPage(t, Page{
		Title: hostile, Summary: hostile, Footer: hostile,
		Sections: []Section{{Title: hostile, Text: hostile, Table: table, Charts: []chart.Chart{drawn}, Notes: []string{hostile}}},
	})
	all := elements(t, page)
	for _, name := range []string{"title", "h1", "h2", "p", "li", "th", "footer"} {
		found := textsOf(all, name)
		if len(found) == 0 || slices.ContainsFunc(found, func(text string) bool { return text != hostile }) {
			t.Errorf("%s is %q", name, found)
		}
	}
	if !slices.Contains(textsOf(all, "text"), hostile) {
		t.Error("the chart does not show its title")
	}
	if strings.Contains(page, "<script") || strings.Count(page, "</style>") != 1 {
		t.Error("there is markup of others")
	}
}

func TestControlCharactersInAPageAreEscaped(t *testing.T) {
	t.Parallel()
	all := elements(t, encodedPage(t, Page{Title: "a\u202eb\x00"}))
	if diff := cmp.Diff([]string{`a\u202eb\x00`}, textsOf(all, "h1")); diff != "" {
		t.Error(diff)
	}
}

func TestAPageOfAnyTextsIsWellFormed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		anyText := rapid.OneOf(rapid.String(), rapid.StringMatching(`[<>&"'/a-z=! -]{0,30}`))
		table := text.NewTable(text.Left(anyText.Draw(rt, "header")))
		table.Add(anyText.Draw(rt, "cell"))
		page := Page{
			Title: "t" + anyText.Draw(rt, "title"), Summary: anyText.Draw(rt, "summary"), Footer: anyText.Draw(rt, "footer"),
			Sections: []Section{{Title: "s" + anyText.Draw(rt, "section"), Text: anyText.Draw(rt, "text"), Table: table, Notes: []string{anyText.Draw(rt, "note")}}},
		}
		if got := textsOf(elements(t, encodedPage(t, page)), "h1"); len(got) != 1 || got[0] != strings.TrimSpace(text.Printable(page.Title)) {
			rt.Fatalf("the title %q is shown as %q", page.Title, got)
		}
	})
}

func TestAPageThatCannotBeShownSaysWhichField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page Page
		want string
	}{
		"no title":         {Page{}, `title: is empty`},
		"no section title": {Page{Title: "a", Sections: []Section{{Title: "b"}, {}}}, `sections[1].title: is empty`},
		"a bad chart": {
			Page{Title: "a", Sections: []Section{{Title: "b", Charts: []chart.Chart{makespans(), chart.Distribution{}}}}},
			`sections[0] ("b").charts[1].quantity: is empty; name what the values measure`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := Encode(io.Discard, c.page); errorText(err) != c.want {
				t.Errorf("error = %v\nwant    %s", err, c.want)
			}
		})
	}
}

func TestAnErrorOfTheWriterEndsAPage(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	reader.Close()
	if err := Encode(writer, aPage()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error = %v, want the writer's", err)
	}
}

func TestAPageReplacesTheFileThatWasThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "week.html")
	for _, page := range []Page{{Title: "old"}, aPage()} {
		if err := Write(path, page); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(encodedPage(t, aPage()), contentOf(t, path)); diff != "" {
		t.Errorf("the file differs (-want +got):\n%s", diff)
	}
}

func TestAPageThatCannotBeShownLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "week.html")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, Page{}); errorText(err) != path+": title: is empty" {
		t.Errorf("error = %v", err)
	}
	if got := contentOf(t, path); got != "old" {
		t.Errorf("the file holds %q", got)
	}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

func TestAPageIsWrittenIntoAnHTMLFileOnly(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"week.html": "no error", "dir.x/WEEK.HTM": "no error",
		"week.pdf": "week.pdf: a report's file name must end in .html or .htm",
		"week":     "week: a report's file name must end in .html or .htm",
	} {
		if err := CheckPath(path); errorText(err) != want {
			t.Errorf("CheckPath(%q): error = %v, want %s", path, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "week.pdf")
	if err := Write(path, aPage()); err == nil {
		t.Error("a PDF was written")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}
