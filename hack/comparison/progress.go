package comparison

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// Progress prints what is being done, a line each, and on a terminal a count that
// moves.
type Progress struct {
	out      *os.File
	terminal bool
	last     time.Time
}

// NewProgress returns a progress that is printed to a file.
func NewProgress(out *os.File) *Progress {
	return &Progress{out: out, terminal: term.IsTerminal(int(out.Fd()))}
}

// Step begins a step.
func (p *Progress) Step(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// Count shows how far a step has come, ten times a second at most.
func (p *Progress) Count(what string, done, total int) {
	if !p.terminal || (done < total && time.Since(p.last) < 100*time.Millisecond) {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.out, "\r  %s %d of %d", what, done, total)
	if done == total {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
