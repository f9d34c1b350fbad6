package report

import (
	"fmt"
	"io"
	"time"

	"loadline.dev/loadline/pkg/text"
)

// Progress prints the steps of an experiment, a line each.
type Progress struct {
	out   io.Writer
	begin time.Time
}

// NewProgress begins now.
func NewProgress(out io.Writer) *Progress { return &Progress{out, time.Now()} }

// Step prints a step, and when it begins.
func (p *Progress) Step(format string, args ...any) {
	fmt.Fprintf(p.out, "%8s  %s\n", text.Elapsed(time.Since(p.begin).Truncate(time.Second)), fmt.Sprintf(format, args...))
}
