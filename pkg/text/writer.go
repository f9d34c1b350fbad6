package text

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Writer is a stream that carries printable text only: what [Printable] escapes is
// escaped, but for line ends and tabs. It is not safe for concurrent use.
type Writer struct {
	to   io.Writer
	rest string // the beginning of a character of which the end is still to come
}

// NewWriter returns a stream in front of another one.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// kept is what a stream keeps of what [Printable] escapes.
const kept = "\n\t"

// Write writes text of any number of lines. The end of a character may come with the next
// call, or be made up for by [Writer.Flush].
func (w *Writer) Write(text []byte) (int, error) {
	s := w.rest + string(text)
	end := len(s) - unfinished(s)
	w.rest = s[end:]
	if err := w.write(s[:end]); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush writes what is left of a character that was not finished.
func (w *Writer) Flush() error {
	rest := w.rest
	w.rest = ""
	return w.write(rest)
}

func (w *Writer) write(s string) error {
	if s == "" {
		return nil
	}
	var b strings.Builder
	for s != "" {
		s = s[appendPrintable(&b, s, kept):]
	}
	_, err := io.WriteString(w.to, b.String())
	return err
}

// unfinished returns how many bytes at the end of s begin a character that they do not
// finish.
func unfinished(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if begin := s[len(s)-n:]; utf8.RuneStart(begin[0]) {
			if utf8.FullRuneInString(begin) {
				return 0
			}
			return n
		}
	}
	return 0
}
