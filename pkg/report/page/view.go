package page

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

//go:embed page.html
var pageSource string

//go:embed style.css
var stylesheet string

// templates are those of a page and its parts.
var templates = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"printable":  text.Printable,
	"stylesheet": func() template.CSS { return template.CSS(stylesheet) }, //nolint:gosec // our own file
	"percent":    percent,
	"roomy":      func(value, whole float64) bool { return value >= roomForLabel*whole },
	"ground":     ground,
	"spark":      spark,
	"barOf":      func(r BarRow, s *sectionView) barView { return barView{r, s.Bars, s.Scale} },
	"lines":      lines,
	"multiline":  func(s string) string { return strings.Join(lines(s), "\n") },
}).Parse(pageSource))

// lines returns the lines of a text, each printable but for tabs.
func lines(s string) []string {
	all := strings.Split(strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
	for i, line := range all {
		parts := strings.Split(line, "\t")
		for k := range parts {
			parts[k] = text.Printable(parts[k])
		}
		all[i] = strings.Join(parts, "\t")
	}
	return all
}

// pageView is a page as its template wants it.
type pageView struct {
	Title, Summary, Status, Footer string
	Sections                       []*sectionView
	Site                           *Site
}

type sectionView struct {
	*Section

	ID         string
	Paragraphs []string
	Shown      *tableView // the table
	Choice     *filterView
	Drawn      []chartView
	Scale      float64 // of bars: the value of full length

	BehindBars  []*tableView
	BehindTiles *tableView
}

// barView is a bar with what all of them have, and their scale.
type barView struct {
	Row BarRow
	*Bars

	Scale float64
}

type filterView struct {
	Label   string
	Name    string // of the choice
	Choices []choiceView
	Rules   template.CSS
}

// choiceView is a group of rows to choose.
type choiceView struct{ ID, Text string }

type chartView struct {
	Width  string // as CSS writes it
	SVG    template.HTML
	Behind *tableView
}

func (s *Section) view(id string) (*sectionView, error) {
	if s.Title == "" {
		return nil, errors.New(".title: is empty")
	}
	view := &sectionView{Section: s, ID: id, Paragraphs: paragraphs(s.Text)}
	for i, c := range s.Charts {
		element, err := chart.ElementOf(c)
		if err != nil {
			return nil, fmt.Errorf(" (%q).charts[%d].%w", s.Title, i, err)
		}
		drawn := chartView{
			Width: fmt.Sprintf("%.0fpt", element.WidthPoints),
			SVG:   template.HTML(element.SVG), //nolint:gosec // our own drawing; it escapes its texts
		}
		if element.Table != nil {
			drawn.Behind = behind(element.Label, element.Table, evenlySpaced)
		}
		view.Drawn = append(view.Drawn, drawn)
	}
	if s.Bars != nil {
		view.Scale, view.BehindBars = s.Bars.scale(), s.Bars.behind()
	}
	if s.Tiles != nil && s.Tiles.Many() {
		view.BehindTiles = s.Tiles.behind()
	}
	if s.Table != nil {
		view.Shown = newTable(text.Printable(s.Title), s.Table, s.Link)
	}
	if s.Table != nil && s.Filter != nil {
		view.filter()
	}
	return view, nil
}

// filter adds a choice among the groups of the rows, where there are several.
func (s *sectionView) filter() {
	groups := map[string]string{} // their classes
	for i := range s.Shown.Rows {
		row := &s.Shown.Rows[i]
		about := slices.IndexFunc(row.Cells, func(c cellView) bool { return c.Names })
		if about < 0 {
			continue
		}
		group := s.Filter.Group(row.Cells[about].Text)
		if groups[group] == "" {
			groups[group] = fmt.Sprintf("%s-group-%d", s.ID, len(groups)+1)
		}
		row.Class = groups[group]
	}
	if len(groups) < 2 {
		return
	}
	s.Choice = &filterView{Label: s.Filter.Label, Name: s.ID + "-filter"}
	var rules strings.Builder
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		class := groups[group]
		s.Choice.Choices = append(s.Choice.Choices, choiceView{"show-" + class, text.Printable(group)})
		fmt.Fprintf(&rules, "section:has(#show-%s:checked) tbody tr:not(.%s) { display: none; }\n", class, class)
	}
	s.Choice.Rules = template.CSS(rules.String()) //nolint:gosec // made of numbers
}

// paragraphs are separated by blank lines. Single line ends are spaces.
func paragraphs(prose string) []string {
	var all []string
	var lines []string
	end := func() {
		if len(lines) > 0 {
			all = append(all, text.Printable(strings.Join(lines, " ")))
		}
		lines = nil
	}
	for line := range strings.Lines(prose) {
		if line = strings.TrimSpace(line); line == "" {
			end()
		} else {
			lines = append(lines, line)
		}
	}
	end()
	return all
}

// scale returns the value of a bar of full length.
func (b *Bars) scale() float64 {
	if b.Full > 0 {
		return b.Full
	}
	largest := b.Mark
	for row := range b.all {
		largest = max(largest, row.sum())
	}
	return largest
}

func (r *BarRow) sum() (sum float64) {
	for _, p := range r.Parts {
		sum += p.Value
	}
	return sum
}

// percent returns which part of a whole a value is, as CSS writes a length; 0 for what is no number, and the whole at most.
func percent(value, whole float64) template.CSS {
	part := value / whole
	if math.IsNaN(part) {
		part = 0
	}
	return template.CSS(fmt.Sprintf("%.2f%%", 100*min(max(part, 0), 1))) //nolint:gosec // a number
}

// roomForLabel is the part of a bar that a part takes at least to have its label in it.
const roomForLabel = 0.12

// ground returns the colours of a tile on a light and on a dark page, as variables of CSS: what is hot stands out from either.
func ground(t Tile) template.CSS {
	if t.Unknown {
		return ""
	}
	heat := min(max(t.Heat, 0), 1)
	return template.CSS("--heat-light:" + hex(chart.Heat(heat)) + ";--heat-dark:" + hex(chart.Heat(1-heat))) //nolint:gosec // made of numbers
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// The size of a sparkline, in units of its own.
const sparkWidth, sparkHeight = 100, 22

// spark returns the points of a line through values, the largest at the top and none below the bottom, which stands for 1: dilations.
// A value that is not known is left out.
func spark(values []float64) string {
	top := 1.2 // smaller differences are not blown up
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			top = max(top, v)
		}
	}
	var points []string
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		x := sparkWidth * float64(i) / float64(max(1, len(values)-1))
		y := 1 + (sparkHeight-2)*(1-(max(v, 1)-1)/(top-1))
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return strings.Join(points, " ")
}
