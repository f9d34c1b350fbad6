package verb

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// width returns how many columns the terminal has: COLUMNS, if that is a number, else what the terminal says. It is 0 where there
// is no terminal, and where it does not say.
func (s *Stream) width() int {
	if s.terminal == nil {
		return 0
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	width, _, err := term.GetSize(int(s.terminal.Fd()))
	if err != nil {
		return 0
	}
	return max(0, width)
}
