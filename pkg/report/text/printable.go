package text

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable replaces control characters by their escapes, as a Go string
// literal writes them. Names come from traces and manifests: a line end in one
// must not break a table, nor an escape sequence reach the terminal.
func Printable(s string) string {
	if !strings.ContainsFunc(s, isUnprintable) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isUnprintable(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isUnprintable spares the zero-width joiner, which emoji are made of.
func isUnprintable(r rune) bool { return !unicode.IsGraphic(r) && r != '\u200d' }
