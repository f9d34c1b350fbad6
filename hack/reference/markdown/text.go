package markdown

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
)

// Escape returns Markdown that shows a text as it stands. Lines stay lines, without
// the blanks around them; addresses of pages become links.
func Escape(text string) string {
	lines := strings.Split(strings.ToValidUTF8(text, string(unicode.ReplacementChar)), "\n")
	for i, line := range lines {
		lines[i] = escapeLine(strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

var (
	// blockStart is what makes a line a heading, a quote, an item of a list or the underline of a heading.
	blockStart = regexp.MustCompile(`^(?:>|(?:[-+]|#{1,6}|-+|=+)(?:\s|$))`)
	// numberedItem is what makes a line an item of a numbered list.
	numberedItem = regexp.MustCompile(`^(\d{1,9})([.)](?:\s.*|$))`)
	// address is what looks like the address of a page, without the punctuation after it.
	address = regexp.MustCompile("https?://[^\\s<>()\"'`|\\\\]*[^\\s<>()\"'`|\\\\.,;:!?]")
	// entity is a character reference, such as &lt;.
	entity = regexp.MustCompile(`^&(?:[A-Za-z][A-Za-z0-9]*|#\d+|#[xX][0-9A-Fa-f]+);`)
)

func escapeLine(line string) string {
	var b strings.Builder
	if item := numberedItem.FindStringSubmatch(line); item != nil {
		b.WriteString(item[1] + `\`)
		line = item[2]
	} else if blockStart.MatchString(line) {
		b.WriteString(`\`)
	}
	for {
		at := address.FindStringIndex(line)
		if at == nil {
			escapePlain(&b, line)
			return b.String()
		}
		escapePlain(&b, line[:at[0]])
		b.WriteString("<" + line[at[0]:at[1]] + ">")
		line = line[at[1]:]
	}
}

// escapePlain escapes what means something anywhere in a line. An underscore within a
// word does not; a dollar sign begins a formula.
func escapePlain(b *strings.Builder, text string) {
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	for i, r := range runes {
		switch {
		case strings.ContainsRune("\\`*[]<~$", r),
			r == '_' && (!isWord(at(i-1)) || !isWord(at(i+1))),
			r == '&' && entity.MatchString(string(runes[i:])):
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			b.WriteRune(unicode.ReplacementChar)
		default:
			b.WriteRune(r)
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// Code returns Markdown that shows a text as code, in a line.
func Code(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, string(unicode.ReplacementChar)), "\n", " ")
	if text == "" {
		return ""
	}
	fence := fenceFor(text, 1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// Block returns Markdown that shows a text as code in a language, such as yaml, in a
// block of its own.
func Block(language, text string) string {
	text = strings.ToValidUTF8(text, string(unicode.ReplacementChar))
	fence := fenceFor(text, 3)
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// fenceFor returns more backticks than stand together in a text, at least shortest.
func fenceFor(text string, shortest int) string {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(longest+1, shortest))
}

// title is a line that is meant as a heading.
var title = regexp.MustCompile(`^#{1,6} (.+)$`)

// Prose returns Markdown for the text of a comment or of a command's help: paragraphs
// with blank lines between them, bold ones for headings, and what is indented as it
// stands.
func Prose(text string) string {
	var parts []string
	for part := range paragraphs(text) {
		heading := title.FindStringSubmatch(part[0])
		switch {
		case isIndented(part[0]):
			parts = append(parts, Block("text", dedent(part)))
		case heading != nil && len(part) == 1:
			parts = append(parts, "**"+Escape(heading[1])+"**")
		default:
			parts = append(parts, Escape(strings.Join(part, "\n")))
		}
	}
	return strings.Join(parts, "\n\n")
}

// Cell returns Markdown for the same in a cell of a table, where there are no blocks.
func Cell(text string) string {
	var parts []string
	for part := range paragraphs(text) {
		if !isIndented(part[0]) {
			part = []string{strings.Join(part, " ")}
		}
		for i, line := range part {
			part[i] = Escape(line)
		}
		parts = append(parts, strings.Join(part, "<br>"))
	}
	return strings.Join(parts, "<br><br>")
}

// paragraphs yields the lines of each paragraph, and of each run of indented lines.
func paragraphs(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		var lines []string
		for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n\n") {
			line = strings.TrimRight(line, " \t\r\n")
			ends := line == "" || len(lines) > 0 && isIndented(line) != isIndented(lines[0])
			if ends && len(lines) > 0 {
				if !yield(lines) {
					return
				}
				lines = nil
			}
			if line != "" {
				lines = append(lines, line)
			}
		}
	}
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
}

// dedent removes from lines the blanks that all begin with.
func dedent(lines []string) string {
	least := len(lines[0])
	for _, line := range lines {
		least = min(least, len(line)-len(strings.TrimLeft(line, " \t")))
	}
	short := make([]string, len(lines))
	for i, line := range lines {
		short[i] = line[least:]
	}
	return strings.Join(short, "\n")
}
