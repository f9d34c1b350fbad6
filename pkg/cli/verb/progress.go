package verb

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"loadline.dev/loadline/pkg/text"
)

// Progress is a line that says how far a verb has come, on a terminal only. It is not
// safe for concurrent use.
type Progress struct {
	terminal *os.File // nil where no line is shown
	last     time.Time
}

// NewProgress returns a line for a stream, which is shown if that is a terminal.
func NewProgress(s *Stream) *Progress { return &Progress{terminal: s.terminal} }

// Visible reports whether the line is shown.
func (p *Progress) Visible() bool { return p.terminal != nil }

// Show shows the line that now has it, ten times a second at most, as far as it fits.
func (p *Progress) Show(line func(now time.Time) string) {
	const rest = 100 * time.Millisecond
	now := time.Now()
	if p.terminal == nil || now.Sub(p.last) < rest {
		return
	}
	p.last = now
	shown := []rune(text.Printable(line(now)))
	shown = shown[:min(len(shown), p.width()-1)]
	p.terminal.WriteString("\r\x1b[K" + string(shown)) //nolint:errcheck // a line that cannot be shown changes nothing
}

// usualWidth is the number of columns of a terminal without a width: one whose size is 0, as it is behind some consoles,
// continuous integration and programs that make a terminal for another one.
const usualWidth = 80

// width returns how many columns the terminal has, at least 1.
func (p *Progress) width() int {
	if width, _, err := term.GetSize(int(p.terminal.Fd())); err == nil && width > 0 {
		return width
	}
	return usualWidth
}

// Clear takes the line away; the next Show shows it at once.
func (p *Progress) Clear() {
	if p.terminal != nil {
		p.terminal.WriteString("\r\x1b[K") //nolint:errcheck // as above
		p.last = time.Time{}
	}
}

// Bar draws which part of all work is done, from 0 to 1:
//
//	██████████████████░░░░░░  75%
func Bar(done float64) string {
	const width = 24
	full := int(done * width)
	return fmt.Sprintf("%s%s  %.0f%%", strings.Repeat("█", full), strings.Repeat("░", width-full), 100*done)
}

// Left says how long the rest of some work takes, at the pace so far: ", 2s left". It is empty where nothing is done yet.
func Left(done float64, elapsed time.Duration) string {
	if done <= 0 {
		return ""
	}
	return ", " + TimeLeft(time.Duration(float64(elapsed)*(1-done)/done)) + " left"
}

// TimeLeft writes a time that is a guess: 42s or 13m 05s.
func TimeLeft(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.0fs", max(1, d.Seconds()))
	}
	return text.Elapsed(d.Round(time.Second))
}
