package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/file"
	"loadline.dev/loadline/pkg/text"
)

// Page is a report that people open in a browser, mail or print: one HTML file that holds its charts
// and loads nothing, with a light and a dark look. All texts are plain: markup in them is escaped.
type Page struct {
	// Title heads the page; not empty.
	Title string
	// Summary is the answer in a sentence or two; it comes first. May be empty.
	Summary string
	// Sections follow in this order. With three or more, links lead to them.
	Sections []Section
	// Footer says what made the page, from what; may be empty.
	Footer string
}

// Section is a part of a [Page]. What is empty is left out.
type Section struct {
	// Title heads the section; not empty.
	Title string
	// Text comes first. Blank lines separate its paragraphs.
	Text string
	// Table follows the text.
	Table *text.Table
	// Filter lets readers choose which rows of the table they see; nil for all.
	Filter *Filter
	// Charts follow the table.
	Charts []chart.Chart
	// Notes end the section: omissions and assumptions, say.
	Notes []string
}

// Filter is a choice of rows. It works in the browser, without a script.
type Filter struct {
	// Label names the kind of the groups, such as "Namespace"; not empty.
	Label string
	// Group returns the group of a row by the cell that says what it is about.
	Group func(about string) string
}

// EncodePage writes a page to w. The error names the field that cannot be
// shown, or is w's.
func EncodePage(w io.Writer, page Page) error {
	view, err := page.view()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, view); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Parse(pageSource))

// pageView is a page as its template wants it.
type pageView struct {
	Title, Summary, Footer string
	Sections               []sectionView
}

type sectionView struct {
	ID         string
	Title      string
	Paragraphs []string
	Table      *text.Table
	Rows       []rowView
	Filter     *filterView
	Charts     []chartView
	Notes      []string
}

type rowView struct {
	Class string // by which the filter finds it
	Cells []text.Cell
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
	Label string
	Width string // as CSS writes it
	SVG   template.HTML
}

func (p Page) view() (pageView, error) {
	if p.Title == "" {
		return pageView{}, errors.New("title: is empty")
	}
	view := pageView{Title: text.Printable(p.Title), Summary: text.Printable(p.Summary), Footer: text.Printable(p.Footer)}
	for i, section := range p.Sections {
		s, err := section.view()
		if err != nil {
			return pageView{}, fmt.Errorf("sections[%d]%w", i, err)
		}
		s.ID = fmt.Sprintf("section-%d", i+1)
		s.fill(section.Table, section.Filter)
		view.Sections = append(view.Sections, s)
	}
	return view, nil
}

func (s Section) view() (sectionView, error) {
	if s.Title == "" {
		return sectionView{}, errors.New(".title: is empty")
	}
	view := sectionView{Title: text.Printable(s.Title), Paragraphs: paragraphs(s.Text), Table: s.Table}
	for i, c := range s.Charts {
		element, err := chart.ElementOf(c)
		if err != nil {
			return sectionView{}, fmt.Errorf(" (%q).charts[%d].%w", s.Title, i, err)
		}
		view.Charts = append(view.Charts, chartView{
			Label: element.Label,
			Width: fmt.Sprintf("%.0fpt", element.WidthPoints),
			SVG:   template.HTML(element.SVG), //nolint:gosec // our own drawing; it escapes its texts
		})
	}
	for _, note := range s.Notes {
		view.Notes = append(view.Notes, text.Printable(note))
	}
	return view, nil
}

// fill adds the rows of a table, and the filter for them where there are several groups.
func (s *sectionView) fill(table *text.Table, filter *Filter) {
	if table == nil {
		return
	}
	groups := map[string]string{} // their classes
	for _, cells := range table.Rows() {
		row := rowView{Cells: cells}
		if about := slices.IndexFunc(cells, func(c text.Cell) bool { return c.Names }); filter != nil && about >= 0 {
			group := filter.Group(cells[about].Text)
			if groups[group] == "" {
				groups[group] = fmt.Sprintf("%s-group-%d", s.ID, len(groups)+1)
			}
			row.Class = groups[group]
		}
		s.Rows = append(s.Rows, row)
	}
	if len(groups) < 2 {
		return
	}
	s.Filter = &filterView{Label: filter.Label, Name: s.ID + "-filter"}
	var rules strings.Builder
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		class := groups[group]
		s.Filter.Choices = append(s.Filter.Choices, choiceView{"show-" + class, text.Printable(group)})
		fmt.Fprintf(&rules, "section:has(#show-%s:checked) tbody tr:not(.%s) { display: none; }\n", class, class)
	}
	s.Filter.Rules = template.CSS(rules.String()) //nolint:gosec // made of numbers
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

// WritePage writes a page into a file, as [chart.WriteFile] does a chart. The file's
// name must end in .html or .htm.
func WritePage(path string, page Page) error {
	if err := CheckPagePath(path); err != nil {
		return err
	}
	var content bytes.Buffer
	if err := EncodePage(&content, page); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Replace(path, func(w io.Writer) error { _, err := content.WriteTo(w); return err })
}

// CheckPagePath refuses file names that [WritePage] refuses. Call it before a
// long computation whose result is to be reported.
func CheckPagePath(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		return nil
	default:
		return fmt.Errorf("%s: a report's file name must end in .html or .htm", path)
	}
}
