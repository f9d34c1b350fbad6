package markdown

import (
	"fmt"
	"strings"
	"unicode"
)

// Marker begins every page and names its origin.
const Marker = "<!-- Written by hack/reference. Change what it is made from and run make generate. -->"

// Page is a page: a title, an introduction, and chapters.
type Page struct {
	title    string
	intro    []string
	chapters []string
	headings []heading
}

type heading struct {
	level    int
	text, id string
}

// NewPage returns a page with a title, which is plain text.
func NewPage(title string) *Page { return &Page{title: title} }

// Add adds paragraphs, tables and blocks.
func (p *Page) Add(parts ...string) {
	for _, part := range parts {
		switch {
		case part == "":
		case len(p.headings) == 0:
			p.intro = append(p.intro, part)
		default:
			p.chapters = append(p.chapters, part)
		}
	}
}

// Heading adds a heading of level 2 or 3, of plain text. Links lead to it by its id.
func (p *Page) Heading(level int, text, id string) {
	p.headings = append(p.headings, heading{level, Escape(text), id})
	anchor := ""
	if id != Slug(text) { // GitHub makes that one
		anchor = Anchor(id)
	}
	p.chapters = append(p.chapters, strings.Repeat("#", level)+" "+anchor+Escape(text))
}

// Contents is how many headings make a table of contents worth its place.
const contents = 3

// String returns the page.
func (p *Page) String() string {
	parts := append([]string{Marker, "# " + Escape(p.title)}, p.intro...)
	if len(p.headings) >= contents {
		var list strings.Builder
		for _, h := range p.headings {
			fmt.Fprintf(&list, "%s- [%s](#%s)\n", strings.Repeat("  ", max(h.level-2, 0)), h.text, h.id)
		}
		parts = append(parts, strings.TrimRight(list.String(), "\n"))
	}
	return strings.Join(append(parts, p.chapters...), "\n\n") + "\n"
}

// Slug returns the id that GitHub gives a heading of plain text.
func Slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case isWord(r) || r == '-' || r == '_' || unicode.IsMark(r):
			b.WriteRune(r)
		case r == ' ':
			b.WriteRune('-')
		}
	}
	return b.String()
}

// Anchor returns what a link with an id leads to.
func Anchor(id string) string { return `<a id="` + id + `"></a>` }

// Link returns a link with a text, which is Markdown.
func Link(text, target string) string { return "[" + text + "](" + target + ")" }

// Table returns a table of cells, which are Markdown.
func Table(header []string, rows ...[]string) string {
	var b strings.Builder
	row := func(cells []string) {
		for i, cell := range cells {
			cells[i] = strings.ReplaceAll(strings.ReplaceAll(cell, "|", `\|`), "\n", " ")
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	row(header)
	b.WriteString("|" + strings.Repeat("---|", len(header)) + "\n")
	for _, cells := range rows {
		row(cells)
	}
	return strings.TrimRight(b.String(), "\n")
}

// List returns a list of items, which are Markdown of one line.
func List(items ...string) string {
	return "- " + strings.Join(items, "\n- ")
}
