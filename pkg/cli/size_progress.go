package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"loadline.dev/loadline/pkg/model/sizing"
)

// sizeProgress is a line that says what is being simulated, on a terminal only:
//
//	simulating 12 servers for 3 classes: 24 replications, 8s
//
// How many pools are yet to come, and how long each takes, nobody knows.
type sizeProgress struct {
	terminal *os.File // nil where nobody looks
	start    time.Time
	last     time.Time // that the line was written
}

func newSizeProgress(w io.Writer) *sizeProgress {
	return &sizeProgress{terminal: terminal(w), start: time.Now()}
}

// show shows the line, ten times a second at most.
func (p *sizeProgress) show(now sizing.Progress) {
	const rest = 100 * time.Millisecond
	if p.terminal == nil || time.Since(p.last) < rest {
		return
	}
	p.last = time.Now()
	line := sizeProgressLine(now, time.Since(p.start))
	p.terminal.WriteString("\r\x1b[K" + line) //nolint:errcheck // a line that cannot be shown changes nothing
}

func sizeProgressLine(now sizing.Progress, elapsed time.Duration) string {
	return fmt.Sprintf("simulating %s for %s: %s, %s",
		plural(now.Servers, "server", "servers"), plural(now.Classes, "class", "classes"),
		plural(now.Replications, "replication", "replications"), timeLeft(elapsed))
}

// plural writes a number of things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// clear takes the line away.
func (p *sizeProgress) clear() {
	if p.terminal != nil {
		p.terminal.WriteString("\r\x1b[K") //nolint:errcheck // as above
	}
}
