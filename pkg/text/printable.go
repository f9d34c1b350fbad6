package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable replaces what cannot be seen by its escape, as a Go string literal writes
// it: control characters, line ends and tabs among them, characters that have no width
// or change the direction of the text, and bytes that are not UTF-8. Names come from
// traces, manifests and clusters: a line end in one must not break a table, nor an escape
// sequence reach the terminal.
func Printable(s string) string {
	if !strings.ContainsFunc(s, needsCare) {
		return s
	}
	var b strings.Builder
	for s != "" {
		s = s[appendPrintable(&b, s, ""):]
	}
	return b.String()
}

// Abridged returns the first characters of a value, and how many there are more. It
// returns a value that is no longer than that as it is.
func Abridged(s string, longest int) string {
	if len(s) <= longest {
		return s
	}
	at := 0
	for range longest {
		_, size := utf8.DecodeRuneInString(s[at:])
		if at += size; at == len(s) {
			return s
		}
	}
	return s[:at] + "… (" + Counted(utf8.RuneCountInString(s[at:]), "more character") + ")"
}

// needsCare reports whether a rune may be one to escape: of those that join others, and
// of those that stand for a byte that is not UTF-8, what is around them decides.
func needsCare(r rune) bool { return isUnseen(r) || r == utf8.RuneError }

// isUnseen reports whether a character cannot be seen. Some that Unicode calls letters,
// symbols and marks are blank all the same.
func isUnseen(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0':
		return true
	}
	return !unicode.IsGraphic(r)
}

// appendPrintable appends the first character of s, or its escape unless it is one of
// those to keep, and returns how many bytes of s that was.
func appendPrintable(b *strings.Builder, s, keep string) int {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size <= 1:
		b.WriteString(`\x` + strconv.FormatUint(0x100|uint64(s[0]), 16)[1:])
		return 1
	case !isUnseen(r), strings.ContainsRune(keep, r), r == joiner && joinsEmoji(b.String(), s[size:]):
		b.WriteString(s[:size])
	default:
		quoted := strconv.QuoteRuneToASCII(r)
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return size
}

// joiner is the zero-width joiner, which emoji are made of.
const joiner = '\u200d'

// joinsEmoji reports whether a joiner stands between two emoji, where it is seen: they
// are drawn as one.
func joinsEmoji(before, after string) bool {
	const variation = '\ufe0f' // asks for the colored form of the symbol before it
	left, size := utf8.DecodeLastRuneInString(before)
	if left == variation {
		left, _ = utf8.DecodeLastRuneInString(before[:len(before)-size])
	}
	right, _ := utf8.DecodeRuneInString(after)
	if before == "" || after == "" {
		return false // neither of them is there
	}
	return unicode.In(left, unicode.So, unicode.Sk) && unicode.Is(unicode.So, right)
}
