package verb

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal returns what a stream writes to if that is a terminal whose cursor can be
// moved, else nil: lines that say how far things are belong nowhere else.
func terminal(w io.Writer) *os.File {
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return file
}

// Color is a color of text on a terminal.
type Color string

// The colors of states: well, to be looked at, and wrong.
const (
	Green  Color = "32"
	Yellow Color = "33"
	Red    Color = "31"
)

// Painter returns what colors text for a stream: nothing is colored anywhere but on
// a terminal, nor where NO_COLOR is set (see no-color.org).
func Painter(w io.Writer) func(c Color, text string) string {
	if terminal(w) == nil || os.Getenv("NO_COLOR") != "" {
		return func(_ Color, text string) string { return text }
	}
	return func(c Color, text string) string { return "\x1b[" + string(c) + "m" + text + "\x1b[0m" }
}
