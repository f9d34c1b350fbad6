// Package printed reports whether what commands print is what a page of documentation
// shows, of which figures, times and ages are different each time.
package printed

import (
	"regexp"
	"strings"
)

// number is a number, a time or a quantity, or several of them in a row, such as
// 1.36×, 2m30s, 604700u or 500Mi.
var number = regexp.MustCompile(`[0-9]+(?:[0-9.,:]*[0-9])?(?:ms|[smhd%×nuk]|[KMG]i)?(?:[0-9]+(?:ms|[smhd]))*`)

// Same reports whether two texts are the same but for their numbers and times, the
// width of their columns, and empty lines.
func Same(a, b string) bool { return shape(a) == shape(b) }

// shape is what remains of a text when its numbers and spaces do not matter.
func shape(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(number.ReplaceAllString(line, "#")), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
