package evaluate

import "unicode/utf8"

// abridge cuts a text to a number of bytes, and marks that it did.
func abridge(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}
