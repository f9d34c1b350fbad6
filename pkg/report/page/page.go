package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/file"
	"loadline.dev/loadline/pkg/text"
)

// Page is what people open in a browser, mail or print. All texts are plain: markup in them is escaped, and so is what cannot be seen.
type Page struct {
	// Title heads the page; not empty.
	Title string
	// Summary is the answer in a sentence or two; it comes first. May be empty.
	Summary string
	// Status says how old the answer is, and of what; may be empty.
	Status string
	// Sections follow in this order. In a file with three or more, links lead to them.
	Sections []Section
	// Footer says what made the page, from what; may be empty.
	Footer string
}

// Section is a part of a [Page]. What is empty is left out; the rest stands in the order of the fields.
type Section struct {
	// Title heads the section; not empty.
	Title string
	// Text comes first. Blank lines separate its paragraphs.
	Text string
	// Form asks for other answers.
	Form *Form
	// Cards are things to do.
	Cards []Card
	// Bars compare sums of parts.
	Bars *Bars
	// Tiles show many things at a glance.
	Tiles *Tiles
	// Table follows.
	Table *text.Table
	// Filter lets readers choose which rows of the table they see; nil for all.
	Filter *Filter
	// Link returns where the cell leads to that says what a row of the table is about, "" for nowhere. It may be nil.
	Link func(about string) string
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

// Encode writes a page to w that is complete in itself: it loads nothing, and runs no script. The error names the field that
// cannot be shown, or is w's.
func Encode(w io.Writer, p Page) error {
	return encode(w, p, nil)
}

func encode(w io.Writer, p Page, site *Site) error {
	view, err := p.view()
	if err != nil {
		return err
	}
	view.Site = site
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page.html", view); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func (p Page) view() (*pageView, error) {
	if p.Title == "" {
		return nil, errors.New("title: is empty")
	}
	view := &pageView{Title: text.Printable(p.Title), Summary: text.Printable(p.Summary), Status: text.Printable(p.Status), Footer: text.Printable(p.Footer)}
	for i := range p.Sections {
		id := fmt.Sprintf("section-%d", i+1)
		s, err := p.Sections[i].view(id)
		if err != nil {
			return nil, fmt.Errorf("sections[%d]%w", i, err)
		}
		view.Sections = append(view.Sections, s)
	}
	return view, nil
}

// Write writes a page into a file, as [chart.WriteFile] does a chart. The file's
// name must end in .html or .htm.
func Write(path string, p Page) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	var content bytes.Buffer
	if err := Encode(&content, p); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return file.Replace(path, func(w io.Writer) error { _, err := content.WriteTo(w); return err })
}

// CheckPath refuses file names that [Write] refuses. Call it before a
// long computation whose result is to be reported.
func CheckPath(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".html", ".htm":
		return nil
	default:
		return fmt.Errorf("%s: a report's file name must end in .html or .htm", path)
	}
}
