package main

import (
	"fmt"
	"io"
	"time"

	"loadline.dev/loadline/pkg/text"
)

// progress prints the steps, a line each.
type progress struct {
	out   io.Writer
	begin time.Time
}

func (p *progress) step(format string, args ...any) {
	fmt.Fprintf(p.out, "%8s  %s\n", text.Elapsed(time.Since(p.begin).Truncate(time.Second)), fmt.Sprintf(format, args...))
}
