package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"loadline.dev/loadline/pkg/report/text"
)

// recordProgress is a line that says how far a recording has come, on a terminal
// only.
type recordProgress struct {
	terminal *os.File // nil where nobody looks
	last     time.Time
}

func newRecordProgress(w io.Writer) *recordProgress {
	return &recordProgress{terminal: terminal(w)}
}

// show shows the line, ten times a second at most.
func (p *recordProgress) show(recorded, live int) {
	const rest = 100 * time.Millisecond
	if p.terminal == nil || time.Since(p.last) < rest {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.terminal, "\r\x1b[K%s recorded, %s not finished; Ctrl-C ends it", //nolint:errcheck // a line that cannot be shown changes nothing
		text.Counted(recorded, "pod"), text.Count(int64(live)))
}

// clear takes the line away.
func (p *recordProgress) clear() {
	if p.terminal != nil {
		p.terminal.WriteString("\r\x1b[K") //nolint:errcheck // as above
		p.last = time.Time{}
	}
}
