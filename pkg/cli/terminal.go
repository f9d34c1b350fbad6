package cli

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

// color is a color of text on a terminal.
type color string

const (
	green  color = "32"
	yellow color = "33"
	red    color = "31"
)

// painter returns what colors text for a stream: nothing is colored anywhere but on
// a terminal, nor where NO_COLOR is set (see no-color.org).
func painter(w io.Writer) func(c color, text string) string {
	if terminal(w) == nil || os.Getenv("NO_COLOR") != "" {
		return func(_ color, text string) string { return text }
	}
	return func(c color, text string) string { return "\x1b[" + string(c) + "m" + text + "\x1b[0m" }
}
