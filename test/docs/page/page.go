// Package page reads pages of the documentation: Markdown, as far as ours uses it. A [Page] knows its blocks of code with
// the commands in them, its links, and the anchors that links may lead to.
package page

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// Page is a page.
type Page struct {
	// Path is where it is, from the root of the repository, with slashes.
	Path   string
	Blocks []Block
	Links  []Link
	// Anchors are what may stand behind # in a link to the page: one per heading, and those named by <a id="…"></a>.
	Anchors map[string]bool
}

// Block is a block of code, fenced or indented by four spaces.
type Block struct {
	// Line is that of its first line of code, from 1.
	Line int
	// Language is what stands behind the fence, "" for an indented block.
	Language string
	// Text is the code, without fence and indentation, with a line end behind each line.
	Text string
	// Note is the comment (<!-- … -->) before the block, with nothing but blank lines between them; "" for none.
	Note string
}

// Link is a link, or an image.
type Link struct {
	Line   int
	Target string
}

// Read reads a page of the repository in a folder.
func Read(root, path string) (*Page, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return nil, err
	}
	return Parse(path, string(text))
}

// Parse reads the text of a page. A fence or a comment that does not end is an error.
func Parse(path, text string) (*Page, error) {
	r := &reader{page: &Page{Path: path, Anchors: map[string]bool{}}, headings: map[string]int{}}
	for line := range strings.Lines(text) {
		r.number++
		r.read(strings.TrimRight(line, "\r\n"))
	}
	switch {
	case r.fence != "":
		return nil, fmt.Errorf("%s, line %d: the fence has no end", path, r.block.Line-1)
	case r.inComment:
		return nil, fmt.Errorf("%s: a comment has no end", path)
	}
	r.endIndented()
	return r.page, nil
}

// reader reads a page line by line.
type reader struct {
	page     *Page
	number   int
	headings map[string]int // how often each anchor came

	block     *Block // being read
	fence     string // that of the block, "" for an indented one
	blank     int    // lines in an indented block that may be behind it
	paragraph bool   // the line before belongs to one, which indented lines continue
	inComment bool
	note      string
}

var (
	fences  = regexp.MustCompile("^(```+|~~~+)\\s*([^`\\s]*)")
	heading = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	code    = regexp.MustCompile("`[^`]*`")
	target  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	named   = regexp.MustCompile(`<a id="([^"]+)"></a>`)
)

func (r *reader) read(line string) {
	if r.fence != "" {
		r.readFenced(line)
		return
	}
	if r.readIndented(line) || r.readComment(line) {
		return
	}
	if strings.TrimSpace(line) == "" {
		r.paragraph = false
		return
	}
	if m := fences.FindStringSubmatch(line); m != nil {
		r.fence = m[1]
		r.block = &Block{Line: r.number + 1, Language: m[2], Note: r.note}
		r.note = ""
		return
	}
	r.note = ""
	r.paragraph = true
	for _, m := range named.FindAllStringSubmatch(line, -1) {
		r.page.Anchors[m[1]] = true
	}
	if m := heading.FindStringSubmatch(line); m != nil {
		r.paragraph = false
		r.anchor(m[1])
	}
	for _, m := range target.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
		r.page.Links = append(r.page.Links, Link{r.number, m[1]})
	}
}

func (r *reader) readFenced(line string) {
	if strings.HasPrefix(line, r.fence) && strings.Trim(line, r.fence[:1]) == "" {
		r.page.Blocks = append(r.page.Blocks, *r.block)
		r.block, r.fence, r.paragraph = nil, "", false
		return
	}
	r.block.Text += line + "\n"
}

const indent = "    "

// readIndented reports whether the line belongs to an indented block.
func (r *reader) readIndented(line string) bool {
	text, indented := strings.CutPrefix(line, indent)
	switch {
	case indented && strings.TrimSpace(text) != "" && !r.paragraph && !r.inComment:
		if r.block == nil {
			r.block = &Block{Line: r.number, Note: r.note}
			r.note = ""
		}
		r.block.Text += strings.Repeat("\n", r.blank) + text + "\n"
		r.blank = 0
		return true
	case r.block != nil && strings.TrimSpace(line) == "":
		r.blank++
		return true
	default:
		r.endIndented()
		return false
	}
}

func (r *reader) endIndented() {
	if r.block != nil {
		r.page.Blocks = append(r.page.Blocks, *r.block)
	}
	r.block, r.blank = nil, 0
}

// readComment reports whether the line is one of a comment.
func (r *reader) readComment(line string) bool {
	if !r.inComment {
		rest, begins := strings.CutPrefix(line, "<!--")
		if !begins {
			return false
		}
		r.note, r.inComment, line = "", true, rest
	}
	text, _, ends := strings.Cut(line, "-->")
	r.note = strings.TrimSpace(r.note + " " + strings.TrimSpace(text))
	r.inComment, r.paragraph = !ends, false
	return true
}

// anchor adds that of a heading, as GitHub makes it: in lower case, without punctuation, with hyphens for spaces, and
// numbered when there was one like it.
func (r *reader) anchor(title string) {
	title = named.ReplaceAllString(target.ReplaceAllString(title, "]"), "") // of links the text alone counts
	var b strings.Builder
	for _, c := range strings.ToLower(title) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c):
			b.WriteRune(c)
		}
	}
	name := b.String()
	r.headings[name]++
	if n := r.headings[name]; n > 1 {
		name = fmt.Sprintf("%s-%d", name, n-1)
	}
	r.page.Anchors[name] = true
}
