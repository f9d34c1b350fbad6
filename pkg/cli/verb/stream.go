package verb

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"loadline.dev/loadline/pkg/text"
)

// Stream is where a command prints. It takes lines and tables, and has no Write: so that
// what came from outside, wherever it is printed, is printed as one value on one line.
// Escape sequences are ours alone, and only a terminal gets them: the colors of
// [Stream.Spans] and the line of [Progress].
type Stream struct {
	to       *text.Writer
	terminal *os.File // nil: none, or one whose cursor cannot be moved
}

// NewStream returns a stream in front of a file, a pipe or a terminal; nil discards.
func NewStream(w io.Writer) *Stream {
	if w == nil {
		w = io.Discard
	}
	return &Stream{text.NewWriter(w), terminal(w)}
}

// terminal returns the file of a stream if that is a terminal whose cursor can be moved, else nil:
// progress lines belong nowhere else.
func terminal(w io.Writer) *os.File {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return file
}

// Writer returns what text of many lines is written to that is not made here: the help of
// a command, CSV, or the warnings of an API server. What is not printable is escaped.
func (s *Stream) Writer() io.Writer { return s.to }

// longestLine is how many characters of a line are printed.
const longestLine = 10_000

// Lines prints lines, each on one line.
func (s *Stream) Lines(lines ...string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.to, text.Abridged(text.Printable(line), longestLine)); err != nil {
			return err
		}
	}
	return nil
}

// Warn prints a warning, on one line.
func (s *Stream) Warn(format string, args ...any) error {
	return s.Lines("Warning: " + fmt.Sprintf(format, args...))
}

// Unlisted prints a warning of objects that the user may not list, and what is not known without them.
func (s *Stream) Unlisted(err error, unknown string) error {
	return s.Warn("%s: %s", OneLine(err), unknown)
}

// Span is a part of a line.
type Span struct {
	Text  string
	Color Color // none if empty
}

// Color is a color of text on a terminal.
type Color string

// The colors of states: well, to be looked at, and wrong.
const (
	Green  Color = "32"
	Yellow Color = "33"
	Red    Color = "31"
)

// plain reports whether nothing is colored: anywhere but on a terminal, and where NO_COLOR is
// set (see no-color.org).
func (s *Stream) plain() bool { return s.terminal == nil || os.Getenv("NO_COLOR") != "" }

// Spans prints a line of several parts, in colors where they are wanted.
func (s *Stream) Spans(parts ...Span) error {
	plain := s.plain()
	var line strings.Builder
	for _, part := range parts {
		shown := text.Printable(part.Text)
		if part.Color != "" && !plain {
			shown = "\x1b[" + string(part.Color) + "m" + shown + "\x1b[0m"
		}
		line.WriteString(shown)
	}
	if plain {
		return s.Lines(line.String())
	}
	_, err := s.terminal.WriteString(line.String() + "\n")
	return err
}
