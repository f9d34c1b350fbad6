package cli

import (
	"fmt"
	"io"
	"time"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/model/sizing"
)

// sizeProgress is a line that says what is being simulated:
//
//	simulating 12 servers for 3 classes: 24 replications, 8s
//
// How many pools are yet to come, and how long each takes, is not known.
type sizeProgress struct {
	*verb.Progress
	start time.Time
}

func newSizeProgress(w io.Writer) *sizeProgress {
	return &sizeProgress{verb.NewProgress(w), time.Now()}
}

func (p *sizeProgress) show(now sizing.Progress) {
	p.Show(func(at time.Time) string { return sizeProgressLine(now, at.Sub(p.start)) })
}

func sizeProgressLine(now sizing.Progress, elapsed time.Duration) string {
	return fmt.Sprintf("simulating %s for %s: %s, %s",
		verb.Counted(now.Servers, "server", "servers"), verb.Counted(now.Classes, "class", "classes"),
		verb.Counted(now.Replications, "replication", "replications"), verb.TimeLeft(elapsed))
}
