package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"
)

// progress prints the steps, a line each, and on a terminal
// a count that moves.
type progress struct {
	out      *os.File
	terminal bool
	last     time.Time
}

func newProgress(out *os.File) *progress {
	return &progress{out: out, terminal: term.IsTerminal(int(out.Fd()))}
}

// step begins a step.
func (p *progress) step(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

// count shows how far a step has come, ten times a second at most.
func (p *progress) count(what string, done, total int) {
	if !p.terminal || (done < total && time.Since(p.last) < 100*time.Millisecond) {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.out, "\r  %s %d of %d", what, done, total)
	if done == total {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
