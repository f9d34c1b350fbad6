package text

import (
	"slices"
	"strings"
	"unicode"
)

// shortening is what may be left out of a cell.
type shortening int

const (
	// keepWords leaves out the middles of long words, and all parts but the first: what follows a comma or stands in brackets.
	keepWords shortening = iota
	// dropWords leaves out words of long parts, too.
	dropWords
)

const (
	// narrowest is how many columns of a cell are kept at least, and of a word beside others.
	narrowest = 12
	// narrowestPhrase is how many columns of several words are kept at least.
	narrowestPhrase = 30

	ellipsis = "…"
)

// shortened returns a cell in a width, or as near to it as it can be shortened:
//
//	shop/cart-7c9f4-x2k8p                 shop/…-x2k8p
//	etl/sort-2 +2.84, etl/sort-3 +2.84    etl/sort-2 +2.84, …
//	move etl/sort-2 from node-1 to node-3 move etl/sort-2 from … node-3
//
// Of names both ends are kept, since those of pods differ there. Words without letters, such as numbers, are not cut.
func shortened(cell string, limit int, how shortening) string {
	width := displayWidth(cell)
	if width <= limit {
		return cell
	}
	if short := firstParts(cell, limit, how); displayWidth(short) < width {
		return short
	}
	return cell
}

// firstParts returns the parts of a cell that fit, or the first, shortened.
func firstParts(cell string, limit int, how shortening) string {
	ends := partEnds(cell)
	for _, end := range slices.Backward(ends) {
		if part := cell[:end] + more(cell[end:]); displayWidth(part) <= limit {
			return part
		}
	}
	if len(ends) == 0 {
		return phrase(cell, limit, 0, how)
	}
	rest := more(cell[ends[0]:])
	return phrase(cell[:ends[0]], limit, displayWidth(rest), how) + rest
}

// partEnds returns where parts of a cell end, in bytes: before commas outside of brackets, and before brackets.
func partEnds(cell string) []int {
	var ends []int
	depth := 0
	for i := range len(cell) {
		switch rest := cell[i:]; {
		case depth == 0 && i > 0 && (strings.HasPrefix(rest, ", ") || strings.HasPrefix(rest, " (")):
			ends = append(ends, i)
		case rest[0] == '(':
			depth++
		case rest[0] == ')':
			depth = max(0, depth-1)
		}
	}
	return ends
}

// more stands for the rest of a cell, which begins with a comma or a bracket.
func more(rest string) string {
	if rest[0] == ',' {
		return ", " + ellipsis
	}
	return " " + ellipsis
}

// phrase shortens words that belong together to a limit, given the width of what follows.
func phrase(s string, limit, rest int, how shortening) string {
	words := strings.Split(s, " ")
	if len(words) == 1 {
		return middle(s, limit-rest)
	}
	short := slices.Clone(words)
	for longest := min(widest(words)-1, limit); longest >= narrowest && joinedWidth(short) > limit-rest; longest-- {
		for i := range words {
			short[i] = middle(words[i], longest)
		}
	}
	if how == dropWords {
		return withoutWords(short, max(limit, narrowestPhrase)-rest)
	}
	return strings.Join(short, " ")
}

// withoutWords leaves out words so that the others fit. The first, the last and numbers stay; of the others, as many as do, the
// longest first: names are long.
func withoutWords(words []string, limit int) string {
	kept := make([]bool, len(words))
	var others []int
	for i := range words {
		kept[i] = i == 0 || i == len(words)-1 || isNumber(words[i])
		if !kept[i] {
			others = append(others, i)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return displayWidth(words[b]) - displayWidth(words[a]) })
	for _, i := range others {
		kept[i] = true
		kept[i] = joinedWidth(abridged(words, kept)) <= limit
	}
	return strings.Join(abridged(words, kept), " ")
}

// abridged returns the words that are kept, with an ellipsis for each run of others.
func abridged(words []string, kept []bool) []string {
	var short []string
	for i, word := range words {
		switch {
		case kept[i]:
			short = append(short, word)
		case kept[i-1]:
			short = append(short, ellipsis)
		}
	}
	return short
}

// isNumber reports whether a word is not cut.
func isNumber(word string) bool { return !strings.ContainsFunc(word, unicode.IsLetter) }

func widest(words []string) int {
	width := 0
	for _, word := range words {
		width = max(width, displayWidth(word))
	}
	return width
}

func joinedWidth(words []string) int { return displayWidth(strings.Join(words, " ")) }

// middle leaves the middle of a word out.
func middle(word string, limit int) string {
	if displayWidth(word) <= limit || isNumber(word) {
		return word
	}
	characters := clusters(word)
	room := limit - displayWidth(ellipsis)
	head := 0 // how many characters are kept of the beginning, and tail of the end
	for taken := displayWidth(characters[0]); taken <= room/2; taken += displayWidth(characters[head]) {
		head++
	}
	room -= displayWidth(strings.Join(characters[:head], ""))
	tail := len(characters)
	for taken := displayWidth(characters[tail-1]); taken <= room; taken += displayWidth(characters[tail-1]) {
		tail--
	}
	return strings.Join(characters[:head], "") + ellipsis + strings.Join(characters[tail:], "")
}

// clusters returns the characters of a word, each with the marks and the emoji that are drawn with it.
func clusters(word string) []string {
	var all []string
	joins := false
	for _, r := range word {
		if n := len(all); n > 0 && (joins || displayWidth(string(r)) == 0) {
			all[n-1] += string(r)
		} else {
			all = append(all, string(r))
		}
		joins = r == joiner
	}
	return all
}
